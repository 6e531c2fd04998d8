/** A term of Assent: its one word in each language, and what it means. */
interface Term {
  en: string;
  nl: string;
  meaning: string;
}

/** The words of Assent. The page of concepts has them as a table. */
export const glossary: readonly Term[] = [
  {
    en: 'origin',
    nl: 'herkomst',
    meaning: 'The DNS name that events are sent under: the value of `WebHook-Request-Origin`.',
  },
  {
    en: 'sender',
    nl: 'verzender',
    meaning: 'A client that delivers events for an origin (scope `assent:deliver`).',
  },
  { en: 'sink', nl: 'sink', meaning: 'The exact URL that events are sent to.' },
  { en: 'webhook', nl: 'webhook', meaning: 'The application behind a sink. Its owner decides who may send.' },
  {
    en: 'consumer',
    nl: 'afnemer',
    meaning: 'A client that registers subscriptions (scope `assent:subscribe`); `subscriber` in the API.',
  },
  {
    en: 'admin',
    nl: 'beheerder',
    meaning: 'A client that manages a tenant (scope `assent:admin`).',
  },
  {
    en: 'operator',
    nl: 'systeembeheerder',
    meaning: 'The team that runs the registry.',
  },
  {
    en: 'tenant',
    nl: 'organisatie',
    meaning: 'The organisation that a token belongs to. Nothing crosses tenants.',
  },
  {
    en: 'event',
    nl: 'gebeurtenis',
    meaning: 'A CloudEvent.',
  },
  {
    en: 'delivery',
    nl: 'bezorging',
    meaning: 'The request that carries events to a sink.',
  },
  {
    en: 'subscription',
    nl: 'abonnement',
    meaning: 'What a consumer asked for: a sink, an origin, and which events.',
  },
  {
    en: 'subscription rule',
    nl: 'abonnementsregel',
    meaning: 'Says which clients may subscribe to which events. Off by default.',
  },
  {
    en: 'handshake',
    nl: 'handshake',
    meaning: 'The `OPTIONS` exchange with a webhook for one origin, with its retries and its callback.',
  },
  { en: 'callback URL', nl: 'callback-URL', meaning: 'The URL that a webhook calls if it decides later.' },
  {
    en: 'verdict',
    nl: 'oordeel',
    meaning: 'The result of a handshake or of one attempt, as a stable code.',
  },
  {
    en: 'consent',
    nl: 'toestemming',
    meaning: 'The decision of a webhook’s owner that an origin may send.',
  },
  {
    en: 'agreement',
    nl: 'overeenkomst',
    meaning: 'Consent that organisations settled on paper. An admin records it.',
  },
  {
    en: 'grant',
    nl: 'grant',
    meaning: 'The stored consent: origin, sink, rate and expiry.',
  },
  {
    en: 'permission',
    nl: 'permissie',
    meaning: 'Whether a sender may send now, after grants, holds and suspensions.',
  },
  {
    en: 'rate',
    nl: 'tempo',
    meaning: 'Requests per minute: a positive integer, or `"*"` for no limit.',
  },
  {
    en: 'lease',
    nl: 'lease',
    meaning: 'One sender instance’s share of a rate, for two seconds.',
  },
  {
    en: 'hold',
    nl: 'pauze',
    meaning: 'A wait that the webhook asked for, with 429 or with 503 and `Retry-After`.',
  },
  {
    en: 'block',
    nl: 'blokkade',
    meaning: 'Stops an origin, a sink or a client at once.',
  },
  {
    en: 'notice',
    nl: 'bericht',
    meaning: 'A CloudEvent that tells a consumer what happened to a subscription.',
  },
  {
    en: 'key',
    nl: 'sleutel',
    meaning: 'An Ed25519 key of an origin. It signs handshakes and deliveries.',
  },
  {
    en: 'directory',
    nl: 'directory',
    meaning: 'The document where receivers find the public keys of an origin.',
  },
  {
    en: 'verified',
    nl: 'geverifieerd',
    meaning: 'Of an origin: the owner of its name published one of its keys, in DNS or at the name.',
  },
  {
    en: 'signing secret',
    nl: 'ondertekengeheim',
    meaning: 'A secret of one subscription. Senders sign its deliveries with it (Standard Webhooks).',
  },
  {
    en: 'feed',
    nl: 'feed',
    meaning: 'The ordered stream of changes that senders follow, after a snapshot.',
  },
];
