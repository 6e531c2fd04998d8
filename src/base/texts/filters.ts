import { textOf, type Language, type Text } from './text.js';

const dialects: Text = {
  en: 'The dialects are exact, prefix, suffix, all, any, not and sql.',
  nl: 'De dialecten zijn exact, prefix, suffix, all, any, not en sql.',
};

/** What is wrong with a filter. */
export const filterTexts = {
  notArray: {
    en: 'This must be an array of filters, such as [{ "exact": { "type": "com.example.created" } }].',
    nl: 'Dit moet een array van filters zijn, zoals [{ "exact": { "type": "com.example.created" } }].',
  },
  tooMany: (max: number): Text => ({
    en: `At most ${max} filters are allowed in total.`,
    nl: `In totaal zijn hoogstens ${max} filters toegestaan.`,
  }),
  tooDeep: (max: number): Text => ({
    en: `Filters are nested at most ${max} levels deep.`,
    nl: `Filters zijn hoogstens ${max} niveaus diep genest.`,
  }),
  notObject: {
    en: 'A filter is an object with one member, and its name is the dialect.',
    nl: 'Een filter is een object met één veld, en de naam daarvan is het dialect.',
  },
  dialectMissing: {
    en: `A filter names a dialect. ${dialects.en}`,
    nl: `Een filter noemt een dialect. ${dialects.nl}`,
  },
  shapeOutdated: {
    en: 'Write { "prefix": { "type": "com.example." } }, with the dialect as the member name.',
    nl: 'Schrijf { "prefix": { "type": "com.example." } }, met het dialect als naam van het veld.',
  },
  dialectRepeated: {
    en: 'A filter has one dialect. Put several filters into the array or into "all".',
    nl: 'Een filter heeft één dialect. Zet meerdere filters in de array of in "all".',
  },
  notTakesOne: {
    en: '"not" needs one filter, not an array of filters.',
    nl: '"not" heeft één filter nodig, geen array van filters.',
  },
  nameForbidden: { en: 'A member may not have this name.', nl: 'Een veld mag deze naam niet hebben.' },
  cesql: {
    en: `CloudEvents SQL is called "sql" here. ${dialects.en}`,
    nl: `CloudEvents SQL heet hier "sql". ${dialects.nl}`,
  },
  dialectUnknown: {
    en: `This is not the name of a filter dialect. ${dialects.en}`,
    nl: `Dit is niet de naam van een filterdialect. ${dialects.nl}`,
  },
  sqlNotString: {
    en: 'A CloudEvents SQL expression is a string.',
    nl: 'Een expressie in CloudEvents SQL is een string.',
  },
  /** `place` is counted from 1. */
  atCharacter: (place: number, detail: Text): Text => ({
    en: `At character ${place}: ${detail.en}`,
    nl: `Bij teken ${place}: ${detail.nl}`,
  }),
  listEmpty: { en: 'The array needs at least one filter.', nl: 'De array heeft minstens één filter nodig.' },
  notAttributes: {
    en: 'This must be an object of attribute names and the strings to compare with.',
    nl: 'Dit moet een object zijn van namen van attributen en de strings om mee te vergelijken.',
  },
  attributesEmpty: {
    en: 'Name at least one attribute to compare.',
    nl: 'Noem minstens één attribuut om te vergelijken.',
  },
  pairOutdated: {
    en: 'Write the attribute as the member name: { "type": "com.example." }.',
    nl: 'Schrijf het attribuut als naam van het veld: { "type": "com.example." }.',
  },
  nameEmpty: {
    en: 'An attribute name has at least one character.',
    nl: 'De naam van een attribuut heeft minstens één teken.',
  },
  nameReserved: {
    en: 'Filters compare attributes, and "data" is not an attribute.',
    nl: 'Filters vergelijken attributen, en "data" is geen attribuut.',
  },
  nameMalformed: {
    en: 'A CloudEvents attribute name has only lower-case letters a-z and digits.',
    nl: 'De naam van een CloudEvents-attribuut heeft alleen kleine letters a-z en cijfers.',
  },
  valueNotString: {
    en: 'Attributes are compared with a string.',
    nl: 'Attributen worden met een string vergeleken.',
  },
  valueEmpty: {
    en: 'A filter compares with a value of at least one character.',
    nl: 'Een filter vergelijkt met een waarde van minstens één teken.',
  },
  valueText: {
    en: 'No event has this value. A string has no control characters, half surrogate pairs or Unicode noncharacters.',
    nl: 'Geen gebeurtenis heeft deze waarde. Een string heeft geen stuurtekens, halve surrogaatparen of noncharacters van Unicode.',
  },
};

