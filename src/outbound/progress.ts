import type { ProxyStage } from './egress-proxy.js';
import { RequestFailure, type FailureReason } from './failure.js';

/** Milliseconds; absent for a stage that was not completed. */
export interface Timing {
  lookupMs?: number;
  connectMs?: number;
  tlsMs?: number;
  responseMs?: number;
  totalMs: number;
}

type Stage = Exclude<keyof Timing, 'totalMs'>;
const stages: Record<Stage, string> = {
  lookupMs: 'looking up the name',
  connectMs: 'connecting',
  tlsMs: 'negotiating TLS',
  responseMs: 'waiting for the response',
};

/** There is no final response. */
export interface NoResponse {
  kind: 'unanswered';
  code: FailureReason;
  detail: string;
  /** The code of Node, c-ares or OpenSSL behind it, if there is one. */
  evidence?: string;
  remoteAddress?: string;
}

/** The progress of a request, and the time of each stage. */
export class Progress {
  /** The address that was dialled last. */
  remoteAddress: string | undefined;
  /** How far the proxy is; undefined for a direct connection. */
  proxyStage: ProxyStage | undefined;
  /** The connection is kept for another request. */
  isConnectionKept = false;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #completed: Partial<Record<Stage, number>> = {};
  #stage: Stage = 'lookupMs';

  constructor(deadlineMs: number, signal: AbortSignal) {
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
  }

  /** Measures a stage, and starts no further stage once the request is over. A response that arrived counts. */
  async during<T>(stage: Stage, work: Promise<T>): Promise<T> {
    this.#stage = stage;
    const from = performance.now();
    const result = await work;
    if (stage !== 'responseMs') this.#signal.throwIfAborted();
    this.#completed[stage] = Math.round(performance.now() - from);
    return result;
  }

  leftMs(): number {
    return this.#deadlineMs - (performance.now() - this.#startedAt);
  }

  timing(): Timing {
    return { ...this.#completed, totalMs: Math.round(performance.now() - this.#startedAt) };
  }

  deadlineExceeded(): RequestFailure {
    const detail = `No final response within ${this.#deadlineMs} ms; the time ended while ${stages[this.#stage]}.`;
    if (this.#stage !== 'connectMs' || this.proxyStage === undefined) {
      return new RequestFailure('deadline_exceeded', detail);
    }
    return this.proxyStage === 'reach'
      ? new RequestFailure('proxy_unreachable', `${detail} The egress proxy accepted no connection.`, 'ETIMEDOUT')
      : new RequestFailure('proxy_timeout', `${detail} The egress proxy did not answer the CONNECT request.`);
  }
}

/**
 * Runs a request to its end. The deadline and the caller's signal abort the signal of `work`; so does the end of
 * `work`, unless it keeps the connection. A RequestFailure becomes a value; other errors are thrown.
 */
export async function withinDeadline<Result extends object>(
  deadlineMs: number,
  signal: AbortSignal | undefined,
  work: (progress: Progress, signal: AbortSignal) => Promise<Result>,
): Promise<(Result | NoResponse) & { timing: Timing }> {
  const end = new AbortController();
  const progress = new Progress(deadlineMs, end.signal);
  const deadline = setTimeout(() => end.abort(progress.deadlineExceeded()), deadlineMs);
  const abort = () => end.abort(new RequestFailure('aborted', 'The caller aborted the request.'));
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return { ...(await work(progress, end.signal)), timing: progress.timing() };
  } catch (error) {
    if (!(error instanceof RequestFailure)) throw error;
    const { remoteAddress } = progress;
    const { reason: code, message: detail, code: evidence } = error;
    const more = { ...(evidence !== undefined && { evidence }), ...(remoteAddress !== undefined && { remoteAddress }) };
    return { kind: 'unanswered', code, detail, ...more, timing: progress.timing() };
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', abort);
    // Queries, half-open sockets and the client all listen to this signal: nothing outlives the request.
    if (!progress.isConnectionKept) end.abort(over);
  }
}

/** Created once: a new reason would have a stack, which costs more than the rest of the signal. */
const over = new RequestFailure('aborted', 'The request is over.');

/** Rejects with the reason when the signal fires. */
export function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
