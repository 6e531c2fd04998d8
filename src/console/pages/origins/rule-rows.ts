import type { Schemas } from '../../../kits/client/index.js';

export type Rule = Schemas['SubscriptionRule'];

/** What a row has a field for. A rule can also have claims, which are edited as JSON. */
export const lists = ['subscribers', 'types', 'sources', 'subjects'] as const;

const isList = (value: unknown) =>
  value === undefined ||
  (Array.isArray(value) &&
    value.every((each) => typeof each === 'string' && each !== '') &&
    new Set(value).size === value.length);

/** Whether rows show all of it, and give it back as it was. Members without a field are kept. */
export function fitsRows(value: unknown): value is Rule[] {
  return (
    Array.isArray(value) &&
    value.every((rule: unknown) => {
      if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return false;
      const { name, ...members } = rule as Record<string, unknown>;
      return typeof name === 'string' && lists.every((member) => isList(members[member]));
    })
  );
}

const maxName = 100;

/**
 * Rules that allow these subscriptions, and little more: subscribers with the same limits share a rule. What one of the
 * subscriptions of a subscriber leaves open is not limited.
 */
export function rulesFrom(
  subscriptions: ReadonlyArray<Pick<Schemas['Subscription'], 'subscriber' | 'types' | 'source' | 'subject'>>,
): Rule[] {
  const limitsOf = (subscriber: string) => {
    const own = subscriptions.filter((each) => each.subscriber === subscriber);
    const union = (values: ReadonlyArray<readonly string[]>) =>
      values.some(({ length }) => length === 0) ? undefined : [...new Set(values.flat())].sort();
    const limits = {
      types: union(own.map(({ types }) => types ?? [])),
      sources: union(own.map(({ source }) => (source === undefined ? [] : [source]))),
      subjects: union(own.map(({ subject }) => (subject === undefined ? [] : [subject]))),
    };
    return JSON.stringify(limits);
  };
  const subscribersOf = new Map<string, string[]>();
  for (const subscriber of [...new Set(subscriptions.map((each) => each.subscriber))].sort()) {
    const limits = limitsOf(subscriber);
    subscribersOf.set(limits, [...(subscribersOf.get(limits) ?? []), subscriber]);
  }
  return [...subscribersOf].map(([limits, subscribers]) => ({
    name: `${subscribers[0]?.slice(0, maxName - 6)}${subscribers.length === 1 ? '' : ` +${subscribers.length - 1}`}`,
    subscribers,
    ...(JSON.parse(limits) as Partial<Rule>),
  }));
}
