import { setTimeout as sleep } from 'node:timers/promises';
import { readPage, silenceMs } from '../../kits/sender/feed.js';
import type { Journal } from '../../kits/sender/journal.js';
import { readLines, type ChangeLine, type Checkpoint, type SnapshotLine } from '../../kits/sender/lines.js';
import { backoffMs, RegistryRefusal, type RegistryClient } from '../../kits/sender/registry-client.js';
import type { Notice } from './notice.js';
import { createStandings, type Standings } from './standings.js';

/**
 * Follows the change log of the tenant from where it was left, and hands over the notices of each page before it goes on.
 * The journal is written after the notices are safe: so after a kill it is never ahead of them, and the changes in
 * between are read again, to know where each subscription stands, but cause no second notice.
 *
 * If the registry no longer knows the cursor, it starts anew from a snapshot, with notices for what differs.
 */
export interface FollowSettings {
  client: RegistryClient;
  journal: Journal;
  /** The revision up to which notices are safe. */
  through: () => string | undefined;
  /** Resolves when the notices are safe. Called with none as well, for the revision. */
  hand: (notices: readonly Notice[], revision: string, standings: Standings) => Promise<void>;
  onFault: (error: unknown) => void;
  random: () => number;
}

export interface Follow {
  run(signal: AbortSignal): Promise<void>;
  standings(): Standings;
}

/** The registry reads the whole snapshot before it sends any of it, within two minutes. */
const snapshotMs = 130_000;
const noteEveryMs = 60_000;
const firstDelayMs = 100;
const longestDelayMs = 10_000;

export function createFollow({ client, journal, through, hand, onFault, random }: FollowSettings): Follow {
  let standings = createStandings();
  let checkpoint: Checkpoint | undefined;
  let notedAt = -Infinity;

  async function loadFromDisk(): Promise<void> {
    // Nothing was read so far, or the outbox was removed: begin as at the first start.
    if (through() === undefined) return;
    const found = await journal.replay((line) => {
      if (isChange(line)) standings.apply(line);
      else standings.load(line);
    });
    if (found === undefined) standings = createStandings();
    else checkpoint = { cursor: found.cursor, revision: found.revision };
  }

  async function loadFromRegistry(signal: AbortSignal): Promise<void> {
    const body = await client.call({
      method: 'GET',
      path: 'v1/snapshot?status=true',
      accept: 'application/jsonl',
      signal,
      answerMs: snapshotMs,
      silenceMs,
      freshToken: true,
    });
    const fresh = createStandings();
    const file = journal.begin();
    let end: Checkpoint | undefined;
    try {
      for await (const texts of readLines(body)) {
        for (const text of texts) {
          const line = JSON.parse(text) as SnapshotLine;
          if (line.kind === 'end') end = { cursor: line.cursor, revision: line.revision };
          else fresh.load(line);
        }
        await file.write(end === undefined ? texts : texts.slice(0, -1));
      }
      if (end === undefined) throw new Error('The snapshot is incomplete.');
      const now = new Date(Date.now() + client.aheadMs()).toISOString();
      const notices = checkpoint === undefined ? [] : fresh.since(standings, checkpoint.revision, now);
      await hand(notices, end.revision, fresh);
    } catch (error) {
      await file.abandon();
      throw error;
    }
    standings = fresh;
    checkpoint = end;
    await file.complete(end);
  }

  async function readOn({ cursor, revision }: Checkpoint, signal: AbortSignal): Promise<void> {
    const batch = await readPage({ client, query: `after=${encodeURIComponent(cursor)}&limit=500`, signal });
    const changes = batch.changes.map((text) => JSON.parse(text) as ChangeLine);
    const last = batch.revision ?? revision;
    const safe = BigInt(through() ?? 0);
    const notices = changes.flatMap((change) => {
      const caused = standings.apply(change);
      return BigInt(change.revision) > safe ? caused : [];
    });
    if (changes.length > 0 && BigInt(last) > safe) await insist(() => hand(notices, last, standings), signal);
    checkpoint = { cursor: batch.cursor, revision: last };
    if (changes.length > 0) journal.append(batch.changes);
    if (performance.now() - notedAt < noteEveryMs) return;
    notedAt = performance.now();
    // An unchanged log has newer cursors, too.
    journal.noteCurrent(checkpoint, Date.now());
  }

  /** The changes were applied: they must not be applied again. */
  async function insist(task: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await task();
      } catch (error) {
        signal.throwIfAborted();
        onFault(error);
        await sleep(backoffMs(failures, firstDelayMs, longestDelayMs, random), undefined, { signal });
      }
    }
  }

  return {
    standings: () => standings,
    async run(signal) {
      await loadFromDisk();
      let mustLoad = checkpoint === undefined;
      for (let failures = 0; !signal.aborted;) {
        try {
          if (mustLoad) await loadFromRegistry(signal);
          mustLoad = false;
          await readOn(checkpoint as Checkpoint, signal);
          failures = 0;
        } catch (error) {
          if (signal.aborted) return;
          onFault(error);
          mustLoad ||= error instanceof RegistryRefusal && (error.status === 410 || error.status === 400);
          await sleep(backoffMs(failures, firstDelayMs, longestDelayMs, random), undefined, { signal }).catch(
            () => undefined,
          );
          failures += 1;
        }
      }
    },
  };
}

function isChange(line: SnapshotLine | ChangeLine): line is ChangeLine {
  return 'cursor' in line && line.kind !== 'end';
}
