import type { Text } from './text.js';

/** What a kind of outcome says to the subscriber. No advice: there is nothing to change. */
export interface OutcomeText {
  title: Text;
  advice?: Text;
}

/** One entry for every kind of outcome of a delivery. */
export const outcomeTexts = {
  delivered: {
    title: { en: 'The webhook accepted the last delivery.', nl: 'De webhook accepteerde de laatste bezorging.' },
  },
  gone: {
    title: {
      en: 'The webhook returned 410 Gone: it is retired.',
      nl: 'De webhook stuurde 410 Gone terug: hij is buiten gebruik.',
    },
    advice: {
      en: 'Register the sink that replaces this one, or stop returning 410 and ask again.',
      nl: 'Registreer de sink die deze vervangt, of stuur geen 410 meer terug en vraag opnieuw om toestemming.',
    },
  },
  throttled: {
    title: {
      en: 'The webhook is receiving too many requests (429), so senders pause.',
      nl: 'De webhook krijgt te veel verzoeken (429), dus verzenders pauzeren.',
    },
    advice: {
      en: 'Return a lower WebHook-Allowed-Rate in the next handshake, and use Retry-After to say how long senders must wait.',
      nl: 'Stuur in de volgende handshake een lagere WebHook-Allowed-Rate terug, en geef met Retry-After aan hoelang verzenders moeten wachten.',
    },
  },
  unavailable: {
    title: {
      en: 'The webhook is temporarily unavailable (503).',
      nl: 'De webhook is tijdelijk niet beschikbaar (503).',
    },
    advice: {
      en: 'Bring the webhook back into service, and use Retry-After to say when senders may retry.',
      nl: 'Maak de webhook weer beschikbaar, en geef met Retry-After aan wanneer verzenders het opnieuw mogen proberen.',
    },
  },
  mediarefused: {
    title: {
      en: 'The webhook does not accept the format of the event (415).',
      nl: 'De webhook accepteert de vorm van de gebeurtenis niet (415).',
    },
    advice: {
      en: 'Accept application/cloudevents+json, or choose the other content mode with contentmode in protocolsettings.',
      nl: 'Accepteer application/cloudevents+json, of kies met contentmode in protocolsettings de andere vorm.',
    },
  },
  unauthorized: {
    title: {
      en: 'The webhook rejects the credentials of the delivery.',
      nl: 'De webhook weigert de inloggegevens van de bezorging.',
    },
    advice: {
      en: 'Give the subscription a sinkcredential that the webhook accepts, or renew the current one.',
      nl: 'Geef het abonnement een sinkcredential die de webhook accepteert, of vernieuw de huidige credential.',
    },
  },
  redirected: {
    title: {
      en: 'The webhook returns a redirect, which senders do not follow.',
      nl: 'De webhook stuurt een redirect terug, die verzenders niet volgen.',
    },
    advice: {
      en: 'Register the URL that the redirect points to.',
      nl: 'Registreer de URL waarnaar de redirect verwijst.',
    },
  },
  rejected: {
    title: {
      en: 'The webhook rejects the deliveries as invalid requests.',
      nl: 'De webhook weigert de bezorgingen als ongeldige verzoeken.',
    },
    advice: {
      en: 'Check that the URL accepts POST with CloudEvents, and look for the reason in the log of the webhook.',
      nl: 'Controleer of de URL POST met CloudEvents accepteert, en zoek de reden in het log van de webhook.',
    },
  },
  failed: {
    title: {
      en: 'The webhook fails while it handles the delivery.',
      nl: 'Er gaat iets mis in de webhook bij het verwerken van de bezorging.',
    },
    advice: {
      en: 'Look for the error in the log of the webhook.',
      nl: 'Zoek de fout in het log van de webhook.',
    },
  },
  no_response: {
    title: {
      en: 'The webhook does not respond to the senders.',
      nl: 'De webhook antwoordt niet aan de verzenders.',
    },
    advice: {
      en: 'Check that its host is up and responds within the time that senders wait.',
      nl: 'Controleer of de host bereikbaar is en antwoordt binnen de tijd die verzenders wachten.',
    },
  },
} satisfies Record<string, OutcomeText>;
