import { textOf, type Text } from './text.js';

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
    nl: 'Geen abonnementsregel van deze afzender gaat over deze abonnee.',
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
