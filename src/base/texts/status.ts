import type { Text } from './text.js';

type Rate = number | '*';

/** In five words at most, for lists. Those of verdicts are with the verdicts. */
export const statusLabels = {
  agreement: { en: 'Agreement recorded', nl: 'Overeenkomst vastgelegd' },
  asking: { en: 'Being asked for consent', nl: 'Toestemming wordt gevraagd' },
  not_asked_yet: { en: 'Not asked yet', nl: 'Toestemming nog niet gevraagd' },
  suspended: { en: 'Suspended', nl: 'Onderbroken' },
  expired: { en: 'Grant expired', nl: 'Grant verlopen' },
  ended: { en: 'Reached its end', nl: 'Einde bereikt' },
} satisfies Record<string, Text>;

/** What is more exact than the label of a code. */
export const exactLabels = {
  waiting: { en: 'Owner has not decided', nl: 'Eigenaar heeft niet besloten' },
  suspendedBy: {
    subscriber: { en: 'Suspended by its owner', nl: 'Onderbroken door de eigenaar' },
    admin: { en: 'Suspended by an admin', nl: 'Onderbroken door een beheerder' },
  },
  draft: { en: 'Registered as suspended', nl: 'Onderbroken aangemaakt' },
  /** An admin chose the reason, of any length. */
  blocked: (reason: string): Text => ({ en: clip(`Blocked: ${reason}`), nl: clip(`Geblokkeerd: ${reason}`) }),
};

const maxLength = 60;

function clip(text: string): string {
  const characters = [...text];
  if (characters.length <= maxLength) return text;
  const kept = characters.slice(0, maxLength - 1).join('');
  return `${kept.trimEnd()}…`;
}

/** Why a subscription has its status. */
export const statusTexts = {
  suspendedBy: {
    subscriber: (reason: string): Text => ({
      en: `The subscriber suspended this subscription: ${reason}`,
      nl: `De abonnee heeft dit abonnement onderbroken: ${reason}`,
    }),
    admin: (reason: string): Text => ({
      en: `An admin suspended this subscription: ${reason}`,
      nl: `Een beheerder heeft dit abonnement onderbroken: ${reason}`,
    }),
  },
  /** Registered as suspended: in place of the reason that a client gives for a suspension. */
  draftReason: {
    en: 'The subscription was registered as suspended.',
    nl: 'Het abonnement is onderbroken aangemaakt.',
  },
  draft: {
    en: 'The subscriber registered this subscription as suspended. Assent has not asked the webhook.',
    nl: 'De abonnee heeft dit abonnement onderbroken aangemaakt. Assent heeft de webhook niet om toestemming gevraagd.',
  },
  ended: {
    en: 'The subscription ended at its expiresat.',
    nl: 'Het abonnement is beëindigd op het tijdstip in expiresat.',
  },
  /** What the grant is based on. */
  bases: {
    response: {
      en: 'The webhook gave consent in its response.',
      nl: 'De webhook gaf toestemming in het antwoord.',
    },
    callback: {
      en: 'The webhook gave consent through the callback URL.',
      nl: 'De webhook gaf toestemming via de callback-URL.',
    },
    agreement: { en: 'An admin recorded an agreement.', nl: 'Een beheerder heeft een overeenkomst vastgelegd.' },
    policy: {
      en: 'The webhook does not support the handshake, but the policy of the origin allows events at a low rate.',
      nl: 'De webhook ondersteunt de handshake niet, maar het beleid van de herkomst staat gebeurtenissen in een laag tempo toe.',
    },
  },
  maySend: (origin: string, rate: Rate): Text =>
    rate === '*'
      ? { en: `${origin} may send without a limit.`, nl: `${origin} mag zonder limiet sturen.` }
      : {
          en: `${origin} may send up to ${rate} request${rate === 1 ? '' : 's'} per minute.`,
          nl: `${origin} mag hoogstens ${rate} verzoek${rate === 1 ? '' : 'en'} per minuut sturen.`,
        },
  expired: { en: 'The grant expired.', nl: 'De grant is verlopen.' },
  /** `lastTitle`: of the verdict on the last attempt. */
  expiredUnrenewed: (lastTitle: Text): Text => ({
    en: `The grant expired because no renewal succeeded. The last attempt: ${lastTitle.en}`,
    nl: `De grant is verlopen omdat geen verlenging is gelukt. De laatste poging: ${lastTitle.nl}`,
  }),
  notAskedYet: {
    en: 'Assent has not asked the webhook yet.',
    nl: 'Assent heeft de webhook nog niet om toestemming gevraagd.',
  },
};

/** What happens next to a subscription with this id. */
export const untilAsked = (id: string): Text => ({
  en: `Nothing happens until you ask the webhook again (POST /subscriptions/${id}/handshakes).`,
  nl: `Er gebeurt niets totdat u de webhook opnieuw om toestemming vraagt (POST /subscriptions/${id}/handshakes).`,
});

/** What happens next to a subscription. */
export const statusNextTexts = {
  untilResumed: {
    en: 'The subscription stays suspended until someone resumes it.',
    nl: 'Het abonnement blijft onderbroken totdat iemand het hervat.',
  },
  untilAdminAsks: {
    en: 'Nothing happens until an admin asks again.',
    nl: 'Er gebeurt niets totdat een beheerder opnieuw om toestemming vraagt.',
  },
  renewal: {
    en: 'Assent renews the grant with another handshake.',
    nl: 'Assent verlengt de grant met een nieuwe handshake.',
  },
  renewalAgain: {
    en: 'Assent asks the webhook again to renew the grant.',
    nl: 'Assent vraagt de webhook opnieuw om verlenging van de grant.',
  },
  renewalAsking: {
    en: 'Assent is asking the webhook to renew the grant.',
    nl: 'Assent vraagt de webhook op dit moment om verlenging van de grant.',
  },
  expiry: { en: 'The grant expires.', nl: 'De grant verloopt.' },
  end: { en: 'The subscription ends.', nl: 'Het abonnement eindigt.' },
  untilExtended: {
    en: 'Nothing happens until you change or remove expiresat. Later, Assent deletes the subscription.',
    nl: 'Er gebeurt niets totdat u expiresat wijzigt of verwijdert. Later verwijdert Assent het abonnement.',
  },
} satisfies Record<string, Text>;
