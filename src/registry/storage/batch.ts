import { isOutage } from './database-errors.js';

interface BatchSettings<Member, Result> {
  /**
   * Calls `take` when its transaction has begun, because members that arrive until then join the batch. Returns results in
   * the order of the members. A rejection means that none of them was processed.
   */
  run: (take: () => Member[]) => Promise<Result[]>;
  /** The largest size of a batch. */
  maxBatch: number;
  /** Members with the same key never share a batch, and keep their order. */
  keyOf?: (member: Member) => string | undefined;
}

/**
 * Members that arrive while a batch is running form the next batch. So no timer is needed, and batches grow with the
 * load.
 *
 *   idle -> gathering     the first member arrives; members in the same tick of the event loop join it
 *   gathering -> running  one batch at a time, oldest members first; on an embedded database, when it is its turn
 *   running -> gathering  members arrived in the meantime
 *   running -> idle
 *
 * The next batch starts before the callers receive their results: their work occupies the thread, and the database
 * would have to wait for it.
 *
 * A failed batch is retried member by member, so that one bad member does not fail the others. It is not retried if the
 * database is unavailable, because the batch may have been committed.
 */
export function createBatcher<Member, Result>(
  settings: BatchSettings<Member, Result>,
): (member: Member) => Promise<Result> {
  const { run, maxBatch, keyOf } = settings;
  let waiting: Entry[] = [];
  let isRunning = false;

  interface Entry {
    member: Member;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }

  function takeNext(): Entry[] {
    const keys = new Set<string>();
    const taken: Entry[] = [];
    const left: Entry[] = [];
    for (const entry of waiting) {
      const key = keyOf?.(entry.member);
      if (taken.length === maxBatch || (key !== undefined && keys.has(key))) left.push(entry);
      else taken.push(entry);
      if (key !== undefined) keys.add(key);
    }
    waiting = left;
    return taken;
  }

  async function perform(next: () => Entry[]): Promise<void> {
    // A transaction that is retried takes the same ones.
    let taken: Entry[] | undefined;
    const take = () => (taken ??= next());
    try {
      const results = await run(() => take().map(({ member }) => member));
      const entries = take();
      setImmediate(() => entries.forEach(({ resolve }, place) => resolve(results[place] as Result)));
    } catch (error) {
      const entries = take();
      if (isOutage(error) || entries.length === 1) for (const { reject } of entries) reject(error);
      else for (const entry of entries) await perform(() => [entry]);
    }
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) await perform(takeNext);
    isRunning = false;
  }

  return (member) =>
    new Promise((resolve, reject) => {
      waiting.push({ member, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void work());
    });
}
