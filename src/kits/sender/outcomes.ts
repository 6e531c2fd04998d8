import { randomUUID } from 'node:crypto';
import { sleep, until } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { AssentError } from '../client/assent-error.js';
import type { Client } from '../client/create-client.js';

/** A webhook's response to a delivery. */
export interface OutcomeReport {
  origin: string;
  sink: string;
  /** The HTTP status code; undefined if there was no response. */
  statusCode: number | undefined;
  /** The `Retry-After` header as received; it counts with 429 and 503. */
  retryAfter?: string | null | undefined;
}

/**
 * The queue of outcomes: batched, sent in order, kept while the registry is unreachable. Equal outcomes in a row of one
 * sink are one entry with a count. When the queue is full, the oldest are dropped, and `onFault` is called once until the
 * queue drains.
 */
export interface Outcomes {
  report(outcome: OutcomeReport): void;
  /** Sends until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends the queue, once. */
  flush(signal: AbortSignal): Promise<void>;
}

/** Outcomes are collected before each report; longer after a failure. */
const backoff = { firstMs: 200, maxMs: 3_000 };
const batchSize = 500;
const maxKept = 10_000;
/** Limits of the contract. */
const maxRetryAfterLength = 100;
const maxCount = 1_000_000;

interface Kept {
  origin: string;
  sink: string;
  statuscode?: number;
  /** RFC 3339. */
  at: string;
  retryafter?: string;
  count: number;
}

export function createOutcomes(
  client: Client,
  onFault: (error: unknown) => void,
  /** Milliseconds since 1970 by the registry's clock, which dates the responses. */
  now: () => number,
): Outcomes {
  const kept: Kept[] = [];
  /** The last queued outcome of each pair. */
  const lastOf = new Map<string, Kept>();
  /** Sent but not acknowledged: retried unchanged, so that nothing counts twice. */
  let underWay: { key: string; body: Kept[] } | undefined;
  let isForgetting = false;
  let wake = () => {};

  /** Removes the oldest ones; no more equal outcomes are added to them. */
  function take(max: number): Kept[] {
    const taken = kept.splice(0, max);
    for (const one of taken) {
      const pair = `${one.origin} ${one.sink}`;
      if (lastOf.get(pair) === one) lastOf.delete(pair);
    }
    return taken;
  }

  function forgetOldest(): void {
    take(1);
    if (isForgetting) return;
    isForgetting = true;
    onFault(new Error(`More than ${maxKept} outcomes are queued. The oldest ones are dropped.`));
  }

  async function send(signal: AbortSignal): Promise<void> {
    while (underWay !== undefined || kept.length > 0) {
      underWay ??= { key: randomUUID(), body: take(batchSize) };
      try {
        const header = { 'Idempotency-Key': underWay.key };
        const { data } = await client.POST('/deliveries/outcomes', { params: { header }, body: underWay.body, signal });
        for (const [place, { accepted, faults }] of data.entries()) {
          const { origin, sink } = underWay.body[place] as Kept;
          const why = faults?.map(({ detail }) => detail).join(' ');
          if (!accepted) onFault(new Error(`An outcome of ${origin} at ${sink} was not accepted. ${why}`));
        }
      } catch (error) {
        // A retry of a rejected report would be rejected again.
        const isUnwanted = error instanceof AssentError && [400, 404, 409, 413].includes(error.status);
        if (!isUnwanted) throw error;
        onFault(error);
      }
      underWay = undefined;
    }
    isForgetting = false;
  }

  return {
    report({ origin, sink, statusCode, retryAfter }) {
      const pair = `${origin} ${sink}`;
      const at = new Date(now()).toISOString();
      // A longer value is not a time, and the registry would reject the report.
      const retryafter = typeof retryAfter === 'string' ? retryAfter.slice(0, maxRetryAfterLength) : undefined;
      const last = lastOf.get(pair);
      const isAlike = last !== undefined && last.statuscode === statusCode && last.retryafter === retryafter;
      if (isAlike && last.count < maxCount) {
        Object.assign(last, { at, count: last.count + 1 });
        return;
      }
      if (kept.length >= maxKept) forgetOldest();
      const next: Kept = { origin, sink, at, count: 1 };
      if (statusCode !== undefined) next.statuscode = statusCode;
      if (retryafter !== undefined) next.retryafter = retryafter;
      lastOf.set(pair, next);
      kept.push(next);
      wake();
    },

    async run(signal) {
      for (let failures = 0; !signal.aborted;) {
        if (kept.length === 0 && underWay === undefined) {
          await until(new Promise<void>((resolve) => (wake = resolve)), { signals: [signal] });
        }
        await sleep(retryDelayMs(failures + 1, backoff), signal, { ref: false });
        try {
          await send(signal);
          failures = 0;
        } catch (error) {
          if (signal.aborted) return;
          failures += 1;
          onFault(error);
        }
      }
    },
    flush: send,
  };
}
