import type { GrantState } from '../../matching/replica/state.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { sleep } from '../../base/until.js';
import { readPage, silenceMs } from '../../kits/sender/feed.js';
import { readLines, type Checkpoint, type SnapshotLine } from '../../kits/sender/lines.js';
import { RegistryRefusal, type RegistryClient } from '../../kits/sender/registry-client.js';
import {
  differences,
  maxListed,
  noticesOf,
  type StatedChange,
  type StatedSubscription,
  type Updates,
} from './last-status.js';
import type { Notice } from './notice.js';
import type { Outbox } from './outbox.js';

/**
 * Follows the change log of the tenant from where it was left, and hands over the notices of each page before it goes on:
 * with their place in the log and the statuses that they report, at once. So a page that was not safe when the process
 * was killed is read and compared again, with the same statuses as before.
 *
 * If the registry no longer knows the cursor, or a change is about more subscriptions than it lists, the statuses are
 * compared with a snapshot.
 */
export interface FollowSettings {
  client: RegistryClient;
  outbox: Pick<Outbox, 'through' | 'statuses'>;
  /** Resolves when all of it is safe. Called without notices as well, for the place in the log. */
  hand: (notices: readonly Notice[], through: Checkpoint, updates: Updates) => Promise<void>;
  onFault: (error: unknown) => void;
}

/** The registry reads the whole snapshot before it sends any of it, within two minutes. */
const snapshotMs = 130_000;
const noteEveryMs = 60_000;
const backoff = { firstMs: 100, maxMs: 10_000 };

/** Runs until the signal fires. */
export async function follow(settings: FollowSettings, signal: AbortSignal): Promise<void> {
  const { client, outbox, hand, onFault } = settings;
  let notedAt = -Infinity;

  async function compareAll(): Promise<void> {
    const path = 'v1/snapshot?status=true';
    const accept = 'application/jsonl';
    const body = await client.call({
      method: 'GET',
      path,
      accept,
      signal,
      answerMs: snapshotMs,
      silenceMs,
      freshToken: true,
    });
    const subscriptions = new Map<string, StatedSubscription>();
    const grants = new Map<string, GrantState>();
    let end: Checkpoint | undefined;
    for await (const texts of readLines(body)) {
      for (const text of texts) {
        const line = JSON.parse(text) as SnapshotLine;
        if (line.kind === 'end') end = { cursor: line.cursor, revision: line.revision };
        if (line.kind === 'grant') grants.set(`${line.state.origin} ${line.state.sink}`, line.state);
        if (line.kind === 'subscription') subscriptions.set(line.state.id, line.state as StatedSubscription);
      }
    }
    if (end === undefined) throw new Error('The snapshot is incomplete.');
    const known = outbox.statuses();
    const before = outbox.through();
    const at = new Date(Date.now() + client.aheadMs()).toISOString();
    const notices = before === undefined ? [] : differences(subscriptions, grants, known, { ...before, at });
    const updates: Updates = new Map([...known.keys()].map((id) => [id, undefined]));
    for (const { id, subscriber, origin, sink, status, handshake, expiresat } of subscriptions.values()) {
      updates.set(id, { subscriber, origin, sink, status, handshake, ...(expiresat && { endsAt: expiresat }) });
    }
    await hand(notices, end, updates);
  }

  async function readOn({ cursor, revision }: Checkpoint): Promise<void> {
    const query = `after=${encodeURIComponent(cursor)}&limit=500&status=true`;
    const batch = await readPage({ client, query, signal });
    const updates: Updates = new Map();
    const notices: Notice[] = [];
    for (const text of batch.changes) {
      const change = JSON.parse(text) as StatedChange;
      if ((change.subscriptions?.length ?? 0) >= maxListed) return compareAll();
      notices.push(...noticesOf(change, outbox.statuses(), updates));
    }
    // An unchanged log has newer cursors, too.
    if (batch.changes.length === 0 && performance.now() - notedAt < noteEveryMs) return;
    notedAt = performance.now();
    await hand(notices, { cursor: batch.cursor, revision: batch.revision ?? revision }, updates);
  }

  let mustCompare = outbox.through() === undefined;
  for (let failures = 0; !signal.aborted;) {
    try {
      if (mustCompare) await compareAll();
      mustCompare = false;
      await readOn(outbox.through() as Checkpoint);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      onFault(error);
      mustCompare ||= error instanceof RegistryRefusal && (error.status === 410 || error.status === 400);
      failures += 1;
      await sleep(retryDelayMs(failures, backoff), signal);
    }
  }
}
