import { textOf, type Text } from './text.js';

/** Why a token is refused. A claim is named as the token writes it. */
export const tokenTexts = {
  missing: {
    en: 'The request has no bearer token in the Authorization header.',
    nl: 'Het verzoek heeft geen bearer-token in de header Authorization.',
  },
  malformedHeader: {
    en: 'The Authorization header must contain the word Bearer and one token.',
    nl: 'De header Authorization moet het woord Bearer en één token bevatten.',
  },
  malformed: { en: 'The token is malformed.', nl: 'Het token is niet geldig.' },
  tooLong: (limit: number): Text => ({
    en: `A token must have at most ${limit} characters.`,
    nl: `Een token mag hoogstens ${limit} tekens hebben.`,
  }),
  issuer: {
    en: 'This service does not trust the issuer of the token (iss).',
    nl: 'Deze dienst vertrouwt de uitgever van het token niet (iss).',
  },
  type: {
    en: 'This service does not accept this type of token (typ).',
    nl: 'Deze dienst accepteert dit type token niet (typ).',
  },
  notAccessToken: {
    en: 'The token is not an access token.',
    nl: 'Het token is geen access token.',
  },
  bound: {
    en: 'The token is bound to a key or a certificate of its client (cnf), which Assent does not check. Get a bearer token.',
    nl: 'Het token is gebonden aan een sleutel of certificaat van de client (cnf), en dat controleert Assent niet. Vraag een bearer-token.',
  },
  audience: (claim: string): Text => ({
    en: `The token is not meant for this service (${claim}).`,
    nl: `Het token is niet voor deze dienst bedoeld (${claim}).`,
  }),
  notYetValid: { en: 'The token is not valid yet (nbf).', nl: 'Het token is nog niet geldig (nbf).' },
  fromTheFuture: {
    en: 'The token was issued in the future (iat).',
    nl: 'Het token is in de toekomst uitgegeven (iat).',
  },
  expired: { en: 'The token has expired (exp).', nl: 'Het token is verlopen (exp).' },
  tooOld: { en: 'The token was issued too long ago (iat).', nl: 'Het token is te lang geleden uitgegeven (iat).' },
  algorithm: {
    en: 'The token is signed with an algorithm that this service does not accept (alg).',
    nl: 'Het token is ondertekend met een algoritme dat deze dienst niet accepteert (alg).',
  },
  signature: { en: 'The signature of the token is wrong.', nl: 'De handtekening van het token klopt niet.' },
  unknownKey: {
    en: 'The issuer does not publish the key that signed the token (kid).',
    nl: 'De uitgever publiceert de sleutel niet waarmee het token is ondertekend (kid).',
  },
  severalKeys: {
    en: 'Several keys fit the token. The token must name one of them (kid).',
    nl: 'Er passen meerdere sleutels bij het token. Het token moet er één noemen (kid).',
  },
  claimMissing: (claim: string): Text => ({ en: `The token has no ${claim}.`, nl: `Het token heeft geen ${claim}.` }),
  claimMalformed: (claim: string): Text => ({
    en: `The ${claim} of the token is malformed.`,
    nl: `In het token is ${claim} niet geldig.`,
  }),
  name: (claim: string): Text => ({
    en: `The token must have a ${claim} of 1 to 200 visible characters, in Unicode form NFKC, with single spaces at most.`,
    nl: `Het token moet een ${claim} van 1 tot en met 200 zichtbare tekens hebben, in Unicode-vorm NFKC, met hoogstens enkele spaties.`,
  }),
  reservedName: (claim: string): Text => ({
    en: `The ${claim} of the token is a reserved name.`,
    nl: `De naam in ${claim} van het token is gereserveerd.`,
  }),
  tenant: (claim: string): Text => ({
    en: `The issuer of the token may not issue tokens for this tenant (${claim}).`,
    nl: `De uitgever van het token mag geen tokens voor deze organisatie uitgeven (${claim}).`,
  }),
  /** All of one of these. */
  scope: (scopes: ReadonlyArray<readonly string[]>): Text =>
    textOf((language) =>
      language === 'en'
        ? `This operation needs the scope ${scopes.map((all) => all.join(' and ')).join(' or ')}.`
        : `Voor deze bewerking is de scope ${scopes.map((all) => all.join(' en ')).join(' of ')} nodig.`,
    ),
  auditOfTenant: {
    en: 'The audit record of another tenant needs the scope assent:audit, and an issuer that may name that tenant.',
    nl: 'Voor het auditlog van een andere organisatie zijn de scope assent:audit nodig en een uitgever die deze organisatie mag noemen.',
  },
  keysUnavailable: {
    en: 'The service cannot fetch the keys of the token issuer right now.',
    nl: 'De dienst kan de sleutels van de tokenuitgever nu niet ophalen.',
  },
  keyNotFetched: (seconds: number): Text => ({
    en: `The service does not know the key of the token (kid) yet. It fetches the keys of the issuer again in ${seconds} s.`,
    nl: `De dienst kent de sleutel van het token (kid) nog niet. Over ${seconds} s haalt de dienst de sleutels van de uitgever opnieuw op.`,
  }),
};
