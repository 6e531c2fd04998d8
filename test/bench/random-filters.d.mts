import type { AttributeValue } from '../../src/events/context-attributes.js';
import type { Filter } from '../../src/matching/filters/filter.js';
import type { MatchableSubscription } from '../../src/matching/filters/predicate.js';

export type Random = () => number;
export function seeded(seed: number): Random;
export function randomEvent(random: Random): Record<string, AttributeValue>;
export function randomSubscription(random: Random, id: string): MatchableSubscription;
export function randomFilter(random: Random, depth: number): Filter;
export function pick<T>(random: Random, list: readonly T[]): T;