/** Why a CloudEvents SQL expression cannot be parsed. */
export const cesqlTexts = {
  tooLong: (max: number): Text => ({
    en: `An expression has at most ${max} characters.`,
    nl: `Een expressie heeft hoogstens ${max} tekens.`,
  }),
  loneSurrogate: {
    en: 'This is half of a surrogate pair, not a character.',
    nl: 'Dit is een half surrogaatpaar, geen teken.',
  },
  tooManyTokens: (max: number): Text => ({
    en: `An expression has at most ${max} words, values and symbols.`,
    nl: `Een expressie heeft hoogstens ${max} woorden, waarden en symbolen.`,
  }),
  characterUnexpected: {
    en: 'This character has no meaning outside a string.',
    nl: 'Dit teken heeft buiten een string geen betekenis.',
  },
  stringUnterminated: (quote: string): Text => ({
    en: `The string that begins here has no closing ${quote}.`,
    nl: `De string die hier begint, heeft geen afsluitende ${quote}.`,
  }),
  writeInstead: (text: string): Text => ({ en: `Write ${text} here.`, nl: `Schrijf hier ${text}.` }),
  attributesOnly: {
    en: 'Expressions see the attributes of an event, not its data.',
    nl: 'Expressies zien de attributen van een gebeurtenis, niet de data.',
  },
  complete: {
    en: 'The expression is complete before this point. An operator or the end is expected here.',
    nl: 'De expressie is vóór dit punt al compleet. Hier wordt een operator of het einde verwacht.',
  },
  pattern: {
    en: 'LIKE must be followed by a pattern in quotes.',
    nl: 'Na LIKE moet een patroon tussen aanhalingstekens staan.',
  },
  likeOrIn: {
    en: 'NOT must be followed by LIKE or IN at this point.',
    nl: 'Na NOT moet op dit punt LIKE of IN staan.',
  },
  set: {
    en: "IN must be followed by a set, such as ('a', 'b').",
    nl: "Na IN moet een verzameling staan, zoals ('a', 'b').",
  },
  tooDeep: (max: number): Text => ({
    en: `Expressions are nested at most ${max} levels deep.`,
    nl: `Expressies zijn hoogstens ${max} niveaus diep genest.`,
  }),
  operand: {
    en: 'A value, an attribute, a function or an opening parenthesis is expected here.',
    nl: 'Hier wordt een waarde, een attribuut, een functie of een haakje openen verwacht.',
  },
  plus: {
    en: 'A plus sign at the start of a value must be followed by digits.',
    nl: 'Na een plusteken aan het begin van een waarde moeten cijfers staan.',
  },
  functionUnknown: { en: 'This function does not exist.', nl: 'Deze functie bestaat niet.' },
  arity: (name: string, count: number): Text => ({
    en: `${name} does not accept this number of arguments: ${count}.`,
    nl: `${name} accepteert dit aantal argumenten niet: ${count}.`,
  }),
  attribute: {
    en: 'The name of an attribute is expected here. It must not be a keyword.',
    nl: 'Hier wordt de naam van een attribuut verwacht. Het mag geen sleutelwoord zijn.',
  },
  nameMalformed: {
    en: 'An attribute name has only the characters a-z and 0-9.',
    nl: 'De naam van een attribuut heeft alleen de tekens a-z en 0-9.',
  },
  integer: {
    en: 'An integer is between -2147483648 and 2147483647.',
    nl: 'Een integer ligt tussen -2147483648 en 2147483647.',
  },
  parenthesisUnclosed: {
    en: 'The parenthesis that opens here is never closed.',
    nl: 'Het haakje dat hier opent, wordt nergens gesloten.',
  },
  closing: {
    en: 'An operator, a comma between values or a closing parenthesis is expected here.',
    nl: 'Hier wordt een operator, een komma tussen waarden of een haakje sluiten verwacht.',
  },
};

