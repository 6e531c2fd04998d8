/**
 * A program that turns the clock of its process, the one that can be set. `aheadMs` is a JavaScript expression, which is
 * looked at whenever the time is asked for.
 */
export function turnClock(aheadMs: string): string {
  return `{
    const Right = Date;
    globalThis.Date = class extends Right {
      constructor(...time) { super(...(time.length === 0 ? [Right.now() + ${aheadMs}] : time)); }
      static now() { return Right.now() + ${aheadMs}; }
    };
  }`;
}

/** Option of Node: the clock is so many milliseconds ahead from the beginning. */
export function startAhead(ms: number): string {
  return `--import=data:text/javascript,${encodeURIComponent(turnClock(String(ms)))}`;
}
