import { textOf, type Text } from './text.js';

/** What a verdict says. No advice: there is nothing that the webhook owner can change. */
export interface VerdictText {
  /** The title in five words at most, for lists. */
  label: Text;
  title: Text;
  /** With places for the values of the request: `withValues` fills them. */
  advice?: Text;
}

/** The name of the origin that asks, and the rate that it requests, in advice. */
const [origin, rate] = ['{origin}', '{rate}'];

/** Advice as its reader can paste it. Without a requested rate, 120 is an example. */
export function withValues(advice: Text, values: { origin: string; requestedRate?: number | undefined }): Text {
  const filled = (text: string) =>
    text.replaceAll(origin, () => values.origin).replaceAll(rate, () => String(values.requestedRate ?? 120));
  return textOf((language) => filled(advice[language]));
}

const both = `WebHook-Allowed-Origin: ${origin} and WebHook-Allowed-Rate: ${rate}`;
const beide = `WebHook-Allowed-Origin: ${origin} en WebHook-Allowed-Rate: ${rate}`;

const addHandler: Text = {
  en: `Add a handler for OPTIONS at this URL that returns ${both}.`,
  nl: `Voeg op deze URL een handler voor OPTIONS toe die ${beide} terugstuurt.`,
};

/** What became of the client certificate of the origin. */
export const certificateTexts: Record<'none' | 'ended' | 'refused', (fingerprint: string) => Text> = {
  none: () => ({
    en: 'The webhook accepts only clients with a certificate (mutual TLS), and none is set for the origin.',
    nl: 'De webhook laat alleen clients met een certificaat toe (mutual TLS), en voor de herkomst is er geen ingesteld.',
  }),
  ended: (fingerprint) => ({
    en: `The client certificate of the origin has expired (SHA-256 ${fingerprint}).`,
    nl: `Het clientcertificaat van de herkomst is verlopen (SHA-256 ${fingerprint}).`,
  }),
  refused: (fingerprint) => ({
    en: `The webhook did not accept the client certificate of the origin (SHA-256 ${fingerprint}).`,
    nl: `De webhook accepteerde het clientcertificaat van de herkomst niet (SHA-256 ${fingerprint}).`,
  }),
};

/** What is wrong with the certificate of the webhook, if that can be told. */
export const certificateFaultTexts = {
  selfSigned: {
    title: {
      en: 'The certificate of the webhook is self-signed, so nobody that Assent trusts vouches for it.',
      nl: 'Het certificaat van de webhook is self-signed, dus niemand die Assent vertrouwt staat ervoor in.',
    },
    advice: {
      en: 'Install a certificate of a public authority, or ask the operator of Assent to trust yours.',
      nl: 'Installeer een certificaat van een publieke autoriteit, of vraag de beheerder van Assent het uwe te vertrouwen.',
    },
  },
  unknownIssuer: {
    title: {
      en: 'The certificate of the webhook comes from an authority that Assent does not trust.',
      nl: 'Het certificaat van de webhook komt van een autoriteit die Assent niet vertrouwt.',
    },
    advice: {
      en: 'Install a certificate of a public authority, or ask the operator of Assent to trust yours.',
      nl: 'Installeer een certificaat van een publieke autoriteit, of vraag de beheerder van Assent de uwe te vertrouwen.',
    },
  },
  incomplete: {
    title: {
      en: 'The webhook sent its certificate alone, and Assent does not know its issuer.',
      nl: 'De webhook stuurde alleen zijn eigen certificaat, en Assent kent de uitgever ervan niet.',
    },
    advice: {
      en: 'Serve the certificates between yours and the root, too (often "fullchain"). If there are none, use one of a public authority, or ask the operator of Assent to trust yours.',
      nl: 'Stuur ook de certificaten tussen het uwe en de root mee (vaak "fullchain"). Zijn die er niet, gebruik dan een certificaat van een publieke autoriteit, of vraag de beheerder van Assent de uwe te vertrouwen.',
    },
  },
  expired: {
    title: {
      en: 'The certificate of the webhook, or one that it depends on, has expired.',
      nl: 'Het certificaat van de webhook, of een certificaat waarvan het afhangt, is verlopen.',
    },
    advice: {
      en: 'Renew the certificate, and check that the server loads the new one.',
      nl: 'Vernieuw het certificaat, en controleer of de server het nieuwe gebruikt.',
    },
  },
  notYetValid: {
    title: {
      en: 'The certificate of the webhook is not valid yet.',
      nl: 'Het certificaat van de webhook is nog niet geldig.',
    },
    advice: {
      en: 'Install a certificate that is valid now. Check the clock of the machine that made it.',
      nl: 'Installeer een certificaat dat nu geldig is. Controleer de klok van de machine die het maakte.',
    },
  },
  otherName: {
    title: {
      en: 'The certificate of the webhook is for another host name.',
      nl: 'Het certificaat van de webhook is voor een andere hostnaam.',
    },
    advice: {
      en: 'Install a certificate that names this host as a subject alternative name. The common name is ignored.',
      nl: 'Installeer een certificaat dat deze host als subject alternative name noemt. De common name wordt genegeerd.',
    },
  },
  revoked: {
    title: {
      en: 'The certificate of the webhook is revoked.',
      nl: 'Het certificaat van de webhook is ingetrokken.',
    },
    advice: { en: 'Install a new certificate.', nl: 'Installeer een nieuw certificaat.' },
  },
} satisfies Record<string, { title: Text; advice: Text }>;

