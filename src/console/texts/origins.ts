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
  first: (count: string): Text => ({ en: `These are the first ${count}.`, nl: `Dit zijn de eerste ${count}.` }),
  byOrigin: { en: 'By origin', nl: 'Per herkomst' },
  byHost: { en: 'By host', nl: 'Per host' },
  host: { en: 'Host', nl: 'Host' },
  searchLabel: { en: 'Search origins', nl: 'Herkomsten zoeken' },
  searchHosts: { en: 'Search hosts', nl: 'Hosts zoeken' },
  noHosts: { en: 'Nothing was counted in the last 24 hours.', nl: 'De afgelopen 24 uur is niets geteld.' },
  noHostsHint: {
    en: 'This list has the hosts of webhooks that were asked, or got events.',
    nl: 'Deze lijst toont de hosts van webhooks die zijn gevraagd of gebeurtenissen kregen.',
  },
  lastDay: { en: 'Last 24 hours', nl: 'Afgelopen 24 uur' },
  stopHour: { en: 'Stop for 1 hour', nl: 'Stop voor 1 uur' },
  actions: { en: 'Actions', nl: 'Acties' },
  tabs: {
    overview: { en: 'Overview', nl: 'Overzicht' },
    identity: { en: 'Identity', nl: 'Identiteit' },
    rules: { en: 'Rules', nl: 'Regels' },
    settings: { en: 'Settings', nl: 'Instellingen' },
  },
  yes: { en: 'yes', nl: 'ja' },
  no: { en: 'no', nl: 'nee' },
  nothing: { en: 'none', nl: 'geen' },
  fourSeconds: { en: 'four seconds of the rate', nl: 'vier seconden van het tempo' },
  registered: { en: 'Registered', nl: 'Geregistreerd' },
  name: { en: 'Name', nl: 'Naam' },
  nameHint: {
    en: 'A DNS name, such as eventemitter.example.com. Webhooks get it in WebHook-Request-Origin. It never changes.',
    nl: 'Een DNS-naam, zoals eventemitter.example.com. Webhooks krijgen die in WebHook-Request-Origin. De naam wijzigt nooit.',
  },
  default: { en: 'default', nl: 'standaard' },
  verified: { en: 'verified', nl: 'geverifieerd' },
  requested: { en: 'Requested rate', nl: 'Gevraagd tempo' },
  lifetime: { en: 'Lifetime', nl: 'Geldigheidsduur' },
  profile: { en: 'Profile', nl: 'Profiel' },
  rules: { en: 'Subscription rules', nl: 'Abonnementsregels' },
  updated: { en: 'Changed', nl: 'Gewijzigd' },
  everyone: { en: 'everyone', nl: 'iedereen' },
  gone: { en: 'There is no such origin, or it was deleted.', nl: 'Deze herkomst bestaat niet of is verwijderd.' },
  subscriptions: { en: 'Subscriptions', nl: 'Abonnementen' },
  history: { en: 'Audit record', nl: 'Auditlog' },
  policy: { en: 'Policy', nl: 'Beleid' },
  edit: { en: 'Edit', nl: 'Wijzigen' },
  saved: {
    en: 'The policy is saved. It applies to handshakes from now on.',
    nl: 'Het beleid is opgeslagen. Het geldt vanaf nu voor handshakes.',
  },
  unchanged: { en: 'You changed nothing.', nl: 'U hebt niets gewijzigd.' },
  perMinute: (rate: string): Text => ({ en: `${rate} per minute`, nl: `${rate} per minuut` }),
  makeDefault: { en: 'Make it the default', nl: 'Maak dit de standaard' },
  makeDefaultTitle: (name: string): Text => ({
    en: `Make ${name} the default origin?`,
    nl: `${name} de standaardherkomst maken?`,
  }),
  makeDefaultText: {
    en: 'Subscriptions that name no origin use the default one. Those that exist keep theirs.',
    nl: 'Abonnementen zonder herkomst gebruiken de standaardherkomst. Bestaande abonnementen houden de hunne.',
  },
  presentDefault: (name: string): Text => ({
    en: `The default is ${name} now. It stops being the default.`,
    nl: `Nu is ${name} de standaard. Die is dat daarna niet meer.`,
  }),
  madeDefault: { en: 'It is the default origin now.', nl: 'Dit is nu de standaardherkomst.' },
  delete: { en: 'Delete', nl: 'Verwijderen' },
  deleteTitle: (name: string): Text => ({ en: `Delete ${name}?`, nl: `${name} verwijderen?` }),
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
  stop: { en: 'Stop this origin', nl: 'Deze herkomst stoppen' },
  stopped: {
    en: 'This origin is stopped. Lift the block to start it again.',
    nl: 'Deze herkomst is gestopt. Hef de blokkade op om die weer te starten.',
  },
  rulesText: {
    en: 'A subscription is allowed if rules about its subscriber allow every event that it could match. An empty field limits nothing. A value that ends with * stands for all that begin so.',
    nl: 'Een abonnement mag als regels over de abonnee alle gebeurtenissen toestaan die het kan krijgen. Een leeg veld beperkt niets. Een waarde die eindigt op * staat voor alles wat zo begint.',
  },
  noOne: { en: 'No rule: no subscription is allowed.', nl: 'Geen regel: geen enkel abonnement mag.' },
  ruleNames: {
    subscribers: { en: 'Subscribers', nl: 'Abonnees' },
    claims: { en: 'Claims', nl: 'Claims' },
    types: { en: 'Types', nl: 'Types' },
    sources: { en: 'Sources', nl: 'Sources' },
    subjects: { en: 'Subjects', nl: 'Subjects' },
  },
  whoMay: { en: 'Who may subscribe', nl: 'Wie mag zich abonneren' },
  who: {
    everyone: { en: 'Everyone, to everything', nl: 'Iedereen, op alles' },
    rules: { en: 'Only as rules allow', nl: 'Alleen zoals regels toestaan' },
  },
  fromToday: { en: 'Start from what is subscribed today', nl: 'Begin met wat nu is geabonneerd' },
  asJson: { en: 'Edit as JSON', nl: 'Als JSON wijzigen' },
  asRows: { en: 'Edit as rows', nl: 'Als rijen wijzigen' },
  notRows: {
    en: 'Rows cannot show this: each rule needs a name, and lists of different texts.',
    nl: 'Rijen kunnen dit niet tonen: elke regel heeft een naam (name) nodig, en lijsten van verschillende teksten.',
  },
  addRule: { en: 'Add a rule', nl: 'Regel toevoegen' },
  newRule: (number: string): Text => ({ en: `Rule ${number}`, nl: `Regel ${number}` }),
  all: { en: 'all', nl: 'alle' },
  rulesJson: { en: 'Rules as JSON', nl: 'Regels als JSON' },
  rulesHint: {
    en: 'An array. Each rule has a name, and what limits it: subscribers, claims, types, sources, subjects. A value that ends with * stands for all that begin so.',
    nl: 'Een array. Elke regel heeft een naam (name) en beperkingen: subscribers, claims, types, sources, subjects. Een waarde die eindigt op * staat voor alles wat zo begint.',
  },
  notJson: (why: string): Text => ({ en: `This is not JSON: ${why}`, nl: `Dit is geen JSON: ${why}` }),
  check: { en: 'Check whom they refuse', nl: 'Controleer wie ze weigeren' },
  checkHint: {
    en: 'Which present subscriptions the rules would not allow. Nothing is saved.',
    nl: 'Welke huidige abonnementen de regels niet zouden toestaan. Er wordt niets opgeslagen.',
  },
  checkNow: { en: 'Check', nl: 'Controleren' },
  oldResult: {
    en: 'You changed the rules since. Check again.',
    nl: 'U hebt de regels sindsdien gewijzigd. Controleer opnieuw.',
  },
  saveRules: { en: 'Save the rules', nl: 'Regels opslaan' },
  rulesSaved: {
    en: 'The rules are saved. They end no subscription that exists.',
    nl: 'De regels zijn opgeslagen. Ze beëindigen geen bestaand abonnement.',
  },
  checked: (examined: string, refused: string, undecided: string): Text => ({
    en: `${examined} subscriptions examined: ${refused} refused, ${undecided} depend on the claims of a token.`,
    nl: `${examined} abonnementen bekeken: ${refused} geweigerd, ${undecided} hangen af van de claims van een token.`,
  }),
  incomplete: {
    en: 'There are more subscriptions than were examined.',
    nl: 'Er zijn meer abonnementen dan zijn bekeken.',
  },
  firstRefused: { en: 'The first 100 of them:', nl: 'De eerste 100 daarvan:' },
  results: {
    refused: { en: 'refused', nl: 'geweigerd' },
    undecided: { en: 'undecided', nl: 'onbeslist' },
  },
} satisfies Record<string, Text | object>;

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
  signatures: {
    label: { en: 'Signatures', nl: 'Handtekeningen' },
    hint: {
      en: 'How handshakes and deliveries are signed. string is for verifiers that cannot read a dictionary: first serve the keys at the name of the origin. off is for webhooks that refuse the headers.',
      nl: 'Hoe handshakes en bezorgingen worden ondertekend. string is voor ontvangers die geen dictionary kunnen lezen: publiceer eerst de sleutels op de naam van de herkomst. off is voor webhooks die de headers weigeren.',
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

/** Of the last 24 hours, by what the registry sorts by. */
export const numberTexts = {
  deliveries: { en: 'Deliveries', nl: 'Bezorgingen' },
  failures: { en: 'Failures', nl: 'Mislukt' },
  throttled: { en: '429', nl: '429' },
  gone: { en: '410', nl: '410' },
  refusals: { en: 'Refusals', nl: 'Weigeringen' },
  used: { en: 'Used', nl: 'Benut' },
} satisfies Record<string, Text>;
