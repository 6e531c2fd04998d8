import type { Text } from '../app/text.js';

export const subscriptionsTexts = {
  title: { en: 'Subscriptions', nl: 'Abonnementen' },
  register: { en: 'Register', nl: 'Aanvragen' },
  searchLabel: { en: 'Search sinks', nl: 'Zoek sinks' },
  sink: { en: 'Sink', nl: 'Sink' },
  host: { en: 'Host of the sink', nl: 'Host van de sink' },
  status: { en: 'Status', nl: 'Status' },
  origin: { en: 'Origin', nl: 'Herkomst' },
  subscriber: { en: 'Subscriber', nl: 'Abonnee' },
  code: { en: 'Code', nl: 'Code' },
  why: { en: 'Reason', nl: 'Reden' },
  rate: { en: 'Rate/min', nl: 'Per min.' },
  created: { en: 'Registered', nl: 'Sinds' },
  clear: { en: 'Clear the search', nl: 'Zoekopdracht wissen' },
  none: { en: 'No subscriptions yet', nl: 'Nog geen abonnementen' },
  noneHint: {
    en: 'A subscription says which events a webhook gets. Assent asks the webhook for consent first.',
    nl: 'Een abonnement zegt welke gebeurtenissen een webhook krijgt. Assent vraagt de webhook eerst om toestemming.',
  },
  count: (shown: string, loaded: string, total: string): Text =>
    shown === loaded
      ? { en: `${loaded} of ${total} subscriptions.`, nl: `${loaded} van ${total} abonnementen.` }
      : {
          en: `${shown} shown of ${loaded} loaded, ${total} in all.`,
          nl: `${shown} getoond van ${loaded} geladen, ${total} in totaal.`,
        },
  doneFor: (count: string): Text => ({
    en: `Done for ${count} subscriptions.`,
    nl: `Gedaan voor ${count} abonnementen.`,
  }),
  suspendChosen: (count: string): Text => ({
    en: `Suspend ${count} subscriptions`,
    nl: `${count} abonnementen onderbreken`,
  }),
} satisfies Record<string, Text | ((...texts: string[]) => Text)>;

