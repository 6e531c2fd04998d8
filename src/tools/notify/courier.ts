import { sleep } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import type { DeliveryResult, Sender } from '../../kits/sender/index.js';
import type { OutboxEntry, Outbox } from './outbox.js';

/**
 * Delivers the entries of the outbox: to each webhook one at a time, in their order, and to all webhooks at once, so that
 * one that is slow or away holds back no other. An entry is retried until the webhook accepts or rejects it, until the
 * subscription that it is for is gone, or until it is too old. What is given up is reported, and the next one follows.
 */
export interface Courier {
  add(entries: readonly OutboxEntry[]): void;
  /** Resolves when the signal has fired and nothing is in flight. */
  stopped(): Promise<void>;
}

export interface CourierSettings {
  origin: string;
  sender: Pick<Sender, 'matchWithCredentials' | 'deliver'>;
  outbox: Pick<Outbox, 'done'>;
  /** Whether any of these subscriptions still exists. */
  isWanted: (subscriptions: readonly string[]) => boolean;
  /** How long an entry is tried. */
  keepMs: number;
  firstDelayMs: number;
  onDelivered: (entry: OutboxEntry) => void;
  onDropped: (entry: OutboxEntry, why: Dropped) => void;
  onFault: (error: unknown) => void;
  signal: AbortSignal;
}

export type Dropped = 'too_old' | 'unsubscribed' | 'overflow' | DeliveryResult['outcome'];

/** Entries for one webhook, and for all: the oldest are dropped beyond these, so that memory and disk are bounded. */
const max = { ofOne: 10_000, ofAll: 50_000 };
const longestDelayMs = 300_000;
/** A hold may be ended, and consent may come back, at any time. */
const longestLookMs = 60_000;
/** After the usual delay. */
const again: { afterMs?: number } = {};
/** Another attempt would give the same result. */
const final: ReadonlySet<string> = new Set(['gone', 'mediarefused', 'redirected', 'rejected']);

export function createCourier(settings: CourierSettings): Courier {
  const { origin, sender, outbox, isWanted, keepMs, firstDelayMs, onDelivered, onDropped, onFault, signal } = settings;
  const lanes = new Map<string, OutboxEntry[]>();
  const running = new Set<Promise<void>>();
  let count = 0;

  function drop(entry: OutboxEntry, why: Dropped): void {
    outbox.done(entry);
    onDropped(entry, why);
  }

  /** How it ended; or when to try again, in milliseconds. */
  async function attempt(
    entry: OutboxEntry,
  ): Promise<DeliveryResult['outcome'] | 'unsubscribed' | { afterMs?: number }> {
    const match = await sender.matchWithCredentials(entry.event, { origin });
    // The subscriptions are those of the one subscriber whom the event is for.
    const own = ({ sink, subscriptions }: { sink: string; subscriptions: string[] }) =>
      sink === entry.sink && subscriptions.some((id) => entry.subscriptions.includes(id));
    const [to] = match.sinks.filter(own);
    // No consent at the moment, or the subscription is suspended, or its filters changed.
    if (to === undefined) return isWanted(entry.subscriptions) ? again : 'unsubscribed';
    const [result] = await sender.deliver(entry.event, { origin, sinks: [to] }, { attempts: 1, signal });
    if (result === undefined) return again;
    if (result.outcome === 'delivered' || final.has(result.outcome)) return result.outcome;
    if (result.helduntil === undefined) return again;
    return { afterMs: Math.max(50, Date.parse(result.helduntil) - Date.now()) };
  }

  async function run(sink: string, lane: OutboxEntry[]): Promise<void> {
    let failures = 0;
    for (let entry = lane[0]; entry !== undefined && !signal.aborted; entry = lane[0]) {
      const isOld = Date.now() - entry.queuedAt > keepMs;
      const outcome = isOld
        ? ('too_old' as const)
        : await attempt(entry).catch((error: unknown) => {
            if (!signal.aborted) onFault(error);
            return again;
          });
      if (signal.aborted) return;
      if (typeof outcome === 'object') {
        failures += 1;
        const usualMs = retryDelayMs(failures, { firstMs: firstDelayMs, maxMs: longestDelayMs });
        const delayMs = outcome.afterMs === undefined ? usualMs : Math.min(outcome.afterMs, longestLookMs);
        await sleep(delayMs, signal);
        continue;
      }
      failures = 0;
      // It may have been dropped meanwhile.
      if (lane[0] !== entry) continue;
      lane.shift();
      count -= 1;
      if (outcome !== 'delivered') drop(entry, outcome);
      else {
        outbox.done(entry);
        onDelivered(entry);
      }
    }
    if (!signal.aborted) lanes.delete(sink);
  }

  function shorten(lane: OutboxEntry[]): void {
    const oldest = lane.shift();
    if (oldest === undefined) return;
    count -= 1;
    drop(oldest, 'overflow');
  }

  return {
    add(entries) {
      for (const entry of entries) {
        const present = lanes.get(entry.sink);
        const lane = present ?? [];
        lane.push(entry);
        count += 1;
        if (present === undefined) {
          lanes.set(entry.sink, lane);
          const work = run(entry.sink, lane);
          running.add(work);
          void work.finally(() => running.delete(work));
        }
        if (lane.length > max.ofOne) shorten(lane);
        if (count > max.ofAll) {
          const longest = [...lanes.values()].reduce((a, b) => (b.length > a.length ? b : a), lane);
          shorten(longest);
        }
      }
    },
    async stopped() {
      await Promise.all(running);
    },
  };
}
