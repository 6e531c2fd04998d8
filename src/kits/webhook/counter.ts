/** Counts deliveries. Share one between processes to enforce a rate over all of them. */
export interface RequestCounter {
  /**
   * Counts one request of the origin, or returns in how many seconds (at least 1) to try again. 0 is yes. `rate` is in
   * requests per minute.
   */
  take(origin: string, rate: number): number | Promise<number>;
}

interface Window {
  /** By second, in a ring. */
  counts: number[];
  newest: number;
  total: number;
}

const seconds = 60;
/**
 * Only a function or the asterisk can allow so many. Above it, the origin that sent nothing for the longest time is
 * forgotten, and starts anew. If the others shared a window instead, made-up names could use up the rate of a real one.
 */
const maxOrigins = 10_000;

/**
 * A sliding window of the present second and the 59 before it, in this process. A sender that keeps the rate in any 60
 * seconds, as Assent's does, is never refused. `now` is in milliseconds, and never goes back.
 */
export function createCounter(now: () => number = () => performance.now()): RequestCounter {
  const windows = new Map<string, Window>();

  /** The map is in the order of use. */
  function windowOf(origin: string, second: number): Window {
    const known = windows.get(origin);
    if (known !== undefined) windows.delete(origin);
    else if (windows.size >= maxOrigins) windows.delete(windows.keys().next().value!);
    const window = known ?? { counts: Array.from({ length: seconds }, () => 0), newest: second, total: 0 };
    windows.set(origin, window);
    return window;
  }

  return {
    take(origin, rate) {
      const at = now() / 1_000;
      const second = Math.floor(at);
      const window = windowOf(origin, second);
      const { counts } = window;
      for (let old = Math.max(window.newest + 1, second - seconds + 1); old <= second; old += 1) {
        window.total -= counts[old % seconds]!;
        counts[old % seconds] = 0;
      }
      window.newest = second;
      if (window.total < rate) {
        counts[second % seconds]! += 1;
        window.total += 1;
        return 0;
      }
      let left = window.total;
      let oldest = second - seconds + 1;
      for (; oldest < second; oldest += 1) {
        left -= counts[oldest % seconds]!;
        if (left < rate) break;
      }
      return Math.max(1, Math.ceil(oldest + seconds - at));
    },
  };
}