/** The page of one subscription. */
export const subscriptionPageTexts = {
  title: { en: 'Subscription', nl: 'Abonnement' },
  tabs: {
    overview: { en: 'Overview', nl: 'Overzicht' },
    handshakes: { en: 'Handshakes', nl: 'Handshakes' },
    deliveries: { en: 'Deliveries', nl: 'Bezorgingen' },
    changes: { en: 'Changes', nl: 'Wijzigingen' },
    settings: { en: 'Settings', nl: 'Instellingen' },
  },
  help: { en: 'What this verdict means', nl: 'Wat dit oordeel betekent' },
  approve: { en: 'Approve by agreement', nl: 'Goedkeuren met een overeenkomst' },
  status: { en: 'Status', nl: 'Status' },
  toDo: {
    headers: {
      en: 'What to change in the response to OPTIONS:',
      nl: 'Wat u in het antwoord op OPTIONS kunt wijzigen:',
    },
    webhook: { en: 'What to change in the webhook:', nl: 'Wat u in de webhook kunt wijzigen:' },
    network: { en: 'What to change in DNS or the network:', nl: 'Wat u in DNS of het netwerk kunt wijzigen:' },
    nobody: { en: 'What to change:', nl: 'Wat u kunt wijzigen:' },
  },
  next: { en: 'What happens next:', nl: 'Wat er nu gebeurt:' },
  renewal: (left: string): Text => ({
    en: `The renewal has not succeeded yet. The grant ends in ${left}.`,
    nl: `De verlenging is nog niet gelukt. De grant eindigt over ${left}.`,
  }),
  rejected: (count: string): Text => ({
    en: `Calls to the callback URL that were not valid: ${count}.`,
    nl: `Ongeldige aanroepen van de callback-URL: ${count}.`,
  }),
  warnings: { en: 'Warnings', nl: 'Waarschuwingen' },

  facts: { en: 'Facts', nl: 'Gegevens' },
  id: { en: 'Id', nl: 'Id' },
  sink: { en: 'Sink', nl: 'Sink' },
  origin: { en: 'Origin', nl: 'Herkomst' },
  subscriber: { en: 'Subscriber', nl: 'Abonnee' },
  source: { en: 'Source', nl: 'Source' },
  types: { en: 'Types', nl: 'Types' },
  subject: { en: 'Subject', nl: 'Subject' },
  every: { en: 'all', nl: 'alle' },
  filters: { en: 'Filters', nl: 'Filters' },
  requestedrate: { en: 'Requested rate', nl: 'Gevraagd tempo' },
  allowedrate: { en: 'Allowed rate', nl: 'Toegestaan tempo' },
  perMinute: (rate: string): Text =>
    rate === '*'
      ? { en: 'no limit', nl: 'geen limiet' }
      : { en: `${rate} requests per minute`, nl: `${rate} verzoeken per minuut` },
  grantEnds: { en: 'Grant expires', nl: 'Grant verloopt' },
  ends: { en: 'Subscription ends', nl: 'Abonnement eindigt' },
  credential: { en: 'Credential', nl: 'Credential' },
  fingerprint: (print: string): Text => ({ en: `fingerprint ${print}`, nl: `vingerafdruk ${print}` }),
  previousUntil: { en: 'the previous one works until', nl: 'het vorige werkt tot' },
  callback: { en: 'Callback', nl: 'Callback' },
  settings: { en: 'Protocol settings', nl: 'Protocolinstellingen' },
  config: { en: 'Config', nl: 'Config' },
  price: { en: 'Price of the filters', nl: 'Prijs van de filters' },
  steps: (count: string): Text => ({ en: `${count} steps`, nl: `${count} stappen` }),
  created: { en: 'Created', nl: 'Aangemaakt' },
  updated: { en: 'Changed', nl: 'Gewijzigd' },
  suspended: { en: 'Suspended', nl: 'Onderbroken' },
  suspendedBy: {
    subscriber: { en: 'by the subscriber', nl: 'door de abonnee' },
    admin: { en: 'by an admin', nl: 'door een beheerder' },
  },

  actions: { en: 'Actions', nl: 'Acties' },
  ask: { en: 'Ask again', nl: 'Opnieuw vragen' },
  asking: { en: 'Asking…', nl: 'Bezig met vragen…' },
  asked: { en: 'The webhook was asked again.', nl: 'De webhook is opnieuw om toestemming gevraagd.' },
  edit: { en: 'Edit', nl: 'Wijzigen' },
  suspend: { en: 'Suspend', nl: 'Onderbreken' },
  suspendTitle: { en: 'Suspend this subscription', nl: 'Dit abonnement onderbreken' },
  suspendHint: {
    en: 'Deliveries stop until you resume it. Assent does not ask the webhook in the meantime.',
    nl: 'Er wordt niets bezorgd totdat u het hervat. Assent vraagt de webhook in die tijd niet om toestemming.',
  },
  suspendDone: { en: 'The subscription is suspended.', nl: 'Het abonnement is onderbroken.' },
  resume: { en: 'Resume', nl: 'Hervatten' },
  resumeTitle: { en: 'Resume this subscription', nl: 'Dit abonnement hervatten' },
  resumeHint: {
    en: 'Deliveries can start again. Assent asks the webhook if that is needed.',
    nl: 'Bezorgen kan weer. Assent vraagt de webhook om toestemming als dat nodig is.',
  },
  resumeDone: { en: 'The subscription is resumed.', nl: 'Het abonnement is hervat.' },
  remove: { en: 'Delete', nl: 'Verwijderen' },
  removeTitle: { en: 'Delete this subscription?', nl: 'Dit abonnement verwijderen?' },
  removeHint: {
    en: 'You cannot undo this. If it is the last subscription of this origin to this sink, the grant ends too, unless it is an agreement.',
    nl: 'U kunt dit niet ongedaan maken. Is dit het laatste abonnement van deze herkomst op deze sink, dan eindigt ook de grant, behalve bij een overeenkomst.',
  },
  removeDone: { en: 'The subscription is deleted.', nl: 'Het abonnement is verwijderd.' },
  storedNow: { en: 'Stored now:', nl: 'Nu opgeslagen:' },
  saved: { en: 'The subscription is changed.', nl: 'Het abonnement is gewijzigd.' },
  unchanged: { en: 'You changed nothing yet.', nl: 'U hebt nog niets gewijzigd.' },

  rotate: { en: 'Change the credential', nl: 'Credential vervangen' },
  rotateHint: {
    en: 'Senders show it to the webhook with each event. Its secrets are never shown again.',
    nl: 'Verzenders tonen het aan de webhook bij elke gebeurtenis. De geheimen worden nooit meer getoond.',
  },
  rotated: { en: 'The credential is changed.', nl: 'De credential is vervangen.' },
  overlap: { en: 'Overlap in seconds', nl: 'Overlap in seconden' },
  overlapHint: {
    en: 'Senders also get the present credential for this time. 3600 is an hour; the maximum is a week.',
    nl: 'Zo lang krijgen verzenders ook de huidige credential. 3600 is een uur; hoogstens een week.',
  },
  endOverlap: { en: 'End the overlap now', nl: 'De overlap nu beëindigen' },
  overlapEnded: { en: 'The previous credential has ended.', nl: 'De vorige credential is vervallen.' },
  removeCredential: { en: 'Remove the credential', nl: 'Credential verwijderen' },
  credentialRemoved: { en: 'The credential is removed.', nl: 'De credential is verwijderd.' },

  deliveries: { en: 'Deliveries', nl: 'Bezorgingen' },
  deliveriesHint: {
    en: 'What senders reported for this origin and sink. Other subscriptions with the same pair share these numbers.',
    nl: 'Wat verzenders meldden voor deze herkomst en sink. Andere abonnementen met hetzelfde paar delen deze aantallen.',
  },
  noDeliveries: { en: 'No sender reported a delivery yet.', nl: 'Nog geen verzender meldde een bezorging.' },
  outcome: { en: 'Outcome', nl: 'Resultaat' },
  count: { en: 'Number', nl: 'Aantal' },
  lastDelivery: { en: 'Last delivery', nl: 'Laatste bezorging' },
  lastSuccess: { en: 'Last success', nl: 'Laatste geslaagde bezorging' },
  failures: { en: 'Failures since then', nl: 'Mislukt sindsdien' },
  heldUntil: { en: 'On hold until', nl: 'Pauze tot' },
  outcomes: {
    delivered: { en: 'delivered', nl: 'bezorgd' },
    gone: { en: 'gone (410)', nl: 'buiten gebruik (410)' },
    throttled: { en: 'too many requests (429)', nl: 'te veel verzoeken (429)' },
    unavailable: { en: 'unavailable (503)', nl: 'niet beschikbaar (503)' },
    mediarefused: { en: 'media type refused (415)', nl: 'mediatype geweigerd (415)' },
    unauthorized: { en: 'unauthorized (401, 403)', nl: 'niet gemachtigd (401, 403)' },
    redirected: { en: 'redirected (3xx)', nl: 'omgeleid (3xx)' },
    rejected: { en: 'rejected (other 4xx)', nl: 'afgewezen (andere 4xx)' },
    failed: { en: 'failed (other 5xx)', nl: 'mislukt (andere 5xx)' },
    no_response: { en: 'no response', nl: 'geen antwoord' },
  },
} as const;

