import type { Text } from '../app/text.js';

export const playgroundTexts = {
  lead: {
    en: 'Paste an event to see which webhooks get it, and why the others do not. Nothing is sent or stored.',
    nl: 'Plak een gebeurtenis en zie welke webhooks die krijgen, en waarom de andere niet. Er wordt niets verstuurd of opgeslagen.',
  },
  origin: { en: 'Origin', nl: 'Herkomst' },
  example: { en: 'Example', nl: 'Voorbeeld' },
  chooseExample: { en: 'Start from…', nl: 'Begin met…' },
  examples: {
    least: { en: 'Only what every event has', nl: 'Alleen wat elke gebeurtenis heeft' },
    nlGov: { en: 'A case changed (NL GOV)', nl: 'Een zaak is gewijzigd (NL GOV)' },
    data: { en: 'An order, with data', nl: 'Een bestelling, met data' },
    belgif: { en: 'An address changed (Belgif)', nl: 'Een adres is gewijzigd (Belgif)' },
  },
  attributes: { en: 'Context attributes', nl: 'Contextattributen' },
  notJson: {
    en: 'You can fill in the fields when the text is a JSON object again.',
    nl: 'U kunt de velden weer invullen zodra de tekst weer een JSON-object is.',
  },
  event: { en: 'Event as JSON', nl: 'Gebeurtenis als JSON' },
  eventHint: {
    en: 'Structured mode. The match ignores data, so you can leave it out.',
    nl: 'Structured mode. Data telt niet mee, dus u kunt die weglaten.',
  },
  line: { en: 'Line', nl: 'Regel' },
  faults: {
    en: 'The registry would not accept this event:',
    nl: 'Het register zou deze gebeurtenis niet accepteren:',
  },
  lastGood: {
    en: 'This is the result for the last event that was valid.',
    nl: 'Dit is het resultaat van de laatste geldige gebeurtenis.',
  },
  warnings: { en: 'Valid, but the profile advises otherwise:', nl: 'Geldig, maar het profiel raadt iets anders aan:' },
  gets: { en: 'Webhooks that get it', nl: 'Webhooks die deze gebeurtenis krijgen' },
  getsNone: { en: 'No webhook gets this event.', nl: 'Geen enkele webhook krijgt deze gebeurtenis.' },
  getsNot: { en: 'Do not get it, closest first', nl: 'Krijgen deze gebeurtenis niet, dichtstbij eerst' },
  getsNotNone: {
    en: 'Every subscription that you may see gets this event.',
    nl: 'Elk abonnement dat u mag zien, krijgt deze gebeurtenis.',
  },
  onlyOldest: {
    en: 'The registry explains the 1,000 oldest subscriptions of this origin. Newer ones are missing here.',
    nl: 'Het register geeft uitleg over de 1000 oudste abonnementen van deze herkomst. Nieuwere ontbreken hier.',
  },
  sink: { en: 'Sink', nl: 'Sink' },
  subscriptions: { en: 'Subscriptions', nl: 'Abonnementen' },
  subscriber: { en: 'Subscriber', nl: 'Abonnee' },
  rate: { en: 'Rate/min', nl: 'Per min.' },
  held: { en: 'on hold until', nl: 'pauze tot' },
  wants: { en: 'It asks for', nl: 'Het vraagt om' },
  has: { en: 'The event has', nl: 'De gebeurtenis heeft' },
  more: (count: string): Text => ({ en: `${count} more`, nl: `Nog ${count}` }),
  noOrigin: { en: 'There is no origin yet', nl: 'Er is nog geen herkomst' },
  addOrigin: { en: 'Register an origin', nl: 'Herkomst registreren' },
  view: { en: 'Shown as', nl: 'Getoond als' },
  views: { json: { en: 'JSON', nl: 'JSON' }, fields: { en: 'Fields', nl: 'Velden' } },
  absent: { en: 'nothing', nl: 'niets' },
  explanations: {
    blocked: { en: 'An admin blocks it.', nl: 'Een beheerder blokkeert het.' },
    suspended: { en: 'It matches, but it is suspended.', nl: 'Het past, maar het abonnement is onderbroken.' },
    no_grant: {
      en: 'It matches, but the webhook has not given consent.',
      nl: 'Het past, maar de webhook heeft geen toestemming gegeven.',
    },
    expired: { en: 'It matches, but the grant has expired.', nl: 'Het past, maar de grant is verlopen.' },
    revoked: {
      en: 'It matches, but an admin revoked the grant.',
      nl: 'Het past, maar een beheerder heeft de grant ingetrokken.',
    },
    ended: {
      en: 'It matches, but the subscription or its grant has ended.',
      nl: 'Het past, maar het abonnement of de grant is beëindigd.',
    },
  } as Record<string, Text>,
  various: {
    exact: { en: 'has another value', nl: 'heeft een andere waarde' },
    oneOf: { en: 'has another value', nl: 'heeft een andere waarde' },
    prefix: { en: 'begins differently', nl: 'begint anders' },
    suffix: { en: 'ends differently', nl: 'eindigt anders' },
    sql: { en: 'An expression is not true', nl: 'Een expressie is niet waar' },
    combined: { en: 'A combination does not match', nl: 'Een combinatie voldoet niet' },
  },
  kinds: {
    exact: { en: 'equal to', nl: 'gelijk aan' },
    oneOf: { en: 'one of', nl: 'een van' },
    prefix: { en: 'begins with', nl: 'begint met' },
    suffix: { en: 'ends with', nl: 'eindigt op' },
    sql: { en: 'true for', nl: 'waar voor' },
    combined: { en: 'matches', nl: 'past bij' },
  },
} satisfies Record<string, Text | object>;
