/**
 * The traceparent of W3C Trace Context, section 3.2: version, trace, parent and flags; later versions may have more.
 */
export function isTraceparent(text: string): boolean {
  if (!/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/.test(text) || text.startsWith('ff')) return false;
  if (text.startsWith('00') && text.length !== 55) return false;
  return !/^0+$/.test(text.slice(3, 35)) && !/^0+$/.test(text.slice(36, 52));
}
