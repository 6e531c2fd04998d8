import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RegistryRefusal, backoffMs, type RegistryClient } from './registry-client.js';

/** What a webhook answered to a delivery. */
export interface OutcomeReport {
  origin: string;
  sink: string;
  /** Of HTTP, or `error` if no answer came. */
  status: number | 'error';
  /** The header `Retry-After` as it came; it counts with 429 and 503. */
  retryAfter?: string | null | undefined;
}

/**
 * Outcomes on their way to the registry: collected for a moment, sent in their order, kept while it is away. Of a sink
 * that answers alike again and again only one is kept, with their number; of too many the oldest are forgotten, and the
 * host is told of it once until they are sent again.
 */
export interface Outcomes {
  report(outcome: OutcomeReport): void;
  /** Sends until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends what is left, once. */
  flush(signal: AbortSignal): Promise<void>;
}

const collectMs = 200;
const batchSize = 500;
const maxKept = 10_000;
const longestDelayMs = 3_000;
/** Of the contract. */
const maxRetryAfterLength = 100;
const maxCount = 1_000_000;

interface Kept {
  origin: string;
  sink: string;
  status: number | 'error';
  /** RFC 3339. */
  at: string;
  retryafter?: string;
  count: number;
}

export function createOutcomes(
  client: RegistryClient,
  onFault: (error: unknown) => void,
  random: () => number,
  /** Milliseconds since 1970 by the clock of the registry, which tells how long ago an answer came. */
  now: () => number,
): Outcomes {
  const kept: Kept[] = [];
  /** Of each pair the last one, as long as it is kept and not on its way. */
  const lastOf = new Map<string, Kept>();
  /** What was sent and not answered: it is sent again as it was, so that nothing counts twice. */
  let underWay: { idempotencyKey: string; body: Kept[] } | undefined;
  let isForgetting = false;
  let wake = () => {};

  /** The oldest ones, which count no further from now on. */
  function take(most: number): Kept[] {
    const taken = kept.splice(0, most);
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
    onFault(new Error(`More than ${maxKept} outcomes wait for the registry: the oldest are forgotten.`));
  }

  /** Resolves at the next report, or when the signal fires. */
  function nextReport(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      wake = () => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
    });
  }

  async function send(signal: AbortSignal): Promise<void> {
    while (underWay !== undefined || kept.length > 0) {
      underWay ??= { idempotencyKey: randomUUID(), body: take(batchSize) };
      const path = 'v1/deliveries/outcomes';
      try {
        const answer = await client.call({ method: 'POST', path, ...underWay, signal });
        const results = (await answer.json()) as Array<{ accepted: boolean; faults?: Array<{ detail: string }> }>;
        for (const [place, { accepted, faults }] of results.entries()) {
          const { origin, sink } = underWay.body[place] as Kept;
          const why = faults?.map(({ detail }) => detail).join(' ');
          if (!accepted) onFault(new Error(`An outcome of ${origin} at ${sink} was not accepted. ${why}`));
        }
      } catch (error) {
        // What the registry does not want will not be wanted later.
        const isUnwanted = error instanceof RegistryRefusal && [400, 404, 409, 413, 422].includes(error.status);
        if (!isUnwanted) throw error;
        onFault(error);
      }
      underWay = undefined;
    }
    isForgetting = false;
  }

  return {
    report({ origin, sink, status, retryAfter }) {
      const pair = `${origin} ${sink}`;
      const at = new Date(now()).toISOString();
      // What is longer is no time, and would keep the registry from counting the answer.
      const retryafter = typeof retryAfter === 'string' ? retryAfter.slice(0, maxRetryAfterLength) : undefined;
      const last = lastOf.get(pair);
      const isAlike = last?.status === status && last.retryafter === retryafter;
      if (isAlike && last.count < maxCount) {
        Object.assign(last, { at, count: last.count + 1 });
        return;
      }
      if (kept.length >= maxKept) forgetOldest();
      const next: Kept = { origin, sink, status, at, count: 1 };
      if (retryafter !== undefined) next.retryafter = retryafter;
      lastOf.set(pair, next);
      kept.push(next);
      wake();
    },

    async run(signal) {
      for (let failures = 0; !signal.aborted;) {
        if (kept.length === 0 && underWay === undefined) await nextReport(signal);
        const delayMs = backoffMs(failures, collectMs, longestDelayMs, random);
        await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
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
