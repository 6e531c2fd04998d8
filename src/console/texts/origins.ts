import type { Text } from '../app/text.js';

export const originsTexts = {
  title: { en: 'Origins', nl: 'Herkomsten' },
  lead: {
    en: 'An origin is the name that a system sends events under. Consumers can subscribe to it after you register it.',
    nl: 'Een herkomst is de naam waaronder een systeem gebeurtenissen verstuurt. Afnemers kunnen zich erop abonneren nadat u de herkomst hebt geregistreerd.',
  },
  create: { en: 'Register an origin', nl: 'Herkomst registreren' },
  created: { en: 'The origin is registered.', nl: 'De herkomst is geregistreerd.' },
  none: { en: 'No origin is registered yet.', nl: 'Er is nog geen herkomst geregistreerd.' },
  first: { en: 'These are the first {n}.', nl: 'Dit zijn de eerste {n}.' },
  name: { en: 'Name', nl: 'Naam' },
  nameHint: {
    en: 'A DNS name, such as eventemitter.example.com. Webhooks get it in WebHook-Request-Origin. It never changes.',
    nl: 'Een DNS-naam, zoals eventemitter.example.com. Webhooks krijgen die in WebHook-Request-Origin. De naam wijzigt nooit.',
  },
  default: { en: 'default', nl: 'standaard' },
  requested: { en: 'Requested rate', nl: 'Gevraagd tempo' },
  lifetime: { en: 'Lifetime', nl: 'Geldigheidsduur' },
  profile: { en: 'Profile', nl: 'Profiel' },
  rules: { en: 'Subscription rules', nl: 'Abonnementsregels' },
  updated: { en: 'Changed', nl: 'Gewijzigd' },
  everyone: { en: 'everyone', nl: 'iedereen' },
  gone: { en: 'There is no such origin, or it was deleted.', nl: 'Deze herkomst bestaat niet of is verwijderd.' },
  back: { en: 'All origins', nl: 'Alle herkomsten' },
  subscriptions: { en: 'Its subscriptions', nl: 'De abonnementen' },
  history: { en: 'Audit record', nl: 'Auditlog' },
  policy: { en: 'Policy', nl: 'Beleid' },
  edit: { en: 'Edit the policy', nl: 'Beleid wijzigen' },
  saved: {
    en: 'The policy is saved. It applies to handshakes from now on.',
    nl: 'Het beleid is opgeslagen. Het geldt vanaf nu voor handshakes.',
  },
  unchanged: { en: 'You changed nothing.', nl: 'U hebt niets gewijzigd.' },
  perMinute: { en: 'Requests per minute.', nl: 'Verzoeken per minuut.' },
  seconds: { en: 'seconds', nl: 'seconden' },
  makeDefault: { en: 'Make it the default', nl: 'Maak dit de standaard' },
  makeDefaultTitle: { en: 'Make {name} the default origin?', nl: '{name} de standaardherkomst maken?' },
  makeDefaultText: {
    en: 'Subscriptions that name no origin use the default one. Those that exist keep theirs.',
    nl: 'Abonnementen zonder herkomst gebruiken de standaardherkomst. Bestaande abonnementen houden de hunne.',
  },
  presentDefault: {
    en: 'The default is {name} now. It stops being the default.',
    nl: 'Nu is {name} de standaard. Die is dat daarna niet meer.',
  },
  madeDefault: { en: 'It is the default origin now.', nl: 'Dit is nu de standaardherkomst.' },
  delete: { en: 'Delete', nl: 'Verwijderen' },
  deleteTitle: { en: 'Delete {name}?', nl: '{name} verwijderen?' },
  deleteText: {
    en: 'Consumers can no longer subscribe to it. Its grants go with it, and the name becomes free for other tenants. You cannot undo this.',
    nl: 'Afnemers kunnen zich er niet meer op abonneren. De grants verdwijnen ook en de naam komt vrij voor andere organisaties. U kunt dit niet ongedaan maken.',
  },
  deleteUse: {
    en: 'An origin with subscriptions cannot be deleted. To stop it at once, block it.',
    nl: 'Een herkomst met abonnementen kunt u niet verwijderen. Blokkeer de herkomst om die meteen te stoppen.',
  },
  inUse: { en: 'Show the subscriptions that use it', nl: 'Toon de abonnementen die de herkomst gebruiken' },
  deleted: { en: 'The origin is deleted.', nl: 'De herkomst is verwijderd.' },
  stopping: { en: 'Stop and start', nl: 'Stoppen en starten' },
  running: {
    en: 'No block stops this origin. You see what a block stops before you block.',
    nl: 'Geen blokkade stopt deze herkomst. U ziet wat er stopt voordat u blokkeert.',
  },
  stop: { en: 'Stop this origin', nl: 'Deze herkomst stoppen' },
  stopped: {
    en: 'This origin is stopped. Lift the block to start it again.',
    nl: 'Deze herkomst is gestopt. Hef de blokkade op om die weer te starten.',
  },
  rulesText: {
    en: 'A subscription is allowed if rules about its subscriber allow every event that it could match. Without rules, everyone of your tenant may subscribe to everything.',
    nl: 'Een abonnement mag als regels over de abonnee alle gebeurtenissen toestaan die het kan krijgen. Zonder regels mag iedereen van uw organisatie zich op alles abonneren.',
  },
  noOne: { en: 'No rule: no subscription is allowed.', nl: 'Geen regel: geen enkel abonnement mag.' },
  ruleNames: {
    subscribers: { en: 'Subscribers', nl: 'Abonnees' },
    claims: { en: 'Claims', nl: 'Claims' },
    types: { en: 'Types', nl: 'Types' },
    sources: { en: 'Sources', nl: 'Sources' },
    subjects: { en: 'Subjects', nl: 'Subjects' },
  },
  editRules: { en: 'Edit the rules', nl: 'Regels wijzigen' },
  rulesJson: { en: 'Rules as JSON', nl: 'Regels als JSON' },
  rulesHint: {
    en: 'An array. Each rule has a name, and what limits it: subscribers, claims, types, sources, subjects. A value that ends with * stands for all that begin so. Empty: everyone may subscribe to everything.',
    nl: 'Een array. Elke regel heeft een naam (name) en beperkingen: subscribers, claims, types, sources, subjects. Een waarde die eindigt op * staat voor alles wat zo begint. Leeg: iedereen mag zich op alles abonneren.',
  },
  notJson: { en: 'This is not JSON: {why}', nl: 'Dit is geen JSON: {why}' },
  check: { en: 'Check whom they refuse', nl: 'Controleer wie ze weigeren' },
  saveRules: { en: 'Save the rules', nl: 'Regels opslaan' },
  rulesSaved: {
    en: 'The rules are saved. They end no subscription that exists.',
    nl: 'De regels zijn opgeslagen. Ze beëindigen geen bestaand abonnement.',
  },
  checked: {
    en: '{examined} subscriptions examined: {refused} refused, {undecided} depend on the claims of a token.',
    nl: '{examined} abonnementen bekeken: {refused} geweigerd, {undecided} hangen af van de claims van een token.',
  },
  incomplete: {
    en: 'There are more subscriptions than were examined.',
    nl: 'Er zijn meer abonnementen dan zijn bekeken.',
  },
  firstRefused: { en: 'The first 100 of them:', nl: 'De eerste 100 daarvan:' },
  subscription: { en: 'Subscription', nl: 'Abonnement' },
  subscriber: { en: 'Subscriber', nl: 'Abonnee' },
  result: { en: 'Result', nl: 'Uitkomst' },
  results: {
    refused: { en: 'refused', nl: 'geweigerd' },
    undecided: { en: 'undecided', nl: 'onbeslist' },
  },
  why: { en: 'Why', nl: 'Waarom' },
} satisfies Record<string, Text | Record<string, Text>>;

