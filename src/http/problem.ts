import type { ErrorCode, RegistryError } from '../errors.js';
import type { components } from './contract.gen.js';

type Problem = components['schemas']['Problem'];

/** What HTTP makes of each code. A new code does not compile until it stands here. */
const statuses: Record<ErrorCode, { status: number; title: string }> = {
  unauthenticated: { status: 401, title: 'The request carries no token that holds.' },
  keys_unavailable: { status: 503, title: 'The keys that tokens are checked with cannot be had at present.' },
  scope_missing: { status: 403, title: 'The token does not allow this.' },
  invalid_request: { status: 400, title: 'The request breaks a rule.' },
  invalid_subscription: { status: 400, title: 'The subscription breaks a rule.' },
  invalid_event: { status: 400, title: 'The event breaks a rule.' },
  event_too_large: { status: 413, title: 'The event is larger than its profile allows.' },
  body_too_large: { status: 413, title: 'The body is too large.' },
  media_type_unsupported: { status: 415, title: 'The body has another media type than the operation takes.' },
  headers_too_large: { status: 431, title: 'The headers are too large.' },
  request_timeout: { status: 408, title: 'The request took too long to come.' },
  not_found: { status: 404, title: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, title: 'The resource does not have this method.' },
  origin_not_found: { status: 404, title: 'There is no such origin.' },
  origin_exists: { status: 409, title: 'The origin is registered already.' },
  default_origin_exists: { status: 409, title: 'The tenant has another default origin.' },
  origin_in_use: { status: 409, title: 'Subscriptions name this origin.' },
  no_default_origin: { status: 409, title: 'The tenant has no default origin.' },
  quota_exceeded: { status: 403, title: 'The tenant has as many as it may have.' },
  subscription_not_found: { status: 404, title: 'There is no such subscription.' },
  handshake_not_found: { status: 404, title: 'There is no such handshake.' },
  grant_not_found: { status: 404, title: 'There is no such grant.' },
  not_permitted: { status: 403, title: 'The origin may not send to this sink.' },
  lease_not_found: { status: 404, title: 'There is no such lease.' },
  match_too_expensive: { status: 422, title: 'The filters take too many steps for this message.' },
  filters_too_expensive: { status: 403, title: 'The filters cost more than they may.' },
  callback_unknown: { status: 404, title: 'This link is invalid or has expired.' },
  callback_rate_malformed: { status: 400, title: 'WebHook-Allowed-Rate is malformed.' },
  precondition_failed: { status: 412, title: 'A condition of the request does not hold.' },
  idempotency_key_reused: { status: 409, title: 'The Idempotency-Key was used for another request.' },
  suspended_by_admin: { status: 403, title: 'An admin suspended the subscription.' },
  grant_revoked: { status: 409, title: 'An admin revoked the grant.' },
  conflict: { status: 409, title: 'The present state does not allow this.' },
  database_unavailable: { status: 503, title: 'The database does not answer at present.' },
  database_read_only: { status: 503, title: 'The database takes no changes at present.' },
  read_only: { status: 503, title: 'This process only reads.' },
  revision_not_reached: { status: 503, title: 'This revision is not known here yet.' },
  cursor_too_old: { status: 410, title: 'Changes after this cursor have been forgotten.' },
  cursor_of_other_history: { status: 410, title: 'This cursor belongs to another history.' },
  too_many_readers: { status: 429, title: 'The tenant has too many readers.' },
  feed_full: { status: 503, title: 'This process has too many readers.' },
  index_loading: { status: 503, title: 'The index is being loaded.' },
  stopping: { status: 503, title: 'The service is stopping.' },
  internal: { status: 500, title: 'The service has a fault.' },
};

/** RFC 9457. The internal cause of an error is for the log and never part of it. */
export function problemOf(error: RegistryError, requestId: string): Problem {
  const { status, title } = statuses[error.code];
  return {
    type: `urn:problem-type:assent:${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    requestid: requestId,
    ...(error.faults.length > 0 ? { faults: [...error.faults] } : {}),
  };
}

export function problemHeaders(error: RegistryError): Record<string, string> {
  return {
    ...(error.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(error.retryAfterSeconds) }),
    // RFC 6750 section 3.1: where no token was shown, no error is named.
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
