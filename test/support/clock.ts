import { jest } from '@jest/globals';

/** Waits by the monotonic clock. */
export function createClock(): { pass: (minutes: number) => void; restore: () => void } {
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const spy = jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  return { pass: (minutes) => void (passedMs += minutes * 60_000), restore: () => spy.mockRestore() };
}
