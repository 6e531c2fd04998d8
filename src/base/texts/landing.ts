/** The page at `/`, and what stands around every page. */
export const landingTexts = {
  frame: {
    menu: {
      console: { en: 'Console', nl: 'Console' },
      docs: { en: 'API reference', nl: 'API-referentie' },
      'guides/': { en: 'Guides', nl: 'Handleidingen' },
    },
    needsScript: {
      en: 'The console needs JavaScript. The API does everything that it does.',
      nl: 'De console heeft JavaScript nodig. De API kan alles wat de console kan.',
    },
    skip: { en: 'Skip to content', nl: 'Naar de inhoud' },
    onThisPage: { en: 'On this page', nl: 'Op deze pagina' },
  },
  title: { en: 'A registry of consent for webhooks', nl: 'Een register van toestemming voor webhooks' },
  lead: {
    en: 'Assent records which webhooks consent to receive events, from which origin (the name in the handshake) and how fast. Senders, the systems behind that name, ask it before they send; Assent never delivers events itself.',
    nl: 'Assent legt vast welke webhooks toestemming geven om gebeurtenissen te ontvangen, van welke herkomst (origin: de naam in de handshake) en hoe snel. Verzenders, de systemen achter die naam, vragen Assent of zij mogen sturen; Assent bezorgt zelf niets.',
  },
  console: {
    title: { en: 'Console', nl: 'Console' },
    does: {
      en: 'Do everything in your browser: see why a webhook refused, subscribe, try a filter, approve, revoke, block, and follow what changes.',
      nl: 'Doe alles in uw browser: zien waarom een webhook weigert, abonneren, een filter proberen, goedkeuren, intrekken, blokkeren en wijzigingen volgen.',
    },
    development: {
      en: 'This command prints a link that signs you in:',
      nl: 'Deze opdracht toont een link om aan te melden:',
    },
  },
  doors: {
    consumer: {
      title: { en: 'I receive events', nl: 'Ik ontvang gebeurtenissen' },
      role: { en: 'Consumer', nl: 'Afnemer' },
      steps: [
        {
          en: 'Let your webhook respond to the OPTIONS handshake.',
          nl: 'Laat uw webhook antwoord geven op de OPTIONS-handshake.',
        },
        {
          en: 'Create a subscription for your sink. Assent asks your webhook for consent right away.',
          nl: 'Maak een abonnement voor uw sink. Assent vraagt uw webhook meteen om toestemming.',
        },
        {
          en: 'Read the status. If your webhook did not consent, it names what to change.',
          nl: 'Lees de status. Gaf uw webhook geen toestemming, dan staat er wat u moet aanpassen.',
        },
      ],
    },
    sender: {
      title: { en: 'I send events', nl: 'Ik verstuur gebeurtenissen' },
      role: { en: 'Sender', nl: 'Verzender' },
      steps: [
        {
          en: 'Match an event. The response lists the sinks that want it and that you may send to.',
          nl: 'Vraag welke sinks een gebeurtenis willen en waar u naartoe mag sturen.',
        },
        {
          en: 'Send it, no faster than the rate of each sink.',
          nl: 'Verstuur de gebeurtenis, niet sneller dan het tempo van elke sink.',
        },
        {
          en: 'Report the outcomes. A 410 ends the grant, and a 429 makes every sender hold.',
          nl: 'Meld de resultaten. Een 410 beëindigt de grant; bij een 429 pauzeert elke verzender.',
        },
      ],
    },
    admin: {
      title: { en: 'I run this registry', nl: 'Ik beheer dit register' },
      role: { en: 'Admin', nl: 'Beheerder' },
      steps: [
        {
          en: 'Register the origins that may send, and their policy.',
          nl: 'Registreer de herkomsten die mogen sturen en hun beleid.',
        },
        {
          en: 'Record agreements between organisations as grants.',
          nl: 'Leg overeenkomsten tussen organisaties vast als grants.',
        },
        {
          en: 'Revoke a grant when an origin must stop. The audit record shows who changed what.',
          nl: 'Trek een grant in als een herkomst moet stoppen. Het auditlog toont wie wat heeft gewijzigd.',
        },
      ],
    },
  },
  reference: { en: 'API reference for this role', nl: 'API-referentie voor deze rol' },
  ownerReference: { en: 'API reference for webhook owners', nl: 'API-referentie voor eigenaren van webhooks' },
  allGuides: { en: 'All guides', nl: 'Alle handleidingen' },
  token: {
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
    title: { en: 'Health', nl: 'Status' },
    running: (version: string, apiVersion: string) => ({
      en: `This registry is running: Assent ${version}, API ${apiVersion}.`,
      nl: `Dit register werkt: Assent ${version}, API ${apiVersion}.`,
    }),
    isPrivate: {
      en: 'Readiness and metrics are on a private listener that only the operator reaches.',
      nl: 'Gereedheid en metingen staan op een aparte poort die alleen de systeembeheerder kan bereiken.',
    },
    here: { en: 'On this machine:', nl: 'Op deze machine:' },
  },
  links: {
    title: { en: 'Links', nl: 'Links' },
    contract: { en: 'The contract (OpenAPI 3.1)', nl: 'Het contract (OpenAPI 3.1)' },
    security: { en: 'Report a vulnerability', nl: 'Een kwetsbaarheid melden' },
    contact: { en: 'Contact', nl: 'Contact' },
  },
};
