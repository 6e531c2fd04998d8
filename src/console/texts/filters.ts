import type { Text } from '../app/text.js';

/** The conditions of a filter, and whether an event meets them. */
export const filterTexts = {
  title: { en: 'Further conditions', nl: 'Verdere voorwaarden' },
  jsonHint: {
    en: 'A JSON array. An event must match every filter. Dialects: exact, prefix, suffix, all, any, not, sql.',
    nl: 'Een JSON-array. Een gebeurtenis moet aan elk filter voldoen. Dialecten: exact, prefix, suffix, all, any, not, sql.',
  },
  asJson: { en: 'Edit as JSON', nl: 'Wijzigen als JSON' },
  asRows: { en: 'Edit as conditions', nl: 'Wijzigen als voorwaarden' },
  add: { en: '+ Condition', nl: '+ Voorwaarde' },
  remove: { en: 'Remove this condition', nl: 'Deze voorwaarde verwijderen' },
  condition: (number: string): Text => ({ en: `Condition ${number}`, nl: `Voorwaarde ${number}` }),
  attribute: { en: 'Attribute', nl: 'Attribuut' },
  operator: { en: 'Operator', nl: 'Operator' },
  value: { en: 'Value', nl: 'Waarde' },
  expression: { en: 'Expression (CESQL)', nl: 'Expressie (CESQL)' },
  group: { en: 'How many must hold', nl: 'Hoeveel er moeten gelden' },
  /** Each with its contrary. */
  operators: {
    exact: [
      { en: 'is', nl: 'is' },
      { en: 'is not', nl: 'is niet' },
    ],
    prefix: [
      { en: 'begins with', nl: 'begint met' },
      { en: 'does not begin with', nl: 'begint niet met' },
    ],
    suffix: [
      { en: 'ends with', nl: 'eindigt op' },
      { en: 'does not end with', nl: 'eindigt niet op' },
    ],
  },
  groups: {
    all: [
      { en: 'all of', nl: 'alle van' },
      { en: 'not all of', nl: 'niet alle van' },
    ],
    any: [
      { en: 'any of', nl: 'een van' },
      { en: 'none of', nl: 'geen van' },
    ],
  },
  expressions: {
    sql: [
      { en: 'CESQL', nl: 'CESQL' },
      { en: 'not CESQL', nl: 'niet CESQL' },
    ],
  },
  isOneOf: { en: 'is one of', nl: 'is een van' },
  fillIn: {
    en: 'Fill in an attribute and a value, or remove this condition.',
    nl: 'Vul een attribuut en een waarde in, of verwijder deze voorwaarde.',
  },

  try: { en: 'Try an event', nl: 'Een gebeurtenis proberen' },
  event: { en: 'Event', nl: 'Gebeurtenis' },
  fromForm: { en: 'Make one from the form again', nl: 'Opnieuw maken uit het formulier' },
  matches: { en: 'matches', nl: 'voldoet' },
  matchesNot: { en: 'does not match', nl: 'voldoet niet' },
  holds: { en: 'Yes:', nl: 'Ja:' },
  holdsNot: { en: 'No:', nl: 'Nee:' },
  every: { en: 'Every event of this origin matches.', nl: 'Elke gebeurtenis van deze herkomst voldoet.' },
  mendFirst: {
    en: 'Correct the form to see whether it matches.',
    nl: 'Verbeter eerst het formulier om te zien of de gebeurtenis voldoet.',
  },
} as const;
