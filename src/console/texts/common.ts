import type { Schemas } from '../../kits/client/index.js';
import type { Text } from '../app/text.js';

/** Of a subscription. A status without its words does not compile. */
const subscriptionStatuses: Record<Schemas['SubscriptionStatus'], Text> = {
  pending: { en: 'pending', nl: 'in behandeling' },
  active: { en: 'active', nl: 'actief' },
  refused: { en: 'refused', nl: 'geweigerd' },
  unreachable: { en: 'unreachable', nl: 'onbereikbaar' },
  suspended: { en: 'suspended', nl: 'onderbroken' },
  blocked: { en: 'blocked', nl: 'geblokkeerd' },
  expired: { en: 'expired', nl: 'verlopen' },
  retired: { en: 'retired', nl: 'buiten gebruik' },
};
export const subscriptionStatusNames = Object.keys(subscriptionStatuses) as Array<keyof typeof subscriptionStatuses>;

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What every page of the console says. */
export const commonTexts = {
  menu: {
    '': { en: 'Today', nl: 'Vandaag' },
    subscriptions: { en: 'Subscriptions', nl: 'Abonnementen' },
    grants: { en: 'Grants', nl: 'Grants' },
    playground: { en: 'Playground', nl: 'Uitproberen' },
    origins: { en: 'Origins', nl: 'Herkomsten' },
    blocks: { en: 'Blocks', nl: 'Blokkades' },
    audit: { en: 'Audit', nl: 'Auditlog' },
    feed: { en: 'Feed', nl: 'Feed' },
  },
  menuGroups: {
    receive: { en: 'Receive', nl: 'Ontvangen' },
    send: { en: 'Send', nl: 'Versturen' },
    administer: { en: 'Administer', nl: 'Beheren' },
  },
  menuLabel: { en: 'Pages', nl: 'Pagina’s' },
  path: { en: 'Where this page is', nl: 'Waar deze pagina is' },
  skip: { en: 'Skip to content', nl: 'Naar de inhoud' },
  language: { en: 'Nederlands', nl: 'English' },
  themes: {
    system: { en: 'Theme of the system', nl: 'Thema van het systeem' },
    light: { en: 'Light', nl: 'Licht' },
    dark: { en: 'Dark', nl: 'Donker' },
  },
  signOut: { en: 'Sign out', nl: 'Afmelden' },
  signedInAs: { en: 'Signed in as', nl: 'Aangemeld als' },
  connections: {
    off: { en: 'Not live: reload to see changes', nl: 'Niet live: laad opnieuw om wijzigingen te zien' },
    connecting: { en: 'Connecting', nl: 'Verbinden' },
    live: { en: 'Live', nl: 'Live' },
    lost: { en: 'Connection lost. Trying again.', nl: 'Verbinding verbroken. Assent probeert het opnieuw.' },
  },
  loading: { en: 'Loading…', nl: 'Laden…' },
  busy: { en: 'Busy…', nl: 'Bezig…' },
  cancel: { en: 'Cancel', nl: 'Annuleren' },
  save: { en: 'Save', nl: 'Opslaan' },
  stop: { en: 'Stop', nl: 'Stoppen' },
  copy: { en: 'Copy', nl: 'Kopiëren' },
  copied: { en: 'Copied.', nl: 'Gekopieerd.' },
  details: { en: 'Details', nl: 'Details' },
  asTable: { en: 'As a table', nl: 'Als tabel' },
  time: { en: 'Time', nl: 'Tijd' },
  chart: {
    keys: { en: 'The arrow keys move over the points.', nl: 'Met de pijltjestoetsen gaat u langs de punten.' },
    none: { en: 'None in this period.', nl: 'Geen in deze periode.' },
    few: {
      en: 'Too few for a chart so far. The table has them.',
      nl: 'Nog te weinig voor een grafiek. Ze staan in de tabel.',
    },
    now: { en: 'now', nl: 'nu' },
  },
  all: { en: 'All', nl: 'Alle' },
  search: { en: 'Search', nl: 'Zoeken' },
  find: {
    anything: { en: 'Find anything', nl: 'Overal zoeken' },
    hint: {
      en: 'A page, or a sink, host, origin or id',
      nl: 'Een pagina, of een sink, host, herkomst of id',
    },
    page: { en: 'Page', nl: 'Pagina' },
    subscription: { en: 'Subscription', nl: 'Abonnement' },
    grant: { en: 'Grant', nl: 'Grant' },
    origin: { en: 'Origin', nl: 'Herkomst' },
    block: { en: 'Block', nl: 'Blokkade' },
    request: { en: 'What this request changed', nl: 'Wat dit verzoek heeft gewijzigd' },
  },
  overlap: { en: 'The present one stays valid for', nl: 'De huidige blijft nog geldig' },
  overlaps: {
    '0': { en: 'no time', nl: 'niet' },
    '3600': { en: '1 hour', nl: '1 uur' },
    '86400': { en: '1 day', nl: '1 dag' },
    '604800': { en: '1 week', nl: '1 week' },
  },
  remove: (what: string): Text => ({ en: `Remove ${what}`, nl: `${what} verwijderen` }),
  noLimit: { en: 'no limit', nl: 'geen limiet' },
  reason: { en: 'Reason', nl: 'Reden' },
  reasonOptional: { en: 'Reason (optional)', nl: 'Reden (niet verplicht)' },
  reasonHint: {
    en: 'People read it later, in the status and in the audit record.',
    nl: 'Anderen lezen de reden later, bij de status en in het auditlog.',
  },
  reference: { en: 'Reference (optional)', nl: 'Kenmerk (niet verplicht)' },
  referenceHint: {
    en: 'For example the number of a ticket. The audit record keeps it.',
    nl: 'Bijvoorbeeld het nummer van een melding. Het auditlog bewaart dit.',
  },
  referenceRule: {
    en: 'Letters, digits and punctuation of ASCII only.',
    nl: 'Alleen letters, cijfers en leestekens van ASCII.',
  },
  choose: (what: string): Text => ({ en: `Choose ${what}`, nl: `${what} kiezen` }),
  chooseAll: { en: 'Choose all rows that are shown', nl: 'Alle getoonde rijen kiezen' },
  chosen: (count: string): Text => ({ en: `${count} chosen`, nl: `${count} gekozen` }),
  more: { en: 'More', nl: 'Meer' },
  export: { en: 'Export', nl: 'Exporteren' },
  examples: { en: 'or type', nl: 'of typ' },
  nothing: { en: 'Nothing found.', nl: 'Niets gevonden.' },
  notFound: {
    title: { en: 'This page does not exist', nl: 'Deze pagina bestaat niet' },
    back: { en: 'Go to Today', nl: 'Naar Vandaag' },
  },
  notOpen: (needed: string, present: string): Text => ({
    en: `This page needs a token with one of these scopes: ${needed}. Yours has: ${present}.`,
    nl: `Voor deze pagina is een token met een van deze scopes nodig: ${needed}. Dat van u heeft: ${present}.`,
  }),
  problems: {
    lost: { en: 'The registry did not respond.', nl: 'Het register gaf geen antwoord.' },
    lostNext: {
      en: 'It is not certain whether this was done. Check the connection, then try again: the same request is not done twice.',
      nl: 'Het is niet zeker of dit is gedaan. Controleer de verbinding en probeer het opnieuw: hetzelfde verzoek wordt niet twee keer uitgevoerd.',
    },
    lostRead: {
      en: 'Nothing was changed. This page tries again until the registry responds.',
      nl: 'Er is niets gewijzigd. Deze pagina probeert het opnieuw tot het register antwoordt.',
    },
    changedMeanwhile: {
      en: 'This was changed while you had it open. Your change was not saved. What you typed is still here, and the present version is taken over.',
      nl: 'Dit is gewijzigd terwijl u het open had. Uw wijziging is niet opgeslagen. Wat u hebt ingevuld, staat er nog, en de huidige versie is overgenomen.',
    },
    different: { en: 'What is different now:', nl: 'Wat er nu anders is:' },
    usePresent: (what: string): Text => ({
      en: `Use the present version and ${lower(what)}`,
      nl: `De huidige versie gebruiken en ${lower(what)}`,
    }),
    incomplete: { en: 'Something is missing.', nl: 'Er ontbreekt iets.' },
    incompleteNext: {
      en: 'Nothing was sent. Fill in what is missing, and correct what is wrong.',
      nl: 'Er is niets verstuurd. Vul in wat ontbreekt en verbeter wat niet klopt.',
    },
    fillIn: (label: string): Text => ({ en: `Fill in: ${label}.`, nl: `Vul in: ${label}.` }),
    request: { en: 'Request', nl: 'Verzoek' },
    retry: { en: 'Try again', nl: 'Opnieuw proberen' },
  },
  statuses: {
    ...subscriptionStatuses,
    live: { en: 'live', nl: 'geldig' },
    ended: { en: 'ended', nl: 'beëindigd' },
    revoked: { en: 'revoked', nl: 'ingetrokken' },
  },
} satisfies Record<string, Text | object>;

