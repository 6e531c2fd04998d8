import type { Text } from '../app/text.js';

/** The form of a subscription, and the page that registers one. */
export const registerTexts = {
  title: { en: 'Register a subscription', nl: 'Een abonnement aanvragen' },
  where: { en: 'Where should events go?', nl: 'Waar gaan gebeurtenissen naartoe?' },
  which: { en: 'Which events?', nl: 'Welke gebeurtenissen?' },
  how: { en: 'How fast, and how to sign in?', nl: 'Hoe snel, en hoe aanmelden?' },
  sink: { en: 'Sink', nl: 'Sink' },
  canAsk: { en: 'Assent can ask this webhook.', nl: 'Assent kan deze webhook om toestemming vragen.' },
  allowedAlready: {
    en: 'This webhook already allows this origin.',
    nl: 'Deze webhook staat deze herkomst al toe.',
  },
  notUrl: {
    en: 'Write a whole URL, such as https://webhook.example.com/events.',
    nl: 'Vul een volledige URL in, zoals https://webhook.example.com/events.',
  },
  notHttps: { en: 'The URL must start with https://.', nl: 'De URL moet met https:// beginnen.' },
  origin: { en: 'Origin', nl: 'Herkomst' },
  originHint: {
    en: 'The system that sends the events. Leave it empty for the default origin of your tenant.',
    nl: 'De naam waaronder de gebeurtenissen worden verstuurd. Laat leeg voor de standaardherkomst van uw organisatie.',
  },
  defaultOrigin: { en: 'default', nl: 'standaard' },
  chooseOrigin: { en: 'Choose an origin', nl: 'Kies een herkomst' },
  source: { en: 'Source', nl: 'Source' },
  types: { en: 'Types', nl: 'Types' },
  subject: { en: 'Subject', nl: 'Subject' },
  notJson: (why: string): Text => ({ en: `This is not JSON: ${why}`, nl: `Dit is geen JSON: ${why}` }),
  notArray: { en: 'Write a JSON array, in [ and ].', nl: 'Schrijf een JSON-array, tussen [ en ].' },
  goTo: (line: string): Text => ({ en: `Go to line ${line}`, nl: `Ga naar regel ${line}` }),
  rate: { en: 'Requests per minute', nl: 'Verzoeken per minuut' },
  rateOfOrigin: { en: 'the default of the origin', nl: 'de standaard van de herkomst' },
  notNumber: { en: 'Write a whole number, 1 or more.', nl: 'Vul een geheel getal in, 1 of meer.' },
  ends: { en: 'Ends at', nl: 'Eindigt op' },
  endsHint: {
    en: 'In the time zone of this browser. From then on it gets no events.',
    nl: 'In de tijdzone van deze browser. Daarna krijgt het geen gebeurtenissen meer.',
  },
  more: { en: 'More settings', nl: 'Meer instellingen' },
  callback: { en: 'Callback URL', nl: 'Callback-URL' },
  callbackHint: {
    en: 'With it, the owner of the webhook can decide later.',
    nl: 'Daarmee kan de eigenaar van de webhook later beslissen.',
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
  credentialtypes: {
    '': { en: 'None', nl: 'Geen' },
    PLAIN: { en: 'Name and secret', nl: 'Naam en geheim' },
    ACCESSTOKEN: { en: 'Access token', nl: 'Toegangstoken' },
    REFRESHTOKEN: { en: 'Access and refresh token', nl: 'Toegangs- en verversingstoken' },
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

  show: (what: string): Text => ({ en: `Show: ${what}`, nl: `Tonen: ${what}` }),
  generate: { en: 'Generate', nl: 'Genereren' },

  ask: { en: 'Ask the webhook now', nl: 'De webhook nu vragen' },
  askHint: {
    en: 'Assent asks it once, without a callback URL, and shows what it would say. Nothing is stored.',
    nl: 'Assent vraagt één keer om toestemming, zonder callback-URL, en toont het antwoord. Er wordt niets opgeslagen.',
  },
  askNow: { en: 'Ask', nl: 'Vragen' },
  nothingStored: { en: 'Nothing is stored.', nl: 'Er is niets opgeslagen.' },
  wouldBeActive: (rate: string): Text => ({
    en: `It would be active at ${rate} requests per minute.`,
    nl: `Het zou actief zijn met ${rate} verzoeken per minuut.`,
  }),

  draft: { en: 'Save as draft', nl: 'Als concept opslaan' },
  draftHint: {
    en: 'Assent does not ask the webhook until you resume it.',
    nl: 'Assent vraagt de webhook pas om toestemming als u het abonnement hervat.',
  },
  submit: { en: 'Register', nl: 'Aanvragen' },
  registered: { en: 'The subscription is registered.', nl: 'Het abonnement is opgeslagen.' },
  answer: { en: 'The response of your webhook', nl: 'Het antwoord van uw webhook' },
  open: { en: 'Open the subscription', nl: 'Het abonnement openen' },
  another: { en: 'Register another', nl: 'Nog een aanvragen' },
} as const;
