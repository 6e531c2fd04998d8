import type { Language } from './text.js';

type Rate = number | '*';

export interface PageTexts {
  request: string;
  question: {
    title: string;
    lead: (origin: string) => string;
    unlessAllowed: string;
    /** A permission goes on until then, and what a refusal does to it. */
    grantedUntil: (time: string, isRenewal: boolean) => string;
    askedBy: string;
    events: string;
    everyType: string;
    more: (count: number) => string;
    source: string;
    filteredBy: string;
    expression: string;
    askedForMore: string;
    until: string;
    rateLabel: string;
    rateHint: string;
    rateWrong: string;
    allow: string;
    refuse: string;
  };
  outcome: {
    given: string;
    stands: string;
    maySend: string;
    refused: string;
    refusal: string;
    goesOn: (time: string) => string;
    anew: string;
    before: string;
    close: string;
    until: string;
  };
  sender: string;
  webhook: string;
  rate: string;
  rateOf: (rate: Rate) => string;
}

export const pageTexts: Record<Language, PageTexts> = {
  en: {
    request: 'Request',
    question: {
      title: 'May this sender send events to your webhook?',
      lead: (origin) => `${origin} asks for permission to send events to the webhook below.`,
      unlessAllowed: 'It gets no permission unless you allow it.',
      grantedUntil: (time, isRenewal) =>
        isRenewal
          ? `It has permission until ${time} and asks to renew it. If you refuse, the permission ends now.`
          : `It already has permission until ${time}. If you refuse, that permission stays as it is.`,
      askedBy: 'Asked for by',
      events: 'Events',
      everyType: 'every type',
      more: (count) => `and ${count} more`,
      source: 'Source',
      filteredBy: 'Filtered by',
      expression: 'an expression',
      askedForMore: 'Others ask for events for this webhook as well.',
      until: 'Decide before',
      rateLabel: 'Requests per minute, at most (optional)',
      rateHint: 'Leave this empty to allow the rate above.',
      rateWrong: 'Enter a whole number above 0, in digits only.',
      allow: 'Allow',
      refuse: 'Refuse',
    },
    outcome: {
      given: 'Permission given',
      stands: 'The permission stands',
      maySend: 'The sender may send events to this webhook.',
      refused: 'Permission refused',
      refusal: 'The refusal is recorded. This request gives the sender no permission.',
      goesOn: (time) => `An earlier permission goes on until ${time}.`,
      anew: 'To allow it later, you need a new link. The subscriber can ask again.',
      before: 'This was decided before. Nothing has changed now.',
      close: 'You can close this page.',
      until: 'Until',
    },
    sender: 'Sender',
    webhook: 'Webhook',
    rate: 'Rate',
    rateOf: (rate) => (rate === '*' ? 'without a limit' : `at most ${rate} request${rate === 1 ? '' : 's'} per minute`),
  },
  nl: {
    request: 'Verzoek',
    question: {
      title: 'Mag deze afzender gebeurtenissen naar uw webhook sturen?',
      lead: (origin) => `${origin} vraagt toestemming om gebeurtenissen naar de onderstaande webhook te sturen.`,
      unlessAllowed: 'Zonder uw toestemming mag dat niet.',
      grantedUntil: (time, isRenewal) =>
        isRenewal
          ? `De afzender heeft toestemming tot ${time} en vraagt om verlenging. Als u weigert, eindigt de toestemming nu.`
          : `De afzender heeft al toestemming tot ${time}. Als u weigert, blijft die toestemming bestaan.`,
      askedBy: 'Aangevraagd door',
      events: 'Gebeurtenissen',
      everyType: 'elk type',
      more: (count) => `en nog ${count}`,
      source: 'Bron',
      filteredBy: 'Gefilterd op',
      expression: 'een expressie',
      askedForMore: 'Ook anderen vragen gebeurtenissen voor deze webhook aan.',
      until: 'Beslis vóór',
      rateLabel: 'Verzoeken per minuut, hoogstens (niet verplicht)',
      rateHint: 'Laat dit leeg om het bovenstaande tempo toe te staan.',
      rateWrong: 'Vul een heel getal boven 0 in, alleen cijfers.',
      allow: 'Toestaan',
      refuse: 'Weigeren',
    },
    outcome: {
      given: 'Toestemming gegeven',
      stands: 'De toestemming geldt',
      maySend: 'De afzender mag gebeurtenissen naar deze webhook sturen.',
      refused: 'Toestemming geweigerd',
      refusal: 'De weigering is vastgelegd. De afzender krijgt op deze aanvraag geen toestemming.',
      goesOn: (time) => `Een eerdere toestemming loopt door tot ${time}.`,
      anew: 'Om later toch toe te staan hebt u een nieuwe link nodig. De abonnee kan opnieuw om toestemming vragen.',
      before: 'Dit was al eerder besloten. Er is nu niets veranderd.',
      close: 'U kunt deze pagina sluiten.',
      until: 'Tot',
    },
    sender: 'Afzender',
    webhook: 'Webhook',
    rate: 'Tempo',
    rateOf: (rate) =>
      rate === '*' ? 'zonder limiet' : `hoogstens ${rate} verzoek${rate === 1 ? '' : 'en'} per minuut`,
  },
};

const locales: Record<Language, string> = { en: 'en-GB', nl: 'nl-NL' };

/** A time as people write it, in UTC. */
export function timeText(time: Date, language: Language): string {
  const format = new Intl.DateTimeFormat(locales[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(time)} UTC`;
}
