import type { Language, Text } from './text.js';

type Rate = number | '*';

/** What an owner of a webhook reads on the page of a callback URL. */
export const pageTexts = {
  request: { en: 'Request', nl: 'Verzoek' },
  start: { en: 'Start page', nl: 'Startpagina' },
  console: { en: 'Console', nl: 'Console' },
  /** Each by its own name. */
  languages: { en: 'English', nl: 'Nederlands' } satisfies Record<Language, string>,
  origin: { en: 'Origin', nl: 'Herkomst' },
  webhook: { en: 'Webhook', nl: 'Webhook' },
  rate: { en: 'Rate', nl: 'Tempo' },
  rateOf: (rate: Rate): Text =>
    rate === '*'
      ? { en: 'no limit', nl: 'geen limiet' }
      : {
          en: `at most ${rate} request${rate === 1 ? '' : 's'} per minute`,
          nl: `hoogstens ${rate} verzoek${rate === 1 ? '' : 'en'} per minuut`,
        },
};

/** The question to the owner, with its form. */
export const questionTexts = {
  title: {
    en: 'May this origin send events to your webhook?',
    nl: 'Mag deze herkomst gebeurtenissen naar uw webhook sturen?',
  },
  /** All are markup. */
  lead: (origin: string, sink: string, rate: Text): Text => ({
    en: `${origin} asks to send events to ${sink}, ${rate.en}.`,
    nl: `${origin} vraagt toestemming om gebeurtenissen naar ${sink} te sturen, ${rate.nl}.`,
  }),
  unlessAllowed: { en: 'It may not send unless you allow it.', nl: 'Zonder uw toestemming mag dat niet.' },
  why: { en: 'Why you see this', nl: 'Waarom u dit ziet' },
  whyText: {
    en: 'Someone requested events for this webhook. A URL that someone typed is no permission, so this registry asks the webhook first. Check it in your log: the link came in the header <code>WebHook-Request-Callback</code> of an OPTIONS request to the webhook.',
    nl: 'Iemand heeft voor deze webhook gebeurtenissen aangevraagd. Een ingevulde URL is geen toestemming. Daarom vraagt dit register het eerst aan de webhook. Controleer dat in uw log: de link stond in de header <code>WebHook-Request-Callback</code> van een OPTIONS-verzoek aan de webhook.',
  },
  nothing: { en: 'If you do nothing', nl: 'Als u niets doet' },
  nothingIsSent: {
    en: 'Nothing is sent. After the time above, this link no longer works.',
    nl: 'Dan wordt er niets gestuurd. Na het tijdstip hierboven werkt deze link niet meer.',
  },
  consentRunsOut: {
    en: 'The current consent expires unless the webhook renews it first.',
    nl: 'Dan loopt de huidige toestemming af, tenzij de webhook die eerder verlengt.',
  },
  consentStays: { en: 'The current consent does not change.', nl: 'Dan blijft de huidige toestemming bestaan.' },
  who: { en: 'Who asks you', nl: 'Wie het u vraagt' },
  assent: {
    en: 'The registry uses Assent, software that records which webhooks agreed to receive events. The registry itself sends no events; senders do.',
    nl: 'Het register gebruikt Assent: software die vastlegt welke webhooks gebeurtenissen willen ontvangen. Het register zelf stuurt geen gebeurtenissen; dat doen verzenders.',
  },
  guide: { en: 'Guide for owners of webhooks', nl: 'Handleiding voor eigenaren van webhooks (Engels)' },
  /** `time`: when the consent that exists ends. */
  renewal: (time: Text): Text => ({
    en: `It has consent until ${time.en} and asks to renew it. If you refuse, the consent ends now.`,
    nl: `Het heeft toestemming tot ${time.nl} en vraagt om verlenging. Als u weigert, eindigt de toestemming direct.`,
  }),
  besideConsent: (time: Text): Text => ({
    en: `It already has consent until ${time.en}. If you refuse, that consent stays as it is.`,
    nl: `Het heeft al toestemming tot ${time.nl}. Als u weigert, blijft die toestemming bestaan.`,
  }),
  proof: { en: 'Is the name real?', nl: 'Klopt de naam?' },
  /** All are markup. */
  verifiedTenant: (origin: string): Text => ({
    en: `Verified: the owner of ${origin} confirmed in DNS that this organisation uses the name.`,
    nl: `Geverifieerd: de eigenaar van ${origin} bevestigt in DNS dat deze organisatie de naam gebruikt.`,
  }),
  verified: (origin: string, keyid: string): Text => ({
    en: `Verified: the owner of ${origin} publishes the key ${keyid}, which belongs to this origin.`,
    nl: `Geverifieerd: de eigenaar van ${origin} publiceert de sleutel ${keyid}, die bij deze herkomst hoort.`,
  }),
  unverified: {
    en: 'Not verified: anyone could have typed this name.',
    nl: 'Niet geverifieerd: iedereen kan deze naam hebben ingevuld.',
  },
  askedBy: { en: 'Requested by', nl: 'Aangevraagd door' },
  events: { en: 'Events', nl: 'Gebeurtenissen' },
  everyType: { en: 'all types', nl: 'alle typen' },
  more: (count: number): Text => ({ en: `and ${count} more`, nl: `en nog ${count}` }),
  source: { en: 'Source', nl: 'Bron' },
  filteredBy: { en: 'Filtered by', nl: 'Gefilterd op' },
  expression: { en: 'an expression', nl: 'een expressie' },
  askedForMore: {
    en: 'More subscriptions request events for this webhook.',
    nl: 'Er zijn nog meer abonnementen voor deze webhook.',
  },
  until: { en: 'Decide before', nl: 'Beslis vóór' },
  rateLabel: {
    en: 'Maximum requests per minute (optional)',
    nl: 'Maximaal aantal verzoeken per minuut (niet verplicht)',
  },
  rateHint: {
    en: 'Leave this empty to allow the rate above.',
    nl: 'Laat dit leeg om het tempo hierboven toe te staan.',
  },
  rateWrong: {
    en: 'Enter a whole number above 0, in digits only.',
    nl: 'Vul een heel getal boven 0 in, met alleen cijfers.',
  },
  allow: { en: 'Allow', nl: 'Toestaan' },
  refuse: { en: 'Refuse', nl: 'Weigeren' },
};

