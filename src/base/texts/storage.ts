import type { Text } from './text.js';

const refusals: Record<'disk full' | 'read only', Text> = {
  'disk full': { en: 'its disk is full', nl: 'de schijf is vol' },
  'read only': {
    en: 'its disk is nearly full, or it is a replica',
    nl: 'de schijf is bijna vol, of het is een replica',
  },
};

/** What a caller can do about the database. */
export const storageTexts = {
  unavailable: {
    en: 'The database does not respond. Try again. A change may or may not have been made: repeat it with the same Idempotency-Key.',
    nl: 'De database reageert niet. Probeer het opnieuw. Het is niet zeker of een wijziging is doorgevoerd: herhaal die met dezelfde Idempotency-Key.',
  },
  unavailableForReads: {
    en: 'The database does not respond. Nothing was changed. Try again.',
    nl: 'De database reageert niet. Er is niets gewijzigd. Probeer het opnieuw.',
  },
  readOnly: (why: keyof typeof refusals): Text => ({
    en: `The database accepts no changes at the moment: ${refusals[why].en}. Nothing was changed.`,
    nl: `De database accepteert op dit moment geen wijzigingen: ${refusals[why].nl}. Er is niets gewijzigd.`,
  }),
  keyReused: {
    en: 'This Idempotency-Key was used for a different request.',
    nl: 'Deze Idempotency-Key is voor een ander verzoek gebruikt.',
  },
  useNewKey: {
    en: 'Use a new Idempotency-Key for a new request.',
    nl: 'Gebruik een nieuwe Idempotency-Key voor een nieuw verzoek.',
  },
};