/** One entry for every verdict: the title says what happened, the advice what to change. */
export const verdictTexts = {
  granted: {
    label: { en: 'Allows this origin', nl: 'Staat deze herkomst toe' },
    title: {
      en: 'The webhook allows this origin to send.',
      nl: 'De webhook staat toe dat deze herkomst gebeurtenissen stuurt.',
    },
  },
  granted_any_origin: {
    label: { en: 'Allows every origin', nl: 'Staat elke herkomst toe' },
    title: {
      en: 'The webhook allows every origin to send.',
      nl: 'De webhook staat toe dat elke herkomst gebeurtenissen stuurt.',
    },
    advice: {
      en: 'Consider naming the origins that may send. An asterisk gives consent to every origin.',
      nl: 'Noem liever de herkomsten die mogen sturen. Met een sterretje geeft u elke herkomst toestemming.',
    },
  },

  no_consent_headers: {
    label: { en: 'No WebHook headers returned', nl: 'Geen WebHook-headers terug' },
    title: {
      en: 'The webhook returned no WebHook header, so it gave no consent.',
      nl: 'De webhook stuurde geen WebHook-header terug en gaf dus geen toestemming.',
    },
    advice: {
      en: `If this origin may send, return ${both} in the response to OPTIONS.`,
      nl: `Als deze herkomst mag sturen, zet dan ${beide} in het antwoord op OPTIONS.`,
    },
  },
  cors_answer: {
    label: { en: 'CORS responded instead', nl: 'CORS-laag antwoordde zelf' },
    title: {
      en: 'The webhook returned CORS headers but no WebHook header: a CORS layer responds before the application does.',
      nl: 'De webhook stuurde CORS-headers terug, maar geen WebHook-header: een CORS-laag antwoordt vóór de applicatie.',
    },
    advice: {
      en: `Let OPTIONS requests with WebHook-Request-Origin pass the CORS layer, and return ${both} in the response.`,
      nl: `Laat OPTIONS-verzoeken met WebHook-Request-Origin door de CORS-laag heen, en zet ${beide} in het antwoord.`,
    },
  },
  allow_only: {
    label: { en: 'No handler for OPTIONS', nl: 'Geen handler voor OPTIONS' },
    title: {
      en: 'The webhook returned Allow but no WebHook header, as frameworks do when no handler for OPTIONS exists.',
      nl: 'De webhook stuurde Allow terug, maar geen WebHook-header, zoals frameworks doen zonder handler voor OPTIONS.',
    },
    advice: addHandler,
  },
  unsupported: {
    label: { en: 'OPTIONS not supported', nl: 'OPTIONS niet ondersteund' },
    title: { en: 'The webhook does not support OPTIONS.', nl: 'De webhook ondersteunt OPTIONS niet.' },
    advice: addHandler,
  },
  authentication_required: {
    label: { en: 'Requires authentication', nl: 'Vraagt om authenticatie' },
    title: {
      en: 'The webhook requires authentication or forbids the request, but a handshake request carries no credentials.',
      nl: 'De webhook vraagt om authenticatie of weigert het verzoek, maar een handshake heeft geen inloggegevens.',
    },
    advice: {
      en: `Allow OPTIONS at this URL without authentication, even if a rule allows only POST, and return ${both}. If the webhook checks signatures, give it the keys in the directory of the origin. If its library reads the older form of Signature-Agent, as web-bot-auth 0.1 on npm and @adcp/sdk 6.11 do, ask the admin of the origin to set "signatures" to "string".`,
      nl: `Sta OPTIONS op deze URL toe zonder authenticatie, ook als een regel alleen POST toestaat, en stuur ${beide} terug. Controleert de webhook handtekeningen, geef hem dan de sleutels uit de directory van de origin. Leest zijn bibliotheek de oudere vorm van Signature-Agent, zoals web-bot-auth 0.1 op npm en @adcp/sdk 6.11, vraag dan de beheerder van de origin om "signatures" op "string" te zetten.`,
    },
  },
  not_found_at_target: {
    label: { en: 'Nothing at this URL', nl: 'Niets op deze URL' },
    title: {
      en: 'The host of the webhook found nothing that handles OPTIONS at this URL.',
      nl: 'De host van de webhook vond op deze URL niets dat OPTIONS afhandelt.',
    },
    advice: {
      en: `Check the sink, and check that its route handles OPTIONS as well as POST. Then return ${both}.`,
      nl: `Controleer de sink, en controleer of de route behalve POST ook OPTIONS afhandelt. Stuur daarna ${beide} terug.`,
    },
  },
  server_error: {
    label: { en: 'Server error', nl: 'Serverfout' },
    title: {
      en: 'The webhook, or a proxy in front of it, failed to handle OPTIONS.',
      nl: 'De webhook, of een proxy ervoor, kon OPTIONS niet afhandelen.',
    },
    advice: {
      en: 'Look for the error in the logs of the webhook and of the proxies in front of it.',
      nl: "Zoek de fout in de logs van de webhook en van de proxy's ervoor.",
    },
  },
  request_origin_echoed: {
    label: { en: 'Returned the wrong header', nl: 'Verkeerde header terug' },
    title: {
      en: 'The webhook returned WebHook-Request-Origin instead of WebHook-Allowed-Origin.',
      nl: 'De webhook stuurde WebHook-Request-Origin terug in plaats van WebHook-Allowed-Origin.',
    },
    advice: {
      en: `Return WebHook-Allowed-Origin: ${origin} instead. WebHook-Request-Origin belongs in the request.`,
      nl: `Stuur in plaats daarvan WebHook-Allowed-Origin: ${origin} terug. WebHook-Request-Origin hoort in het verzoek.`,
    },
  },
  origin_missing: {
    label: { en: 'Allowed origin is missing', nl: 'Toegestane herkomst ontbreekt' },
    title: {
      en: 'The webhook returned WebHook-Allowed-Rate without WebHook-Allowed-Origin.',
      nl: 'De webhook stuurde WebHook-Allowed-Rate terug zonder WebHook-Allowed-Origin.',
    },
    advice: {
      en: `Also return WebHook-Allowed-Origin: ${origin}.`,
      nl: `Stuur ook WebHook-Allowed-Origin: ${origin} terug.`,
    },
  },

  redirected: {
    label: { en: 'Returned a redirect', nl: 'Stuurde een redirect' },
    title: {
      en: 'The webhook returned a redirect, which Assent never follows and which is never consent.',
      nl: 'De webhook stuurde een redirect terug, die Assent nooit volgt en die nooit toestemming is.',
    },
    advice: {
      en: 'Register the URL that the redirect points to, or handle OPTIONS at this URL.',
      nl: 'Registreer de URL waarnaar de redirect verwijst, of handel OPTIONS op deze URL af.',
    },
  },
  origin_mismatch: {
    label: { en: 'Allows another origin', nl: 'Staat een andere herkomst toe' },
    title: {
      en: 'The webhook allows another origin, not the one that asked.',
      nl: 'De webhook geeft een andere herkomst toestemming, niet de herkomst die erom vroeg.',
    },
    advice: {
      en: `Return WebHook-Allowed-Origin: ${origin}, or "*". Patterns, prefixes and lists are no consent.`,
      nl: `Stuur WebHook-Allowed-Origin: ${origin} terug, of "*". Patronen, voorvoegsels en lijsten zijn geen toestemming.`,
    },
  },
  origin_repeated: {
    label: { en: 'More than one origin', nl: 'Meer dan één herkomst' },
    title: {
      en: 'The webhook returned more than one value of WebHook-Allowed-Origin.',
      nl: 'De webhook stuurde meer dan één waarde van WebHook-Allowed-Origin terug.',
    },
    advice: {
      en: `Return WebHook-Allowed-Origin: ${origin} once, and nothing else in it.`,
      nl: `Stuur WebHook-Allowed-Origin: ${origin} één keer terug, met niets anders erin.`,
    },
  },
  rate_missing: {
    label: { en: 'Rate is missing', nl: 'Tempo ontbreekt' },
    title: {
      en: 'The webhook allows the origin but returned no WebHook-Allowed-Rate, although a rate was requested.',
      nl: 'De webhook geeft de herkomst toestemming, maar stuurde geen WebHook-Allowed-Rate terug, terwijl er een tempo was gevraagd.',
    },
    advice: {
      en: `Also return WebHook-Allowed-Rate: ${rate}, or as many requests per minute as you allow.`,
      nl: `Stuur ook WebHook-Allowed-Rate: ${rate} terug, of het aantal verzoeken per minuut dat u toestaat.`,
    },
  },
  rate_malformed: {
    label: { en: 'Rate is not valid', nl: 'Tempo is niet geldig' },
    title: {
      en: 'The webhook returned a WebHook-Allowed-Rate that is neither a positive integer nor "*".',
      nl: 'De webhook stuurde een WebHook-Allowed-Rate terug die geen positief geheel getal is en ook geen "*".',
    },
    advice: {
      en: `Return WebHook-Allowed-Rate: ${rate}, in digits only: no sign, leading zero, fraction, exponent or unit.`,
      nl: `Stuur WebHook-Allowed-Rate: ${rate} terug, alleen in cijfers: zonder plus of min, voorloopnul, decimalen, exponent of eenheid.`,
    },
  },
  rate_repeated: {
    label: { en: 'More than one rate', nl: 'Meer dan één tempo' },
    title: {
      en: 'The webhook returned more than one value of WebHook-Allowed-Rate.',
      nl: 'De webhook stuurde meer dan één waarde van WebHook-Allowed-Rate terug.',
    },
    advice: {
      en: `Return WebHook-Allowed-Rate: ${rate} once, with one value.`,
      nl: `Stuur WebHook-Allowed-Rate: ${rate} één keer terug, met één waarde.`,
    },
  },

  gone: {
    label: { en: 'Retired with 410', nl: 'Buiten gebruik met 410' },
    title: {
      en: 'The webhook is retired: it returned 410 Gone.',
      nl: 'De webhook is buiten gebruik: hij stuurde 410 Gone terug.',
    },
    advice: { en: 'Register the sink that replaces this one.', nl: 'Registreer de sink die deze vervangt.' },
  },
  throttled: {
    label: { en: 'Too many requests', nl: 'Te veel verzoeken' },
    title: { en: 'The webhook is receiving too many requests.', nl: 'De webhook krijgt te veel verzoeken.' },
    advice: {
      en: 'Exempt OPTIONS from the rate limit, or use Retry-After to say when to ask again.',
      nl: 'Laat OPTIONS buiten de limiet vallen, of geef met Retry-After aan wanneer de volgende poging mag komen.',
    },
  },
  unavailable: {
    label: { en: 'Temporarily unavailable', nl: 'Tijdelijk niet beschikbaar' },
    title: { en: 'The webhook is temporarily unavailable.', nl: 'De webhook is tijdelijk niet beschikbaar.' },
    advice: {
      en: 'Bring the webhook back into service, or use Retry-After to say when to ask again.',
      nl: 'Maak de webhook weer beschikbaar, of geef met Retry-After aan wanneer de volgende poging mag komen.',
    },
  },

  name_not_found: {
    label: { en: 'Host does not exist', nl: 'Host bestaat niet' },
    title: { en: 'The host name of the sink does not exist.', nl: 'De hostnaam van de sink bestaat niet.' },
    advice: {
      en: 'Check the spelling of the sink, and publish its host name in public DNS.',
      nl: 'Controleer de spelling van de sink, en publiceer de hostnaam in de openbare DNS.',
    },
  },
  name_lookup_failed: {
    label: { en: 'DNS lookup failed', nl: 'DNS-opzoeking mislukt' },
    title: {
      en: 'The DNS lookup for the host name of the sink failed.',
      nl: 'De hostnaam van de sink kon niet in de DNS worden opgezocht.',
    },
    advice: {
      en: 'Check that the name servers of the domain respond.',
      nl: 'Controleer of de naamservers van het domein antwoorden.',
    },
  },
  connection_refused: {
    label: { en: 'Connection refused', nl: 'Verbinding geweigerd' },
    title: {
      en: 'The host of the webhook refused the connection.',
      nl: 'De host van de webhook weigerde de verbinding.',
    },
    advice: {
      en: 'Check that the webhook is running and listens on the port of the sink.',
      nl: 'Controleer of de webhook draait en luistert op de poort van de sink.',
    },
  },
  connection_failed: {
    label: { en: 'Could not connect', nl: 'Geen verbinding mogelijk' },
    title: {
      en: 'Assent could not connect to the host of the webhook.',
      nl: 'Assent kon geen verbinding maken met de host van de webhook.',
    },
    advice: {
      en: 'Check that the host is reachable from outside and that no firewall drops the connection.',
      nl: 'Controleer of de host van buitenaf bereikbaar is en of geen firewall de verbinding blokkeert.',
    },
  },
  connection_closed: {
    label: { en: 'Connection closed too early', nl: 'Verbinding te vroeg verbroken' },
    title: {
      en: 'The connection closed before the webhook responded.',
      nl: 'De verbinding werd verbroken voordat de webhook antwoordde.',
    },
    advice: {
      en: 'Check that no proxy or firewall drops OPTIONS requests, and that the application does not crash.',
      nl: 'Controleer of geen proxy of firewall OPTIONS-verzoeken tegenhoudt, en of de applicatie niet crasht.',
    },
  },
  tls_failed: {
    label: { en: 'TLS failed', nl: 'TLS mislukt' },
    title: {
      en: 'Assent could not set up a TLS connection to the webhook.',
      nl: 'Assent kon geen TLS-verbinding met de webhook opzetten.',
    },
    advice: {
      en: 'Serve HTTPS with TLS 1.2 or later on the port of the sink.',
      nl: 'Bied op de poort van de sink HTTPS aan met TLS 1.2 of hoger.',
    },
  },
  certificate_invalid: {
    label: { en: 'Certificate is not valid', nl: 'Certificaat is niet geldig' },
    title: {
      en: 'The certificate of the webhook is not valid.',
      nl: 'Het certificaat van de webhook is niet geldig.',
    },
    advice: {
      en: 'Install a certificate that is current, names this host as a subject alternative name, and includes its full chain.',
      nl: 'Installeer een certificaat dat nu geldig is, deze host als subject alternative name noemt en de volledige keten bevat.',
    },
  },
  client_certificate_required: {
    label: { en: 'Requires a client certificate', nl: 'Vraagt om een clientcertificaat' },
    title: {
      en: 'The webhook accepts only clients with a certificate that it trusts (mutual TLS), and the origin showed none.',
      nl: 'De webhook laat alleen clients toe met een certificaat dat hij vertrouwt (mutual TLS), en de herkomst toonde er geen.',
    },
    advice: {
      en: `Ask an admin to set a client certificate for ${origin} that your host trusts, or serve this URL on a host that asks for none.`,
      nl: `Vraag een beheerder om voor ${origin} een clientcertificaat in te stellen dat uw host vertrouwt, of bied deze URL aan op een host die er geen vraagt.`,
    },
  },
  http2_only: {
    label: { en: 'Speaks only HTTP/2', nl: 'Spreekt alleen HTTP/2' },
    title: {
      en: 'The webhook speaks only HTTP/2, and Assent and its senders speak HTTP/1.1.',
      nl: 'De webhook spreekt alleen HTTP/2, en Assent en de verzenders spreken HTTP/1.1.',
    },
    advice: {
      en: 'Allow HTTP/1.1 on the port of the sink too (ALPN "http/1.1"), in the server or in the proxy in front of it.',
      nl: 'Sta op de poort van de sink ook HTTP/1.1 toe (ALPN "http/1.1"), in de server of in de proxy ervoor.',
    },
  },
  bot_protection: {
    label: { en: 'Stopped by a firewall', nl: 'Tegengehouden door een firewall' },
    title: {
      en: 'A firewall in front of the webhook stopped the request, or asked for proof that a person sends it.',
      nl: 'Een firewall vóór de webhook hield het verzoek tegen, of vroeg om bewijs dat een mens het stuurt.',
    },
    advice: {
      en: 'Exempt this path from bot protection (challenges, captchas), for OPTIONS and for POST.',
      nl: 'Maak voor dit pad een uitzondering in de botbescherming (challenges, captcha), voor OPTIONS en voor POST.',
    },
  },
  proxy_unreachable: {
    label: { en: 'Egress proxy is unreachable', nl: 'Eigen proxy is onbereikbaar' },
    title: {
      en: 'Assent could not reach the egress proxy of its own network, so it did not ask the webhook.',
      nl: 'Assent kon de proxy van zijn eigen netwerk niet bereiken en heeft de webhook dus niets gevraagd.',
    },
  },
  proxy_authentication: {
    label: { en: 'Egress proxy rejected credentials', nl: 'Eigen proxy weigerde inloggegevens' },
    title: {
      en: 'The egress proxy of Assent did not accept its credentials, so Assent did not ask the webhook.',
      nl: 'De proxy van Assent accepteerde de inloggegevens niet, dus Assent heeft de webhook niets gevraagd.',
    },
  },
  proxy_malformed: {
    label: { en: 'Egress proxy response not valid', nl: 'Antwoord eigen proxy niet geldig' },
    title: {
      en: 'The egress proxy of Assent returned no valid response, so Assent did not ask the webhook.',
      nl: 'De proxy van Assent stuurde geen geldig antwoord terug, dus Assent heeft de webhook niets gevraagd.',
    },
  },
  proxy_refused: {
    label: { en: 'Egress proxy forbids it', nl: 'Eigen proxy verbiedt het' },
    title: {
      en: 'The egress proxy of Assent does not allow connections to the address and port of the webhook.',
      nl: 'De proxy van Assent staat geen verbinding toe met het adres en de poort van de webhook.',
    },
  },
  proxy_no_connection: {
    label: { en: 'Egress proxy could not connect', nl: 'Eigen proxy kreeg geen verbinding' },
    title: {
      en: 'The egress proxy of Assent could not connect to the host of the webhook.',
      nl: 'De proxy van Assent kon geen verbinding maken met de host van de webhook.',
    },
    advice: {
      en: 'Check that the webhook is running, and that no firewall drops connections to the port of the sink.',
      nl: 'Controleer of de webhook draait, en of geen firewall verbindingen met de poort van de sink blokkeert.',
    },
  },
  proxy_timeout: {
    label: { en: 'Egress proxy timed out', nl: 'Eigen proxy wachtte te lang' },
    title: {
      en: 'The egress proxy of Assent did not connect to the host of the webhook in time.',
      nl: 'De proxy van Assent maakte niet op tijd verbinding met de host van de webhook.',
    },
    advice: {
      en: 'Check that the host is reachable from outside, and that no firewall drops the connection.',
      nl: 'Controleer of de host van buitenaf bereikbaar is, en of geen firewall de verbinding blokkeert.',
    },
  },
  deadline_exceeded: {
    label: { en: 'No response in time', nl: 'Geen antwoord op tijd' },
    title: { en: 'The webhook did not respond in time.', nl: 'De webhook antwoordde niet op tijd.' },
    advice: { en: 'Respond to OPTIONS immediately.', nl: 'Antwoord direct op OPTIONS.' },
  },
  not_http: {
    label: { en: 'No valid HTTP response', nl: 'Geen geldig HTTP-antwoord' },
    title: {
      en: 'The webhook did not return a final HTTP/1.1 response.',
      nl: 'De webhook stuurde geen definitief HTTP/1.1-antwoord terug.',
    },
    advice: {
      en: 'Check that an HTTPS server that speaks HTTP/1.1 listens on the port of the sink.',
      nl: 'Controleer of op de poort van de sink een HTTPS-server met HTTP/1.1 luistert.',
    },
  },
  headers_too_large: {
    label: { en: 'Response headers too large', nl: 'Headers te groot' },
    title: { en: 'The headers of the response are too large.', nl: 'De headers van het antwoord zijn te groot.' },
    advice: {
      en: 'Remove cookies and other unneeded headers from the response to OPTIONS.',
      nl: 'Haal cookies en andere onnodige headers uit het antwoord op OPTIONS.',
    },
  },
  too_many_informational: {
    label: { en: 'No final response', nl: 'Geen definitief antwoord' },
    title: {
      en: 'The webhook returned too many informational (1xx) responses instead of a final one.',
      nl: 'De webhook stuurde te veel informatieve antwoorden (1xx) terug in plaats van een definitief antwoord.',
    },
    advice: {
      en: 'Respond to OPTIONS with a final status immediately.',
      nl: 'Antwoord direct op OPTIONS, met een definitieve status.',
    },
  },
  aborted: {
    label: { en: 'Request was cut off', nl: 'Verzoek is afgebroken' },
    title: {
      en: 'Assent ended the request before it received a response.',
      nl: 'Assent brak het verzoek af voordat er een antwoord was.',
    },
  },
  name_not_public: {
    label: { en: 'Host is not public', nl: 'Host is niet openbaar' },
    title: {
      en: 'The host name of the sink does not resolve to a public address, so Assent sent nothing.',
      nl: 'De hostnaam van de sink leidt niet naar een openbaar adres, dus Assent stuurde niets.',
    },
    advice: {
      en: 'Check the spelling of the sink, and publish its host name in public DNS with public addresses only.',
      nl: 'Controleer de spelling van de sink, en publiceer de hostnaam in de openbare DNS met alleen openbare adressen.',
    },
  },
  address_not_allowed: {
    label: { en: 'Address is not allowed', nl: 'Adres is niet toegestaan' },
    title: {
      en: 'The host name of the sink resolves to an address that Assent may not call, so it sent nothing.',
      nl: 'De hostnaam van de sink leidt naar een adres dat Assent niet mag aanroepen, dus Assent stuurde niets.',
    },
    advice: {
      en: 'Publish only public addresses for this host.',
      nl: 'Publiceer alleen openbare adressen voor deze host.',
    },
  },
  sink_not_allowed: {
    label: { en: 'Sink is not allowed', nl: 'Sink is niet toegestaan' },
    title: {
      en: 'Assent may not call this sink, so it sent nothing.',
      nl: 'Assent mag deze sink niet aanroepen en stuurde dus niets.',
    },
    advice: {
      en: 'Register an https URL with a public host name and an allowed port.',
      nl: 'Registreer een https-URL met een openbare hostnaam en een toegestane poort.',
    },
  },

  callback_granted: {
    label: { en: 'Allowed through the callback', nl: 'Toegestaan via de callback' },
    title: {
      en: 'Consent was given through the callback URL.',
      nl: 'De toestemming is gegeven via de callback-URL.',
    },
  },
  refused_by_owner: {
    label: { en: 'Refused by its owner', nl: 'Geweigerd door de eigenaar' },
    title: {
      en: 'The webhook owner refused on the page of the callback URL.',
      nl: 'De eigenaar van de webhook weigerde op de pagina van de callback-URL.',
    },
    advice: {
      en: 'Agree with the webhook owner first, then ask again.',
      nl: 'Overleg eerst met de eigenaar van de webhook, en vraag dan opnieuw om toestemming.',
    },
  },
  callback_expired: {
    label: { en: 'Callback expired unused', nl: 'Callback verlopen zonder aanroep' },
    title: {
      en: 'The response gave no consent, and the callback URL expired before it was called.',
      nl: 'Het antwoord gaf geen toestemming, en de callback-URL verliep voordat die werd aangeroepen.',
    },
    advice: {
      en: `Ask again. Call the new callback URL in time, or return ${both} in the response to OPTIONS.`,
      nl: `Vraag opnieuw om toestemming. Roep de nieuwe callback-URL op tijd aan, of zet ${beide} in het antwoord op OPTIONS.`,
    },
  },
  granted_by_policy: {
    label: { en: 'Allowed by policy', nl: 'Toegestaan door het beleid' },
    title: {
      en: 'The webhook does not support the handshake, but the policy of the origin allows events at a low rate.',
      nl: 'De webhook ondersteunt de handshake niet, maar het beleid van de herkomst staat gebeurtenissen in een laag tempo toe.',
    },
    advice: {
      en: `For a higher rate, return ${both} in the response to OPTIONS.`,
      nl: `Zet voor een hoger tempo ${beide} in het antwoord op OPTIONS.`,
    },
  },
  revoked: {
    label: { en: 'Revoked by an admin', nl: 'Ingetrokken door een beheerder' },
    title: { en: 'An admin revoked this grant.', nl: 'Een beheerder heeft deze grant ingetrokken.' },
  },
  interrupted: {
    label: { en: 'Attempt was interrupted', nl: 'Poging is onderbroken' },
    title: {
      en: 'Assent stopped before it recorded the outcome of this attempt.',
      nl: 'Assent stopte voordat de uitkomst van deze poging was vastgelegd.',
    },
  },
  blocked: {
    label: { en: 'Blocked by an admin', nl: 'Geblokkeerd door een beheerder' },
    title: {
      en: 'An admin blocks this webhook, so Assent asks it again when the block is lifted.',
      nl: 'Een beheerder blokkeert deze webhook, dus Assent vraagt pas om toestemming als de blokkade is opgeheven.',
    },
  },
  held_by_budget: {
    label: { en: 'Waiting for its turn', nl: 'Wacht op de beurt' },
    title: {
      en: 'The request is waiting: this host, its network or the tenant has reached its limit of handshakes for now.',
      nl: 'Het verzoek wacht: deze host, het netwerk ervan of de organisatie heeft nu het maximale aantal handshakes bereikt.',
    },
  },
  secret_unavailable: {
    label: { en: 'Registry lacks a key', nl: 'Register mist een sleutel' },
    title: {
      en: 'Assent cannot decrypt the key or the client certificate of the origin, so it did not ask the webhook.',
      nl: 'Assent kan de sleutel of het clientcertificaat van de herkomst niet ontsleutelen en heeft de webhook dus niets gevraagd.',
    },
  },
} satisfies Record<string, VerdictText>;

