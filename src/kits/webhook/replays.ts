/** Remembers deliveries, so that a copy of one is refused. Share one between processes. */
export interface ReplayStore {
  /**
   * Keeps an id for so many seconds: true if it was not there, in one step with keeping it. An id is text of visible
   * characters without spaces, at most 300.
   */
  add(id: string, seconds: number): boolean | Promise<boolean>;
  /** The delivery was not accepted, so its sender repeats it. */
  remove(id: string): unknown;
}

/** Above it, the oldest of the origin that has the most give way: no other origin can make room for its copies. */
const maxIds = 200_000;

/** The memory of this process. Ids begin with the origin and a colon. `now` is in seconds. */
export function createReplays(now: () => number = () => performance.now() / 1_000, max = maxIds): ReplayStore {
  /** By origin: the end of each id, the oldest first. */
  const origins = new Map<string, Map<string, number>>();
  let size = 0;
  const originOf = (id: string) => id.slice(0, id.indexOf(':'));

  function forget(origin: string, id: string): void {
    const ids = origins.get(origin);
    if (!ids?.delete(id)) return;
    size -= 1;
    if (ids.size === 0) origins.delete(origin);
  }

  function makeRoom(): void {
    for (const [origin, ids] of origins) for (const [id, end] of ids) if (end <= now()) forget(origin, id);
    let largest: [string, Map<string, number>] | undefined;
    for (const each of origins) if (largest === undefined || each[1].size > largest[1].size) largest = each;
    // A tenth is free: the next requests need no look.
    if (size <= max * 0.9 || largest === undefined) return;
    const [origin, ids] = largest;
    for (const id of [...ids.keys()].slice(0, Math.ceil(ids.size / 10))) forget(origin, id);
  }

  return {
    add(id, seconds) {
      const origin = originOf(id);
      const end = origins.get(origin)?.get(id);
      if (end !== undefined && end > now()) return false;
      forget(origin, id);
      if (size >= max) makeRoom();
      const ids = origins.get(origin) ?? new Map<string, number>();
      origins.set(origin, ids.set(id, now() + seconds));
      size += 1;
      // What is over goes step by step: ids are about in the order of their ends.
      for (const [old, until] of [...firstOf(ids, 2)]) if (until <= now()) forget(origin, old);
      return true;
    },
    remove: (id) => forget(originOf(id), id),
  };
}

function* firstOf(ids: Map<string, number>, count: number): Generator<[string, number]> {
  let left = count;
  for (const each of ids) {
    if (left-- === 0) return;
    yield each;
  }
}
