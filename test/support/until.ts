import { setTimeout as sleep } from 'node:timers/promises';

/** For tests that hang. No test depends on the speed of the machine. */
const capMs = 90_000;

/** Polls until the condition is true; rejects if that never happens. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endAt = performance.now() + capMs;
  while (!(await holds())) {
    if (performance.now() > endAt) throw new Error(`within ${capMs} ms it has not come to hold: ${String(holds)}`);
    await sleep(10);
  }
}
