import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Why there is no final response. Stable names: they are stored with attempts and counted in metrics. */
export type FailureReason =
  | 'name_not_found'
  | 'name_lookup_failed'
  | 'connection_refused'
  | 'connection_failed'
  | 'connection_closed'
  | 'tls_failed'
  | 'certificate_invalid'
  | 'client_certificate_required'
  | 'http2_only'
  | 'proxy_unreachable'
  | 'proxy_authentication'
  | 'proxy_malformed'
  | 'proxy_refused'
  | 'proxy_no_connection'
  | 'proxy_timeout'
  | 'deadline_exceeded'
  | 'not_http'
  | 'headers_too_large'
  | 'too_many_informational'
  | 'aborted';

/** The proxy of this side itself failed: no target could be reached through it, and none was. */
export const failuresOfProxy: ReadonlySet<string> = new Set<FailureReason>([
  'proxy_unreachable',
  'proxy_authentication',
  'proxy_malformed',
]);

/** Carries a reason through callbacks and streams. It never leaves this folder: progress.ts turns it into a value. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly reason: FailureReason;
  /** The code of Node, c-ares or OpenSSL behind it, for admins and the log. */
  readonly code: string | undefined;

  constructor(reason: FailureReason, detail: string, code?: string) {
    super(detail);
    this.reason = reason;
    this.code = code;
  }
}

/** The `code` of an error of the system, of OpenSSL or of undici. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown';

/** An alert about the certificate of this side, or about having none (RFC 8446, section 6.2). */
const wantsCertificate =
  /_ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REQUIRED|UNKNOWN|EXPIRED|REVOKED)|UNKNOWN_CA|ACCESS_DENIED)$/;

/** The certificate of this side was refused, or it has none. */
export const certificateRequired = (code: string): RequestFailure =>
  new RequestFailure('client_certificate_required', `The target wants a client certificate (${code}).`, code);

/** The evidence if the target sent no alert. */
export const closedAfterRequest = 'CLOSED_AFTER_CERTIFICATE_REQUEST';

/** Whether the target asked for a certificate: only then are there algorithms for its signature. For an open socket. */
export const asksForCertificate = (socket: Socket): boolean =>
  'getSharedSigalgs' in socket && (((socket as TLSSocket).getSharedSigalgs() as string[] | null) ?? []).length > 0;

/**
 * What an error of OpenSSL says about the other side. Up to TLS 1.2, a missing certificate is a plain handshake failure:
 * `isAgreed` tells that the two had agreed on a version and a cipher before. In TLS 1.3 the alert arrives after the
 * handshake, with the first read.
 */
export function failureOfTls(code: string, isAgreed: boolean): RequestFailure {
  if (wantsCertificate.test(code) || (isAgreed && code.endsWith('_ALERT_HANDSHAKE_FAILURE'))) {
    return certificateRequired(code);
  }
  if (code.endsWith('_ALERT_NO_APPLICATION_PROTOCOL')) {
    return new RequestFailure('http2_only', `The target refused HTTP/1.1 in the TLS handshake (${code}).`, code);
  }
  return new RequestFailure('tls_failed', `No TLS connection could be made or kept (${code}).`, code);
}
