import { sleep } from '../../base/until.js';

/** Runs the work after the first pause, then repeats it until the signal fires. */
export async function repeat(
  work: () => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  firstMs = 0,
): Promise<void> {
  const pause = (ms: number) => sleep(ms, signal);
  if (firstMs > 0) await pause(firstMs);
  while (!signal.aborted) {
    await work().catch((error: unknown) => signal.aborted || onFault(error));
    await pause(everyMs);
  }
}