/** The conversations with the webhook. */
export const handshakePageTexts = {
  title: { en: 'Handshakes', nl: 'Handshakes' },
  happened: { en: 'What happened', nl: 'Wat er gebeurde' },
  registered: { en: 'Registered', nl: 'Aangevraagd' },
  by: { en: 'by', nl: 'door' },
  noAnswer: { en: 'Tried again later', nl: 'Later opnieuw geprobeerd' },
  none: {
    en: 'Assent has not asked this webhook yet.',
    nl: 'Assent heeft deze webhook nog niet om toestemming gevraagd.',
  },
  older: { en: 'Show older handshakes', nl: 'Oudere handshakes tonen' },
  attempt: (number: string): Text => ({ en: `attempt ${number}`, nl: `poging ${number}` }),
  sent: { en: 'Request', nl: 'Verzoek' },
  received: { en: 'Response', nl: 'Antwoord' },
  nothingReceived: { en: 'There was no response.', nl: 'Er kwam geen antwoord.' },
  noWebhookHeader: { en: 'No WebHook header came back.', nl: 'Er kwam geen WebHook-header terug.' },
  inFlight: { en: 'Waiting for the response…', nl: 'Wachten op het antwoord…' },
  address: { en: 'Address', nl: 'Adres' },
  evidence: { en: 'Evidence', nl: 'Aanwijzing' },
  timing: { en: 'Timing', nl: 'Duur' },
  stages: {
    lookupms: { en: 'DNS', nl: 'DNS' },
    connectms: { en: 'connect', nl: 'verbinden' },
    tlsms: { en: 'TLS', nl: 'TLS' },
    responsems: { en: 'response', nl: 'antwoord' },
    totalms: { en: 'total', nl: 'totaal' },
  },
  verdict: { en: 'Verdict', nl: 'Oordeel' },
  tolerated: { en: 'Tolerated mistakes', nl: 'Geaccepteerde fouten' },
  curl: { en: 'As curl', nl: 'Als curl' },
  triggers: {
    registration: { en: 'registration', nl: 'aanvraag' },
    change: { en: 'change', nl: 'wijziging' },
    request: { en: 'asked again', nl: 'nieuw verzoek om toestemming' },
    renewal: { en: 'renewal', nl: 'verlenging' },
  },
  states: {
    due: { en: 'planned', nl: 'gepland' },
    asking: { en: 'asking', nl: 'bezig' },
    waiting: { en: 'waiting for the callback', nl: 'wacht op de callback' },
    granted: { en: 'granted', nl: 'toegestaan' },
    refused: { en: 'refused', nl: 'geweigerd' },
    unreachable: { en: 'unreachable', nl: 'onbereikbaar' },
    retired: { en: 'retired', nl: 'buiten gebruik' },
    cancelled: { en: 'cancelled', nl: 'vervallen' },
  },

  lines: { en: 'Code for your webhook', nl: 'Code voor uw webhook' },
  linesHint: {
    en: 'Add this to your webhook. It allows this origin, at this rate, and no other. Then ask again.',
    nl: 'Zet dit in uw webhook. Het staat deze herkomst toe, in dit tempo, en geen andere. Vraag daarna opnieuw om toestemming.',
  },
  linesHintDefault: {
    en: 'Add this to your webhook. It allows this origin and no other. Nobody asked for a rate: choose how many requests per minute you can take. Then ask again.',
    nl: 'Zet dit in uw webhook. Het staat deze herkomst toe en geen andere. Er is geen tempo gevraagd: kies hoeveel verzoeken per minuut u aankunt. Vraag daarna opnieuw om toestemming.',
  },
  framework: { en: 'Your framework', nl: 'Uw framework' },
} as const;

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
    nl: 'De https-URL van uw webhook. Assent vraagt precies deze URL om toestemming.',
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
  originHintChoice: {
    en: 'The system that sends the events.',
    nl: 'De naam waaronder de gebeurtenissen worden verstuurd.',
  },
  chooseOrigin: { en: 'Choose an origin', nl: 'Kies een herkomst' },
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
    nl: 'Verzoeken per minuut. Leeg: de standaard van de herkomst.',
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
    nl: 'Wat verzenders bij elke gebeurtenis aan uw webhook tonen. Wordt versleuteld opgeslagen en nooit meer getoond.',
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

  check: { en: 'Check with an event', nl: 'Controleren met een gebeurtenis' },
  checkHint: {
    en: 'A CloudEvent as JSON. The result changes as you type. Nothing is stored or sent.',
    nl: 'Een CloudEvent als JSON. Het resultaat verandert terwijl u typt. Er wordt niets opgeslagen of verstuurd.',
  },
  event: { en: 'Event', nl: 'Gebeurtenis' },
  matches: { en: 'This event matches.', nl: 'Deze gebeurtenis past.' },
  matchesNot: {
    en: 'This event does not match. The first part that fails:',
    nl: 'Deze gebeurtenis voldoet niet. Het eerste deel dat niet klopt:',
  },
  checking: { en: 'Checking…', nl: 'Controleren…' },
  mendFirst: {
    en: 'Fix the errors above to see whether it matches.',
    nl: 'Herstel eerst de fouten om te zien of het past.',
  },

  draft: {
    en: 'Register it as a draft: do not ask the webhook until I resume it',
    nl: 'Als concept opslaan: vraag de webhook pas om toestemming als ik het abonnement hervat',
  },
  submit: { en: 'Register and ask the webhook', nl: 'Aanvragen en om toestemming vragen' },
  submitDraft: { en: 'Register the draft', nl: 'Concept opslaan' },
  registered: { en: 'The subscription is registered.', nl: 'Het abonnement is opgeslagen.' },
  answer: { en: 'The response of your webhook', nl: 'Het antwoord van uw webhook' },
  open: { en: 'Open the subscription', nl: 'Het abonnement openen' },
  another: { en: 'Register another', nl: 'Nog een aanvragen' },
} as const;
