/**
 * A program that shifts the wall clock of its process. `aheadMs` is a JavaScript expression, which is evaluated at each
 * reading of the clock.
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

/** Option of Node: the clock is this many milliseconds ahead from the start. */
export function startAhead(ms: number): string {
  return `--import=data:text/javascript,${encodeURIComponent(turnClock(String(ms)))}`;
}
