import { sleep } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import type { Replica } from '../../matching/replica/replica.js';
import { ageIn, HeldBack, isStreamThrough, readPage, readStream, silenceMs, type Batch } from './feed.js';
import type { Journal } from './journal.js';
import { putLine, readLines, type ChangeLine, type Checkpoint, type SnapshotLine } from './lines.js';
import { isFinal, RegistryRefusal, type RegistryClient } from './registry-client.js';

/**
 * Keeps a replica of what the registry knows in this process, and on disk if there is a journal.
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
  journal: Journal | undefined;
  /** Only this origin. */
  origin: string | undefined;
  createReplica: () => Replica;
  /** After a change of this pair was applied; of an origin, or of everything, if no more is given. */
  onChange: (origin?: string, sink?: string) => void;
  onFault: (error: unknown) => void;
}

interface Waiting {
  /** Monotonic. */
  since: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** The registry reads the whole snapshot before it sends any of it, within two minutes. */
const snapshotMs = 130_000;
const noteEveryMs = 60_000;
const backoff = { firstMs: 100, maxMs: 10_000 };
/** A connection that lasted this long was not a failure. */
const steadyMs = 1_000;
/** When the registry refuses every new cursor. */
const reloadEveryMs = 300_000;
/** While pages are read. */
const tryStreamEveryMs = 600_000;

export function createReplicaSync(settings: ReplicaSyncSettings): ReplicaSync {
  const { client, journal, origin, onChange, onFault } = settings;
  let replica: Replica | undefined;
  let checkpoint: Checkpoint | undefined;
  /** Monotonic. */
  let currentAt = -Infinity;
  let notedAt = -Infinity;
  const waiting = new Set<Waiting>();
  let ended: Error | undefined;
  const scope = origin === undefined ? '' : `origin=${encodeURIComponent(origin)}`;

  async function loadFromDisk(): Promise<void> {
    const fresh = settings.createReplica();
    const found = await journal?.replay((line) => putLine(fresh, line, onFault));
    if (found === undefined) return;
    const { cursor, revision } = found;
    replica = fresh;
    checkpoint = { cursor, revision };
    isCurrent(performance.now() - Math.max(0, Date.now() - found.currentAt));
  }

  async function loadFromRegistry(signal: AbortSignal): Promise<void> {
    const askedAt = performance.now();
    let ageOfRegistry = 0;
    const path = `v1/snapshot${scope === '' ? '' : `?${scope}`}`;
    const body = await client.call({
      method: 'GET',
      path,
      accept: 'application/jsonl',
      signal,
      answerMs: snapshotMs,
      silenceMs,
      freshToken: true,
      onHeaders: (headers) => void (ageOfRegistry = ageIn(headers)),
    });
    const fresh = settings.createReplica();
    const file = journal?.begin();
    let end: Checkpoint | undefined;
    try {
      for await (const texts of readLines(body)) {
        for (const text of texts) {
          const line = JSON.parse(text) as SnapshotLine;
          if (line.kind === 'end') end = { cursor: line.cursor, revision: line.revision };
          else putLine(fresh, line, onFault);
        }
        await file?.write(end === undefined ? texts : texts.slice(0, -1));
      }
      if (end === undefined) throw new Error('The snapshot is incomplete.');
    } catch (error) {
      await file?.abandon();
      throw error;
    }
    replica = fresh;
    checkpoint = end;
    await file?.complete(end);
    isCurrent(askedAt - ageOfRegistry * 1_000);
    note();
    onChange();
  }

  /**
   * Ends when the registry ends the stream. If a proxy buffers the stream, polls pages until a stream works or they fail.
   */
  async function follow(from: Checkpoint, signal: AbortSignal, onEvent: () => void): Promise<void> {
    let isCaughtUp = false;
    let ageOfRegistry = 0;
    const take = ({ changes: kept, cursor, revision, more, age }: Batch) => {
      const changes = kept.map((text) => JSON.parse(text) as ChangeLine);
      // Synchronous: a caller sees all of it or nothing.
      for (const change of changes) if (replica !== undefined) putLine(replica, change, onFault);
      checkpoint = { cursor, revision: revision ?? checkpoint?.revision ?? '' };
      if (kept.length > 0) journal?.append(kept);
      if (more !== undefined) isCaughtUp = !more;
      // Changes alone do not say how old they are.
      ageOfRegistry = age ?? ageOfRegistry;
      if (isCaughtUp) isCurrent(performance.now() - ageOfRegistry * 1_000);
      if (performance.now() - notedAt > noteEveryMs) note();
      for (const change of changes) onChange(change.origin, change.sink);
      onEvent();
    };
    const behind = ({ cursor }: Checkpoint) => `after=${encodeURIComponent(cursor)}${scope === '' ? '' : `&${scope}`}`;
    try {
      for await (const batch of readStream({ client, query: behind(from), signal })) {
        take(batch);
        // Streams carry no time, and expiry is not a change: a new stream starts with a Date header.
        if (client.isClockSet()) return;
      }
    } catch (error) {
      if (!(error instanceof HeldBack)) throw error;
      onFault(error);
      const request = () => ({ client, query: behind(checkpoint ?? from), signal });
      let triedAt = performance.now();
      let isThrough = false;
      while (!signal.aborted && !isThrough) {
        if (performance.now() - triedAt > tryStreamEveryMs) {
          triedAt = performance.now();
          void isStreamThrough(request()).then((is) => (isThrough = is));
        }
        take(await readPage(request()));
      }
    }
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
    if (checkpoint !== undefined) journal?.noteCurrent(checkpoint, Date.now() - (performance.now() - currentAt));
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
      let mustLoad = checkpoint === undefined;
      /** When the registry refused our cursor, if nothing has arrived since. */
      let forgottenAt = -Infinity;
      for (let failures = 0; !signal.aborted;) {
        try {
          if (mustLoad) await loadFromRegistry(signal);
          mustLoad = false;
          const openedAt = performance.now();
          let hasEvents = false;
          await follow(checkpoint as Checkpoint, signal, () => {
            hasEvents = true;
            forgottenAt = -Infinity;
          }).finally(() => {
            if (hasEvents && performance.now() - openedAt >= steadyMs) failures = 0;
          });
        } catch (error) {
          if (signal.aborted) break;
          const isRefused = error instanceof RegistryRefusal && (error.status === 410 || error.status === 400);
          const isForgotten = isRefused && performance.now() - forgottenAt > reloadEveryMs;
          const isNews = isForgotten && !mustLoad;
          if (isNews) forgottenAt = performance.now();
          mustLoad ||= isForgotten;
          if (isNews && failures === 0) {
            failures = 1;
            continue;
          }
          if (!isNews) failed(error);
        }
        failures += 1;
        await sleep(retryDelayMs(failures, backoff), signal);
      }
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
