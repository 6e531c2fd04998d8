import type { Text } from '../app/text.js';

/** The members of a policy, as labels with hints, and as sentences. */
export const policyTexts = {
  isdefault: {
    label: { en: 'Default origin', nl: 'Standaardafzender' },
    hint: {
      en: 'Subscriptions that name no origin use it. A tenant has at most one.',
      nl: 'Abonnementen zonder afzender gebruiken deze. Een organisatie heeft er hoogstens één.',
    },
  },
  requestedrate: {
    label: { en: 'Requested rate', nl: 'Gevraagd tempo' },
    hint: {
      en: 'Requests per minute that handshakes ask for. Empty: none.',
      nl: 'Verzoeken per minuut waarom handshakes vragen. Leeg: geen.',
    },
  },
  defaultrate: {
    label: { en: 'Default rate', nl: 'Standaardtempo' },
    hint: {
      en: 'If none was requested and the webhook names none. A number, or * for no limit. Empty: 60.',
      nl: 'Als er geen is gevraagd en de webhook er geen noemt. Een getal, of * voor onbeperkt. Leeg: 60.',
    },
  },
  judgement: {
    label: { en: 'Judgement', nl: 'Beoordeling' },
    hint: {
      en: 'lenient accepts some common mistakes in responses, and stores a warning.',
      nl: 'lenient accepteert enkele veelgemaakte fouten en bewaart een waarschuwing.',
    },
  },
  callback: {
    label: { en: 'Callback', nl: 'Callback' },
    hint: {
      en: 'Whether handshakes offer a URL with which the webhook owner can consent later.',
      nl: 'Of handshakes een URL aanbieden waarmee de eigenaar later kan toestemmen.',
    },
  },
  unsupportedrate: {
    label: { en: 'Rate for webhooks without handshake', nl: 'Tempo voor webhooks zonder handshake' },
    hint: {
      en: 'For webhooks that return 405 or 501 to OPTIONS. Empty: they get no events.',
      nl: 'Voor webhooks die 405 of 501 geven op OPTIONS. Leeg: ze krijgen geen events.',
    },
  },
  leaseseconds: {
    label: { en: 'Lifetime of a grant, in seconds', nl: 'Geldigheidsduur van een grant, in seconden' },
    hint: {
      en: 'From 60 to 31536000 (a year). Empty: 864000, ten days.',
      nl: 'Van 60 tot 31536000 (een jaar). Leeg: 864000, tien dagen.',
    },
  },
  profile: {
    label: { en: 'Profile', nl: 'Profiel' },
    hint: {
      en: 'The rules that its events must follow.',
      nl: 'De regels waaraan de events moeten voldoen.',
    },
  },
  goneafter: {
    label: { en: 'Retire after 410 responses', nl: 'Opheffen na 410-antwoorden' },
    hint: {
      en: 'After how many 410 responses in a row a webhook is retired. Empty: 1.',
      nl: 'Na hoeveel 410-antwoorden op rij een webhook is opgeheven. Leeg: 1.',
    },
  },
} satisfies Record<string, { label: Text; hint: Text }>;

/** `{value}` is the value of the member. */
export const policySentences = {
  isDefault: {
    en: 'Subscriptions that name no origin use this one.',
    nl: 'Abonnementen zonder afzender gebruiken deze.',
  },
  notDefault: {
    en: 'Subscriptions use it only if they name it.',
    nl: 'Abonnementen gebruiken deze alleen als ze die noemen.',
  },
  asks: {
    en: 'Handshakes ask for {value} requests per minute, unless the subscription asks for another rate.',
    nl: 'Handshakes vragen om {value} verzoeken per minuut, tenzij het abonnement om een ander tempo vraagt.',
  },
  asksNothing: {
    en: 'Handshakes ask for no rate, unless the subscription does.',
    nl: 'Handshakes vragen niet om een tempo, tenzij het abonnement dat doet.',
  },
  defaultRate: {
    en: 'If no rate is requested and the webhook names none, it is {value} per minute.',
    nl: 'Als er geen tempo is gevraagd en de webhook er geen noemt, is het {value} per minuut.',
  },
  unlimited: {
    en: 'If no rate is requested and the webhook names none, there is no limit.',
    nl: 'Als er geen tempo is gevraagd en de webhook er geen noemt, is er geen limiet.',
  },
  strict: {
    en: 'Responses are read strictly, as the specification demands.',
    nl: 'Antwoorden worden strikt gelezen, zoals de specificatie eist.',
  },
  lenient: {
    en: 'Responses are read leniently: some common mistakes count as consent, with a warning.',
    nl: 'Antwoorden worden soepel gelezen: enkele veelgemaakte fouten gelden als toestemming, met een waarschuwing.',
  },
  offer: {
    en: 'Handshakes offer a callback URL.',
    nl: 'Handshakes bieden een callback-URL aan.',
  },
  never: {
    en: 'Handshakes never offer a callback URL.',
    nl: 'Handshakes bieden nooit een callback-URL aan.',
  },
  unsupported: {
    en: 'Webhooks that do not know the handshake get {value} requests per minute.',
    nl: 'Webhooks die de handshake niet kennen, krijgen {value} verzoeken per minuut.',
  },
  unsupportedNone: {
    en: 'Webhooks that do not know the handshake get nothing.',
    nl: 'Webhooks die de handshake niet kennen, krijgen niets.',
  },
  lifetime: {
    en: 'A grant lasts {value}.',
    nl: 'Een grant is {value} geldig.',
  },
  profile: {
    en: 'Its events must follow the profile {value}.',
    nl: 'De events moeten voldoen aan het profiel {value}.',
  },
  goneOnce: {
    en: 'One 410 response to a delivery retires a webhook.',
    nl: 'Eén 410-antwoord op een levering heft een webhook op.',
  },
  goneAfter: {
    en: '{value} 410 responses in a row, to deliveries, retire a webhook.',
    nl: '{value} 410-antwoorden op rij, op leveringen, heffen een webhook op.',
  },
} satisfies Record<string, Text>;
