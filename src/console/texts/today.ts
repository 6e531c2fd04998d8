import type { Text } from '../app/text.js';

export const todayTexts = {
  lead: { en: 'Needs attention', nl: 'Wat aandacht nodig heeft' },
  nothing: {
    en: 'Nothing needs attention. Assent asks, retries and renews on its own. If that is not enough, you see it here.',
    nl: 'Niets heeft aandacht nodig. Assent vraagt, probeert opnieuw en verlengt vanzelf. Als dat niet genoeg is, verandert deze pagina.',
  },
  unknownGroups: {
    en: 'There are none among the newest. The lists show whether there are older ones:',
    nl: 'Bij de nieuwste zijn er geen. De lijsten laten zien of er oudere zijn:',
  },
  elsewhere: {
    en: 'Your token has no subscriptions to show. The menu has the pages that it may see.',
    nl: 'Uw token heeft geen abonnementen om te tonen. In het menu staan de pagina’s die u mag zien.',
  },
  showAll: { en: 'Show all', nl: 'Toon alle' },
  groups: {
    refused: {
      title: { en: 'Refused', nl: 'Geweigerd' },
      hint: {
        en: 'The webhook gave no consent, or an admin revoked it.',
        nl: 'De webhook gaf geen toestemming, of een beheerder trok die in.',
      },
    },
    unreachable: {
      title: { en: 'Unreachable', nl: 'Onbereikbaar' },
      hint: {
        en: 'Assent asked several times and got no valid response.',
        nl: 'Assent vroeg meerdere keren om toestemming en kreeg geen geldig antwoord.',
      },
    },
    retired: {
      title: { en: 'Retired', nl: 'Buiten gebruik' },
      hint: {
        en: 'The webhook returned 410: it is gone.',
        nl: 'De webhook gaf 410 terug: die bestaat niet meer.',
      },
    },
    expired: {
      title: { en: 'Consent expired', nl: 'Toestemming verlopen' },
      hint: {
        en: 'Nothing is delivered until the webhook is asked again.',
        nl: 'Er wordt niets bezorgd tot de webhook opnieuw om toestemming is gevraagd.',
      },
    },
    blocked: {
      title: { en: 'Blocked', nl: 'Geblokkeerd' },
      hint: {
        en: 'An admin or an operator stopped the origin, the sink or the subscriber.',
        nl: 'Een beheerder of systeembeheerder heeft de herkomst, de sink of de abonnee geblokkeerd.',
      },
    },
    pending: {
      title: { en: 'Not decided yet', nl: 'Nog niet beslist' },
      hint: {
        en: 'Assent waits for the callback of the webhook’s owner, for an agreement, or for its next attempt.',
        nl: 'Assent wacht op de callback van de eigenaar van de webhook, op een overeenkomst of op de volgende poging.',
      },
    },
    ending: {
      title: { en: 'Grants that end within 30 days', nl: 'Grants die binnen 30 dagen verlopen' },
      hint: {
        en: 'Assent does not renew them. The first to expire comes first.',
        nl: 'Assent verlengt deze niet. De grant die het eerst verloopt, staat bovenaan.',
      },
    },
    held: {
      title: { en: 'On hold', nl: 'In pauze' },
      hint: {
        en: 'The webhook asked senders to wait.',
        nl: 'De webhook heeft gevraagd om te wachten met versturen.',
      },
    },
  },
  expires: { en: 'Expires', nl: 'Verloopt' },
  holdEnds: { en: 'Ends', nl: 'Eindigt' },
  activity: { en: 'Activity', nl: 'Activiteit' },
  range: { en: 'Period', nl: 'Periode' },
  ranges: {
    day: { en: '24 hours', nl: '24 uur' },
    month: { en: '30 days', nl: '30 dagen' },
    year: { en: 'a year', nl: 'een jaar' },
  },
  handshakes: { en: 'Handshakes by outcome', nl: 'Handshakes naar uitkomst' },
  handshakeOutcomes: {
    granted: { en: 'Granted', nl: 'Toestemming' },
    refused: { en: 'Refused', nl: 'Geweigerd' },
    no_response: { en: 'No response', nl: 'Geen antwoord' },
    not_asked: { en: 'Not asked', nl: 'Niet gevraagd' },
  },
  deliveries: { en: 'Deliveries that senders reported', nl: 'Bezorgingen die zijn gemeld' },
  deliveryOutcomes: {
    delivered: { en: 'Delivered', nl: 'Bezorgd' },
    wait: { en: 'Asked to wait (429, 503)', nl: 'Vroeg om te wachten (429, 503)' },
    gone: { en: 'Gone (410)', nl: 'Buiten gebruik (410)' },
    failed: { en: 'Failed', nl: 'Mislukt' },
  },
  rates: { en: 'Rate used, of the rate allowed', nl: 'Gebruikt tempo, van het toegestane tempo' },
  leased: { en: 'Requests leased', nl: 'Gereserveerde verzoeken' },
  unused: { en: 'Allowed and not used', nl: 'Toegestaan en niet gebruikt' },
  ratesHint: {
    en: 'In the minutes in which senders asked for a lease.',
    nl: 'In de minuten waarin verzenders om een lease vroegen.',
  },
  none: { en: 'None in this period.', nl: 'Geen in deze periode.' },
  health: { en: 'Health', nl: 'Status van het register' },
  feedLag: { en: 'Feed', nl: 'Feed' },
  current: { en: 'current', nl: 'actueel' },
  behind: { en: 'seconds behind', nl: 'seconden achter' },
  loading: { en: 'loading', nl: 'wordt geladen' },
  late: { en: 'Handshakes', nl: 'Handshakes' },
  onTime: { en: 'on time', nl: 'op tijd' },
  secondsLate: { en: 'seconds late', nl: 'seconden te laat' },
  unknown: { en: 'unknown: the database does not respond', nl: 'onbekend: de database reageert niet' },
  changes: { en: 'Changes', nl: 'Wijzigingen' },
  possible: { en: 'possible', nl: 'mogelijk' },
  readOnly: { en: 'not possible: the database is read-only', nl: 'niet mogelijk: de database is alleen-lezen' },
  version: { en: 'Version', nl: 'Versie' },
} satisfies Record<string, Text | object>;
