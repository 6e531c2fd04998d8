import { type Text, textOf } from './text.js';

/** What is wrong with a subscription, and why one cannot be changed. */
export const subscriptionTexts = {
  invalid: {
    en: 'The faults say which members are invalid, and why.',
    nl: 'Bij faults staat welke velden ongeldig zijn, en waarom.',
  },
  notFound: {
    en: 'There is no subscription with this id, or it is not yours.',
    nl: 'Er is geen abonnement met dit id, of het is niet van u.',
  },
  quota: (max: number): Text => ({
    en: `The tenant already has ${max} subscriptions, which is the maximum.`,
    nl: `De organisatie heeft al ${max} abonnementen. Dat is het maximum.`,
  }),
  backlog: (max: number): Text => ({
    en: `The tenant has ${max} handshakes waiting, which is the maximum. Try again when some of them have been sent.`,
    nl: `De organisatie heeft ${max} wachtende handshakes. Dat is het maximum. Probeer het opnieuw als een deel ervan is verstuurd.`,
  }),
  expiryOutOfRange: {
    en: 'The time must be in the future, at most five years from now.',
    nl: 'Het tijdstip moet in de toekomst liggen, hoogstens vijf jaar vanaf nu.',
  },
  hasEnded: {
    en: 'The subscription has ended. Change or remove expiresat first.',
    nl: 'Het abonnement is beëindigd. Wijzig of verwijder eerst expiresat.',
  },
  suspendedByAdmin: {
    en: 'An admin suspended this subscription, and only an admin can resume it.',
    nl: 'Een beheerder heeft dit abonnement onderbroken, en alleen een beheerder kan het hervatten.',
  },
  grantRevoked: {
    en: 'An admin revoked the grant, and only an admin can ask again.',
    nl: 'Een beheerder heeft de grant ingetrokken, en alleen een beheerder kan opnieuw om toestemming vragen.',
  },

  memberUnknown: { en: 'This member does not exist.', nl: 'Dit veld bestaat niet.' },
  nameForbidden: { en: 'A member may not have this name.', nl: 'Een veld mag deze naam niet hebben.' },
  empty: { en: 'The string must have at least one character.', nl: 'De string moet minstens één teken hebben.' },
  controlCharacter: {
    en: 'The string must not contain control characters.',
    nl: 'De string mag geen stuurtekens bevatten.',
  },
  idChanged: {
    en: 'The id must be the one in the path. It never changes.',
    nl: 'Het id moet gelijk zijn aan dat in het pad. Het verandert nooit.',
  },
  source: {
    en: 'A source is a URI reference (RFC 3986). Percent-encode all other characters.',
    nl: 'Een source is een URI-referentie (RFC 3986). Gebruik percent-encoding voor alle andere tekens.',
  },
  typeRepeated: { en: 'This type is already in the array.', nl: 'Dit type staat al in de array.' },

  protocolCase: {
    en: 'Values are case-sensitive. Write "HTTP" in capital letters.',
    nl: 'Waarden zijn hoofdlettergevoelig. Schrijf "HTTP" in hoofdletters.',
  },
  protocolNotSupported: {
    en: 'Assent asks for consent over HTTP, so "HTTP" is the only supported protocol.',
    nl: 'Assent vraagt via HTTP om toestemming, dus "HTTP" is het enige ondersteunde protocol.',
  },
  protocolUnknown: {
    en: 'This is not the name of a protocol. The supported protocol is "HTTP".',
    nl: 'Dit is niet de naam van een protocol. Het ondersteunde protocol is "HTTP".',
  },
  method: {
    en: 'Events are delivered with "POST" (webhook specification, section 2.1).',
    nl: 'Gebeurtenissen worden afgeleverd met "POST" (webhookspecificatie, paragraaf 2.1).',
  },
  contentMode: {
    en: 'Events are delivered in "structured" or "binary" content mode.',
    nl: 'Gebeurtenissen worden afgeleverd in de contentmodus "structured" of "binary".',
  },

  tooManyHeaders: (max: number): Text => ({
    en: `At most ${max} headers are allowed.`,
    nl: `Hoogstens ${max} headers zijn toegestaan.`,
  }),
  headerRepeated: {
    en: 'Header names are not case-sensitive. Write this header once.',
    nl: 'Namen van headers zijn niet hoofdlettergevoelig. Schrijf deze header één keer.',
  },
  headerName: {
    en: 'A header name is a token (RFC 9110, section 5.6.2).',
    nl: 'De naam van een header is een token (RFC 9110, paragraaf 5.6.2).',
  },
  headerReserved: {
    en: 'The sender sets this header itself. Put credentials in "sinkcredential".',
    nl: 'De verzender vult deze header zelf. Zet credentials in "sinkcredential".',
  },
  headerTooLong: (max: number): Text => ({
    en: `A header value has at most ${max} bytes.`,
    nl: `De waarde van een header heeft hoogstens ${max} bytes.`,
  }),
  headerValue: {
    en: 'Only visible ASCII is allowed, with spaces and tabs inside the value but not around it.',
    nl: 'Alleen zichtbare ASCII-tekens zijn toegestaan. Spaties en tabs mogen in de waarde staan, maar niet eromheen.',
  },

  expireTime: {
    en: 'Assent doesn\'t read this. Give the end of the subscription in its member "expiresat".',
    nl: 'Assent leest dit niet. Geef het einde van het abonnement in het veld "expiresat".',
  },
  maxEvents: {
    en: 'A subscription cannot end after a number of events. Leave this out, and delete the subscription when you have enough.',
    nl: 'Een abonnement kan niet eindigen na een aantal gebeurtenissen. Laat dit weg, en verwijder het abonnement als u genoeg hebt.',
  },
  keyEmpty: { en: 'A key has at least one character.', nl: 'Een sleutel heeft minstens één teken.' },
  configTooLong: (max: number): Text => ({
    en: `The member has at most ${max} bytes as JSON.`,
    nl: `Het veld heeft hoogstens ${max} bytes als JSON.`,
  }),
  configTooDeep: (max: number): Text => ({
    en: `Values are nested at most ${max} levels deep.`,
    nl: `Waarden zijn hoogstens ${max} niveaus diep genest.`,
  }),
};

