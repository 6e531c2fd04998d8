import { formatRate } from '../../consent/rate.js';
import { resultOf, type Caller } from './callback-call.js';

/**
 * Calls with `fetch`, as every runtime has it. No request of fetch can be bound to an address, so what a name resolves to
 * is up to the runtime: `callbacks.hosts` is required.
 */
export const fetchCaller: Caller = {
  checksAddresses: false,
  background: false,
  async call({ isSecure, authority, target }, { origin, rate }, { deadlineMs }, signal) {
    const url = `${isSecure ? 'https' : 'http'}://${authority}${target}`;
    const { pathname, search } = new URL(url);
    // Such as dots in the path: the sender gave another URL.
    if (pathname + search !== target) return { kind: 'rejected', detail: 'fetch would change its path' };
    const stop = new AbortController();
    const end = () => stop.abort();
    signal.addEventListener('abort', end);
    const timer = setTimeout(end, deadlineMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': formatRate(rate) },
        signal: stop.signal,
      });
      const { status, headers } = response;
      await response.body?.cancel().catch(() => undefined);
      return resultOf(status, headers.get('retry-after') ?? undefined, headers.get('date') ?? undefined);
    } catch (error) {
      const why = stop.signal.aborted ? `there was no response within ${deadlineMs} ms` : reasonOf(error);
      return { kind: 'failed', detail: why, retryAfterMs: undefined };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  },
};

/** Never the message: that of Deno has the URL, which is a secret. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: unknown; cause?: { code?: unknown } };
  return `fetch failed with ${String(cause?.code ?? name)}`;
}
