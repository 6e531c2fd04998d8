import { versionsIn } from '../../base/formats/entity-tag.js';
import { sleep } from '../../base/until.js';
import { parseRetryAfter, retryDelayMs } from '../../consent/backoff.js';
import { AssentError, lostConnection } from './assent-error.js';

export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

/**
 * The signal is the caller's own: that of a Request stops following it once the Request is garbage-collected (Node 20 to
 * 24), and a stream that stays silent would then never end.
 */
export type Fetch = (request: Request, init: { signal: AbortSignal | null }) => Promise<Response>;

export interface SendSettings {
  token?: TokenSource | undefined;
  fetch: Fetch;
  language?: string | (() => string) | undefined;
  userAgent: string;
}

export interface Attempts {
  /** Attempts after the first. */
  retries: number;
  /** Whether carrying it out twice does no more than carrying it out once. */
  isRepeatable: boolean;
  signal: AbortSignal | null;
}

export type Send = (request: Request, attempts: Attempts) => Promise<Response>;

/** Proxies use all three while a process of the registry restarts. */
const unavailable: ReadonlySet<number> = new Set([502, 503, 504]);
/** A longer `Retry-After` is left to the caller. */
const backoff = { firstMs: 250, maxMs: 30_000 };

/**
 * Sends a request with a token, and repeats it: after a 429 always; after a 502, 503, 504 or a lost connection only if it
 * is repeatable. It waits as long as `Retry-After` says (RFC 9110, section 10.2.3). Throws AssentError `connection_lost`.
 */
export function createSend({ token, fetch, language, userAgent }: SendSettings): Send {
  return async (request, { retries, isRepeatable, signal }) => {
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt === retries;
      const current = isLast ? request : request.clone();
      // A token may have expired since the last attempt.
      const bearer = typeof token === 'function' ? await token() : token;
      if (bearer !== undefined) current.headers.set('Authorization', `Bearer ${bearer}`);
      const tongue = typeof language === 'function' ? language() : language;
      if (tongue !== undefined) current.headers.set('Accept-Language', tongue);
      // Browsers keep their own.
      if (userAgent !== '') current.headers.set('User-Agent', userAgent);
      // Strong, as the registry sent it, whatever a proxy made of it.
      const tags = current.headers.get('If-Match');
      if (tags !== null) current.headers.set('If-Match', versionsIn(tags));
      let delayMs = retryDelayMs(attempt + 1, backoff);
      try {
        const response = await fetch(current, { signal });
        const { headers, status } = response;
        if (isLast || !(status === 429 || (isRepeatable && unavailable.has(status)))) return response;
        const askedMs = parseRetryAfter(headers.get('Retry-After') ?? undefined, headers.get('Date') ?? undefined);
        if (askedMs !== undefined && askedMs > backoff.maxMs) return response;
        delayMs = askedMs ?? delayMs;
        await response.body?.cancel();
      } catch (error) {
        if (signal?.aborted) throw error;
        if (isLast || !isRepeatable) throw error instanceof AssentError ? error : lostConnection(error);
      }
      await sleep(delayMs, signal);
      signal?.throwIfAborted();
    }
  };
}
