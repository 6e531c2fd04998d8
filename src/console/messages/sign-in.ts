import type { Text } from '../app/text.js';

export const signInMessages = {
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
  issuers: { en: 'Or sign in with your organisation:', nl: 'Of meld u aan bij uw organisatie:' },
} satisfies Record<string, Text>;
