/** Ends a wait. Undefined ones never fire. */
type Signals = ReadonlyArray<AbortSignal | undefined | null>;

/**
 * Calls `listener` once, with the reason of the first signal that fires; at once if one has fired. Returns a function
 * that stops listening. AbortSignal.any would leak in Node 20 for as long as the longest of the signals lives.
 */
export function whenAborted(signals: Signals, listener: (reason: unknown) => void): () => void {
  const leave = () => {
    for (const signal of signals) signal?.removeEventListener('abort', end);
  };
  const end = () => {
    leave();
    listener(signals.find((signal) => signal?.aborted)?.reason);
  };
  for (const signal of signals) signal?.addEventListener('abort', end);
  if (signals.some((signal) => signal?.aborted)) end();
  return leave;
}

interface Limits {
  /** Milliseconds. No limit if absent. */
  ms?: number | undefined;
  signals?: Signals;
  /** False: the wait alone does not keep the process alive. */
  ref?: boolean;
}

const longestTimer = 2 ** 31 - 1;

/** The result of the work; undefined if the time is over or a signal fires before. Rejects as the work does. */
export function until<T>(
  work: PromiseLike<T> | undefined,
  { ms, signals = [], ref = true }: Limits,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      leave();
    };
    const end = (result?: T) => {
      stop();
      resolve(result);
    };
    const timer = ms === undefined ? undefined : setTimeout(end, Math.min(Math.max(ms, 0), longestTimer));
    // In browsers a timer is a number.
    if (!ref) (timer as { unref?: () => void } | undefined)?.unref?.();
    let leave = () => {};
    leave = whenAborted(signals, () => end());
    void work?.then(end, (error: Error) => {
      stop();
      reject(error);
    });
  });
}

/** Resolves after `ms` milliseconds, or when the signal fires. */
export async function sleep(ms: number, signal?: AbortSignal | null, { ref = true } = {}): Promise<void> {
  await until(undefined, { ms, signals: [signal], ref });
}

/**
 * Fires with the first of other signals, after a time, or when `abort` is called, and listens to none of them from then
 * on. So call `abort` at the end of the work.
 */
export class LinkedController extends AbortController {
  /** Created once: a new reason would have a stack, which costs more than the rest of the signal. */
  static #over: DOMException | undefined;
  #leave: (() => void) | undefined;

  constructor(signals: Signals, ms?: number) {
    super();
    const timer = ms === undefined ? undefined : setTimeout(() => this.abort(), Math.min(ms, longestTimer));
    const leave = whenAborted(signals, (reason) => this.abort(reason));
    this.#leave = () => {
      clearTimeout(timer);
      leave();
    };
    if (this.signal.aborted) clearTimeout(timer);
  }

  override abort(
    reason: unknown = (LinkedController.#over ??= new DOMException('The work is over.', 'AbortError')),
  ): void {
    this.#leave?.();
    super.abort(reason);
  }
}
