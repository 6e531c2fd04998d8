import { compileFilter } from './compile-filter.js';
import { dialects } from './dialects.js';
import type { ContextAttributes } from '../events/context-attributes.js';
import type { MatchableSubscription } from './predicate.js';

/** The JSON pointer of the first part of a subscription that does not hold for an event; undefined if all of it holds. */
export function firstFailure(subscription: MatchableSubscription, event: ContextAttributes): string | undefined {
  const { source, types, subject, filters = [] } = subscription;
  const parts: Array<[string, Partial<MatchableSubscription>]> = [
    ['/source', { source }],
    ['/types', { types }],
    ['/subject', { subject }],
    ...filters.map((filter, index): [string, Partial<MatchableSubscription>] => [
      `/filters/${index}`,
      { filters: [filter] },
    ]),
  ];
  return parts.find(([, part]) => !compileFilter({ id: '', ...part }, dialects)(event))?.[0];
}
