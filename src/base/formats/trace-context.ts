import type { IncomingHttpHeaders } from 'node:http';

/** A traceparent (W3C Trace Context, section 3.2): version, trace, parent and flags. Later versions may add fields. */
export function isTraceparent(text: string): boolean {
  if (!/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/.test(text) || text.startsWith('ff')) return false;
  if (text.startsWith('00') && text.length !== 55) return false;
  return !/^0+$/.test(text.slice(3, 35)) && !/^0+$/.test(text.slice(36, 52));
}

/**
 * The traceparent of a request as this service passes it on: in version 00, the only one it knows (section 4.3).
 * Undefined if it is invalid. Node joins repeated headers with a comma, and a repeated traceparent is invalid.
 */
export function traceparentOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  if (typeof traceparent !== 'string' || traceparent.includes(',') || !isTraceparent(traceparent)) return undefined;
  return `00-${traceparent.slice(3, 55)}`;
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/** The caller's own id of the request, for the log only. Undefined unless it is short, visible ASCII. */
export function callerRequestIdOf({ 'x-request-id': id }: IncomingHttpHeaders): string | undefined {
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined;
}
