import type { Text } from '../app/text.js';

export const subscriptionsMessages = {
  title: { en: 'Subscriptions', nl: 'Abonnementen' },
  sink: { en: 'Sink', nl: 'Sink' },
  status: { en: 'Status', nl: 'Status' },
  origin: { en: 'Origin', nl: 'Afzender' },
  subscriber: { en: 'Subscriber', nl: 'Abonnee' },
  why: { en: 'Why', nl: 'Waarom' },
} satisfies Record<string, Text>;
