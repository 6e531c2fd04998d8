import { textOf, type Language, type Text } from './text.js';

type Member = 'member' | 'parameter';
type Things = 'characters' | 'entries' | 'members';

const or: Text = { en: ' or ', nl: ' of ' };
const dutch = { member: 'Dit veld', parameter: 'Deze parameter' };
const counted: Record<Things, Text> = {
  characters: { en: 'characters', nl: 'tekens' },
  entries: { en: 'entries', nl: 'elementen' },
  members: { en: 'members', nl: 'velden' },
};

/** These texts as alternatives. */
export function anyOf(texts: readonly Text[]): Text {
  return textOf((language) => texts.map((text) => text[language]).join(or[language]));
}

function anyName(names: readonly string[], language: Language): string {
  return names.join(or[language]);
}

/** The types of JSON, as a sentence needs them after "must be". */
export const typeTexts: Readonly<Record<string, Text>> = {
  string: { en: 'a string', nl: 'een string' },
  integer: { en: 'a whole number', nl: 'een geheel getal' },
  number: { en: 'a number', nl: 'een getal' },
  boolean: { en: 'true or false', nl: 'true of false' },
  array: { en: 'an array', nl: 'een array' },
  object: { en: 'an object', nl: 'een object' },
  null: { en: 'null', nl: 'null' },
};

/** What a value breaks of the contract. */
export const contractTexts = {
  required: (what: Member): Text => ({ en: `This ${what} is required.`, nl: `${dutch[what]} is verplicht.` }),
  unknown: (what: Member): Text => ({ en: `This ${what} does not exist.`, nl: `${dutch[what]} bestaat niet.` }),
  called: (what: Member, name: string): Text => ({
    en: `This ${what} is called "${name}" here.`,
    nl: `${dutch[what]} heet hier "${name}".`,
  }),
  mustBe: (what: Text): Text => ({ en: `This must be ${what.en}.`, nl: `Dit moet ${what.nl} zijn.` }),
  mustBeOneOf: (values: readonly unknown[]): Text => ({
    en: `This must be one of ${values.join(', ')}.`,
    nl: `Dit moet een van deze waarden zijn: ${values.join(', ')}.`,
  }),
  onlyWith: (parameter: string): Text => ({
    en: `This is only for ${parameter}.`,
    nl: `Dit kan alleen met ${parameter}.`,
  }),
  timestamp: {
    en: 'a date and time with an offset, such as 2026-11-20T12:00:00Z',
    nl: 'een datum en tijd met een offset ten opzichte van UTC, zoals 2026-11-20T12:00:00Z',
  },
  pattern: (pattern: string): Text => ({
    en: `This must match the pattern ${pattern}.`,
    nl: `Dit moet voldoen aan het patroon ${pattern}.`,
  }),
  minimum: (limit: number): Text => ({ en: `This must be at least ${limit}.`, nl: `Dit moet minstens ${limit} zijn.` }),
  maximum: (limit: number): Text => ({ en: `This must be at most ${limit}.`, nl: `Dit mag hoogstens ${limit} zijn.` }),
  empty: { en: 'This must not be empty.', nl: 'Dit mag niet leeg zijn.' },
  tooFew: (limit: number, things: Things): Text => ({
    en: `This must have at least ${limit} ${counted[things].en}.`,
    nl: `Dit moet minstens ${limit} ${counted[things].nl} hebben.`,
  }),
  tooMany: (limit: number, things: Things): Text => ({
    en: `This must have at most ${limit} ${counted[things].en}.`,
    nl: `Dit mag hoogstens ${limit} ${counted[things].nl} hebben.`,
  }),
  notAllowed: { en: 'This value is not allowed.', nl: 'Deze waarde is niet toegestaan.' },
  atLeast: (what: Text, minimum: number): Text => ({
    en: `${what.en} of at least ${minimum}`,
    nl: `${what.nl} van minstens ${minimum}`,
  }),
  between: (what: Text, minimum: number, maximum: number): Text => ({
    en: `${what.en} from ${minimum} to ${maximum}`,
    nl: `${what.nl} van ${minimum} tot en met ${maximum}`,
  }),
};

