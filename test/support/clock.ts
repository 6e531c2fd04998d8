import { jest } from '@jest/globals';

/** Lets time pass by the clock that only goes forward. */
export function createClock(): { pass: (minutes: number) => void; restore: () => void } {
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const spy = jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  return { pass: (minutes) => void (passedMs += minutes * 60_000), restore: () => spy.mockRestore() };
}
