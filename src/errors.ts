/**
 * Errors that a caller of the service can do something about. `code` is stable and public, `message` is a sentence for
 * people, `faults` name the places. What HTTP makes of a code is written in http/problem.ts and nowhere else.
 */
export interface Fault {
  /** JSON pointer into the body (`/sink`), or `query/limit`, `header/prefer`, `path/id` outside of it. */
  pointer: string;
  /** Stable name of the rule that was broken. */
  rule: string;
  detail: string;
}

export const errorCodes = [
  'unauthenticated',
  'keys_unavailable',
  'scope_missing',
  'invalid_request',
  'invalid_subscription',
  'invalid_event',
  'event_too_large',
  'body_too_large',
  'media_type_unsupported',
  'headers_too_large',
  'request_timeout',
  'not_found',
  'method_not_allowed',
  'origin_not_found',
  'origin_exists',
  'default_origin_exists',
  'origin_in_use',
  'no_default_origin',
  'subscription_not_found',
  'handshake_not_found',
  'grant_not_found',
  'not_permitted',
  'lease_not_found',
  'callback_unknown',
  'callback_rate_malformed',
  'precondition_failed',
  'idempotency_key_reused',
  'suspended_by_admin',
  'grant_revoked',
  'conflict',
  'database_unavailable',
  'read_only',
  'revision_not_reached',
  'cursor_too_old',
  'cursor_of_other_history',
  'too_many_readers',
  'feed_full',
  'index_loading',
  'stopping',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { faults?: readonly Fault[]; cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * What whoever runs the program can put right: a setting, a file, a port that is taken. The message is for people and
 * names it; no stack goes with it.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
