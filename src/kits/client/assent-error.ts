import type { components } from '../../base/contract/contract.gen.js';

export type Problem = components['schemas']['Problem'];

/** No response arrived. The request may have been carried out. */
export const connectionLost = 'connection_lost';
/** The host's function gave no token, so nothing was sent. */
const tokenUnavailable = 'token_unavailable';
/** Something other than the registry responded, such as a proxy. */
export const unexpectedResponse = 'unexpected_response';

/**
 * The one error of the client. `code` is the stable name of the problem (docs/reference/errors.md), or `connection_lost`
 * or `token_unavailable` (status 0), or `unexpected_response`.
 */
export class AssentError extends Error {
  override readonly name = 'AssentError';
  readonly problem: Problem;
  readonly code: string;
  readonly status: number;
  /** Each place of the request that breaks a rule. */
  readonly faults: NonNullable<Problem['faults']>;
  /** The id of the request in the log of the registry. */
  readonly requestid: string;

  constructor(problem: Problem, options?: { cause?: unknown }) {
    super([problem.title, problem.detail].filter(Boolean).join(' '), options);
    this.problem = problem;
    this.code = problem.code;
    this.status = problem.status;
    this.faults = problem.faults ?? [];
    this.requestid = problem.requestid;
  }
}

export const lostConnection = (cause: unknown) => without(connectionLost, 'The registry did not respond.', cause);

export const noToken = (cause: unknown) =>
  without(
    tokenUnavailable,
    `There is no token for the registry. ${cause instanceof Error ? cause.message : ''}`,
    cause,
  );

/** No response. */
function without(code: string, detail: string, cause: unknown): AssentError {
  return new AssentError({ type: 'about:blank', title: '', status: 0, detail, code, requestid: '' }, { cause });
}

/** `body` is what arrived: a problem of the registry (RFC 9457), or anything else. */
export function refusal(body: unknown, { status, headers }: Response): AssentError {
  const isProblem = typeof body === 'object' && body !== null && 'code' in body && 'title' in body;
  if (isProblem) return new AssentError(body as Problem);
  return new AssentError({
    type: 'about:blank',
    title: `The response has status ${status} and does not come from the registry.`,
    status,
    detail: [hintOf(status), headers.has('Server') ? `Server: ${headers.get('Server')}` : ''].filter(Boolean).join(' '),
    code: unexpectedResponse,
    requestid: headers.get('X-Request-Id') ?? '',
  });
}

/** What a proxy, a firewall or a sign-in page means by a status. */
function hintOf(status: number): string {
  if (status < 400) return 'A sign-in page or another server is at this address.';
  if (status === 413) return 'A proxy limits the size of requests.';
  if (status === 414 || status === 431) return 'A proxy limits the length of URLs and headers.';
  if (status >= 502 && status <= 504) return 'A proxy got no response from the registry.';
  return 'A proxy or a firewall refused the request.';
}

/** A proxy dropped the header that changes depend on. */
export function lostTag({ status, headers }: Pick<Response, 'status' | 'headers'>): AssentError {
  return new AssentError({
    type: 'about:blank',
    title: 'The response has no ETag.',
    status,
    detail: 'A proxy removes it. Without it, an edit could overwrite the change of another client.',
    code: unexpectedResponse,
    requestid: headers.get('X-Request-Id') ?? '',
  });
}
