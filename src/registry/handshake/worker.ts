import { setMaxListeners } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { until } from '../../base/until.js';
import type { Adopt, Begun, BegunAttempt, Claim, Settled } from '../../consent/handshake.js';
import type { FinalReply } from '../../consent/judgement.js';
import { errorOf, traced, type Tracing } from '../../base/tracing.js';
import type { ClientCertificate } from '../../outbound/client-certificate.js';
import { networkTest } from '../../outbound/address.js';
import type { OutboundRequest, SafeRequest } from '../../outbound/safe-request.js';
import { isSecretUnavailable, secretRetrySeconds } from '../storage/vault.js';
import { blockedMs } from './next-move.js';
import type { Queue } from './queue.js';
import type { Settle } from './settle.js';

export interface WorkerSettings {
  queue: Queue;
  /** Milliseconds to wait before this network may be dialled; undefined for no wait. */
  admitNetwork: (network: string) => Promise<number | undefined>;
  request: SafeRequest;
  /** Undefined if it was removed: none is shown. Rejects with `secret_unavailable`. */
  openCertificate: (id: string) => Promise<ClientCertificate | undefined>;
  settle: Settle;
  tracing?: Tracing | undefined;
  maxInFlight: number;
  pollMs: number;
  /** How long handshakes in flight may continue after the signal. */
  stopMs: number;
  /** A claim of due handshakes, with its duration. */
  onClaim: (seconds: number) => void;
  onOutcome: (claim: Claim, settled: Settled, seconds: number) => void;
  onFault: (error: unknown, claim?: Claim) => void;
}

type Asked = Pick<Claim, 'sink' | 'blockedNetworks' | 'clientCertificate'>;
export type Sent =
  FinalReply | { kind: 'held'; retryAfterMs: number; verdict: 'blocked' | 'held_by_budget' | 'secret_unavailable' };

/**
 * Sends handshakes: those that a request has just queued, immediately, and those that are due, by polling. Claim, send,
 * settle. No transaction is open during the request, and a response counts only while the claim is still ours.
 */
export class Worker {
  readonly #settings: WorkerSettings;
  /** Handshakes in flight, by id, with their outcome. */
  readonly #running = new Map<string, Promise<Settled | undefined>>();
  readonly #claiming = new Set<Promise<unknown>>();
  readonly #giveUp = new AbortController();
  #isStopping = false;
  #polledAt = -Infinity;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    // Every request in flight listens to it, and Node warns at more than ten listeners.
    setMaxListeners(0, this.#giveUp.signal);
  }

  /** Polls until the signal fires, then finishes what is in flight and hands back what gets no response in time. */
  async run(signal: AbortSignal): Promise<void> {
    const { pollMs, stopMs, onFault } = this.#settings;
    const [running, claiming] = [this.#running, this.#claiming];
    while (!signal.aborted) {
      const { begun, held } = await this.#claimDue().catch((error: unknown) => {
        onFault(error);
        return { begun: 0, held: 0 };
      });
      if (held > 0) continue;
      // Wait until a place is free or the poll interval is over.
      const anyWork = begun > 0 && running.size > 0 ? Promise.race(running.values()) : undefined;
      await until(anyWork, { ms: pollMs, signals: [signal] });
    }
    this.#isStopping = true;
    const timer = setTimeout(() => this.#giveUp.abort(), stopMs);
    while (running.size + claiming.size > 0) await Promise.allSettled([...running.values(), ...claiming]);
    clearTimeout(timer);
  }

