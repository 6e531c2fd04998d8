import { anchorsOf } from '../cesql/anchors.js';
import { parseCesql } from '../cesql/parser.js';
import { stepsOf } from '../cesql/steps.js';
import type { Filter } from './filter.js';
import { otherDialect, type MatchableSubscription } from './predicate.js';

/**
 * The price of a subscription is the steps (work.ts) that its filters take for an ordinary event, whose attributes have
 * 256 characters. It is 0 if the index can look the subscription up and its filters are cheap, as nearly all are: such
 * filters cost time only for the events that they are about.
 *
 * The sum of these prices is limited, so that the filters of a tenant fit into the budget of every ordinary message.
 */
export function priceOf(subscription: PricedSubscription): number {
  const { filters = [] } = subscription;
  if (filters.length === 0) return 0;
  const steps = filters.reduce((sum, filter) => sum + stepsOfFilter(filter), stepsOfSubscription);
  return steps <= cheapSteps && isLookedUp(subscription) ? 0 : steps;
}

export type PricedSubscription = Omit<MatchableSubscription, 'id'>;

/** Characters of an attribute of an ordinary event. */
export const ordinaryCharacters = 256;
/** Up to this limit, a subscription that can be looked up is free. */
export const cheapSteps = 1_024;
const stepsOfSubscription = 16;
const stepsOfLeaf = 4;

/** The part of one filter in the price. */
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

/** Whether the subscription names something that an event must have, so that other events are not tested. */
export function isLookedUp({ source, types, subject, filters = [] }: PricedSubscription): boolean {
  if (source !== undefined || subject !== undefined || (types?.length ?? 0) > 0) return true;
  return filters.some((filter) => hasAnchor(filter, true));
}

function hasAnchor(filter: Filter, wanted: boolean): boolean {
  if ('not' in filter) return hasAnchor(filter.not, !wanted);
  // By De Morgan's laws, not any is the same as none.
  if ('all' in filter) return holds(filter.all, wanted, wanted);
  if ('any' in filter) return holds(filter.any, wanted, !wanted);
  const { dialect, text } = otherDialect(filter);
  const leaves = Object.keys(Object.values(filter)[0] as object).length;
  if (!wanted) return false;
  if (dialect !== 'sql') return leaves > 0;
  const parsed = parseCesql(text);
  return 'expression' in parsed && anchorsOf(parsed.expression).length > 0;
}

/** For an `all` one child with an anchor is enough; for an `any` each child must have one. */
function holds(filters: readonly Filter[], wanted: boolean, isAll: boolean): boolean {
  const has = (filter: Filter) => hasAnchor(filter, wanted);
  return isAll ? filters.some(has) : filters.every(has);
}
