import type { Text } from './text.js';

/** Why a text cannot be the name of an origin. */
export const originNameTexts = {
  empty: {
    en: 'An origin is a DNS name such as eventemitter.example.com.',
    nl: 'Een herkomst is een DNS-naam, zoals eventemitter.example.com.',
  },
  notAscii: {
    en: 'Write the name without spaces, and parts with characters outside ASCII in their xn-- form.',
    nl: 'Schrijf de naam zonder spaties, en delen met tekens buiten ASCII in de vorm met xn--.',
  },
  wildcard: { en: 'An origin is one name, without an asterisk.', nl: 'Een herkomst is één naam, zonder sterretje.' },
  scheme: { en: 'Write only the name, without "https://".', nl: 'Schrijf alleen de naam, zonder "https://".' },
  address: { en: 'An origin is a name, not an IP address.', nl: 'Een herkomst is een naam, geen IP-adres.' },
  port: { en: 'Write only the name, without a port.', nl: 'Schrijf alleen de naam, zonder poort.' },
  trailingDot: {
    en: 'Write the name without the dot at the end.',
    nl: 'Schrijf de naam zonder de punt aan het einde.',
  },
  tooLong: (max: number): Text => ({
    en: `A DNS name has at most ${max} characters.`,
    nl: `Een DNS-naam heeft hoogstens ${max} tekens.`,
  }),
  labelTooLong: (max: number): Text => ({
    en: `Each part of a DNS name has at most ${max} characters.`,
    nl: `Elk deel van een DNS-naam heeft hoogstens ${max} tekens.`,
  }),
  malformed: {
    en: 'Each part of the name has at least one character: letters and digits, and hyphens between them.',
    nl: 'Elk deel van de naam heeft minstens één teken: letters en cijfers, en koppeltekens daartussen.',
  },
  singleLabel: {
    en: 'An origin has at least two parts, as in example.com.',
    nl: 'Een herkomst heeft minstens twee delen, zoals in example.com.',
  },
};

/** A client certificate that expires within 30 days, or has expired. `day` is a date. */
export const certificateExpires = (origin: string, fingerprint: string, day: string, isOver: boolean): Text => ({
  en: `The client certificate of ${origin} ${isOver ? 'expired' : 'expires'} on ${day} (SHA-256 ${fingerprint}). Set a new one: webhooks that ask for it accept no other.`,
  nl: `Het clientcertificaat van ${origin} ${isOver ? 'is verlopen' : 'verloopt'} op ${day} (SHA-256 ${fingerprint}). Stel een nieuw in: webhooks die erom vragen, accepteren geen ander.`,
});

/** Why a request finds no origin. */
export const originTexts = {
  nameOne: {
    en: 'Name an origin (GET /origins lists them), or ask an admin to set a default origin.',
    nl: 'Noem een herkomst (GET /origins toont ze), of vraag een beheerder om een standaardherkomst in te stellen.',
  },
  noDefault: { en: 'The tenant has no default origin.', nl: 'De organisatie heeft geen standaardherkomst.' },
  unknown: {
    en: 'The tenant has no origin with this name.',
    nl: 'De organisatie heeft geen herkomst met deze naam.',
  },
  tooManyChecks: {
    en: 'The budget of requests to other systems is used up. Check again later.',
    nl: 'Het budget voor verzoeken aan andere systemen is op. Controleer later opnieuw.',
  },
} satisfies Record<string, Text>;

/** About the keys of an origin. */
export const keyTexts = {
  unknown: { en: 'The origin has no key with this id.', nl: 'De herkomst heeft geen sleutel met deze id.' },
  invalid: {
    en: 'The key is invalid. The faults say where, and why.',
    nl: 'De sleutel is niet geldig. De fouten zeggen waar en waarom.',
  },
  known: {
    en: 'The origin has this key already, or had it. Bring another one.',
    nl: 'De herkomst heeft deze sleutel al, of had die eerder. Lever een andere aan.',
  },
  tooMany: (max: number): Text => ({
    en: `An origin has at most ${max} keys that have not ended. Revoke one first.`,
    nl: `Een herkomst heeft hoogstens ${max} sleutels die niet zijn verlopen. Trek er eerst een in.`,
  }),
  endsBeforeStart: {
    en: 'A key must end after it starts, and in the future.',
    nl: 'Een sleutel moet na het begin eindigen, en in de toekomst.',
  },
  oneOf: {
    en: 'Send a public key or the URL of a key set, not both.',
    nl: 'Stuur een openbare sleutel of de URL van een sleutelset, niet allebei.',
  },
  privateMember: {
    en: 'This is a part of the private key, which must never leave your system. Make another key, and send its public part only.',
    nl: 'Dit is een deel van de privésleutel, die uw systeem nooit mag verlaten. Maak een andere sleutel en stuur alleen het openbare deel.',
  },
  notSupported: {
    en: 'Only public Ed25519 keys are supported: a JWK with kty OKP, crv Ed25519 and x (RFC 8037), in its one encoding, and no weak key (a point of small order).',
    nl: 'Alleen openbare Ed25519-sleutels worden ondersteund: een JWK met kty OKP, crv Ed25519 en x (RFC 8037), in de enige juiste codering, en geen zwakke sleutel (een punt van kleine orde).',
  },
  setUnusable: (code: string): Text => ({
    en: `The key set cannot be used: ${code}. The URL must return a JWK Set with at most 20 Ed25519 keys, in 64 KiB.`,
    nl: `De sleutelset is niet bruikbaar: ${code}. De URL moet een JWK Set met hoogstens 20 Ed25519-sleutels geven, in 64 KiB.`,
  }),
} satisfies Record<string, Text | ((value: never) => Text)>;

