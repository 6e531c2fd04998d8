import type { Text } from './text.js';

/** What a block stops. */
export type BlockKind = 'origin' | 'sink' | 'host' | 'domain' | 'network' | 'subscriber' | 'tenant';

const things: Record<BlockKind, (value: string) => Text> = {
  origin: (value) => ({ en: `the origin ${value}`, nl: `de afzender ${value}` }),
  sink: (value) => ({ en: `the sink ${value}`, nl: `de sink ${value}` }),
  host: (value) => ({ en: `the host ${value}`, nl: `de host ${value}` }),
  domain: (value) => ({ en: `the domain ${value}`, nl: `het domein ${value}` }),
  network: (value) => ({ en: `the network ${value}`, nl: `het netwerk ${value}` }),
  subscriber: (value) => ({ en: `the subscriber ${value}`, nl: `de abonnee ${value}` }),
  tenant: (value) => ({ en: `the tenant ${value}`, nl: `de organisatie ${value}` }),
};

export const blockTexts = {
  /** Also the message of a blocked subscription. */
  blocked: (kind: BlockKind, value: string, reason: string): Text => ({
    en: `An admin blocked ${things[kind](value).en}: ${reason}`,
    nl: `Een beheerder heeft ${things[kind](value).nl} geblokkeerd: ${reason}`,
  }),
  untilLifted: {
    en: 'Assent does not ask this webhook, and senders do not get this subscription, until an admin lifts the block.',
    nl: 'Assent vraagt deze webhook niets en verzendende systemen krijgen dit abonnement niet, totdat een beheerder de blokkade opheft.',
  },
  untilEnd: {
    en: 'The block ends.',
    nl: 'De blokkade eindigt.',
  },
} satisfies Record<string, unknown>;
