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
  replacedMeanwhile: {
    en: 'The signing secret was changed after you opened this: by someone else, or by your own request whose response was lost. A secret that was made then is not shown again. If you change it once more, the secret before that one ends at once.',
    nl: 'Het ondertekengeheim is vervangen nadat u dit opende: door iemand anders, of door uw eigen verzoek waarvan het antwoord verloren ging. Een geheim dat toen is gemaakt, wordt niet meer getoond. Vervangt u het nog een keer, dan vervalt het geheim van daarvoor direct.',
  },
  overlapEnded: { en: 'The previous signing secret has ended.', nl: 'Het vorige ondertekengeheim is vervallen.' },
  remove: { en: 'Remove the signing secret', nl: 'Ondertekengeheim verwijderen' },
  removed: { en: 'The signing secret is removed.', nl: 'Het ondertekengeheim is verwijderd.' },
  copyNow: { en: 'Copy the signing secret now', nl: 'Kopieer het ondertekengeheim nu' },
  once: {
    en: 'Assent shows it this once and never again. Give it to your webhook, which checks the signature of each delivery with it.',
    nl: 'Assent toont het één keer, en daarna nooit meer. Geef het aan uw webhook, die er de handtekening van elke bezorging mee controleert.',
  },
  lost: {
    en: 'A signing secret was made, but its response was lost',
    nl: 'Er is een ondertekengeheim gemaakt, maar het antwoord ging verloren',
  },
  lostHint: {
    en: 'No request shows it again, so your webhook cannot check signatures with it. Change it in the settings.',
    nl: 'Het wordt niet meer getoond, dus uw webhook kan er geen handtekeningen mee controleren. Vervang het bij de instellingen.',
  },
  haveIt: { en: 'I have copied it', nl: 'Ik heb het gekopieerd' },
} as const satisfies Record<string, Text | object>;
