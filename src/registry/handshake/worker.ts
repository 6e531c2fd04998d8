import { setMaxListeners } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { until } from '../../base/until.js';
import type { Adopt, Begun, Claim, Settled } from '../../consent/handshake.js';
import { isInNetworks } from '../../outbound/address.js';
import type { SafeRequest } from '../../outbound/safe-request.js';
import { blockedMs } from './next-move.js';
import type { Queue } from './queue.js';
import type { Settle } from './settle.js';

/**
 * Sends handshakes: those that a request has just queued, immediately, and those that are due, by polling. Claim, send,
 * settle. No transaction is open during the request, and a response counts only while the claim is still ours.
 */
export interface Worker {
  /** Polls until the signal fires, then finishes what is in flight and hands back what gets no response in time. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends it now. Returns when it is settled, when the time is over or when a signal fires, whichever is first. */
  attend(handshake: string, waitMs: number, signals: readonly AbortSignal[]): Promise<void>;
  adopt: Adopt;
  /** Runs until nothing is due and nothing is in flight. */
  drain(): Promise<void>;
  inFlight(): number;
  /** Since the last poll that reached the database; Infinity before the first. */
  secondsSincePoll(): number;
}

export interface WorkerSettings {
  queue: Queue;
  /** Milliseconds to wait before this network may be dialled; undefined for no wait. */
  admitNetwork: (network: string) => Promise<number | undefined>;
  request: SafeRequest;
  settle: Settle;
  maxInFlight: number;
  pollMs: number;
  /** How long handshakes in flight may continue after the signal. */
  stopMs: number;
  onOutcome: (claim: Claim, settled: Settled, seconds: number) => void;
  onFault: (error: unknown, claim?: Claim) => void;
}

export function createWorker(settings: WorkerSettings): Worker {
  const { queue, admitNetwork, request, settle, maxInFlight, pollMs, stopMs, onOutcome, onFault } = settings;
  /** Handshakes in flight, by id, with their outcome. */
  const running = new Map<string, Promise<Settled | undefined>>();
  const claiming = new Set<Promise<unknown>>();
  const giveUp = new AbortController();
  // Every request in flight listens to it, and Node warns at more than ten listeners.
  setMaxListeners(0, giveUp.signal);
  let isStopping = false;
  let polledAt = -Infinity;

  async function converse(begun: Begun): Promise<Settled | undefined> {
    const { claim, attempt } = begun;
    const startedAt = performance.now();
    if (giveUp.signal.aborted) {
      await queue.handBack(begun, 0, 'aborted');
      return undefined;
    }
    let isBlocked = false;
    const reply = await request({
      url: claim.sink,
      method: 'OPTIONS',
      headers: attempt.headers,
      signal: giveUp.signal,
      admit: async (network, address) => {
        isBlocked = isInNetworks(address, claim.blockedNetworks);
        return isBlocked ? blockedMs : admitNetwork(network);
      },
    });
    if (reply.kind === 'held') {
      await queue.handBack(begun, reply.retryAfterMs, isBlocked ? 'blocked' : 'held_by_budget');
      return undefined;
    }
    const settled = await settle(begun, reply);
    onOutcome(claim, settled, (performance.now() - startedAt) / 1_000);
    if (settled.isDueNow && !isStopping) {
      // It reuses the place of this attempt.
      const { begun: again } = await queue.claim(1, [claim.id]);
      again.forEach(start);
    }
    return settled;
  }

  /**
   * It counts as in flight from now on, so that a stop waits for it, but starts one tick later: the caller can send its
   * next batch first. An internal error is logged; the claim expires and another process retries.
   */
  function start(begun: Begun): void {
    const { claim } = begun;
    const work = nextTick()
      .then(() => converse(begun))
      .catch((error: unknown) => void onFault(error, claim))
      .finally(() => {
        // A process that was frozen longer than its claim may have sent it again, and that request is still in flight.
        if (running.get(claim.id) === work) running.delete(claim.id);
      });
    running.set(claim.id, work);
  }

  /** Returns how many were claimed and how many were postponed. */
  async function claimDue(): Promise<{ begun: number; held: number }> {
    const free = maxInFlight - running.size;
    const { begun, held } = isStopping || free <= 0 ? { begun: [], held: 0 } : await queue.claim(free);
    polledAt = performance.now();
    begun.forEach(start);
    return { begun: begun.length, held };
  }

  /** A stop waits for this claim too, so that it never has to expire. */
  async function claimOne(handshake: string): Promise<boolean> {
    if (running.size >= maxInFlight) return false;
    const work = queue.claim(1, [handshake]).then(({ begun }) => {
      begun.forEach(start);
      return begun.length > 0;
    });
    claiming.add(work);
    return work.finally(() => claiming.delete(work));
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const { begun, held } = await claimDue().catch((error: unknown) => {
          onFault(error);
          return { begun: 0, held: 0 };
        });
        if (held > 0) continue;
        // Wait until a place is free or the poll interval is over.
        const anyWork = begun > 0 && running.size > 0 ? Promise.race(running.values()) : undefined;
        await until(anyWork, { ms: pollMs, signals: [signal] });
      }
      isStopping = true;
      const timer = setTimeout(() => giveUp.abort(), stopMs);
      while (running.size + claiming.size > 0) await Promise.allSettled([...running.values(), ...claiming]);
      clearTimeout(timer);
    },

    async attend(handshake, waitMs, signals) {
      if (waitMs <= 0 || isStopping) return;
      const endAt = performance.now() + waitMs;
      let isAskedHere = running.has(handshake) || (await claimOne(handshake));
      // Another process may have claimed it, or none yet because its host is busy.
      while (performance.now() < endAt && !signals.some(({ aborted }) => aborted)) {
        const work = running.get(handshake);
        isAskedHere ||= work !== undefined;
        const settled = await until(work, { ms: Math.min(work ? 500 : 100, endAt - performance.now()), signals });
        if (settled?.state !== undefined && settled.state !== 'due') return;
        // Settled, postponed for longer, or granted by the callback before the webhook responded.
        if (!(await queue.isOpen(handshake, Math.max(endAt - performance.now(), 0)))) return;
        // Sent and postponed: the next attempt is later than any client waits.
        if (isAskedHere && !running.has(handshake)) return;
      }
    },

    async adopt(work) {
      const adopting = work(isStopping ? 0 : Math.max(maxInFlight - running.size, 0)).then(({ begun, result }) => {
        begun.forEach(start);
        return result;
      });
      const settled = adopting.catch(() => undefined);
      claiming.add(settled);
      return adopting.finally(() => claiming.delete(settled));
    },

    async drain() {
      for (;;) {
        const { begun, held } = await claimDue();
        if (begun + held + running.size === 0) return;
        await Promise.all(running.values());
      }
    },

    inFlight: () => running.size,
    secondsSincePoll: () => (performance.now() - polledAt) / 1_000,
  };
}