/** The members of a policy, as labels with hints, and as sentences. */
export const policyTexts = {
  description: {
    label: { en: 'Description', nl: 'Omschrijving' },
    hint: {
      en: 'What the system sends. Consumers read it when they choose an origin. Empty: none.',
      nl: 'Wat het systeem verstuurt. Afnemers lezen dit als ze een herkomst kiezen. Leeg: geen.',
    },
  },
  isdefault: {
    label: { en: 'Default origin', nl: 'Standaardherkomst' },
    hint: {
      en: 'Subscriptions that name no origin use it. A tenant has at most one.',
      nl: 'Abonnementen zonder herkomst gebruiken deze. Een organisatie heeft er hoogstens één.',
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
  burst: {
    label: { en: 'Burst', nl: 'Piek' },
    hint: {
      en: 'Requests at once after a pause. Never more than the rate of the webhook in any 60 seconds. Empty: four seconds of the rate.',
      nl: 'Verzoeken tegelijk na een pauze. Nooit meer dan het tempo van de webhook in 60 seconden. Leeg: vier seconden van het tempo.',
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
      nl: 'Voor webhooks die 405 of 501 geven op OPTIONS. Leeg: ze krijgen geen gebeurtenissen.',
    },
  },
  grantseconds: {
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
      nl: 'De regels waaraan de gebeurtenissen moeten voldoen.',
    },
  },
  goneafter: {
    label: { en: 'Retire after 410 responses', nl: 'Buiten gebruik na 410-antwoorden' },
    hint: {
      en: 'After how many 410 responses in a row a webhook is retired. Empty: 1.',
      nl: 'Na hoeveel 410-antwoorden op rij een webhook buiten gebruik is. Leeg: 1.',
    },
  },
} satisfies Record<string, { label: Text; hint: Text }>;

/** `{value}` is the value of the member. */
export const policySentences = {
  isDefault: {
    en: 'Subscriptions that name no origin use this one.',
    nl: 'Abonnementen zonder herkomst gebruiken deze.',
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
  burst: {
    en: 'After a pause, {value} requests may be sent at once, or as many as the rate of the webhook if that is less.',
    nl: 'Na een pauze mogen {value} verzoeken tegelijk, of zoveel als het tempo van de webhook als dat minder is.',
  },
  noBurst: {
    en: 'After a pause, four seconds of the rate may be sent at once: 4 requests at 60 per minute.',
    nl: 'Na een pauze mag vier seconden van het tempo tegelijk: 4 verzoeken bij 60 per minuut.',
  },
  strict: {
    en: 'Responses are read strictly, as the specification demands.',
    nl: 'Antwoorden worden strikt gelezen, zoals de specificatie eist.',
  },
  lenient: {
    en: 'Responses are read leniently: some common mistakes are accepted as consent, with a warning.',
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
    nl: 'De gebeurtenissen moeten voldoen aan het profiel {value}.',
  },
  goneOnce: {
    en: 'One 410 response to a delivery retires a webhook.',
    nl: 'Na één 410-antwoord op een bezorging is een webhook buiten gebruik.',
  },
  goneAfter: {
    en: '{value} 410 responses in a row, to deliveries, retire a webhook.',
    nl: 'Na {value} 410-antwoorden op rij, op bezorgingen, is een webhook buiten gebruik.',
  },
} satisfies Record<string, Text>;
