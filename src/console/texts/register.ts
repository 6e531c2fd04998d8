import type { Text } from '../app/text.js';

/** The form of a subscription, and the page that registers one. */
export const registerTexts = {
  title: { en: 'Register a subscription', nl: 'Een abonnement aanvragen' },
  intro: {
    en: 'Assent stores the subscription and asks your webhook for consent. Events are sent there only after it consents.',
    nl: 'Assent slaat het abonnement op en vraagt uw webhook om toestemming. Pas na toestemming worden er gebeurtenissen gestuurd.',
  },
  where: { en: 'Where events go', nl: 'Waar gebeurtenissen naartoe gaan' },
  which: { en: 'Which events', nl: 'Welke gebeurtenissen' },
  sink: { en: 'Sink', nl: 'Sink' },
  sinkHint: {
    en: 'The https URL of your webhook. Assent asks exactly this URL.',
    nl: 'De https-URL van uw webhook. Assent vraagt precies deze URL.',
  },
  notUrl: {
    en: 'Write a whole URL, such as https://webhook.example.com/events.',
    nl: 'Vul een volledige URL in, zoals https://webhook.example.com/events.',
  },
  notHttps: { en: 'The URL must start with https://.', nl: 'De URL moet met https:// beginnen.' },
  origin: { en: 'Origin', nl: 'Afzender' },
  originHint: {
    en: 'The system that sends the events. Leave it empty for the default origin of your tenant.',
    nl: 'Het systeem dat de gebeurtenissen stuurt. Laat leeg voor de standaardafzender van uw organisatie.',
  },
  source: { en: 'Source (optional)', nl: 'Source (niet verplicht)' },
  sourceHint: { en: 'Only events with exactly this source.', nl: 'Alleen gebeurtenissen met precies deze source.' },
  types: { en: 'Types (optional)', nl: 'Types (niet verplicht)' },
  typesHint: {
    en: 'One on each line. Only events with one of these types.',
    nl: 'Een per regel. Alleen gebeurtenissen met een van deze types.',
  },
  subject: { en: 'Subject (optional)', nl: 'Subject (niet verplicht)' },
  subjectHint: { en: 'Only events with exactly this subject.', nl: 'Alleen gebeurtenissen met precies dit subject.' },
  filters: { en: 'Filters (optional)', nl: 'Filters (niet verplicht)' },
  filtersHint: {
    en: 'A JSON array. An event must match every filter. Dialects: exact, prefix, suffix, all, any, not, sql. For example: [{"prefix": {"type": "com.example."}}]',
    nl: 'Een JSON-array. Een gebeurtenis moet aan elk filter voldoen. Dialecten: exact, prefix, suffix, all, any, not, sql. Bijvoorbeeld: [{"prefix": {"type": "com.example."}}]',
  },
  notJson: (why: string): Text => ({ en: `This is not JSON: ${why}`, nl: `Dit is geen JSON: ${why}` }),
  notArray: { en: 'Write a JSON array, in [ and ].', nl: 'Schrijf een JSON-array, tussen [ en ].' },
  goTo: (line: string): Text => ({ en: `Go to line ${line}`, nl: `Ga naar regel ${line}` }),
  rate: { en: 'Requested rate (optional)', nl: 'Gevraagd tempo (niet verplicht)' },
  rateHint: {
    en: 'Requests per minute. Empty: the default of the origin.',
    nl: 'Verzoeken per minuut. Leeg: de standaard van de afzender.',
  },
  notNumber: { en: 'Write a whole number, 1 or more.', nl: 'Vul een geheel getal in, 1 of meer.' },
  ends: { en: 'End (optional)', nl: 'Einde (niet verplicht)' },
  endsHint: {
    en: 'In the time zone of this browser. From then on, the subscription matches nothing.',
    nl: 'In de tijdzone van deze browser. Vanaf dan krijgt het abonnement geen gebeurtenissen meer.',
  },
  more: { en: 'More settings', nl: 'Meer instellingen' },
  callback: { en: 'Callback URL', nl: 'Callback-URL' },
  callbackHint: {
    en: 'With a callback URL, the owner of the webhook can decide later. Some receivers send no headers if it is offered.',
    nl: 'Met een callback-URL kan de eigenaar van de webhook later beslissen. Sommige ontvangers sturen dan geen headers.',
  },
  callbacks: { offer: { en: 'Offer it', nl: 'Aanbieden' }, never: { en: 'Never offer it', nl: 'Nooit aanbieden' } },
  settings: { en: 'Protocol settings (JSON)', nl: 'Protocolinstellingen (JSON)' },
  settingsHint: {
    en: 'For deliveries, for example {"contentmode": "binary", "headers": {"X-Queue": "a"}}.',
    nl: 'Voor het bezorgen, bijvoorbeeld {"contentmode": "binary", "headers": {"X-Queue": "a"}}.',
  },
  config: { en: 'Config (JSON)', nl: 'Config (JSON)' },
  configHint: {
    en: 'For the system that generates the events.',
    nl: 'Voor het systeem dat de gebeurtenissen maakt.',
  },

  credential: { en: 'Credential', nl: 'Credential' },
  credentialHint: {
    en: 'What senders show to your webhook with each event. It is stored encrypted and never shown again.',
    nl: 'Wat verzendende systemen bij elke gebeurtenis aan uw webhook tonen. Wordt versleuteld opgeslagen en nooit meer getoond.',
  },
  credentialtype: { en: 'Type of credential', nl: 'Soort credential' },
  credentialtypes: {
    '': { en: 'None', nl: 'Geen' },
    PLAIN: { en: 'Name and secret (PLAIN)', nl: 'Naam en geheim (PLAIN)' },
    ACCESSTOKEN: { en: 'Access token (ACCESSTOKEN)', nl: 'Toegangstoken (ACCESSTOKEN)' },
    REFRESHTOKEN: { en: 'Access and refresh token (REFRESHTOKEN)', nl: 'Toegangs- en verversingstoken (REFRESHTOKEN)' },
  },
  credentialMembers: {
    identifier: { en: 'Name', nl: 'Naam' },
    secret: { en: 'Secret', nl: 'Geheim' },
    accesstoken: { en: 'Access token', nl: 'Toegangstoken' },
    accesstokenexpiresutc: {
      en: 'Expires (UTC, such as 2026-11-20T12:00:00Z)',
      nl: 'Verloopt (UTC, zoals 2026-11-20T12:00:00Z)',
    },
    accesstokentype: { en: 'Type of token (empty: bearer)', nl: 'Soort token (leeg: bearer)' },
    refreshtoken: { en: 'Refresh token', nl: 'Verversingstoken' },
    refreshtokenendpoint: { en: 'Endpoint for the refresh token', nl: 'Endpoint voor het verversingstoken' },
  },

  test: { en: 'Test with an event', nl: 'Testen met een gebeurtenis' },
  testHint: {
    en: 'A CloudEvent as JSON. The result changes as you type. Nothing is stored or sent.',
    nl: 'Een CloudEvent als JSON. Het resultaat verandert terwijl u typt. Er wordt niets opgeslagen of verstuurd.',
  },
  event: { en: 'Event', nl: 'Gebeurtenis' },
  matches: { en: 'This event matches.', nl: 'Deze gebeurtenis past.' },
  matchesNot: {
    en: 'This event does not match. The first part that fails:',
    nl: 'Deze gebeurtenis past niet. Het eerste deel dat niet klopt:',
  },
  checking: { en: 'Checking…', nl: 'Controleren…' },
  mendFirst: {
    en: 'Fix the faults above to see whether it matches.',
    nl: 'Herstel eerst de fouten om te zien of het past.',
  },

  draft: {
    en: 'Register it as a draft: do not ask the webhook until I resume it',
    nl: 'Als concept opslaan: vraag de webhook pas als ik het hervat',
  },
  submit: { en: 'Register and ask the webhook', nl: 'Aanvragen en de webhook vragen' },
  submitDraft: { en: 'Register the draft', nl: 'Concept opslaan' },
  registered: { en: 'The subscription is registered.', nl: 'Het abonnement is opgeslagen.' },
  answer: { en: 'The response of your webhook', nl: 'Het antwoord van uw webhook' },
  open: { en: 'Open the subscription', nl: 'Het abonnement openen' },
  another: { en: 'Register another', nl: 'Nog een aanvragen' },
} as const;
