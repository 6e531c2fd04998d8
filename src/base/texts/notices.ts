import type { Text } from './text.js';

/** What a notice says, if the status of a subscription does not say it. */
export const noticeTexts = {
  expiring: (at: string): Text => ({
    en: `The grant expires at ${at}, and no renewal has succeeded yet.`,
    nl: `De grant verloopt op ${at} en is nog niet verlengd.`,
  }),
  held: (at: string): Text => ({
    en: `The webhook asked senders to wait until ${at}.`,
    nl: `De webhook vroeg verzenders om te wachten tot ${at}.`,
  }),
  released: {
    en: 'An admin ended the hold: senders may send again.',
    nl: 'Een beheerder heeft de pauze beëindigd: verzenders mogen weer sturen.',
  },
  suspended: { en: 'The subscription is suspended.', nl: 'Het abonnement is onderbroken.' },
  blocked: {
    en: 'An admin stopped deliveries to this subscription.',
    nl: 'Een beheerder heeft het sturen naar dit abonnement stopgezet.',
  },
  deleted: { en: 'The subscription was deleted.', nl: 'Het abonnement is verwijderd.' },
  untilLifted: {
    en: 'Nothing is sent until an admin lifts the block.',
    nl: 'Er wordt niets gestuurd totdat een beheerder de blokkade opheft.',
  },
} satisfies Record<string, Text | ((at: string) => Text)>;