export const signInTexts = {
  title: { en: 'Sign in', nl: 'Aanmelden' },
  product: {
    en: 'Assent asks webhooks for consent, and records who may send events to them.',
    nl: 'Assent vraagt webhooks om toestemming en legt vast wie er gebeurtenissen naartoe mag sturen.',
  },
  runs: { en: 'runs this registry.', nl: 'beheert dit register.' },
  contact: { en: 'Contact', nl: 'Contact' },
  expired: {
    en: 'Your token has expired. Sign in again to continue: what you typed is still there.',
    nl: 'Uw token is verlopen. Meld u opnieuw aan om verder te gaan: wat u hebt ingevuld, staat er nog.',
  },
  token: { en: 'Token', nl: 'Token' },
  tokenHint: {
    en: 'A JWT access token. It goes to this registry only.',
    nl: 'Een JWT-toegangstoken. Het gaat alleen naar dit register.',
  },
  keep: {
    en: 'Keep it when I reload, and in tabs that I open',
    nl: 'Bewaar het als ik opnieuw laad, en in tabbladen die ik open',
  },
  links: {
    unavailable: {
      en: 'This registry issues no links that sign in. The link was ignored.',
      nl: 'Dit register geeft geen links uit waarmee u zich aanmeldt. De link is genegeerd.',
    },
    malformed: {
      en: 'The link is not complete. Nobody was signed in.',
      nl: 'De link is niet compleet. Niemand is aangemeld.',
    },
    past: { en: 'The link has expired. Nobody was signed in.', nl: 'De link is verlopen. Niemand is aangemeld.' },
  },
  linkTitle: { en: 'Sign in as someone else?', nl: 'Aanmelden als iemand anders?' },
  linkText: {
    en: 'A link wants to sign you in with another account. If you did not make this link yourself, do not use it: what you do would be done as that account.',
    nl: 'Een link wil u aanmelden met een ander account. Hebt u deze link niet zelf gemaakt, gebruik hem dan niet: wat u doet, gebeurt dan namens dat account.',
  },
  present: { en: 'You are', nl: 'U bent' },
  offered: { en: 'The link is for', nl: 'De link is voor' },
  stay: { en: 'Stay signed in as', nl: 'Aangemeld blijven als' },
  as: { en: 'Sign in as', nl: 'Aanmelden als' },
  continueAs: { en: 'Continue as', nl: 'Verder als' },
  elsewhere: {
    en: 'You are signed in in another tab.',
    nl: 'U bent aangemeld in een ander tabblad.',
  },
  submit: { en: 'Sign in', nl: 'Aanmelden' },
  malformed: { en: 'This is not a JWT.', nl: 'Dit is geen JWT.' },
  past: { en: 'This token has expired.', nl: 'Dit token is verlopen.' },
  development: {
    en: 'This is a development registry. On its machine, this command prints a link that signs you in:',
    nl: 'Dit is een ontwikkelregister. Op de machine ervan toont deze opdracht een link om aan te melden:',
  },
  with: { en: 'Sign in with', nl: 'Aanmelden bij' },
  withToken: { en: 'Sign in with a token', nl: 'Aanmelden met een token' },
  issuerFailed: { en: 'The issuer did not sign you in:', nl: 'De aanmelding bij de uitgever is niet gelukt:' },
  windowBlocked: {
    en: 'The browser blocked the window to sign in. Allow it for this site, then try again.',
    nl: 'De browser blokkeerde het venster om aan te melden. Sta het toe voor deze site en probeer het opnieuw.',
  },
  handedOver: {
    en: 'Close this window and continue in the other one.',
    nl: 'Sluit dit venster en ga verder in het andere.',
  },
  endsSoon: {
    en: 'Your session ends within a minute. Sign in again in a second window: this page stays as it is.',
    nl: 'Uw sessie eindigt binnen een minuut. Meld u opnieuw aan in een tweede venster: deze pagina blijft zoals zij is.',
  },
} satisfies Record<string, Text | Record<string, Text>>;
