import { formatRate } from '../../consent/rate.js';
import { acceptKeys, resultOf, type Caller, type CallSettings, type ReadResult } from './callback-call.js';
import type { Callback } from './callback-url.js';
import { readAll } from './fetch.js';

/**
 * Calls with `fetch`, as every runtime has it. No request of fetch can be bound to an address, so what a name resolves to
 * is up to the runtime: `callbacks.hosts` is required.
 */
export const fetchCaller: Caller = {
  checksAddresses: false,
  background: false,
  async call(url, { origin, rate }, settings, signal) {
    const headers = { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': formatRate(rate) };
    const result = await ask(url, settings, { method: 'POST', headers }, signal, async (response) => {
      await response.body?.cancel().catch(() => undefined);
      const { status, headers: answer } = response;
      return resultOf(status, answer.get('retry-after') ?? undefined, answer.get('date') ?? undefined);
    });
    if (typeof result !== 'string') return result;
    return result === otherUrl
      ? { kind: 'rejected', detail: result }
      : { kind: 'failed', detail: result, retryAfterMs: undefined };
  },
  async read(url, settings, maxBytes) {
    const asked = { method: 'GET', headers: acceptKeys };
    const result = await ask<ReadResult>(url, settings, asked, undefined, async (response) => {
      const { status, headers } = response;
      const body = status === 200 ? await readAll(response.body, maxBytes) : undefined;
      if (body instanceof Uint8Array) {
        const [cacheControl, coding] = ['cache-control', 'content-encoding'].map(
          (name) => headers.get(name) ?? undefined,
        );
        return { kind: 'read', body, cacheControl, coding };
      }
      if (status !== 200) await response.body?.cancel().catch(() => undefined);
      return {
        kind: 'failed',
        detail: status === 200 ? `it has more than ${maxBytes} bytes` : `it returned ${status}`,
      };
    });
    return typeof result === 'string' ? { kind: 'failed', detail: result } : result;
  },
};

/** A path with dots, for example: the sender gave another URL. */
const otherUrl = 'fetch would change its path';

/** One request, without redirects; a text says why there was no response. */
async function ask<T>(
  { isSecure, authority, target }: Callback,
  { deadlineMs }: CallSettings,
  asked: { method: string; headers: Record<string, string> },
  signal: AbortSignal | undefined,
  answered: (response: Response) => Promise<T>,
): Promise<T | string> {
  const url = `${isSecure ? 'https' : 'http'}://${authority}${target}`;
  const { pathname, search } = new URL(url);
  if (pathname + search !== target) return otherUrl;
  const stop = new AbortController();
  const end = () => stop.abort();
  signal?.addEventListener('abort', end);
  const timer = setTimeout(end, deadlineMs);
  try {
    return await answered(await fetch(url, { ...asked, redirect: 'manual', signal: stop.signal }));
  } catch (error) {
    return stop.signal.aborted ? `there was no response within ${deadlineMs} ms` : reasonOf(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Never the message: that of Deno has the URL, which is a secret. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: unknown; cause?: { code?: unknown } };
  return `fetch failed with ${String(cause?.code ?? name)}`;
}
