import { createToken } from '../../src/cli/create-token.js';
import { createSender, type Sender, type SenderSettings } from '../../src/sender/index.js';
import type { Registry } from './registry.js';

/** Senders of one test file, which end with it. */
export interface Senders {
  start(settings?: Partial<SenderSettings>): Promise<Sender>;
  /** What went wrong in the background, of all of them. */
  faults: unknown[];
  stop(): Promise<void>;
}

export function createSenders(registry: Registry): Senders {
  const all: Sender[] = [];
  const faults: unknown[] = [];
  const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver' as const], minutes: 60 };
  return {
    faults,
    async start(settings = {}) {
      const token = () => createToken(who, registry.env);
      const onFault = (error: unknown) => void faults.push(error);
      const sender = await createSender({ registry: registry.url, token, onFault, ...settings });
      all.push(sender);
      return sender;
    },
    async stop() {
      await Promise.all(all.map((sender) => sender.close()));
    },
  };
}

/** Resolves when the sender knows of this revision of the change log. The registry needs a default origin. */
export async function untilRevision(sender: Sender, revision: string): Promise<void> {
  const event = { specversion: '1.0', id: '1', source: 'urn:example:none', type: 'com.example.none' };
  await sender.ready();
  const known = () => sender.match(event).revision;
  while (BigInt(known()) < BigInt(revision)) await sender.ready(0);
}
