import { setTimeout as sleep } from 'node:timers/promises';

/** For what hangs. No test depends on how fast the machine is. */
const capMs = 90_000;

/** Asks again and again until it holds; rejects if that never happens. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endAt = performance.now() + capMs;
  while (!(await holds())) {
    if (performance.now() > endAt) throw new Error(`within ${capMs} ms it has not come to hold: ${String(holds)}`);
    await sleep(10);
  }
}
