import { anchorsOf } from './cesql/anchors.js';
import { parseCesql } from './cesql/parser.js';
import { stepsOf } from './cesql/steps.js';
import type { Filter } from './filter.js';
import { otherDialect, type MatchableSubscription } from './predicate.js';

/**
 * The price of a subscription is the steps (work.ts) that its filters take for an ordinary event, whose attributes have
 * 256 characters. It is 0 where the index looks the subscription up and its filters are cheap, as nearly all are: such
 * ones cost only the events that they are about.
 *
 * What may be stored is bounded by the sum of these prices, so that the filters of a tenant fit into the budget of every
 * ordinary message.
 */
export function priceOf(subscription: Wishes): number {
  const { filters = [] } = subscription;
  if (filters.length === 0) return 0;
  const steps = filters.reduce((sum, filter) => sum + stepsOfFilter(filter), stepsOfSubscription);
  return steps <= cheapSteps && isLookedUp(subscription) ? 0 : steps;
}

export type Wishes = Omit<MatchableSubscription, 'id'>;

/** Of the values of an ordinary event. */
export const ordinaryCharacters = 256;
/** Up to here a subscription that is looked up is free. */
export const cheapSteps = 1_024;
const stepsOfSubscription = 16;
const stepsOfLeaf = 4;

/** What one filter adds to the price. */
export function stepsOfFilter(filter: Filter): number {
  if ('all' in filter) return sumOf(filter.all);
  if ('any' in filter) return sumOf(filter.any);
  if ('not' in filter) return stepsOfFilter(filter.not);
  const { dialect, text } = otherDialect(filter);
  if (dialect !== 'sql') return Object.keys(Object.values(filter)[0] as object).length * stepsOfLeaf;
  const parsed = parseCesql(text);
  return 'expression' in parsed ? stepsOf(parsed.expression, ordinaryCharacters) : 0;
}

function sumOf(filters: readonly Filter[]): number {
  return filters.reduce((sum, filter) => sum + stepsOfFilter(filter), 0);
}

/** Whether the subscription names something that an event must have, so that others are not held against it. */
export function isLookedUp({ source, types, subject, filters = [] }: Wishes): boolean {
  if (source !== undefined || subject !== undefined || (types?.length ?? 0) > 0) return true;
  return filters.some((filter) => hasAnchor(filter, true));
}

function hasAnchor(filter: Filter, wanted: boolean): boolean {
  if ('not' in filter) return hasAnchor(filter.not, !wanted);
  // By De Morgan's laws: what is not in any of several is in none of them.
  if ('all' in filter) return holds(filter.all, wanted, wanted);
  if ('any' in filter) return holds(filter.any, wanted, !wanted);
  const { dialect, text } = otherDialect(filter);
  const leaves = Object.keys(Object.values(filter)[0] as object).length;
  if (!wanted) return false;
  if (dialect !== 'sql') return leaves > 0;
  const parsed = parseCesql(text);
  return 'expression' in parsed && anchorsOf(parsed.expression).length > 0;
}

/** Of an `all` one child with an anchor is enough; of an `any` each must have one. */
function holds(filters: readonly Filter[], wanted: boolean, isAll: boolean): boolean {
  const has = (filter: Filter) => hasAnchor(filter, wanted);
  return isAll ? filters.some(has) : filters.every(has);
}