/** What was decided. */
export const decisionTexts = {
  given: { en: 'Consent given', nl: 'Toestemming gegeven' },
  givenBefore: { en: 'Consent was already given', nl: 'Toestemming was al gegeven' },
  /** Both are markup. */
  maySend: (origin: string, sink: string): Text => ({
    en: `${origin} may send events to ${sink}.`,
    nl: `${origin} mag gebeurtenissen naar ${sink} sturen.`,
  }),
  takeBack: { en: 'To take it back', nl: 'Intrekken' },
  takeBackText: {
    en: 'Respond to events with <code>410 Gone</code>, or ask the operator of this registry to revoke the grant.',
    nl: 'Beantwoord gebeurtenissen met <code>410 Gone</code>, of vraag de beheerder van dit register om de grant in te trekken.',
  },
  refused: { en: 'Consent refused', nl: 'Toestemming geweigerd' },
  refusal: {
    en: 'The refusal is recorded. This request gives the origin no consent.',
    nl: 'De weigering is vastgelegd. De herkomst krijgt op dit verzoek geen toestemming.',
  },
  earlier: (time: Text): Text => ({
    en: `An earlier consent stays valid until ${time.en}.`,
    nl: `Een eerdere toestemming blijft geldig tot ${time.nl}.`,
  }),
  anew: {
    en: 'To allow it later, you need a new link. The subscriber can ask for consent again.',
    nl: 'Om later toch toestemming te geven, hebt u een nieuwe link nodig. De abonnee kan opnieuw om toestemming vragen.',
  },
  before: {
    en: 'This was decided earlier. Nothing has changed now.',
    nl: 'Dit was al eerder besloten. Er is nu niets veranderd.',
  },
  close: { en: 'You can close this page.', nl: 'U kunt deze pagina sluiten.' },
  until: { en: 'Until', nl: 'Tot' },
};

const locales: Record<Language, string> = { en: 'en-GB', nl: 'nl-NL' };

/** A time as people write it, in UTC. */
export function timeText(time: Date, language: Language): string {
  const format = new Intl.DateTimeFormat(locales[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(time)} UTC`;
}