/** Why an expression has no value for an event: the kinds of error of CloudEvents SQL, section 3.3. */
export const cesqlErrorTexts = {
  parse: { en: 'The expression cannot be parsed.', nl: 'De expressie kan niet worden gelezen.' },
  math: {
    en: 'A number is outside the range of an Integer, or is divided by zero.',
    nl: 'Een getal valt buiten het bereik van een Integer, of wordt gedeeld door nul.',
  },
  cast: {
    en: 'A value cannot be converted to the type that the expression needs.',
    nl: 'Een waarde kan niet worden omgezet naar het type dat de expressie nodig heeft.',
  },
  missingAttribute: {
    en: 'The event lacks an attribute that the expression needs. EXISTS tests for one.',
    nl: 'De gebeurtenis mist een attribuut dat de expressie nodig heeft. EXISTS test of het er is.',
  },
  missingFunction: {
    en: 'The expression calls a function that does not exist.',
    nl: 'De expressie roept een functie aan die niet bestaat.',
  },
  functionEvaluation: {
    en: 'A function does not accept its arguments, or the evaluation takes too long.',
    nl: 'Een functie accepteert haar argumenten niet, of de evaluatie duurt te lang.',
  },
  generic: {
    en: 'The expression cannot be evaluated.',
    nl: 'De expressie kan niet worden geëvalueerd.',
  },
} satisfies Record<string, Text>;

/** What the check of a filter reports. */
export const filterCheckTexts = {
  invalid: {
    en: 'The event or the filters are invalid. The faults say where, and why.',
    nl: 'De gebeurtenis of de filters zijn ongeldig. Bij faults staat waar, en waarom.',
  },
  besideSubscription: {
    en: 'Name a stored subscription or send its members here, but not both.',
    nl: 'Noem een opgeslagen abonnement of stuur hier de velden ervan, maar niet allebei.',
  },
  noSuchAttribute: {
    en: 'The event does not have this attribute.',
    nl: 'De gebeurtenis heeft dit attribuut niet.',
  },
} satisfies Record<string, Text>;

const locales: Record<Language, string> = { en: 'en-GB', nl: 'nl-NL' };

function numberText(value: number, language: Language): string {
  return value.toLocaleString(locales[language]);
}

const priceReasons = {
  lookedUp: (free: number): Text =>
    textOf((language) => {
      const steps = numberText(free, language);
      return language === 'en' ? `Filters are free up to ${steps} steps.` : `Filters zijn gratis tot ${steps} stappen.`;
    }),
  everyEvent: {
    en: 'They name nothing that Assent can look up, so Assent must test every event of the origin. Add types, a source, or a filter with exact, prefix or suffix.',
    nl: 'Ze noemen niets waarop Assent kan zoeken, dus Assent moet elke gebeurtenis van de herkomst testen. Voeg types, een source of een filter met exact, prefix of suffix toe.',
  },
};

const owners = { subscriber: 'abonnee', tenant: 'organisatie' };

/** Why filters are too expensive, for a subscription or for a message. */
export const priceTexts = {
  reasons: priceReasons,
  /** `sum` is the price of the other subscriptions, `characters` the length of the attributes of an ordinary event. */
  tooExpensive: (price: {
    price: number;
    characters: number;
    reason: Text;
    owner: keyof typeof owners;
    sum: number;
    limit: number;
  }): Text =>
    textOf((language) => {
      const { characters, reason, owner } = price;
      const [total, sum, limit] = [price.price, price.sum, price.limit].map((steps) => numberText(steps, language));
      return language === 'en'
        ? `The price of these filters is ${total}: the steps that they need for an event whose attributes have ${characters} characters. ${reason.en} A LIKE pattern with % or _ inside needs 2 steps for each character. The other subscriptions of the ${owner} have a price of ${sum}. Together they may have ${limit}.`
        : `De prijs van deze filters is ${total}: de stappen die ze nodig hebben voor een gebeurtenis waarvan de attributen ${characters} tekens hebben. ${reason.nl} Een LIKE-patroon met % of _ erin heeft 2 stappen nodig voor elk teken. De andere abonnementen van de ${owners[owner]} hebben een prijs van ${sum}. Samen mogen ze ${limit} hebben.`;
    }),
  ofFilter: (filter: number, all: number): Text =>
    textOf((language) => {
      const [steps, total] = [filter, all].map((value) => numberText(value, language));
      return language === 'en'
        ? `This filter needs ${steps} of the ${total} steps.`
        : `Dit filter heeft ${steps} van de ${total} stappen nodig.`;
    }),
  /** `worst` is the subscription whose filters took the most steps. */
  tooExpensiveForMessage: (budget: number, worst?: string): Text =>
    textOf((language) => {
      const limit = numberText(budget, language);
      if (language === 'en') {
        const advice = 'Send fewer events at once, or shorter attributes.';
        const lead = `The filters need more than ${limit} steps for this message.`;
        return worst === undefined
          ? `${lead} ${advice}`
          : `${lead} Those of subscription ${worst} need the most. ${advice} An admin can see whose subscription it is, and suspend it.`;
      }
      const advice = 'Stuur minder gebeurtenissen tegelijk, of kortere attributen.';
      const lead = `De filters hebben meer dan ${limit} stappen nodig voor dit bericht.`;
      return worst === undefined
        ? `${lead} ${advice}`
        : `${lead} Die van abonnement ${worst} hebben de meeste nodig. ${advice} Een beheerder kan zien van wie het abonnement is, en het onderbreken.`;
    }),
  ofWorst: (worst: number): Text =>
    textOf((language) => {
      const steps = numberText(worst, language);
      return language === 'en'
        ? `Its filters took ${steps} steps, more than those of any other subscription.`
        : `De filters ervan namen ${steps} stappen, meer dan die van elk ander abonnement.`;
    }),
};

