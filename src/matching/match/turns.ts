import { RegistryError } from '../../base/errors.js';
import type { Work } from './work.js';
import { sliceSteps, type Slice } from './work.js';

/**
 * Decides which message is matched next. Matching runs on the one thread that serves all other requests, too. All
 * matching together gets one slice of steps. Then it yields to the event loop, which serves look-ups, health checks and
 * the feed.
 *
 * Waiting messages are queued by tenant. Tenants take turns, and so do the messages of one tenant: a stopped message
 * goes to the end of the queue. Usually no message waits, the slice is not used up, and a match responds at once.
 */
export interface Turns {
  readonly slice: Slice;
  /** Whether the tenant may match at once. */
  isFree(tenant: string): boolean;
  /** Calls `call` in the tenant's turn. Rejects with RegistryError `request_timeout` if the client disconnected. */
  enter<T>(tenant: string, call: () => T, signal?: AbortSignal): Promise<Awaited<T>>;
  /** Calls a step, slice after slice, until its work is no longer stopped. Errors: those of the step and of `enter`. */
  finish<T>(work: Work, tenant: string, step: () => T, signal?: AbortSignal): Promise<Awaited<T>>;
}

export function createTurns(steps: number = sliceSteps): Turns {
  const slice = { left: steps };
  /** The first tenant is the next one. */
  const waiting = new Map<string, Array<() => void>>();
  let isScheduled = false;

  function wait(tenant: string, call: () => void): void {
    const calls = waiting.get(tenant);
    if (calls === undefined) waiting.set(tenant, [call]);
    else calls.push(call);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(next);
  }

  /** Runs one slice: one expensive call, or all waiting calls. */
  function next(): void {
    slice.left = steps;
    isScheduled = false;
    for (const [tenant, calls] of waiting) {
      waiting.delete(tenant);
      const call = calls.shift();
      if (calls.length > 0) waiting.set(tenant, calls);
      call?.();
      if (slice.left <= 0) break;
    }
    if (waiting.size === 0 || isScheduled) return;
    isScheduled = true;
    setImmediate(next);
  }

  function enter<T>(tenant: string, call: () => T, signal?: AbortSignal): Promise<Awaited<T>> {
    return finish({ resume: () => undefined, isStopped: false }, tenant, call, signal);
  }

  function finish<T>(work: Pick<Work, 'resume' | 'isStopped'>, tenant: string, step: () => T, signal?: AbortSignal) {
    return new Promise<Awaited<T>>((resolve, reject) => {
      const call = () => {
        try {
          if (signal?.aborted) throw new RegistryError('request_timeout', 'The client disconnected.');
          work.resume();
          const result = step();
          if (work.isStopped) wait(tenant, call);
          else resolve(result as Awaited<T>);
        } catch (thrown) {
          const error = thrown as Error;
          reject(error);
        }
      };
      wait(tenant, call);
    });
  }

  return { slice, isFree: (tenant) => slice.left > 0 && !waiting.has(tenant), enter, finish };
}
