import type { compileFilter } from '../../src/matching/compile-filter.js';
import type { matchEvent } from '../../src/matching/match-event.js';
import type { createMatchIndex } from '../../src/matching/match-index.js';

interface Matching {
  createMatchIndex: typeof createMatchIndex;
  compileFilter: typeof compileFilter;
  matchEvent: typeof matchEvent;
}

export function comparePairs(
  matching: Matching,
  pairs: number,
  seed: number,
  subscriptions?: number,
): { compared: number; matched: number; differences: unknown[] };