/** What replaces the advice if the request offered a callback. */
export const adviceWithCallback = {
  no_consent_headers: {
    en: `If this origin may send, return ${both} in the response to OPTIONS, or call the callback URL.`,
    nl: `Als deze herkomst mag sturen, zet dan ${beide} in het antwoord op OPTIONS, of roep de callback-URL aan.`,
  },
  deadline_exceeded: {
    en: 'Respond to OPTIONS immediately. If the decision takes longer, give consent through the callback URL.',
    nl: 'Antwoord direct op OPTIONS. Als de beslissing langer duurt, geef dan toestemming via de callback-URL.',
  },
} satisfies Record<string, Text>;

/** What else would help, after the advice. */
export const hintTexts = {
  platform: {
    en: 'A response with so few headers can be from the platform, before your code runs: Azure Functions returns 204.',
    nl: 'Een antwoord met zo weinig headers kan van het platform zijn, vóór uw code: Azure Functions stuurt 204.',
  },
  userAgent: {
    en: 'If it wants no authentication, a filter may refuse the User-Agent of Assent: allow it.',
    nl: 'Als de webhook geen authenticatie wil, weigert misschien een filter de User-Agent van Assent: laat die toe.',
  },
  lenient: {
    en: 'If the webhook cannot be changed, an admin can set "judgement" of the origin to "lenient".',
    nl: 'Als de webhook niet kan worden aangepast, kan een beheerder "judgement" van de herkomst op "lenient" zetten.',
  },
  lenientRate: {
    en: 'If the webhook cannot be changed, an admin can set "judgement" of the origin to "lenient". Then the requested rate applies.',
    nl: 'Als de webhook niet kan worden aangepast, kan een beheerder "judgement" van de herkomst op "lenient" zetten. Dan geldt het gevraagde tempo.',
  },
  webPubSub: {
    en:
      '@azure/web-pubsub-express responds to OPTIONS only if the request has a ce-awpsversion header, which only Azure ' +
      'sends. Set it to "1.0" in front of that middleware, or handle OPTIONS in your own route.',
    nl:
      '@azure/web-pubsub-express antwoordt alleen op OPTIONS als het verzoek een header ce-awpsversion heeft, en die ' +
      'stuurt alleen Azure. Zet die header vóór deze middleware op "1.0", of handel OPTIONS in een eigen route af.',
  },
} satisfies Record<string, Text>;

