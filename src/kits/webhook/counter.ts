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
/** Only a function or the asterisk can allow so many. The rest shares one window. */
const maxOrigins = 10_000;

/**
 * A sliding window of the present second and the 59 before it, in this process. A sender that keeps the rate in any 60
 * seconds, as Assent's does, is never refused. `now` is in milliseconds, and never goes back.
 */
export function createCounter(now: () => number = () => performance.now()): RequestCounter {
  const windows = new Map<string, Window>();
  let forgotAt = -Infinity;

  function windowOf(origin: string, second: number): Window {
    const known = windows.get(origin);
    if (known !== undefined) return known;
    if (windows.size >= maxOrigins && forgotAt < second) {
      forgotAt = second;
      for (const [name, { newest }] of windows) if (newest <= second - seconds) windows.delete(name);
    }
    const name = windows.size >= maxOrigins ? '*' : origin;
    const window = windows.get(name) ?? { counts: Array.from({ length: seconds }, () => 0), newest: second, total: 0 };
    windows.set(name, window);
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
