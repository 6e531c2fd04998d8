import { textIn, textOf, type Text } from './text.js';

/** What is wrong with the member `sinkcredential`. */
export const credentialTexts = {
  tokenMalformed: {
    en: 'This is sent in a header, so it may contain only visible ASCII without spaces.',
    nl: 'Dit wordt in een header verstuurd en mag daarom alleen zichtbare ASCII-tekens zonder spaties bevatten.',
  },
  notUtc: {
    en: 'This must be an RFC 3339 time in UTC, such as 2026-11-20T12:00:00Z.',
    nl: 'Dit moet een tijdstip volgens RFC 3339 in UTC zijn, zoals 2026-11-20T12:00:00Z.',
  },
  required: {
    en: 'A credential of this type needs this member.',
    nl: 'Een credential van dit type heeft dit veld nodig.',
  },
  endpoint: (detail: string | Text): Text => {
    const lead = {
      en: 'The endpoint must follow the rules for sinks.',
      nl: 'Het endpoint moet voldoen aan de regels voor sinks.',
    };
    return textOf((language) => `${lead[language]} ${textIn(detail, language)}`);
  },
};

/** What is wrong with the member `signingsecret`. */
export const signingSecretTexts = {
  malformed: {
    en: 'A signing secret is "whsec_" and 24 to 64 bytes in Base64.',
    nl: 'Een ondertekengeheim is "whsec_" met 24 tot 64 bytes in Base64.',
  },
  givenAndMade: {
    en: 'Send a secret of your own, or let Assent make one. Not both.',
    nl: 'Stuur een eigen geheim, of laat Assent er een maken. Niet allebei.',
  },
};

/** What is wrong with what a change keeps of a secret, by its member. */
export const secretTexts = {
  sinkcredential: {
    nothingToKeep: {
      en: 'A credential with only its type keeps the stored one, but no credential of this type is stored.',
      nl: 'Een credential met alleen een type behoudt de opgeslagen credential, maar er is geen credential van dit type opgeslagen.',
    },
    otherHost: {
      en: 'The new sink is on another host. Send the credential again, or leave it out.',
      nl: 'De nieuwe sink staat op een andere host. Stuur de credential opnieuw, of laat die weg.',
    },
    noOverlap: {
      en: 'The new sink is on another host, which must not receive the earlier credential. Leave "overlapseconds" out.',
      nl: 'De nieuwe sink staat op een andere host, die de vorige credential niet mag krijgen. Laat "overlapseconds" weg.',
    },
  },
  signingsecret: {
    nothingToKeep: {
      en: 'No signing secret is stored that could be kept. Send "secret", or "make" with the value true.',
      nl: 'Er is geen ondertekengeheim opgeslagen om te behouden. Stuur "secret", of "make" met de waarde true.',
    },
    otherHost: {
      en: 'The new sink is on another host. Send the signing secret again, let Assent make one, or leave it out.',
      nl: 'De nieuwe sink staat op een andere host. Stuur het ondertekengeheim opnieuw, laat Assent er een maken, of laat het weg.',
    },
    noOverlap: {
      en: 'The new sink is on another host, and the earlier secret is not for it. Leave "overlapseconds" out.',
      nl: 'De nieuwe sink staat op een andere host, en het vorige geheim is daar niet voor. Laat "overlapseconds" weg.',
    },
  },
};
