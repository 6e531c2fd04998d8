import type { Text } from '../app/text.js';

/** What a subscription's deliveries are signed with (Standard Webhooks). */
export const signingSecretTexts = {
  name: { en: 'Signing secret', nl: 'Ondertekengeheim' },
  none: { en: 'None', nl: 'Geen' },
  change: { en: 'Change the signing secret', nl: 'Ondertekengeheim vervangen' },
  hint: {
    en: 'Senders sign each delivery with it (Standard Webhooks), so that your webhook can tell who sent it. It is stored encrypted.',
    nl: 'Verzenders ondertekenen elke bezorging ermee (Standard Webhooks), zodat uw webhook weet wie die stuurde. Het wordt versleuteld opgeslagen.',
  },
  sign: {
    en: 'Sign deliveries with a secret (Standard Webhooks)',
    nl: 'Bezorgingen ondertekenen met een geheim (Standard Webhooks)',
  },
  from: { en: 'The new secret', nl: 'Het nieuwe geheim' },
  sources: {
    make: { en: 'Make one', nl: 'Laten maken' },
    enter: { en: 'Enter one', nl: 'Zelf invullen' },
  },
  secret: { en: 'Secret', nl: 'Geheim' },
  secretHint: {
    en: 'whsec_ and 24 to 64 random bytes in base64.',
    nl: 'whsec_ en 24 tot 64 willekeurige bytes in base64.',
  },
  changed: { en: 'The signing secret is changed.', nl: 'Het ondertekengeheim is vervangen.' },
  overlapEnded: { en: 'The previous signing secret has ended.', nl: 'Het vorige ondertekengeheim is vervallen.' },
  remove: { en: 'Remove the signing secret', nl: 'Ondertekengeheim verwijderen' },
  removed: { en: 'The signing secret is removed.', nl: 'Het ondertekengeheim is verwijderd.' },
  copyNow: { en: 'Copy the signing secret now', nl: 'Kopieer het ondertekengeheim nu' },
  once: {
    en: 'Assent shows it this once and never again. Give it to your webhook, which checks the signature of each delivery with it.',
    nl: 'Assent toont het één keer, en daarna nooit meer. Geef het aan uw webhook, die er de handtekening van elke bezorging mee controleert.',
  },
  haveIt: { en: 'I have copied it', nl: 'Ik heb het gekopieerd' },
} as const satisfies Record<string, Text | object>;