/** What is in front of the application, after the advice. */
export const frontTexts = {
  wrote: (name: string): Text => ({
    en: `${name}, in front of your application, wrote this response. Let OPTIONS and POST pass there.`,
    nl: `${name}, vóór uw applicatie, schreef dit antwoord zelf. Laat OPTIONS en POST daar door.`,
  }),
  passed: (name: string): Text => ({
    en: `The response came through ${name}, which may have written it. Check that OPTIONS and POST pass there.`,
    nl: `Het antwoord kwam via ${name} en kan daar geschreven zijn. Controleer of OPTIONS en POST daar doorgelaten worden.`,
  }),
};

/** What the webhook returned, after the title: `seen` are header names and values. */
export const observedText = (origin: string, seen: string): Text => ({
  en: `For origin ${origin}, it returned ${seen}.`,
  nl: `Voor herkomst ${origin} stuurde de webhook dit terug: ${seen}.`,
});

/** One sentence for every mistake that is kept with a grant. `maxRate`: the highest rate that is kept. */
export const mistakeTexts = {
  origin_in_list: {
    en: 'WebHook-Allowed-Origin had several values; return only the origin that asked or "*".',
    nl: 'WebHook-Allowed-Origin had meer dan één waarde; stuur alleen de herkomst die erom vroeg of "*" terug.',
  },
  origin_trailing_dot: {
    en: 'WebHook-Allowed-Origin ended in a dot; return exactly the origin that asked.',
    nl: 'WebHook-Allowed-Origin eindigde op een punt; stuur precies de herkomst terug die erom vroeg.',
  },
  rate_missing: {
    en: 'WebHook-Allowed-Rate was missing, so the requested rate applies.',
    nl: 'WebHook-Allowed-Rate ontbrak, dus geldt het gevraagde tempo.',
  },
  rate_malformed: {
    en: 'WebHook-Allowed-Rate was neither a positive integer nor "*", so the requested or the default rate applies.',
    nl: 'WebHook-Allowed-Rate was geen positief geheel getal en ook geen "*", dus geldt het gevraagde tempo of het standaardtempo.',
  },
  rate_repeated: {
    en: 'WebHook-Allowed-Rate had several values, so the requested or the default rate applies.',
    nl: 'WebHook-Allowed-Rate had meer dan één waarde, dus geldt het gevraagde tempo of het standaardtempo.',
  },
  rate_above_requested: {
    en: 'WebHook-Allowed-Rate is higher than the requested rate; Assent accepts it.',
    nl: 'WebHook-Allowed-Rate is hoger dan het gevraagde tempo; Assent accepteert dat.',
  },
  rate_capped: (maxRate: number): Text => ({
    en: `WebHook-Allowed-Rate is higher than ${maxRate}, the highest possible rate, so that rate applies.`,
    nl: `WebHook-Allowed-Rate is hoger dan ${maxRate}, het hoogste mogelijke tempo, dus geldt dat tempo.`,
  }),
  rate_defaulted: {
    en: 'No rate was requested and none was returned, so the default rate of the origin applies.',
    nl: 'Er is geen tempo gevraagd en geen tempo teruggestuurd, dus geldt het standaardtempo van de herkomst.',
  },
  allow_without_post: {
    en: 'The Allow header does not name POST, the method of deliveries.',
    nl: 'De header Allow noemt POST niet, terwijl gebeurtenissen met POST worden bezorgd.',
  },
};