interface Places {
  name: string;
  /** The name of the TXT record. */
  record: string;
  /** The URL of the directory. */
  directory: string;
}

/** What a check of the proof of an origin found instead, by its code; the ones that say most are first. `found` is what was there. */
export const findingTexts = {
  name_not_public: ({ name }) => ({
    en: `${name} is a name of an internal network, which Assent does not look up.`,
    nl: `${name} is een naam van een intern netwerk. Assent zoekt die niet op.`,
  }),
  record_without_key: ({ record }, found) => ({
    en: `The TXT record ${record} names no key of this origin. It has: ${found}.`,
    nl: `Het TXT-record ${record} noemt geen sleutel van deze herkomst. Er staat: ${found}.`,
  }),
  directory_without_key: ({ directory }, found) => ({
    en: `${directory} has no key of this origin. It has: ${found}.`,
    nl: `${directory} bevat geen sleutel van deze herkomst. Er staat: ${found}.`,
  }),
  directory_malformed: ({ directory }) => ({
    en: `${directory} has no JWK Set with an Ed25519 key.`,
    nl: `${directory} bevat geen JWK Set met een Ed25519-sleutel.`,
  }),
  directory_of_registry: ({ directory }) => ({
    en: `${directory} leads to this registry, whose own response proves nothing.`,
    nl: `${directory} leidt naar dit register, en wat het zelf antwoordt bewijst niets.`,
  }),
  directory_redirected: ({ directory }, found) => ({
    en: `${directory} returned ${found}. Assent follows no redirect: serve the directory at this URL.`,
    nl: `${directory} gaf ${found}. Assent volgt geen doorverwijzing: bied de directory op deze URL aan.`,
  }),
  directory_not_allowed: ({ directory }) => ({
    en: `Assent may not request ${directory}, because of where the name leads.`,
    nl: `Assent mag ${directory} niet opvragen, door het adres waar de naam naar verwijst.`,
  }),
  record_unread: ({ record }, found) => ({
    en: `The name servers returned no usable response for ${record} (${found}).`,
    nl: `De naamservers gaven geen bruikbaar antwoord voor ${record} (${found}).`,
  }),
  directory_unread: ({ directory }, found) => ({
    en: `${directory} gave no usable response (${found}).`,
    nl: `${directory} gaf geen bruikbaar antwoord (${found}).`,
  }),
  record_missing: ({ record }) => ({
    en: `There is no TXT record ${record}.`,
    nl: `Er is geen TXT-record ${record}.`,
  }),
  directory_missing: ({ directory }, found) => ({
    en: `There is no directory at ${directory} (${found}).`,
    nl: `Er is geen directory op ${directory} (${found}).`,
  }),
} satisfies Record<string, (places: Places, found: string) => Text>;

export type FindingCode = keyof typeof findingTexts;

/** Why a name can't be registered, or a subscription not for it. */
export const nameTexts = {
  publish: (record: string): Text => ({
    en: `To prove that the name is yours, publish this in DNS: ${record}`,
    nl: `Publiceer dit in DNS om te bewijzen dat de naam van u is: ${record}`,
  }),
  taken: (name: string): Text => ({
    en: `${name} is already registered.`,
    nl: `${name} is al geregistreerd.`,
  }),
  /** Another tenant has it. */
  unproved: (name: string, record: string): Text => ({
    en: `${name} is registered by another tenant, which has not proved that the name is its own. If it is yours, publish this in DNS, and send this request again: ${record}`,
    nl: `${name} is geregistreerd door een andere organisatie, die niet heeft bewezen dat de naam van haar is. Is de naam van u? Publiceer dan dit in DNS, en stuur dit verzoek opnieuw: ${record}`,
  }),
  notVerified: (name: string, record: string): Text => ({
    en: `This registry requires proof that ${name} belongs to its tenant. The admin of the origin has to publish this in DNS: ${record}, and then check it with POST /origins/${name}/verify.`,
    nl: `Dit register eist bewijs dat ${name} van de organisatie is. De beheerder van de herkomst moet dit in DNS publiceren: ${record}, en het daarna controleren met POST /origins/${name}/verify.`,
  }),
};
