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
  created: { en: 'Since', nl: 'Sinds' },
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
    en: 'Senders show it to your webhook with each event; it is stored encrypted and never shown again.',
    nl: 'Verzenders tonen de credential bij elke gebeurtenis aan uw webhook; die wordt versleuteld opgeslagen en nooit meer getoond.',
  },
  noCredential: { en: 'None', nl: 'Geen' },
  rotated: { en: 'The credential is changed.', nl: 'De credential is vervangen.' },
  overlap: { en: 'The present one stays valid for', nl: 'De huidige blijft nog geldig' },
  overlaps: {
    '0': { en: 'no time', nl: 'niet' },
    '3600': { en: '1 hour', nl: '1 uur' },
    '86400': { en: '1 day', nl: '1 dag' },
    '604800': { en: '1 week', nl: '1 week' },
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
