import type { GrantState, StateLine } from '../../matching/replica/state.js';
import { applyBatches, readSnapshot, type Checkpoint } from '../../kits/client/follow-changes.js';
import type { RegistryClient } from '../../kits/client/registry-client.js';
import { differences, maxListed, noticesOf, type StatedSubscription, type Updates } from './last-status.js';
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

const noteEveryMs = 60_000;
/** Shorter than the time-out of a request. */
const waitSeconds = 8;

/** Runs until the signal fires. */
export async function follow(settings: FollowSettings, signal: AbortSignal): Promise<void> {
  const { client, outbox, hand, onFault } = settings;
  let notedAt = -Infinity;

  async function compareAll(signal: AbortSignal): Promise<string> {
    const subscriptions = new Map<string, StatedSubscription>();
    const grants = new Map<string, GrantState>();
    const { cursor, revision } = await readSnapshot<StateLine>(client.GET, { statuses: true }, signal, (lines) => {
      for (const { kind, resource } of lines) {
        if (kind === 'grant') grants.set(`${resource.origin} ${resource.sink}`, resource);
        if (kind === 'subscription') subscriptions.set(resource.id, resource as StatedSubscription);
      }
    });
    const known = outbox.statuses();
    const before = outbox.through();
    const at = new Date(Date.now() + client.aheadMs()).toISOString();
    const notices = before === undefined ? [] : differences(subscriptions, grants, known, { ...before, at });
    const updates: Updates = new Map([...known.keys()].map((id) => [id, undefined]));
    for (const { id, subscriber, origin, sink, status, handshake, expiresat } of subscriptions.values()) {
      updates.set(id, { subscriber, origin, sink, status, handshake, ...(expiresat && { endsAt: expiresat }) });
    }
    await hand(notices, { cursor, revision }, updates);
    return cursor;
  }

  let mustCompare = false;
  const after = () => (mustCompare ? undefined : outbox.through()?.cursor);
  const options = { after, statuses: true, waitSeconds, signal, load: compareAll, onFault };
  await applyBatches(client.GET, options, async ({ changes, cursor, revision }) => {
    mustCompare = changes.some(({ statuses = [] }) => statuses.length >= maxListed);
    // An unchanged log has newer cursors, too.
    if (mustCompare || (changes.length === 0 && performance.now() - notedAt < noteEveryMs)) return mustCompare;
    notedAt = performance.now();
    const updates: Updates = new Map();
    const notices = changes.flatMap((change) => noticesOf(change, outbox.statuses(), updates));
    await hand(notices, { cursor, revision: revision ?? outbox.through()?.revision ?? '' }, updates);
    return false;
  });
}
