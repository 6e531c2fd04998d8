import type { Text } from '../app/text.js';

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
  signedBy: { en: 'Signed by the key', nl: 'Ondertekend met de sleutel' },
  keyid: { en: 'Key id', nl: 'Sleutel-id' },
  covered: { en: 'What it covers', nl: 'Wat is ondertekend' },
  unsigned: {
    en: 'Not signed: signatures are off for the origin, or no key could sign then.',
    nl: 'Niet ondertekend: handtekeningen staan uit voor de herkomst, of geen sleutel kon toen ondertekenen.',
  },
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
