import type { Text } from '../app/text.js';

export const signInTexts = {
  title: { en: 'Sign in', nl: 'Aanmelden' },
  expired: {
    en: 'Your token has expired. Sign in again to continue: what you typed is still there.',
    nl: 'Uw token is verlopen. Meld u opnieuw aan om verder te gaan: wat u hebt ingevuld, staat er nog.',
  },
  token: { en: 'Token', nl: 'Token' },
  tokenHint: {
    en: 'A JWT access token. It stays in this page, and goes to this registry only.',
    nl: 'Een JWT-toegangstoken. Het blijft op deze pagina en gaat alleen naar dit register.',
  },
  keep: { en: 'Keep it until this tab is closed', nl: 'Bewaar het tot dit tabblad wordt gesloten' },
  submit: { en: 'Sign in', nl: 'Aanmelden' },
  malformed: { en: 'This is not a JWT.', nl: 'Dit is geen JWT.' },
  past: { en: 'This token has expired.', nl: 'Dit token is verlopen.' },
  development: {
    en: 'This is a development registry. On its machine, this command prints a link that signs you in:',
    nl: 'Dit is een ontwikkelregister. Op de machine ervan print deze opdracht een link waarmee u zich aanmeldt:',
  },
  with: { en: 'Sign in with', nl: 'Aanmelden bij' },
  orToken: { en: 'Or paste a token', nl: 'Of plak een token' },
  issuerFailed: { en: 'The issuer did not sign you in:', nl: 'De aanmelding bij de uitgever is niet gelukt:' },
  windowBlocked: {
    en: 'The browser blocked the window to sign in. Allow it for this site, then try again.',
    nl: 'De browser blokkeerde het venster om aan te melden. Sta het toe voor deze site en probeer het opnieuw.',
  },
  handedOver: {
    en: 'Close this window and continue in the other one.',
    nl: 'Sluit dit venster en ga verder in het andere.',
  },
  endsSoon: {
    en: 'Your session ends within a minute. Sign in again in a second window: this page stays as it is.',
    nl: 'Uw sessie eindigt binnen een minuut. Meld u opnieuw aan in een tweede venster: deze pagina blijft zoals zij is.',
  },
} satisfies Record<string, Text>;
