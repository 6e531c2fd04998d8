import { RegistryError } from '../errors.js';
import type { Work } from './work.js';
import { sliceSteps, type Slice } from './work.js';

/**
 * Who matches next. Matching runs on the one thread that answers everything else too. All of it together takes one slice
 * of steps; then it waits until the event loop has turned, so that look-ups, health checks and the feed are answered.
 *
 * What waits, waits by tenant. Tenants take turns, and so do the messages of one tenant: a message that was stopped goes
 * behind the others. Usually nothing waits, the slice is not used up, and a match is answered at once.
 */
export interface Turns {
  readonly slice: Slice;
  /** Whether the tenant may match at once. */
  isFree(tenant: string): boolean;
  /** Calls it when the tenant's turn comes. RegistryError `request_timeout` if the client has gone by then. */
  enter<T>(tenant: string, call: () => T, signal?: AbortSignal): Promise<Awaited<T>>;
  /** Calls a step in one slice after the other until its work is not stopped. Errors: those of the step and of `enter`. */
  finish<T>(work: Work, tenant: string, step: () => T, signal?: AbortSignal): Promise<Awaited<T>>;
}

export function createTurns(steps: number = sliceSteps): Turns {
  const slice = { left: steps };
  /** The tenant whose turn it is stands first. */
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

  /** One slice: for one that is expensive, or for all that wait. */
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
          if (signal?.aborted) throw new RegistryError('request_timeout', 'The client has gone.');
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