const character: Text = {
  en: 'The value is compared character by character.',
  nl: 'De waarde wordt teken voor teken vergeleken.',
};

/** A value that is valid and will hardly match an event, with the spelling that would. */
export const unlikelyTexts = {
  filter: (operator: 'prefix' | 'suffix', name: string, value: string): Text => {
    const filter = JSON.stringify({ [operator]: { [name]: value } });
    return {
      en: `${character.en} For a wildcard, use the filter ${filter}.`,
      nl: `${character.nl} Gebruik in plaats van een jokerteken het filter ${filter}.`,
    };
  },
  sql: (name: string, pattern: string): Text => {
    const filter = JSON.stringify({ sql: `${name} LIKE '${pattern}'` });
    return {
      en: `${character.en} For a wildcard, use the filter ${filter}.`,
      nl: `${character.nl} Gebruik in plaats van een jokerteken het filter ${filter}.`,
    };
  },
  like: (pattern: string): Text => ({
    en: `LIKE knows "%" for any characters and "_" for one, and no asterisk. Write LIKE '${pattern}'.`,
    nl: `LIKE kent "%" voor willekeurige tekens en "_" voor één teken, en geen sterretje. Schrijf LIKE '${pattern}'.`,
  }),
  constant: (text: string): Text => ({
    en: `This compares two texts and never depends on the event: names of attributes have no quotes. Write ${text}.`,
    nl: `Dit vergelijkt twee teksten en hangt nooit van de gebeurtenis af: namen van attributen staan niet tussen aanhalingstekens. Schrijf ${text}.`,
  }),
  leaveOut: {
    en: `${character.en} For every value, leave it out.`,
    nl: `${character.nl} Laat hem weg voor elke waarde.`,
  },
  leaveOutFilter: {
    en: `${character.en} For every value, leave out this filter.`,
    nl: `${character.nl} Laat dit filter weg voor elke waarde.`,
  },
  blanks: (value: string): Text => ({
    en: `${character.en} Without blanks at the ends: ${JSON.stringify(value)}.`,
    nl: `${character.nl} Zonder spaties aan het begin en einde: ${JSON.stringify(value)}.`,
  }),
  list: (values: readonly string[]): Text => ({
    en: `${character.en} For several types, write several entries: ${JSON.stringify(values)}.`,
    nl: `${character.nl} Schrijf meerdere typen als meerdere waarden: ${JSON.stringify(values)}.`,
  }),
  noExpressions: {
    en: `${character.en} There are no regular expressions: use the filters prefix and suffix, or LIKE in sql.`,
    nl: `${character.nl} Reguliere expressies zijn er niet: gebruik de filters prefix en suffix, of LIKE in sql.`,
  },
  slash: (value: string): Text => ({
    en: `${character.en} If the events have no slash at the end of their source, write ${JSON.stringify(value)}.`,
    nl: `${character.nl} Als de gebeurtenissen geen schuine streep aan het einde van hun source hebben, schrijf dan ${JSON.stringify(value)}.`,
  }),
};