const shownValues = 5;
const shownCharacters = 200;

function listOf(values: readonly string[]): Text {
  const shown = values
    .slice(0, shownValues)
    .map((value) => `"${value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value}"`)
    .join(', ');
  const more = values.length - shownValues;
  const others = { en: `${more} more`, nl: `nog ${more}` };
  const and = { en: 'and', nl: 'en' };
  return textOf((language) => (more > 0 ? `${shown} ${and[language]} ${others[language]}` : shown));
}

/** Why the rules of an origin refuse a subscription. */
export const ruleTexts = {
  noRule: (origin: string): Text => ({
    en: `${origin} limits who may subscribe to what, and none of its rules is about this subscriber. Ask an admin.`,
    nl: `${origin} beperkt wie zich waarop mag abonneren, en geen van de regels gaat over deze abonnee. Vraag een beheerder.`,
  }),
  notAbout: {
    en: 'No subscription rule of this origin is about this subscriber.',
    nl: 'Geen abonnementsregel van deze herkomst gaat over deze abonnee.',
  },
  closest: (origin: string, rule: string): Text => ({
    en: `${origin} limits who may subscribe to what. The rule "${rule}" comes closest. The faults say what it allows.`,
    nl: `${origin} beperkt wie zich waarop mag abonneren. De regel "${rule}" komt het dichtst in de buurt. Bij faults staat wat die toestaat.`,
  }),
  allowedOnly: (rule: string, attribute: string, values: readonly string[]): Text => {
    const list = listOf(values);
    return {
      en: `The rule "${rule}" requires that every event has one of these values as its ${attribute}: ${list.en}.`,
      nl: `De regel "${rule}" vereist dat elke gebeurtenis een van deze waarden als ${attribute} heeft: ${list.nl}.`,
    };
  },
};
