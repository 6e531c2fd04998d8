import type { Text } from './text.js';

/** Problems of grants and agreements. */
export const grantTexts = {
  notFound: {
    en: 'The tenant has no grant with this id.',
    nl: 'De organisatie heeft geen grant met dit id.',
  },
  publicUrlMissing: {
    en: 'A token names its issuer, and this registry has no address to name. Its operator must set ASSENT_PUBLIC_URL.',
    nl: 'Een token noemt zijn uitgever, en dit register heeft geen adres om te noemen. De beheerder moet ASSENT_PUBLIC_URL instellen.',
  },
  invalidAgreement: {
    en: 'The agreement breaks a rule.',
    nl: 'De overeenkomst voldoet niet aan een regel.',
  },
  expiryOutOfRange: {
    en: 'The time must be in the future, at most five years from now.',
    nl: 'Het tijdstip moet in de toekomst liggen, hoogstens vijf jaar vanaf nu.',
  },
} satisfies Record<string, Text>;
