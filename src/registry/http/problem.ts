import { RegistryError, type ErrorCode, type Fault } from '../../base/errors.js';
import type { Operation } from '../../base/contract/contract.js';
import { requestTexts } from '../../base/texts/requests.js';
import { textIn, textOf, type Language } from '../../base/texts/text.js';
import { problemTitles } from '../../base/texts/problems.js';
import type { components } from '../../base/contract/contract.gen.js';

type Problem = components['schemas']['Problem'];

/** The status of each code. A new code does not compile until it has one. */
const statuses: Record<ErrorCode, number> = {
  unauthenticated: 401,
  keys_unavailable: 503,
  scope_missing: 403,
  invalid_request: 400,
  invalid_subscription: 400,
  invalid_event: 400,
  event_too_large: 413,
  body_too_large: 413,
  media_type_unsupported: 415,
  headers_too_large: 431,
  request_timeout: 408,
  not_found: 404,
  method_not_allowed: 405,
  origin_not_found: 404,
  origin_exists: 409,
  default_origin_exists: 409,
  origin_in_use: 409,
  no_default_origin: 409,
  quota_exceeded: 403,
  subscription_not_allowed: 403,
  subscription_not_found: 404,
  handshake_not_found: 404,
  grant_not_found: 404,
  block_not_found: 404,
  not_permitted: 403,
  rate_used_up: 429,
  lease_not_found: 404,
  match_too_expensive: 422,
  filters_too_expensive: 403,
  callback_unknown: 404,
  callback_undecided: 409,
  callback_rate_malformed: 400,
  precondition_failed: 412,
  etag_altered: 412,
  idempotency_key_reused: 409,
  suspended_by_admin: 403,
  grant_revoked: 409,
  blocked: 403,
  conflict: 409,
  database_unavailable: 503,
  database_read_only: 503,
  read_only: 503,
  revision_not_reached: 503,
  cursor_too_old: 410,
  cursor_of_other_history: 410,
  too_many_readers: 429,
  too_many_handshakes: 429,
  feed_full: 503,
  index_loading: 503,
  stopping: 503,
  internal: 500,
};

/** RFC 9457. The cause of an error goes to the log and never into the problem. */
export function problemOf(error: RegistryError, requestId: string, language: Language = 'en'): Problem {
  return {
    type: `urn:problem-type:assent:${error.code}`,
    title: problemTitles[error.code][language],
    status: statuses[error.code],
    detail: textIn(error.detail, language),
    code: error.code,
    requestid: requestId,
    ...(error.faults.length > 0 ? { faults: faultsIn(error.faults, language) } : {}),
  };
}

export function faultsIn(faults: readonly Fault[], language: Language): Array<Fault<string>> {
  return faults.map(({ pointer, rule, detail }) => ({ pointer, rule, detail: textIn(detail, language) }));
}

/**
 * What a request would have to send instead of a body that is not supported (RFC 9110, section 15.5.16): another media
 * type, for a patch in `Accept-Patch` too (RFC 5789, section 3.1), or no encoding. Only one of the two is the cause.
 */
export function acceptHeaders(error: RegistryError, operation: Pick<Operation, 'mediaTypes' | 'method'> | undefined) {
  if (error.code !== 'media_type_unsupported') return {};
  if (error.faults.some(({ pointer }) => pointer === 'header/content-encoding'))
    return { 'Accept-Encoding': 'identity' };
  const accepted = operation?.mediaTypes.join(', ') ?? '';
  if (accepted === '') return {};
  return { Accept: accepted, ...(operation?.method === 'patch' && { 'Accept-Patch': accepted }) };
}

/**
 * Faults of a query with a hint where a plus sign was read as a blank, as in `2026-11-20T12:00:00+01:00`: forms write
 * blanks so (WHATWG URL, section 5.1), and people write plus signs so.
 */
export function withPlusHints(error: RegistryError, query: string): RegistryError {
  if (!query.includes('+') || error.faults.length === 0) return error;
  const names = new Set(query.split('&').flatMap((part) => (part.includes('+') ? [part.split('=')[0]] : [])));
  const faults = error.faults.map((fault) => {
    if (!names.has(fault.pointer.replace(/^query\//, ''))) return fault;
    const detail = textOf((language) => `${textIn(fault.detail, language)} ${requestTexts.plus[language]}`);
    return { ...fault, detail };
  });
  const { code, detail, cause, denial, retryAfterSeconds } = error;
  return new RegistryError(code, detail, {
    faults,
    cause,
    ...(denial !== undefined && { denial }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

export function problemHeaders(error: RegistryError): Record<string, string> {
  return {
    ...(error.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(error.retryAfterSeconds) }),
    ...(error.denial === undefined ? {} : { 'Assent-Denial': error.denial }),
    // RFC 6750 section 3.1: no error code if the request had no token.
    ...(error.code === 'unauthenticated'
      ? {
          'WWW-Authenticate': error.faults.some(({ rule }) => rule === 'token_missing')
            ? 'Bearer realm="assent"'
            : 'Bearer realm="assent", error="invalid_token"',
        }
      : {}),
    ...(error.code === 'scope_missing'
      ? { 'WWW-Authenticate': 'Bearer realm="assent", error="insufficient_scope"' }
      : {}),
  };
}
