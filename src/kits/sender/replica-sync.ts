import type { Replica } from '../../matching/replica/replica.js';
import type { StateLine } from '../../matching/replica/state.js';
import { applyBatches, readSnapshot, type Batch, type Checkpoint } from '../client/follow-changes.js';
import { isFinal, type RegistryClient } from '../client/registry-client.js';
import { putLine, type ChangeLine } from './lines.js';
import type { ReplicaFile } from './replica-file.js';

/**
 * Keeps a replica of what the registry knows in this process, and on disk if there is a file.
 *
 *   empty      no replica yet, neither from disk nor from the registry
 *   following  at a cursor; connected to the feed or reconnecting. Look-ups work in both cases
 *   reloading  following, and loading a new snapshot because the registry refused our cursor (410 or 400). If it refuses
 *              the new cursor as well, that is an ordinary fault until the next snapshot is due
 */
export interface ReplicaSync {
  /** Loads and follows until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  replica(): Replica | undefined;
  checkpoint(): Checkpoint | undefined;
  /** Seconds since the replica was known to be current; Infinity while empty. */
  age(): number;
  /**
   * Resolves when there is a replica that was current at most this long before the call. Rejects if the registry refuses
   * us before that.
   */
  ready(maxAgeMs: number): Promise<void>;
  /** Records on disk when the replica was current. */
  settle(): void;
}

export interface ReplicaSyncSettings {
  client: RegistryClient;
  file: ReplicaFile | undefined;
  /** Only this origin. */
  origin: string | undefined;
  createReplica: () => Replica;
  /** After a change of this pair was applied; of an origin, a block, or everything, if no more is given. */
  onChange: (origin?: string, sink?: string, kind?: string) => void;
  onFault: (error: unknown) => void;
}

interface Waiting {
  /** Monotonic. */
  since: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const noteEveryMs = 60_000;
/** Shorter than the time-out of a request. */
const waitSeconds = 8;

export function createReplicaSync(settings: ReplicaSyncSettings): ReplicaSync {
  const { client, file, origin, onChange, onFault } = settings;
  let replica: Replica | undefined;
  let checkpoint: Checkpoint | undefined;
  /** Monotonic. */
  let currentAt = -Infinity;
  let notedAt = -Infinity;
  const waiting = new Set<Waiting>();
  let ended: Error | undefined;
  let isCaughtUp = false;
  let ageOfRegistry = 0;

  async function loadFromDisk(): Promise<void> {
    const fresh = settings.createReplica();
    const found = await file?.replay((line) => putLine(fresh, line, onFault));
    if (found === undefined) return;
    const { cursor, revision } = found;
    replica = fresh;
    checkpoint = { cursor, revision };
    isCurrent(performance.now() - Math.max(0, Date.now() - found.currentAt));
  }

  async function load(signal: AbortSignal): Promise<string> {
    const askedAt = performance.now();
    const fresh = settings.createReplica();
    const snapshot = file?.begin();
    const put = (lines: StateLine[], texts: string[]) => {
      for (const line of lines) putLine(fresh, line, onFault);
      return snapshot?.write(texts);
    };
    try {
      const { age, ...end } = await readSnapshot(client.GET, { origin }, signal, put);
      replica = fresh;
      checkpoint = end;
      await snapshot?.complete(end);
      isCurrent(askedAt - age * 1_000);
    } catch (error) {
      await snapshot?.abandon();
      throw error;
    }
    note();
    onChange();
    return checkpoint.cursor;
  }

  function apply({ changes, cursor, revision, more, age }: Batch): void {
    // Synchronous: a caller sees all of it or nothing.
    for (const change of changes) if (replica !== undefined) putLine(replica, change as ChangeLine, onFault);
    checkpoint = { cursor, revision: revision ?? checkpoint?.revision ?? '' };
    if (changes.length > 0) file?.append(changes.map((change) => JSON.stringify(change)));
    if (more !== undefined) isCaughtUp = !more;
    // Changes alone do not say how old they are.
    ageOfRegistry = age ?? ageOfRegistry;
    if (isCaughtUp) isCurrent(performance.now() - ageOfRegistry * 1_000);
    if (performance.now() - notedAt > noteEveryMs) note();
    for (const { kind, origin, sink } of changes) onChange(origin, sink, kind);
  }

  function isCurrent(at: number): void {
    currentAt = Math.max(at, currentAt);
    for (const one of waiting) {
      if (currentAt < one.since) continue;
      waiting.delete(one);
      one.resolve();
    }
  }

  function note(): void {
    notedAt = performance.now();
    if (checkpoint !== undefined) file?.noteCurrent(checkpoint, Date.now() - (performance.now() - currentAt));
  }

  function failed(error: unknown): void {
    onFault(error);
    if (!isFinal(error)) return;
    for (const one of waiting) one.reject(error);
    waiting.clear();
  }

  return {
    async run(signal) {
      await loadFromDisk().catch(onFault);
      const after = () => checkpoint?.cursor;
      const onConnection = (state: 'live' | 'lost') => {
        if (state === 'lost') isCaughtUp = false;
      };
      const options = { after, origin, waitSeconds, signal, load, onConnection, onFault: failed };
      await applyBatches(client.GET, options, (batch) => {
        apply(batch);
        // Streams carry no time, and expiry is not a change: a new stream starts with a Date header.
        return client.isClockSet();
      });
      ended = signal.reason as Error;
      for (const one of waiting) one.reject(ended);
      waiting.clear();
    },

    replica: () => replica,
    checkpoint: () => checkpoint,
    age: () => Math.max(0, performance.now() - currentAt) / 1_000,
    ready(maxAgeMs) {
      const since = performance.now() - maxAgeMs;
      if (replica !== undefined && currentAt >= since) return Promise.resolve();
      if (ended !== undefined) return Promise.reject(ended);
      return new Promise((resolve, reject) => waiting.add({ since, resolve, reject }));
    },
    settle: note,
  };
}
