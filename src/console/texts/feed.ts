import type { Text } from '../app/text.js';

export const feedTexts = {
  title: { en: 'Live feed', nl: 'Feed' },
  waiting: {
    en: 'Changes appear here as they happen. There was none since you opened this page.',
    nl: 'Wijzigingen verschijnen hier zodra ze gebeuren. Sinds u deze pagina opende, was er nog geen.',
  },
  off: {
    en: 'Your token may not follow the feed.',
    nl: 'Met uw token kunt u de feed niet volgen.',
  },
  newestFirst: {
    en: 'Newest first, at most 300, since you opened this page. While you read further down or have a change open, new changes wait.',
    nl: 'De nieuwste eerst, hoogstens 300, sinds u deze pagina opende. Leest u verder naar beneden of hebt u een wijziging open, dan wachten nieuwe wijzigingen.',
  },
  pause: { en: 'Pause', nl: 'Pauzeren' },
  continue: { en: 'Continue', nl: 'Doorgaan' },
  showWaiting: { en: 'Show {n} new', nl: 'Toon {n} nieuwe' },
  at: { en: 'Time', nl: 'Tijd' },
  kind: { en: 'Change', nl: 'Wijziging' },
  origin: { en: 'Origin', nl: 'Afzender' },
  about: { en: 'About', nl: 'Betreft' },
  state: { en: 'State', nl: 'Toestand' },
  showState: { en: 'State as JSON', nl: 'Toestand als JSON' },
  gone: { en: 'gone', nl: 'weg' },
} satisfies Record<string, Text>;
