import { join } from 'node:path';
import { LinkedController, sleep, until } from '../../base/until.js';
import { SetupError } from '../../base/errors.js';
import { createSender, RegistryError, type GuardSettings } from '../../kits/sender/index.js';
import type { Checkpoint } from '../../kits/client/follow-changes.js';
import { createRegistryClient } from '../../kits/client/registry-client.js';
import { createCourier, type Dropped } from './courier.js';
import { follow } from './follow.js';
import type { Updates } from './last-status.js';
import { eventOf, type EventSettings, type Notice } from './notice.js';
import { openOutbox, type OutboxEntry } from './outbox.js';

export interface NotifierSettings extends EventSettings {
  registry: readonly URL[];
  /** Of one tenant, with `assent:deliver`, and `assent:credentials` if webhooks for notices may have credentials. */
  token: () => Promise<string> | string;
  /** The origin of the notices. */
  origin: string;
  folder: string;
  ca: string | undefined;
  guard: GuardSettings;
  keepMs: number;
  firstDelayMs: number;
  onDelivered: (entry: OutboxEntry) => void;
  onDropped: (entry: OutboxEntry, why: Dropped) => void;
  onFault: (error: unknown) => void;
}

/** How often it looks whether the replica has caught up. */
const lookMs = 20;

/**
 * A sender of notices: tells each subscriber, at the webhooks that it subscribed to the origin of the notices, what
 * happened to its own subscriptions. Two views of the log: `follow` compares statuses, and the sender's kit knows who wants
 * the notices and may get them. Runs until the signal fires. SetupError for a folder in use, and for an origin that does
 * not exist or whose profile the events do not keep.
 */
export async function runNotifier(settings: NotifierSettings, signal: AbortSignal): Promise<void> {
  const { registry, token, origin, folder, ca, onFault } = settings;
  const addresses = registry.map((address) => address.href);
  const ending = new LinkedController([signal]);
  const outbox = await openOutbox(folder, onFault);
  const client = createRegistryClient({ addresses: registry, token, ca });
  const kit = { registry: addresses, token, ca, instance: 'notify', guard: settings.guard, onFault };
  const sender = await createSender({ ...kit, folder: join(folder, 'replica') });

  const subscriberOf = (id: string, updates?: Updates) =>
    (updates?.has(id) ? updates.get(id) : outbox.statuses().get(id))?.subscriber;

  /** The webhooks that get an event, by what their subscriptions want; only those of the subscriber itself. */
  function entriesOf(notice: Notice, updates: Updates): Array<Omit<OutboxEntry, 'number'>> {
    const event = eventOf(notice, settings);
    const match = sender.match(event, { origin });
    return match.sinks.flatMap(({ sink, subscriptions }) => {
      const own = subscriptions.filter((id) => subscriberOf(id, updates) === notice.subscriber);
      return own.length === 0 ? [] : [{ sink, subscriptions: own, queuedAt: Date.now(), event }];
    });
  }

  async function hand(notices: readonly Notice[], through: Checkpoint, updates: Updates): Promise<void> {
    // A notice about a subscription to notices would cause the next one.
    const wanted = notices.filter((notice) => notice.origin !== origin);
    const entries: Array<Omit<OutboxEntry, 'number'>> = [];
    if (wanted.length > 0) await untilCurrent(through.revision);
    for (const notice of wanted) {
      try {
        entries.push(...entriesOf(notice, updates));
      } catch (error) {
        if (!(error instanceof RegistryError) || error.code === 'index_loading') throw error;
        onFault(new Error(`No one gets the notice ${notice.id}.`, { cause: error }));
      }
    }
    courier.add(await outbox.append(entries, through, updates));
  }

  /** Until the kit knows every subscription to notices that was there at this revision. */
  async function untilCurrent(revision: string): Promise<void> {
    const probe = eventOf({ ...example, origin }, settings);
    const known = () => BigInt(sender.match(probe, { origin }).revision || 0);
    while (known() < BigInt(revision)) {
      await sleep(lookMs, ending.signal);
      ending.signal.throwIfAborted();
    }
  }

  const courier = createCourier({
    ...settings,
    sender,
    outbox,
    isWanted: (ids) => ids.some((id) => subscriberOf(id) !== undefined),
    signal: ending.signal,
  });
  try {
    await until(sender.ready(0), { signals: [ending.signal] });
    if (!ending.signal.aborted) {
      checkOrigin(() => sender.match(eventOf({ ...example, origin }, settings), { origin }));
      courier.add(outbox.pending());
      await follow({ client, outbox, hand, onFault }, ending.signal);
    }
  } finally {
    ending.abort(new Error('The notifier stops.'));
    await courier.stopped();
    await Promise.all([sender.close(), client.close()]);
    await outbox.close().catch(onFault);
  }
}

/** Events of this kind must be valid for the origin, or none would ever be sent. */
function checkOrigin(match: () => unknown): void {
  try {
    match();
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const faults = error.faults.map(
      ({ pointer, detail }) => ` ${pointer}: ${typeof detail === 'string' ? detail : detail.en}`,
    );
    throw new SetupError(`Notices cannot be sent for this origin: ${error.message}${faults.join('')}`, {
      cause: error,
    });
  }
}

const example: Notice = {
  id: 'example',
  type: 'subscription.active',
  at: '2026-01-01T00:00:00.000Z',
  subscriber: '',
  subscription: '00000000-0000-0000-0000-000000000000',
  origin: '',
  sink: '',
  status: 'active',
  code: 'granted',
  grant: undefined,
};
