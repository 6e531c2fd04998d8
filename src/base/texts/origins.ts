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