/** What is wrong with a request, whatever its operation. */
export const requestTexts = {
  brokenParameters: {
    en: 'A parameter is invalid. The faults say which one and why.',
    nl: 'Een parameter is ongeldig. Bij faults staat welke en waarom.',
  },
  brokenBody: {
    en: 'The body is invalid. The faults say where and why.',
    nl: 'De body is ongeldig. Bij faults staat waar en waarom.',
  },
  notFound: {
    en: 'There is nothing at this address. openapi.json of this registry lists what there is.',
    nl: 'Op dit adres is niets te vinden. In openapi.json van dit register staat wat er is.',
  },
  methodNotAllowed: (methods: readonly string[]): Text => ({
    en: `This resource supports ${methods.join(', ')}.`,
    nl: `Deze resource ondersteunt ${methods.join(', ')}.`,
  }),
  readOnlyProcess: {
    en: 'This process follows a replica of the database. Send changes to a process that writes.',
    nl: 'Dit proces volgt een replica van de database. Stuur wijzigingen naar een proces dat schrijft.',
  },
  secretUnavailable: {
    en: 'The registry cannot decrypt a secret that this needs. Its operator has to act; then this works again.',
    nl: 'Het register kan een geheim dat hiervoor nodig is niet ontsleutelen. De beheerder ervan moet iets doen; daarna werkt dit weer.',
  },
  internal: {
    en: 'Something went wrong inside the service. The log has the details under this request id.',
    nl: 'Er ging iets mis in de dienst. De details staan in de log bij het kenmerk (requestid) van dit verzoek.',
  },
  preconditionFailed: (tag: string): Text => ({
    en: `The current version is ${tag}. Read it and try again.`,
    nl: `De huidige versie is ${tag}. Lees die en probeer het opnieuw.`,
  }),
  etagAltered: {
    en: 'A proxy in front of the registry compresses responses, and changes their ETag. The resource has not changed.',
    nl: 'Een proxy voor het register comprimeert antwoorden en wijzigt hun ETag. De resource is niet gewijzigd.',
  },
  sendTag: (tag: string): Text => ({
    en: `Send ${tag}, without W/ and without a suffix: If-Match compares strongly (RFC 9110, section 13.1.1).`,
    nl: `Stuur ${tag}, zonder W/ en zonder achtervoegsel: If-Match vergelijkt sterk (RFC 9110, paragraaf 13.1.1).`,
  }),
  foreignCursor: {
    en: 'This list did not issue this cursor.',
    nl: 'Deze cursor is niet door deze lijst uitgegeven.',
  },
  cursorFromLink: {
    en: 'Use the cursor in the Link header of a page.',
    nl: 'Gebruik de cursor uit de header Link van een pagina.',
  },

  path: { en: 'The path cannot be decoded.', nl: 'Het pad kan niet worden gelezen.' },
  percentEncoding: {
    en: 'Percent-encoding needs two hexadecimal digits after each %, and the bytes must be UTF-8.',
    nl: 'Na elke % moeten twee hexadecimale cijfers staan, en de bytes moeten UTF-8 zijn.',
  },
  plus: {
    en: 'A plus sign in a query is a blank. Write %2B for a plus sign.',
    nl: 'Een plusteken in een query is een spatie. Schrijf %2B voor een plusteken.',
  },
  headerRepeated: {
    en: 'The request has a header twice that may occur only once.',
    nl: 'In het verzoek staat een header dubbel die maar één keer mag voorkomen.',
  },
  sendOnce: { en: 'Send this only once.', nl: 'Stuur dit maar één keer.' },
  hostMissing: { en: 'The request has no Host header.', nl: 'Het verzoek heeft geen header Host.' },
  sendHeader: { en: 'This header is required.', nl: 'Deze header is verplicht.' },

  encoded: {
    en: 'Send the body without a content encoding.',
    nl: 'Stuur de body zonder content-encoding.',
  },
  onlyChunked: {
    en: 'Send the body with Content-Length, or with Transfer-Encoding: chunked and no other coding.',
    nl: 'Stuur de body met Content-Length, of met Transfer-Encoding: chunked en geen andere codering.',
  },
  bodyTooLarge: (limit: number): Text => ({
    en: `The body has more than ${limit} bytes.`,
    nl: `De body heeft meer dan ${limit} bytes.`,
  }),
  mediaType: (accepted: readonly string[]): Text =>
    textOf((language) => {
      const names = anyName(accepted, language);
      return language === 'en' ? `The body must be ${names}.` : `De body moet ${names} zijn.`;
    }),
  tooManyValues: (limit: number): Text => ({
    en: `The body has more than ${limit} commas and opening brackets.`,
    nl: `De body heeft meer dan ${limit} komma's en openingshaken.`,
  }),
  notUtf8: { en: 'The body is not UTF-8.', nl: 'De body is geen UTF-8.' },
  notJson: { en: 'The body is not JSON (RFC 8259).', nl: 'De body is geen JSON (RFC 8259).' },
  tooDeep: (limit: number): Text => ({
    en: `The body is nested more than ${limit} levels deep.`,
    nl: `De body is meer dan ${limit} niveaus diep genest.`,
  }),
  nul: { en: 'The text contains the character U+0000.', nl: 'De tekst bevat het teken U+0000.' },
  loneSurrogate: {
    en: 'The text contains half of a surrogate pair.',
    nl: 'De tekst bevat een half surrogaatpaar.',
  },
  inexactNumber: {
    en: 'A double cannot represent this number exactly (RFC 7493, section 2.2). Send it as a string.',
    nl: 'Een double kan dit getal niet exact weergeven (RFC 7493, paragraaf 2.2). Stuur het als string.',
  },
  forbiddenName: { en: 'A member may not have this name.', nl: 'Een veld mag deze naam niet hebben.' },
  repeatedName: {
    en: 'The object has two members of this name.',
    nl: 'Het object heeft twee velden met deze naam.',
  },
};
