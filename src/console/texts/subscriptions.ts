import type { Text } from '../app/text.js';

export const subscriptionsTexts = {
  title: { en: 'Subscriptions', nl: 'Abonnementen' },
  register: { en: 'Register a subscription', nl: 'Een abonnement aanvragen' },
  filters: { en: 'Search subscriptions', nl: 'Abonnementen zoeken' },
  sink: { en: 'Sink', nl: 'Sink' },
  host: { en: 'Host of the sink', nl: 'Host van de sink' },
  sinkcontains: { en: 'Part of the sink', nl: 'Deel van de sink' },
  status: { en: 'Status', nl: 'Status' },
  origin: { en: 'Origin', nl: 'Afzender' },
  subscriber: { en: 'Subscriber', nl: 'Abonnee' },
  reason: { en: 'Reason code', nl: 'Code van de reden' },
  why: { en: 'Why', nl: 'Waarom' },
  created: { en: 'Created', nl: 'Aangemaakt' },
  clear: { en: 'Clear', nl: 'Wissen' },
  resume: { en: 'Load more', nl: 'Meer laden' },
  none: {
    en: 'No subscription matches. Change the search, or clear it.',
    nl: 'Geen abonnement voldoet. Pas de zoekopdracht aan of wis hem.',
  },
  count: (shown: string, loaded: string, total: string): Text =>
    shown === loaded
      ? { en: `${loaded} of ${total} subscriptions.`, nl: `${loaded} van ${total} abonnementen.` }
      : {
          en: `${shown} shown of ${loaded} loaded, ${total} in all.`,
          nl: `${shown} getoond van ${loaded} geladen, ${total} in totaal.`,
        },
  tooMany: {
    en: 'The page loads at most 10,000. Search for fewer.',
    nl: 'De pagina laadt er hoogstens 10.000. Zoek gerichter.',
  },
} satisfies Record<string, Text | ((...texts: string[]) => Text)>;
