import { isOutage } from './database-errors.js';

export interface BatchSettings<Member, Result> {
  /** Results in the order of the members; a rejection means that nothing was done for any of them. */
  run: (members: Member[]) => Promise<Result[]>;
  /** In one batch. */
  most: number;
  /** Members of the same key never go together; they keep their order. */
  keyOf?: (member: Member) => string | undefined;
}

/**
 * Work that comes while a batch is under way goes together in the next one: nobody waits for a timer, and the more
 * there is to do, the more goes at once.
 *
 *   idle -> gathering     the first member comes; whatever comes in the same turn of the event loop joins it
 *   gathering -> running  one batch at a time, oldest first
 *   running -> running    somebody came meanwhile
 *   running -> idle
 *
 * The next batch goes out before anybody hears of this one: what they go on with takes the thread, for which the
 * database would have to wait.
 *
 * A batch that fails is tried again member by member, so that one that is bad does not spoil the others; not so where
 * the database is away, for then it may have been done.
 */
export function createBatcher<Member, Result>(
  settings: BatchSettings<Member, Result>,
): (member: Member) => Promise<Result> {
  const { run, most, keyOf } = settings;
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
      if (taken.length === most || (key !== undefined && keys.has(key))) left.push(entry);
      else taken.push(entry);
      if (key !== undefined) keys.add(key);
    }
    waiting = left;
    return taken;
  }

  async function perform(entries: Entry[]): Promise<void> {
    try {
      const results = await run(entries.map(({ member }) => member));
      setImmediate(() => entries.forEach(({ resolve }, place) => resolve(results[place] as Result)));
    } catch (error) {
      if (isOutage(error) || entries.length === 1) for (const { reject } of entries) reject(error);
      else for (const entry of entries) await perform([entry]);
    }
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) await perform(takeNext());
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
