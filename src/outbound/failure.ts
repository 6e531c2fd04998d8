/** Why there is no final response. Stable names: they are stored with attempts and counted in metrics. */
export type FailureReason =
  | 'name_not_found'
  | 'name_lookup_failed'
  | 'connection_refused'
  | 'connection_failed'
  | 'connection_closed'
  | 'tls_failed'
  | 'certificate_invalid'
  | 'deadline_exceeded'
  | 'not_http'
  | 'headers_too_large'
  | 'too_many_informational'
  | 'aborted';

/** Carries a reason through callbacks and streams. It never leaves this folder: progress.ts turns it into a value. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** The `code` of an error of the system, of OpenSSL or of undici. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown';
