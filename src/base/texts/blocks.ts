import type { Text } from './text.js';

/** What a block stops. */
export type BlockKind = 'origin' | 'sink' | 'host' | 'domain' | 'network' | 'subscriber' | 'tenant';

const things: Record<BlockKind, (value: string) => Text> = {
  origin: (value) => ({ en: `the origin ${value}`, nl: `de herkomst ${value}` }),
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
  /** `detail`: why a block of this value could never stop anything. */
  instead: (detail: Text, { kind, value }: { kind: BlockKind; value?: string }): Text =>
    value === undefined
      ? {
          en: `${detail.en} A block of the kind "${kind}" stops everything of a tenant.`,
          nl: `${detail.nl} Een blokkade van de soort "${kind}" stopt alles van een organisatie.`,
        }
      : {
          en: `${detail.en} Use the kind "${kind}" with the value "${value}".`,
          nl: `${detail.nl} Gebruik de soort "${kind}" met de waarde "${value}".`,
        },
  writeHost: {
    en: 'Write a host name or an address, without port or wildcard.',
    nl: 'Schrijf een hostnaam of een adres, zonder poort of jokerteken.',
  },
  writeDomain: {
    en: 'Write a domain, such as example.com. It includes all names below it.',
    nl: 'Schrijf een domein, zoals example.com. Alle namen daaronder horen erbij.',
  },
  writeNetwork: {
    en: 'Write a network as 203.0.113.0/24 or 2001:db8::/32, with the bits after the prefix zero.',
    nl: 'Schrijf een netwerk als 203.0.113.0/24 of 2001:db8::/32, met nullen in de bits na de prefix.',
  },
  unconnectable: {
    en: 'No connection leads into this network, so a block would stop nothing.',
    nl: 'Er is geen verbinding mogelijk met dit netwerk, dus een blokkade zou niets stoppen.',
  },
  writeName: {
    en: 'Write the name of one client or tenant, as its tokens have it.',
    nl: 'Schrijf de naam van één client of organisatie, zoals die in de tokens staat.',
  },
  untilLifted: {
    en: 'Assent does not ask this webhook, and senders do not get this subscription, until an admin lifts the block.',
    nl: 'Assent vraagt deze webhook niets en verzenders krijgen dit abonnement niet, totdat een beheerder de blokkade opheft.',
  },
  untilEnd: {
    en: 'The block ends.',
    nl: 'De blokkade eindigt.',
  },
} satisfies Record<string, unknown>;
