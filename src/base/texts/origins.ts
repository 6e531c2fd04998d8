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

/** Why a request finds no origin. */
export const originTexts = {
  nameOne: {
    en: 'Name an origin (GET /v1/origins lists them), or ask an admin to set a default origin.',
    nl: 'Noem een herkomst (GET /v1/origins toont ze), of vraag een beheerder om een standaardherkomst in te stellen.',
  },
  noDefault: { en: 'The tenant has no default origin.', nl: 'De organisatie heeft geen standaardherkomst.' },
  unknown: {
    en: 'The tenant has no origin with this name.',
    nl: 'De organisatie heeft geen herkomst met deze naam.',
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
    en: 'Only public Ed25519 keys are supported: a JWK with kty OKP, crv Ed25519 and x (RFC 8037).',
    nl: 'Alleen openbare Ed25519-sleutels worden ondersteund: een JWK met kty OKP, crv Ed25519 en x (RFC 8037).',
  },
  setUnusable: (code: string): Text => ({
    en: `The key set cannot be used: ${code}. The URL must return a JWK Set with at most 20 Ed25519 keys, in 64 KiB.`,
    nl: `De sleutelset is niet bruikbaar: ${code}. De URL moet een JWK Set met hoogstens 20 Ed25519-sleutels geven, in 64 KiB.`,
  }),
} satisfies Record<string, Text | ((value: never) => Text)>;
