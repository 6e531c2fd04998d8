import { request } from 'undici';
import { sleep, until } from '../../../base/until.js';
import { type SentCallback, type Exchange, isAsking, isDelivery, linesOf, type Reply } from './exchange.js';
import { accepted, type Stage, type PlayedWebhook } from './webhooks.js';

/** How long the kit waits for what may still come, in milliseconds, and what it asks for in seconds. */
export interface Pace {
  /** Before a callback: nothing may arrive. Starts anew with each request to the kit. */
  pauseMs: number;
  /** At most, if requests never cease. */
  longestPauseMs: number;
  /** A sender that waits for responses sends nothing more after this time. */
  quietMs: number;
  retryAfterSeconds: number;
}

export const usualPace: Pace = { pauseMs: 3_000, longestPauseMs: 12_000, quietMs: 1_000, retryAfterSeconds: 8 };
/** A sender may respond to the callback only after the response to OPTIONS. */
const callPatienceMs = 3_000;
const quietLooks = 10;

/** One webhook of a run, with what has happened to it. */
export interface Played extends PlayedWebhook {
  url: string;
  exchanges: Exchange[];
  calls: SentCallback[];
  /** See Stage. */
  holdUntil: number | undefined;
  /** When the kit refused an event here, the sender had stopped to send and waited for the response. */
  wasWaiting: boolean;
}

/** What all webhooks of a run share. */
export interface Scenario {
  pace: Pace;
  signal: AbortSignal;
  /** When the last request arrived, at whatever webhook. */
  lastAt: number;
  targetOf: (name: string) => string;
  /** How long a sender may take to respond to a call of the callback, in milliseconds. */
  callMs: number;
  /** Work that the run waits for. */
  work: Set<Promise<void>>;
}

/**
 * Resolves with true when nothing has come for `quietMs`. Otherwise with false, after `longestMs` or with the signal. It
 * looks ten times in this time, so that a machine that stands still for a while does not count as a sender that does.
 */
export async function untilNothingSince(
  last: () => number,
  quietMs: number,
  longestMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const endAt = performance.now() + longestMs;
  let since = last();
  let looks = 0;
  while (looks < quietLooks) {
    if (performance.now() > endAt || signal.aborted) return false;
    await sleep(quietMs / quietLooks, signal);
    looks = last() === since ? looks + 1 : 0;
    since = last();
  }
  return true;
}

/** What a webhook returns, and the function that plays it. The exchange is recorded before. */
export function createPlay(played: Played, scene: Scenario): (exchange: Exchange) => Promise<Reply> {
  const { pace, signal } = scene;
  let held: Promise<boolean> | undefined;

  function later(work: () => Promise<void>): void {
    const all: Promise<void> = work().finally(() => scene.work.delete(all));
    scene.work.add(all);
  }

  const stage: Stage = {
    targetOf: scene.targetOf,
    retryAfterSeconds: pace.retryAfterSeconds,
    get holdUntil() {
      return played.holdUntil;
    },
    set holdUntil(at) {
      played.holdUntil = at;
    },
    async untilQuiet() {
      await untilNothingSince(() => scene.lastAt, pace.pauseMs, pace.longestPauseMs, signal);
    },
    async untilHeld() {
      const last = () => played.exchanges.at(-1)?.at ?? 0;
      held ??= untilNothingSince(last, pace.quietMs, pace.longestPauseMs, signal);
      played.wasWaiting = await held;
    },
    later,
    isCalled: () => played.calls.length > 0,
    async call(method, headers = {}) {
      if (signal.aborted) return;
      const url = played.exchanges.flatMap((each) => linesOf(each, 'webhook-request-callback')).at(-1) ?? '';
      const call: SentCallback = { at: performance.now(), method, url, headers };
      played.calls.push(call);
      const calling = request(url, { method, headers, signal })
        .then(async ({ statusCode, body }) => {
          call.status = statusCode;
          await body.dump();
        })
        .catch((error: Error) => {
          call.failure = signal.aborted ? 'there was no response until the end of the run' : error.message;
          // Nothing can be said about a sender that had no time to respond.
          if (signal.aborted && performance.now() - call.at < scene.callMs) {
            played.calls.splice(played.calls.indexOf(call), 1);
          }
        });
      later(() => calling);
      await until(calling, { ms: callPatienceMs, signals: [signal], ref: false });
    },
  };

  return async (exchange) => {
    if (isAsking(exchange)) return played.onOptions(exchange, stage);
    if (isDelivery(exchange)) return (await played.onDelivery?.(exchange, stage)) ?? accepted;
    return { status: 405, headers: { Allow: 'POST, OPTIONS' } };
  };
}
