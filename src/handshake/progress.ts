import { Failure } from './failure.js';

/** Milliseconds; a stage that was not completed has none. */
export interface Timing {
  lookupMs?: number;
  connectMs?: number;
  tlsMs?: number;
  answerMs?: number;
  totalMs: number;
}

type Stage = Exclude<keyof Timing, 'totalMs'>;
const stages: Record<Stage, string> = {
  lookupMs: 'looking up the name',
  connectMs: 'connecting',
  tlsMs: 'negotiating TLS',
  answerMs: 'waiting for the answer',
};

/** How far a request has come, and how long each stage took. */
export class Progress {
  /** The address that was dialled last. */
  remoteAddress: string | undefined;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #completed: Partial<Record<Stage, number>> = {};
  #stage: Stage = 'lookupMs';

  constructor(deadlineMs: number, signal: AbortSignal) {
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
  }

  /** Takes the time of a stage, and lets nothing follow once the request is over. */
  async during<T>(stage: Stage, work: Promise<T>): Promise<T> {
    this.#stage = stage;
    const from = performance.now();
    const result = await work;
    this.#signal.throwIfAborted();
    this.#completed[stage] = Math.round(performance.now() - from);
    return result;
  }

  leftMs(): number {
    return this.#deadlineMs - (performance.now() - this.#startedAt);
  }

  timing(): Timing {
    return { ...this.#completed, totalMs: Math.round(performance.now() - this.#startedAt) };
  }

  deadlineExceeded(): Failure {
    const detail = `No final answer within ${this.#deadlineMs} ms; the time ended while ${stages[this.#stage]}.`;
    return new Failure('deadline_exceeded', detail);
  }
}
