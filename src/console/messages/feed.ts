import type { Text } from '../app/text.js';

export const feedMessages = {
  title: { en: 'Live feed', nl: 'Feed' },
  waiting: {
    en: 'Changes appear here as they happen. There was none since you opened this page.',
    nl: 'Wijzigingen verschijnen hier zodra ze gebeuren. Sinds u deze pagina opende, was er nog geen.',
  },
  newestFirst: {
    en: 'Newest first, since you opened this page.',
    nl: 'De nieuwste eerst, sinds u deze pagina opende.',
  },
  at: { en: 'Time', nl: 'Tijd' },
  kind: { en: 'Change', nl: 'Wijziging' },
  origin: { en: 'Origin', nl: 'Afzender' },
  about: { en: 'About', nl: 'Betreft' },
  revision: { en: 'Revision', nl: 'Revisie' },
} satisfies Record<string, Text>;
