import type { Text } from './text.js';

/** The page at `/`, and what stands around every page. */
export const landingTexts = {
  frame: {
    menu: {
      console: { en: 'Console', nl: 'Console' },
      docs: { en: 'API reference', nl: 'API-referentie' },
      'guides/': { en: 'Guides', nl: 'Handleidingen' },
    },
    menuLabel: { en: 'Menu', nl: 'Menu' },
    needsScript: {
      en: 'The console needs JavaScript. The API does everything that it does.',
      nl: 'De console heeft JavaScript nodig. De API kan alles wat de console kan.',
    },
    skip: { en: 'Skip to content', nl: 'Naar de inhoud' },
    onThisPage: { en: 'On this page', nl: 'Op deze pagina' },
  },
  footer: {
    label: { en: 'About this registry', nl: 'Over dit register' },
    /** `operator` is markup. */
    runBy: (operator: string): Text => ({
      en: `${operator} runs this registry.`,
      nl: `${operator} beheert dit register.`,
    }),
    unnamed: { en: 'This registry does not name its operator.', nl: 'Dit register noemt zijn beheerder niet.' },
    contact: { en: 'Contact', nl: 'Contact' },
    guides: { en: 'Guides', nl: 'Handleidingen' },
    accessibility: { en: 'Accessibility', nl: 'Toegankelijkheid' },
    /** The guide with the accessibility statement. */
    statement: { en: 'accessibility', nl: 'toegankelijkheidsverklaring' },
    security: { en: 'Report a vulnerability', nl: 'Een kwetsbaarheid melden' },
  },
  title: { en: 'A registry of consent for webhooks', nl: 'Een register van toestemming voor webhooks' },
  lead: {
    en: "Assent asks a webhook before anything is sent to it, and records which origin may send there, and how fast. Senders ask Assent first. The registry never delivers events; assent egress does, for senders that can't be changed.",
    nl: 'Assent vraagt een webhook om toestemming voordat er iets naartoe gaat, en legt vast welke herkomst (origin) er mag sturen, en hoe snel. Verzenders vragen het eerst aan Assent. Het register bezorgt zelf geen gebeurtenissen; dat doet assent egress, voor verzenders die niet aan te passen zijn.',
  },
  open: { en: 'Open the console', nl: 'Open de console' },
  begin: { en: 'Quickstart', nl: 'Snel beginnen' },
  /** The drawing beside the title. */
  drawing: {
    title: { en: 'How consent comes about', nl: 'Hoe toestemming ontstaat' },
    description: {
      en: 'Assent asks the webhook whether shop.example.com may send. The webhook says yes, 120 per minute. The sender asks Assent where an event goes, and sends it to the webhook.',
      nl: 'Assent vraagt de webhook of shop.example.com mag sturen. De webhook zegt ja, 120 per minuut. De verzender vraagt Assent waar een gebeurtenis naartoe gaat en stuurt die naar de webhook.',
    },
    lanes: [
      { en: 'Sender', nl: 'Verzender' },
      { en: 'Assent', nl: 'Assent' },
      { en: 'Your webhook', nl: 'Uw webhook' },
    ],
    asks: { en: 'May shop.example.com send?', nl: 'Mag shop.example.com sturen?' },
    consents: { en: 'Yes, 120 per minute', nl: 'Ja, 120 per minuut' },
    matches: { en: 'Who gets this event?', nl: 'Wie krijgt dit?' },
    permits: { en: 'Your webhook', nl: 'Uw webhook' },
    sends: { en: 'The event', nl: 'De gebeurtenis' },
  },
  /** What each role does first, with the guide to it. */
  doors: {
    consumer: {
      title: { en: 'I receive events', nl: 'Ik ontvang gebeurtenissen' },
      role: { en: 'Consumer', nl: 'Afnemer' },
      steps: [
        {
          guide: 'guides/consumers/receive',
          name: { en: 'Respond to the handshake', nl: 'De handshake beantwoorden' },
          does: {
            en: 'Your webhook says which origin may send, and how fast.',
            nl: 'Uw webhook zegt welke herkomst mag sturen, en hoe snel.',
          },
        },
        {
          guide: 'guides/consumers/subscribe',
          name: { en: 'Subscribe', nl: 'Abonneren' },
          does: {
            en: 'Choose events. Assent asks your webhook right away.',
            nl: 'Kies gebeurtenissen. Assent vraagt uw webhook meteen om toestemming.',
          },
        },
        {
          guide: 'guides/consumers/try-your-webhook',
          name: { en: 'Find out why it refuses', nl: 'Nagaan waarom uw webhook weigert' },
          does: {
            en: 'Each refusal names what to change.',
            nl: 'Bij elke weigering staat wat u moet aanpassen.',
          },
        },
      ],
    },
    sender: {
      title: { en: 'I send events', nl: 'Ik verstuur gebeurtenissen' },
      role: { en: 'Sender', nl: 'Verzender' },
      steps: [
        {
          guide: 'guides/senders/http',
          name: { en: 'Ask where an event goes', nl: 'Vragen waar een gebeurtenis naartoe gaat' },
          does: {
            en: 'The response lists the sinks that want it and that you may send to.',
            nl: 'Het antwoord noemt de sinks die de gebeurtenis willen en waar u naartoe mag sturen.',
          },
        },
        {
          guide: 'guides/senders/kit',
          name: { en: 'Send with the kit', nl: 'Versturen met de kit' },
          does: {
            en: 'It keeps to the rate of each sink, and reports the outcomes.',
            nl: 'De kit houdt zich aan het tempo van elke sink en meldt de resultaten.',
          },
        },
        {
          guide: 'guides/senders/gateways',
          name: { en: 'Guard a gateway', nl: 'Een gateway beveiligen' },
          does: {
            en: 'nginx, Caddy and Envoy ask Assent before they forward.',
            nl: 'nginx, Caddy en Envoy vragen het aan Assent voordat zij doorsturen.',
          },
        },
      ],
    },
    admin: {
      title: { en: 'I run this registry', nl: 'Ik beheer dit register' },
      role: { en: 'Admin', nl: 'Beheerder' },
      steps: [
        {
          guide: 'guides/admins/origins',
          name: { en: 'Register origins', nl: 'Herkomsten registreren' },
          does: {
            en: 'Who may send, and by which rules.',
            nl: 'Wie er mag sturen, en volgens welke regels.',
          },
        },
        {
          guide: 'guides/admins/console',
          name: { en: 'Work in the console', nl: 'Werken in de console' },
          does: {
            en: 'Approve, revoke, record agreements, and follow what changes.',
            nl: 'Goedkeuren, intrekken, overeenkomsten vastleggen en wijzigingen volgen.',
          },
        },
        {
          guide: 'guides/admins/incident',
          name: { en: 'Stop deliveries', nl: 'Bezorging stoppen' },
          does: {
            en: 'Block an origin or a host in an incident. You see first who is affected.',
            nl: 'Blokkeer bij een incident een herkomst of een host. U ziet vooraf wie het raakt.',
          },
        },
      ],
    },
  },
  token: {
    development: {
      en: 'This command prints a link that signs you in to the console:',
      nl: 'Deze opdracht toont een link waarmee u zich aanmeldt in de console:',
    },
    title: { en: 'Where a token comes from', nl: 'Hoe u een token krijgt' },
    fromDevelopment: {
      en: 'This registry issues its own tokens, for development. Run one of these commands in its folder:',
      nl: 'Dit register geeft zelf tokens uit, voor ontwikkeling. Voer een van deze opdrachten uit in de map van het register:',
    },
    fromIssuers: {
      en: 'Get a token from your operator’s issuer. This registry accepts tokens of:',
      nl: 'Vraag een token aan bij de tokenuitgever van de systeembeheerder. Dit register accepteert tokens van:',
    },
    claims: {
      en: 'Send it as <code>Authorization: Bearer …</code>. It names your organisation (the tenant), your client and its scopes.',
      nl: 'Stuur het mee als <code>Authorization: Bearer …</code>. In het token staan uw organisatie (de tenant), uw client en de scopes.',
    },
  },
  health: {
    en: 'Readiness and metrics, on a listener that only the operator reaches:',
    nl: 'Gereedheid en metingen, op een poort die alleen de systeembeheerder kan bereiken:',
  },
};
