import { createToken } from '../../src/tools/cli/login/create-token.js';
import { createSender, type Sender, type SenderSettings } from '../../src/kits/sender/index.js';
import { createFeedReader, type FeedReader } from './feed-reader.js';
import { startRegistry, type Registry, type RegistrySettings } from './registry.js';
import { startRelay, type Relay } from './relay.js';
import { createTenant, type Tenant } from './tenant.js';

/** The senders of one test file, with the registry that they follow and a relay in front of it that can be cut. */
export interface Senders {
  registry: Registry;
  tenant: Tenant;
  reader: FeedReader;
  relay: Relay;
  start(settings?: Partial<SenderSettings>): Promise<Sender>;
  /** Creates a sender that knows everything committed before the call. */
  startCurrent(settings?: Partial<SenderSettings>): Promise<Sender>;
  /** Resolves when the sender knows everything committed before the call. */
  untilCurrent(sender: Sender): Promise<void>;
  /** The background errors of all senders. */
  faults: unknown[];
  stop(): Promise<void>;
}

export async function startSenders(settings: RegistrySettings = {}, policy: object = {}): Promise<Senders> {
  const env = { ASSENT_FEED_HEARTBEAT_SECONDS: '1', ASSENT_STOP_SECONDS: '3', ...settings.env };
  const registry = await startRegistry({ ...settings, env });
  const tenant = await createTenant(registry, policy);
  const reader = await createFeedReader(registry);
  const relay = await startRelay(registry.url);
  const all: Sender[] = [];
  const faults: unknown[] = [];
  const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver' as const], minutes: 60 };
  const senders: Senders = {
    registry,
    tenant,
    reader,
    relay,
    faults,
    async start(settings = {}) {
      const token = () => createToken(who, registry.env);
      const onFault = (error: unknown) => void faults.push(error);
      const sender = await createSender({ registry: registry.url, token, onFault, ...settings });
      all.push(sender);
      return sender;
    },
    async startCurrent(settings) {
      const sender = await senders.start(settings);
      await senders.untilCurrent(sender);
      return sender;
    },
    async untilCurrent(sender) {
      const { revision } = (await reader.snapshot()).at(-1);
      const event = { specversion: '1.0', id: '1', source: 'urn:example:none', type: 'com.example.none' };
      await sender.ready();
      const known = () => sender.match(event).revision;
      while (BigInt(known()) < BigInt(revision)) await sender.ready(0);
    },
    async stop() {
      await Promise.all(all.map((sender) => sender.close()));
      await relay.stop();
      await registry.stop();
    },
  };
  return senders;
}
