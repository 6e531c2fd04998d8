import { setTimeout as sleep } from 'node:timers/promises';
import { RegistryRefusal, type RegistryClient } from './registry-client.js';

/** What a webhook answered to a delivery. */
export interface OutcomeReport {
  origin: string;
  sink: string;
  /** Of HTTP. */
  status: number;
  /** The header `Retry-After` as it came. */
  retryAfter?: string | undefined;
}

/**
 * Outcomes on their way to the registry: collected for a moment, sent in their order, kept while it is away. The oldest
 * are forgotten where there are too many.
 */
export interface Outcomes {
  report(outcome: OutcomeReport): void;
  /** Sends until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends what is left, once. */
  flush(signal: AbortSignal): Promise<void>;
}

const collectMs = 200;
const batchSize = 100;
const mostKept = 10_000;
const longestDelayMs = 10_000;

export function createOutcomes(
  client: RegistryClient,
  onFault: (error: unknown) => void,
  random: () => number,
): Outcomes {
  let kept: object[] = [];
  let wake = new AbortController();

  async function send(signal: AbortSignal): Promise<void> {
    while (kept.length > 0) {
      const batch = kept.slice(0, batchSize);
      const path = 'v1/deliveries/outcomes';
      try {
        await (await client.call({ method: 'POST', path, body: batch, signal })).dump();
      } catch (error) {
        // What the registry does not want will not be wanted later.
        const isUnwanted = error instanceof RegistryRefusal && [400, 404, 409, 413, 422].includes(error.status);
        if (!isUnwanted) throw error;
        onFault(error);
      }
      const sent = new Set(batch);
      kept = kept.filter((outcome) => !sent.has(outcome));
    }
  }

  return {
    report({ origin, sink, status, retryAfter }) {
      if (kept.length >= mostKept) kept.shift();
      kept.push({ origin, sink, status, ...(retryAfter === undefined ? {} : { retryafter: retryAfter }) });
      wake.abort();
    },

    async run(signal) {
      for (let failures = 0; !signal.aborted;) {
        if (kept.length === 0) {
          wake = new AbortController();
          await new Promise((resolve) => AbortSignal.any([signal, wake.signal]).addEventListener('abort', resolve));
        }
        const delayMs = failures === 0 ? collectMs : Math.min(collectMs * 2 ** failures, longestDelayMs);
        await sleep(delayMs * (0.5 + random()), undefined, { signal, ref: false }).catch(() => undefined);
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
