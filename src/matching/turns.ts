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
  /** Resolves in a new slice. RegistryError `request_timeout` if the client has gone by then. */
  turn(tenant: string, signal?: AbortSignal): Promise<void>;
  /** Runs a step in one slice after the other until it is not stopped. Errors: those of the step and of `turn`. */
  finish<T>(work: Work, tenant: string, step: () => T, signal?: AbortSignal): Promise<T>;
}

export function createTurns(steps: number = sliceSteps): Turns {
  const slice = { left: steps };
  /** The tenant whose turn it is stands first. */
  const waiting = new Map<string, Array<() => void>>();

  function next(): void {
    slice.left = steps;
    for (const [tenant, calls] of waiting) {
      waiting.delete(tenant);
      const call = calls.shift();
      if (calls.length > 0) waiting.set(tenant, calls);
      call?.();
      break;
    }
    if (waiting.size > 0) setImmediate(next);
  }

  async function turn(tenant: string, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      if (waiting.size === 0) setImmediate(next);
      const calls = waiting.get(tenant);
      if (calls === undefined) waiting.set(tenant, [resolve]);
      else calls.push(resolve);
    });
    if (signal?.aborted) throw new RegistryError('request_timeout', 'The client has gone.');
  }

  return {
    slice,
    isFree: (tenant) => slice.left > 0 && !waiting.has(tenant),
    turn,
    async finish(work, tenant, step, signal) {
      for (;;) {
        await turn(tenant, signal);
        work.resume();
        const result = step();
        if (!work.isStopped) return result;
      }
    },
  };
}
