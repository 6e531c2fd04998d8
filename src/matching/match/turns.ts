import { RegistryError } from '../../base/errors.js';
import { sliceSteps, type Slice, type Work } from './work.js';

/**
 * Decides which message is matched next. Matching runs on the one thread that serves all other requests, too. All
 * matching together gets one slice of steps. Then it yields to the event loop, which serves look-ups, health checks and
 * the feed.
 *
 * Waiting messages are queued by tenant. Tenants take turns, and so do the messages of one tenant: a stopped message
 * goes to the end of the queue. Usually no message waits, the slice is not used up, and a match responds at once.
 */
export class Turns {
  readonly #steps: number;
  readonly #slice: { left: number };
  /** The first tenant is the next one. */
  readonly #waiting = new Map<string, Array<() => void>>();
  #isScheduled = false;

  constructor(steps: number = sliceSteps) {
    this.#steps = steps;
    this.#slice = { left: steps };
  }

  get slice(): Slice {
    return this.#slice;
  }

  /** Whether the tenant may match at once. */
  isFree(tenant: string): boolean {
    return this.#slice.left > 0 && !this.#waiting.has(tenant);
  }

  /** Calls `call` in the tenant's turn. Rejects with RegistryError `request_timeout` if the client disconnected. */
  enter<T>(tenant: string, call: () => T, signal?: AbortSignal): Promise<Awaited<T>> {
    return this.finish({ resume: () => undefined, isStopped: false }, tenant, call, signal);
  }

  /** Calls a step, slice after slice, until its work is no longer stopped. Errors: those of the step and of `enter`. */
  finish<T>(
    work: Pick<Work, 'resume' | 'isStopped'>,
    tenant: string,
    step: () => T,
    signal?: AbortSignal,
  ): Promise<Awaited<T>> {
    return new Promise<Awaited<T>>((resolve, reject) => {
      const call = () => {
        try {
          if (signal?.aborted) throw new RegistryError('request_timeout', 'The client disconnected.');
          work.resume();
          const result = step();
          if (work.isStopped) this.#wait(tenant, call);
          else resolve(result as Awaited<T>);
        } catch (thrown) {
          const error = thrown as Error;
          reject(error);
        }
      };
      this.#wait(tenant, call);
    });
  }

  #wait(tenant: string, call: () => void): void {
    const calls = this.#waiting.get(tenant);
    if (calls === undefined) this.#waiting.set(tenant, [call]);
    else calls.push(call);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#next());
  }

  /** Runs one slice: one expensive call, or all waiting calls. */
  #next(): void {
    this.#slice.left = this.#steps;
    this.#isScheduled = false;
    for (const [tenant, calls] of this.#waiting) {
      this.#waiting.delete(tenant);
      const call = calls.shift();
      if (calls.length > 0) this.#waiting.set(tenant, calls);
      call?.();
      if (this.#slice.left <= 0) break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
