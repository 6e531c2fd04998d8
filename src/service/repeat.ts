import { setTimeout as sleep } from 'node:timers/promises';

/** Once at once, then again and again until the signal fires. */
export async function repeat(
  work: () => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(onFault);
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
