import { parseRetryAfter } from '../../consent/backoff.js';
import type { Rate } from '../../consent/rate.js';
import { directoryMediaType } from '../../signatures/request-signature.js';
import type { Callback, CallbackGuard } from './callback-url.js';

/**
 * `confirmed`: 2xx. `rejected`: a repetition would change nothing. `failed`: it may, after `retryAfterMs` if the
 * sender named it. `detail` is for the application's log, and does not repeat the URL, which is a secret.
 */
export type CallResult =
  | { kind: 'confirmed' }
  | { kind: 'rejected'; detail: string }
  | { kind: 'failed'; detail: string; retryAfterMs: number | undefined };

/** A document: at most `maxBytes`, or `failed` with why there is none. `coding`: what the runtime may have left compressed. */
export type ReadResult =
  | { kind: 'read'; body: Uint8Array; cacheControl: string | undefined; coding?: string | undefined }
  | { kind: 'failed'; detail: string };

export interface CallSettings {
  guard: CallbackGuard;
  /** PEM of an authority that is trusted instead of the public ones. */
  ca: string | undefined;
  /** Milliseconds for one call, with the look-up of the name. */
  deadlineMs: number;
}

/** What sends requests of the webhook itself, which depends on the runtime. */
export interface Caller {
  /**
   * Gives consent: one POST request with the rate (webhook specification, sections 4.1.3 and 4.2.2). Follows no redirect,
   * and reads nothing of the response but its head. Never rejects.
   */
  call(
    url: Callback,
    consent: { origin: string; rate: Rate },
    settings: CallSettings,
    signal: AbortSignal,
  ): Promise<CallResult>;
  /** Reads a document with a 200. Follows no redirect. Never rejects. */
  read(url: Callback, settings: CallSettings, maxBytes: number): Promise<ReadResult>;
  /** It connects only to addresses that the guard has seen, with the authorities that the settings name. */
  checksAddresses: boolean;
  /** The process goes on after a response. */
  background: boolean;
}

export const acceptKeys = {
  Accept: `${directoryMediaType}, application/jwk-set+json, application/json`,
  // Not every runtime unpacks what it gets.
  'Accept-Encoding': 'identity',
};

/** Statuses of the 4xx that ask for a repetition. */
const temporary = [408, 425, 429];

export function resultOf(status: number, retryAfter: string | undefined, date: string | undefined): CallResult {
  if (status >= 200 && status < 300) return { kind: 'confirmed' };
  const detail = `it returned ${status}`;
  if (status < 500 && !temporary.includes(status)) return { kind: 'rejected', detail };
  return { kind: 'failed', detail, retryAfterMs: parseRetryAfter(retryAfter, date) };
}
