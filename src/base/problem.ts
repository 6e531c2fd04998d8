import { helpWithProblem } from './help.js';
import { RegistryError, type Fault } from './errors.js';
import type { Operation } from './contract/contract.js';
import { requestTexts } from './texts/requests.js';
import { textIn, textOf, type Language } from './texts/text.js';
import { problems } from './problems.js';
import type { components } from './contract/contract.gen.js';

type Problem = components['schemas']['Problem'];

/**
 * RFC 9457. The cause of an error goes to the log and never into the problem. `registry` is the public URL of a registry, which
 * serves help; undefined if the problem comes from another program.
 */
export function problemOf(
  error: RegistryError,
  requestId: string,
  language: Language = 'en',
  registry?: string,
): Problem {
  return {
    type: `urn:problem-type:assent:${error.code}`,
    title: problems[error.code].title[language],
    status: problems[error.code].status,
    detail: textIn(error.detail, language),
    code: error.code,
    requestid: requestId,
    ...(registry === undefined ? {} : { help: helpWithProblem(registry, error.code) }),
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
