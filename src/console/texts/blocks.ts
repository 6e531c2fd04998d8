import type { Text } from '../app/text.js';

export const blocksTexts = {
  title: { en: 'Blocks', nl: 'Blokkades' },
  one: { en: 'Block', nl: 'Blokkade' },
  searchLabel: { en: 'Search blocks', nl: 'Blokkades zoeken' },
  lead: {
    en: 'A block stops deliveries at once and changes nothing else. If you lift it, everything is as before.',
    nl: 'Een blokkade stopt bezorgingen meteen en wijzigt verder niets. Als u die opheft, is alles weer als daarvoor.',
  },
  create: { en: 'New block', nl: 'Nieuwe blokkade' },
  none: { en: 'No block is in force.', nl: 'Er is geen blokkade van kracht.' },
  first: (count: string): Text => ({ en: `These are the oldest ${count}.`, nl: `Dit zijn de oudste ${count}.` }),
  kind: { en: 'Kind', nl: 'Soort' },
  value: { en: 'Blocked', nl: 'Geblokkeerd' },
  kinds: {
    origin: { en: 'Origin', nl: 'Herkomst' },
    sink: { en: 'Sink', nl: 'Sink' },
    host: { en: 'Host', nl: 'Host' },
    domain: { en: 'Domain', nl: 'Domein' },
    network: { en: 'Network', nl: 'Netwerk' },
    subscriber: { en: 'Subscriber', nl: 'Abonnee' },
    tenant: { en: 'Tenant', nl: 'Organisatie' },
  },
  /** What it stops, and how to write it. */
  hints: {
    origin: {
      en: 'One system that sends events. Write its name, such as eventemitter.example.com.',
      nl: 'Eén herkomst van gebeurtenissen. Schrijf de naam, zoals eventemitter.example.com.',
    },
    sink: {
      en: 'One webhook. Write the URL as its subscriptions have it.',
      nl: 'Eén webhook. Schrijf de URL zoals die in de abonnementen staat.',
    },
    host: {
      en: 'Every webhook of a host. Write a name or an address, without port.',
      nl: 'Alle webhooks van een host. Schrijf een naam of een adres, zonder poort.',
    },
    domain: {
      en: 'Every webhook of a domain and of all names below it, such as example.com.',
      nl: 'Alle webhooks van een domein en van alle namen daaronder, zoals example.com.',
    },
    network: {
      en: 'Webhooks whose address was in this network when they gave consent, such as 203.0.113.0/24.',
      nl: 'Webhooks met een adres in dit netwerk toen ze toestemming gaven, zoals 203.0.113.0/24.',
    },
    subscriber: {
      en: 'The subscriptions of one client. Write its client id.',
      nl: 'De abonnementen van één client. Schrijf de client-id.',
    },
    tenant: {
      en: 'Everything of one organisation. Write its name.',
      nl: 'Alles van één organisatie. Schrijf de naam.',
    },
  },
  tenant: { en: 'In tenant', nl: 'Bij organisatie' },
  tenantHint: {
    en: 'Whose deliveries to stop. * is every tenant.',
    nl: 'Wiens bezorgingen stoppen. * betekent alle organisaties.',
  },
  everyTenant: { en: 'every tenant', nl: 'alle organisaties' },
  reasonHint: {
    en: 'Consumers read it in the status of their subscriptions. At most 500 characters.',
    nl: 'Afnemers lezen de reden bij de status van hun abonnementen. Hoogstens 500 tekens.',
  },
  until: { en: 'Until', nl: 'Tot' },
  untilTime: { en: 'Ends at', nl: 'Eindigt op' },
  untilHint: { en: 'In your time zone.', nl: 'In uw tijdzone.' },
  ends: {
    hour: { en: '1 hour', nl: '1 uur' },
    hours: { en: '4 hours', nl: '4 uur' },
    today: { en: 'today', nl: 'vandaag' },
    lifted: { en: 'until lifted', nl: 'tot opheffen' },
    other: { en: 'another time', nl: 'ander moment' },
  },
  by: { en: 'By', nl: 'Door' },
  since: { en: 'Since', nl: 'Sinds' },
  operator: { en: 'operator', nl: 'systeembeheerder' },
  stops: { en: 'Stops', nl: 'Stopt' },
  toShow: {
    en: 'Say what to block. What it stops appears here first.',
    nl: 'Geef aan wat u wilt blokkeren. Wat er stopt, ziet u eerst hier.',
  },
  counting: {
    en: 'Assent is still counting what this stops. Press the button again in a moment.',
    nl: 'Assent telt nog wat er stopt. Druk zo meteen opnieuw op de knop.',
  },
  effect: { en: 'What it stops', nl: 'Wat stopt' },
  effectNow: { en: 'What it stops now', nl: 'Wat nu stopt' },
  nothingStops: {
    en: 'Nothing that exists is under it now. It also stops what comes later.',
    nl: 'Er valt nu niets onder. De blokkade geldt ook voor wat later komt.',
  },
  more: {
    en: 'There is more than these numbers say.',
    nl: 'Er is meer dan deze aantallen zeggen.',
  },
  announcing: (count: string): Text => ({
    en: `The block is in force. Consumers are being told: ${count} subscriptions so far.`,
    nl: `De blokkade is van kracht. Afnemers krijgen bericht: ${count} abonnementen tot nu toe.`,
  }),
  announced: (count: string): Text => ({
    en: `Consumers of ${count} subscriptions were told.`,
    nl: `Afnemers van ${count} abonnementen hebben bericht gekregen.`,
  }),
  subscription: { en: 'subscription', nl: 'abonnement' },
  subscriptions: { en: 'subscriptions', nl: 'abonnementen' },
  subscribers: { en: 'Subscribers', nl: 'Abonnees' },
  origins: { en: 'Origins', nl: 'Herkomsten' },
  grants: { en: 'Live grants', nl: 'Geldige grants' },
  handshakes: { en: 'Handshakes in progress', nl: 'Lopende handshakes' },
  firstNames: { en: 'the first 20', nl: 'de eerste 20' },
  showSubscriptions: { en: 'Show its subscriptions', nl: 'Toon de abonnementen' },
  block: { en: 'Block now', nl: 'Nu blokkeren' },
  blocked: {
    en: 'Blocked. Senders stop within a second.',
    nl: 'Geblokkeerd. Verzenders stoppen binnen een seconde.',
  },
  lift: { en: 'Lift', nl: 'Opheffen' },
  liftTitle: (value: string): Text => ({
    en: `Lift the block of ${value}?`,
    nl: `De blokkade van ${value} opheffen?`,
  }),
  liftAllTitle: (count: string): Text => ({ en: `Lift ${count} blocks?`, nl: `${count} blokkades opheffen?` }),
  liftText: {
    en: 'What it stopped continues at once, unless another block stops it. No webhook is asked again, except for grants that expired meanwhile.',
    nl: 'Wat gestopt was, gaat meteen verder, tenzij een andere blokkade het stopt. Webhooks wordt niet opnieuw om toestemming gevraagd, behalve voor grants die intussen zijn verlopen.',
  },
  lifted: { en: 'The block is lifted.', nl: 'De blokkade is opgeheven.' },
  liftedAll: (count: string): Text => ({
    en: `${count} blocks are lifted.`,
    nl: `${count} blokkades zijn opgeheven.`,
  }),
  operatorOnly: { en: 'Only an operator can lift it.', nl: 'Alleen een systeembeheerder kan die opheffen.' },
  history: { en: 'Audit record', nl: 'Auditlog' },
  gone: {
    en: 'This block is not in force. It was lifted, or its end has passed.',
    nl: 'Deze blokkade is niet van kracht. Die is opgeheven of verlopen.',
  },
} satisfies Record<string, Text | object>;
