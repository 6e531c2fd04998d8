import type { Text } from './text.js';

/** What happens next in a handshake. */
export const nextTexts = {
  due: { en: 'Assent asks the webhook for consent.', nl: 'Assent vraagt de webhook om toestemming.' },
  asking: {
    en: 'Assent is asking the webhook for consent.',
    nl: 'Assent vraagt de webhook op dit moment om toestemming.',
  },
  waiting: {
    en: 'The callback URL can be called until nextat. After that, the handshake is refused.',
    nl: 'De callback-URL kan tot nextat worden aangeroepen. Daarna geldt de handshake als geweigerd.',
  },
} satisfies Record<string, Text>;

/** More renewals are due than the budget allows. Without a host, it is that of the tenant. */
export const renewalsExceedBudget = (host: string | undefined, budget: number): Text => ({
  en: `More than ${budget} renewals${host === undefined ? '' : ` for ${host}`} are due within an hour, which is the budget of handshakes, so grants can expire. Choose a longer lifetime for the origin, or ask the operator to raise the budget.`,
  nl: `Binnen een uur zijn meer dan ${budget} verlengingen${host === undefined ? '' : ` voor ${host}`} nodig. Meer laat het budget voor handshakes niet toe, dus grants kunnen verlopen. Kies een langere geldigheidsduur voor de herkomst, of vraag de systeembeheerder om een hoger budget.`,
});

const sendOrigin = (origin: string): Text => ({
  en: `Leave WebHook-Allowed-Origin out of the callback, or send ${origin} or "*".`,
  nl: `Laat WebHook-Allowed-Origin weg uit de callback, of stuur ${origin} of "*".`,
});

const callNew: Text = {
  en: 'Ask again, and call the new callback URL before that expires.',
  nl: 'Vraag opnieuw om toestemming, en roep de nieuwe callback-URL aan voordat die verloopt.',
};

/** A callback that granted nothing. The values are quoted already. */
export const rejectedCallbackTexts = {
  origin_mismatch: ({ origin, allowedOrigin }: { origin: string; allowedOrigin: string }) => ({
    message: {
      en: `A callback allowed another origin, ${allowedOrigin}, so it granted nothing.`,
      nl: `Een callback gaf een andere herkomst toestemming, ${allowedOrigin}, en telt dus niet.`,
    },
    advice: sendOrigin(origin),
  }),
  origin_repeated: ({ origin, allowedOrigin }: { origin: string; allowedOrigin: string }) => ({
    message: {
      en: `A callback sent more than one WebHook-Allowed-Origin, ${allowedOrigin}, so it granted nothing.`,
      nl: `Een callback stuurde meer dan één WebHook-Allowed-Origin, ${allowedOrigin}, en telt dus niet.`,
    },
    advice: sendOrigin(origin),
  }),
  rate_malformed: ({ allowedRate }: { allowedRate: string }) => ({
    message: {
      en: `A callback sent WebHook-Allowed-Rate ${allowedRate}, which is not a rate, so it granted nothing.`,
      nl: `Een callback stuurde WebHook-Allowed-Rate ${allowedRate}. Dat is geen tempo, dus de callback telt niet.`,
    },
    advice: {
      en:
        'Send the requests per minute as a positive integer in digits only. Leave WebHook-Allowed-Rate out of ' +
        'the callback to allow the requested rate.',
      nl:
        'Stuur het aantal verzoeken per minuut als positief geheel getal in cijfers. Laat WebHook-Allowed-Rate ' +
        'weg uit de callback om het gevraagde tempo toe te staan.',
    },
  }),
  callback_expired: () => ({
    message: {
      en: 'A callback arrived after its URL had expired, so it granted nothing.',
      nl: 'Een callback kwam binnen nadat de URL was verlopen, en telt dus niet.',
    },
    advice: callNew,
  }),
  blocked: () => ({
    message: {
      en: 'A callback arrived while an admin blocks this webhook, so it granted nothing.',
      nl: 'Een callback kwam binnen terwijl een beheerder deze webhook blokkeert, en telt dus niet.',
    },
    advice: {
      en: 'Nothing is wrong with the callback. Call it again when the block is lifted.',
      nl: 'Er is niets mis met de callback. Roep de URL opnieuw aan zodra de blokkade is opgeheven.',
    },
  }),
  callback_closed: () => ({
    message: {
      en: 'A callback arrived for a handshake that is closed, so it granted nothing.',
      nl: 'Een callback kwam binnen voor een handshake die is gesloten, en telt dus niet.',
    },
    advice: callNew,
  }),
} satisfies Record<
  string,
  (values: { origin: string; allowedOrigin: string; allowedRate: string }) => { message: Text; advice: Text }
>;

/** Why a call of a callback URL decided nothing, by its caller. */
export const undecidedTexts = {
  prefetch: {
    en: 'The browser fetched this link ahead of time. Open the link to decide.',
    nl: 'De browser haalde deze link vooraf op. Open de link om te beslissen.',
  },
  preview: {
    en: 'This looks like a preview of the link. A person decides on the page that the link opens. A program gives consent with POST, or with the header WebHook-Allowed-Rate.',
    nl: 'Dit lijkt op een voorvertoning van de link. Een persoon beslist op de pagina achter de link. Een programma geeft toestemming met POST, of met de header WebHook-Allowed-Rate.',
  },
  embedded: {
    en: 'A page loaded this link, and nobody opened it. Open the link in a window of its own to decide.',
    nl: 'Een pagina laadde deze link, en niemand opende hem. Open de link in een eigen venster om te beslissen.',
  },
  foreign_form: {
    en: 'Another page sent this form. Open the link, and decide on the page that it opens.',
    nl: 'Een andere pagina stuurde dit formulier. Open de link, en beslis op de pagina die dan verschijnt.',
  },
};

/** Problems of handshakes and callback URLs. */
export const handshakeTexts = {
  notFound: {
    en: 'This subscription has no handshake with this id.',
    nl: 'Dit abonnement heeft geen handshake met dit id.',
  },
  callbackUnknown: {
    en: 'The link may have expired, or the request may be closed. The subscriber can ask for consent again, which sends a new link.',
    nl: 'De link kan verlopen zijn, of het verzoek kan gesloten zijn. De abonnee kan opnieuw om toestemming vragen. Dan komt er een nieuwe link.',
  },
  otherOrigin: {
    en: 'This call changed nothing, because it names another origin.',
    nl: 'Deze aanroep heeft niets veranderd, omdat er een andere herkomst in staat.',
  },
  sendOrigin: (origin: string): Text => ({
    en: `Leave the header out, or send ${origin} or "*" (webhook specification, section 4.2.1).`,
    nl: `Laat de header weg, of stuur ${origin} of "*" (webhookspecificatie, paragraaf 4.2.1).`,
  }),
  rateMalformed: {
    en: 'This call changed nothing, because the rate is malformed.',
    nl: 'Deze aanroep heeft niets veranderd, omdat het tempo onjuist is opgebouwd.',
  },
  sendRate: {
    en: 'The rate must be a positive integer in digits, or "*" (webhook specification, section 4.2.2).',
    nl: 'Het tempo moet een positief geheel getal in cijfers zijn, of "*" (webhookspecificatie, paragraaf 4.2.2).',
  },
};