  /** Sends it now. Returns when it is settled, when the time is over or when a signal fires, whichever is first. */
  async attend(handshake: string, waitMs: number, signals: readonly AbortSignal[]): Promise<void> {
    if (waitMs <= 0 || this.#isStopping) return;
    const endAt = performance.now() + waitMs;
    let isAskedHere = this.#running.has(handshake) || (await this.#claimOne(handshake));
    // Another process may have claimed it, or none yet because its host is busy.
    while (performance.now() < endAt && !signals.some(({ aborted }) => aborted)) {
      const work = this.#running.get(handshake);
      isAskedHere ||= work !== undefined;
      const settled = await until(work, { ms: Math.min(work ? 500 : 100, endAt - performance.now()), signals });
      if (settled?.state !== undefined && settled.state !== 'due') return;
      // Settled, postponed for longer, or granted by the callback before the webhook responded.
      if (!(await this.#settings.queue.isOpen(handshake, Math.max(endAt - performance.now(), 0)))) return;
      // Sent and postponed: the next attempt is later than any client waits.
      if (isAskedHere && !this.#running.has(handshake)) return;
    }
  }

  readonly adopt: Adopt = async (work) => {
    const adopting = work(this.#isStopping ? 0 : this.#free()).then(({ begun, result }) => {
      this.#start(begun);
      return result;
    });
    const settled = adopting.catch(() => undefined);
    this.#claiming.add(settled);
    return adopting.finally(() => this.#claiming.delete(settled));
  };

  /** Sends a question that is not stored: that of a dry run. Undefined if this process has no room for it. */
  async sendUnstored(asked: Asked & Pick<Claim, 'id'>, attempt: BegunAttempt): Promise<Sent | undefined> {
    if (this.#isStopping || this.#free() === 0) return undefined;
    const sending = this.#send(asked, attempt).finally(() => attempt.span?.end());
    this.#running.set(
      asked.id,
      sending.then(
        () => undefined,
        () => undefined,
      ),
    );
    return sending.finally(() => this.#running.delete(asked.id));
  }

  /** Runs until nothing is due and nothing is in flight. */
  async drain(): Promise<void> {
    for (;;) {
      const { begun, held } = await this.#claimDue();
      if (begun + held + this.#running.size === 0) return;
      await Promise.all(this.#running.values());
    }
  }

  inFlight(): number {
    return this.#running.size;
  }

  /** Since the last poll that reached the database; Infinity before the first. */
  secondsSincePoll(): number {
    return (performance.now() - this.#polledAt) / 1_000;
  }

  #free(): number {
    return Math.max(this.#settings.maxInFlight - this.#running.size, 0);
  }

  /** Returns how many were claimed and how many were postponed. */
  async #claimDue(): Promise<{ begun: number; held: number }> {
    const free = this.#free();
    const { begun, held } =
      this.#isStopping || free === 0
        ? { begun: [], held: 0 }
        : await this.#timed(() => this.#settings.queue.claim(free));
    this.#polledAt = performance.now();
    this.#start(begun);
    return { begun: begun.length, held };
  }

  /** A claim that fails took its time, too. */
  async #timed<Result>(claim: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    try {
      return await claim();
    } finally {
      this.#settings.onClaim((performance.now() - startedAt) / 1_000);
    }
  }

  /** A stop waits for this claim too, so that it never has to expire. */
  async #claimOne(handshake: string): Promise<boolean> {
    if (this.#free() === 0) return false;
    const work = this.#settings.queue.claim(1, [handshake]).then(({ begun }) => {
      this.#start(begun);
      return begun.length > 0;
    });
    this.#claiming.add(work);
    return work.finally(() => this.#claiming.delete(work));
  }

  /**
   * They count as in flight from now on, so that a stop waits for them, but start one tick later: the caller can send
   * its next batch first. An internal error is logged; the claim expires and another process retries.
   */
  #start(all: readonly Begun[]): void {
    for (const begun of all) {
      const { claim, attempt } = begun;
      const work = nextTick()
        .then(() => this.#converse(begun))
        .catch((error: unknown): undefined => {
          attempt.span?.fail(errorOf(error));
          attempt.span?.end();
          this.#settings.onFault(error, claim);
        })
        .finally(() => {
          // A process that was frozen longer than its claim may have sent it again, and that request is still in flight.
          if (this.#running.get(claim.id) === work) this.#running.delete(claim.id);
        });
      this.#running.set(claim.id, work);
    }
  }

  /** The one request to a webhook. Nothing was sent if it is held. */
  async #send(
    { sink, blockedNetworks, clientCertificate }: Asked,
    { headers, isWithheld, span }: Pick<BegunAttempt, 'headers' | 'isWithheld' | 'span'>,
  ): Promise<Sent> {
    const { request, admitNetwork, openCertificate } = this.#settings;
    const shown = clientCertificate && (await openCertificate(clientCertificate.id).catch(withheldFor));
    if (isWithheld || shown === 'withheld') {
      return { kind: 'held', retryAfterMs: secretRetrySeconds * 1_000, verdict: 'secret_unavailable' };
    }
    let isBlocked = false;
    const asked: OutboundRequest = {
      url: sink,
      method: 'OPTIONS',
      headers,
      clientCertificate: shown,
      signal: this.#giveUp.signal,
      admit: async (network, address) => {
        isBlocked = networkTest(blockedNetworks)(address);
        return isBlocked ? blockedMs : admitNetwork(network);
      },
    };
    const reply = await (span ? span.send(() => request(asked)) : request(asked));
    span?.answered(reply);
    return reply.kind === 'held' ? { ...reply, verdict: isBlocked ? 'blocked' : 'held_by_budget' } : reply;
  }

  async #converse(begun: Begun): Promise<Settled | undefined> {
    const { queue, settle, tracing, onOutcome } = this.#settings;
    const { claim, attempt } = begun;
    const { span } = attempt;
    const startedAt = performance.now();
    if (this.#giveUp.signal.aborted) {
      await queue.handBack(begun, 0, 'aborted');
      return undefined;
    }
    const reply = await this.#send(claim, attempt);
    if (reply.kind === 'held') {
      span?.set({ verdict: reply.verdict });
      span?.end();
      await queue.handBack(begun, reply.retryAfterMs, reply.verdict);
      return undefined;
    }
    const at = performance.now();
    const settled = await traced(tracing, 'settle', { parent: span }, async (settling) => {
      const result = await settle(begun, reply);
      const { verdict, state } = result;
      settling?.set({ verdict, state });
      span?.set({ verdict, state });
      span?.end(at);
      onOutcome(claim, result, (performance.now() - startedAt) / 1_000);
      return result;
    });
    if (settled.isDueNow && !this.#isStopping) {
      // It reuses the place of this attempt.
      const { begun: again } = await queue.claim(1, [claim.id]);
      this.#start(again);
    }
    return settled;
  }
}

/** It is the registry's own fault, so nothing is sent without the certificate and nobody has refused. */
function withheldFor(error: unknown): 'withheld' {
  if (isSecretUnavailable(error)) return 'withheld';
  throw error;
}
