import type { compileFilter } from '../../src/matching/filters/compile-filter.js';
import type { attributesOf } from '../../src/events/context-attributes.js';
import type { createMatchIndex } from '../../src/matching/index/match-index.js';

interface Matching {
  createMatchIndex: typeof createMatchIndex;
  compileFilter: typeof compileFilter;
  attributesOf: typeof attributesOf;
}

export function comparePairs(
  matching: Matching,
  pairs: number,
  seed: number,
  subscriptions?: number,
): { compared: number; matched: number; differences: unknown[] };