/** What happens after a verdict, and the status of a subscription without a live grant. For the guides. */
export const courses = {
  renewed: { status: ['active'], next: 'Assent renews the grant before it expires.' },
  asksOnceMore: {
    status: ['pending', 'refused'],
    next: 'If a callback was offered, Assent asks once more without it. The callback stays open until it expires.',
  },
  unsupported: {
    status: ['pending', 'refused'],
    next: 'If a callback was offered, Assent asks once more without it. The callback stays open until it expires. With an `unsupportedrate` of the origin, the subscription is `active` at that rate.',
  },
  waits: {
    status: ['pending', 'refused'],
    next: 'If a callback was offered, it stays open until it expires. Otherwise nothing happens until you ask again.',
  },
  refused: { status: ['refused'], next: 'Nothing happens until you ask again.' },
  retired: { status: ['retired'], next: 'Nothing. The webhook asked for no further requests.' },
  retried: {
    status: ['pending', 'unreachable'],
    next: 'Assent asks again, later each time, and never before the time in `Retry-After`. After `ASSENT_HANDSHAKE_ATTEMPTS` attempts it stops until you ask again.',
  },
  operator: {
    status: ['pending', 'unreachable'],
    next: 'Assent asks again, later each time. The operator of the registry has to act: see [Egress proxies](../operate/egress-proxy.md).',
  },
  atOnce: { status: ['pending'], next: 'A process of Assent asks again at once.' },
  secret: {
    status: ['pending'],
    next: 'Assent tries again each minute, and no grant ends because of it. The operator of the registry has to act: see [Credentials and their keys](../operate/security.md#credentials-and-their-keys).',
  },
  held: { status: ['pending'], next: 'Assent asks as soon as the budget allows it.' },
  untilAdmin: { status: ['refused'], next: 'Nothing happens until an admin asks the webhook again.' },
  blocked: { status: ['blocked'], next: 'Nothing happens until the block ends. Then everything is as before.' },
  asking: { status: ['pending'], next: 'Assent waits for the response.' },
  suspended: { status: ['suspended'], next: 'Nothing happens until someone resumes the subscription.' },
  expired: {
    status: ['expired'],
    next: 'Nothing happens until you ask again. The message has the last response to a renewal.',
  },
  ended: {
    status: ['expired'],
    next: 'Nothing happens until you change or remove `expiresat`. Later, Assent deletes the subscription.',
  },
  agreed: {
    status: ['active'],
    next: 'The grant expires at the time that the admin named. Assent renews no agreement.',
  },
} satisfies Record<string, { status: readonly string[]; next: string }>;
