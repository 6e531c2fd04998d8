import { expect, test } from '@jest/globals';
import { attributesOf } from '../../../src/events/context-attributes.js';
import { compileFilter } from '../../../src/matching/filters/compile-filter.js';
import { dialects } from '../../../src/matching/filters/dialects.js';
import type { Filter } from '../../../src/matching/filters/filter.js';
import type { SubscriptionRule } from '../../../src/consent/origin.js';
import { refuseUnallowed, type RequestedEvents } from '../../../src/registry/subscriptions/allowed.js';

/** A small generator with a seed (mulberry32), so that a failure repeats. */
function generator(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const some = <T>(make: () => T, max: number) => Array.from({ length: 1 + below(max) }, make);
  return { chance: (share: number) => next() < share, pick, some };
}
type Random = ReturnType<typeof generator>;

/** Texts that are nearly each other: beginnings, other cases, look-alikes and a literal asterisk. */
const texts = [
  'a',
  'ab',
  'abc',
  'abd',
  'A',
  'Ab',
  'b',
  'ba',
  'a*',
  'ab*',
  '*',
  'ａ',
  'á',
  'a\u0301',
  '🙂',
  '🙃',
  'a🙂',
];
const values = [...texts.filter((text) => !text.includes('*')), 'a*', 'ab*', 'b*', 'A*', 'a🙂*', '🙂*'];
const names = ['type', 'source', 'subject', 'other'] as const;

function filterOf(random: Random, depth = 0): Filter {
  const leaf = () => Object.fromEntries(random.some(() => [random.pick(names), random.pick(texts)] as const, 2));
  const nested = () => random.some(() => filterOf(random, depth + 1), 3);
  const kinds = [
    'exact',
    'exact',
    'prefix',
    'prefix',
    'suffix',
    'sql',
    ...(depth < 3 ? ['all', 'any', 'any', 'not'] : []),
  ];
  switch (random.pick(kinds)) {
    case 'exact':
      return { exact: leaf() };
    case 'prefix':
      return { prefix: leaf() };
    case 'suffix':
      return { suffix: leaf() };
    case 'all':
      return { all: nested() };
    case 'any':
      return { any: nested() };
    case 'not':
      return { not: filterOf(random, depth + 1) };
    default:
      return { sql: random.pick(["type = 'ab'", "type LIKE 'a%'", 'EXISTS subject', 'TRUE', "subject <> 'a'"]) };
  }
}

function wishesOf(random: Random): RequestedEvents {
  const maybe = <T>(share: number, make: () => T) => (random.chance(share) ? make() : undefined);
  return {
    source: maybe(0.4, () => random.pick(texts)),
    types: random.chance(0.1) ? [] : maybe(0.5, () => [...new Set(random.some(() => random.pick(texts), 3))]),
    subject: maybe(0.4, () => random.pick(texts)),
    filters: maybe(0.6, () => random.some(() => filterOf(random), 2)),
  };
}

function ruleOf(random: Random): SubscriptionRule {
  const maybe = (share: number) => (random.chance(share) ? random.some(() => random.pick(values), 4) : undefined);
  const rule = { name: 'rule', types: maybe(0.6), sources: maybe(0.4), subjects: maybe(0.4) };
  const who = random.chance(0.2) ? { subscribers: ['someone else'] } : {};
  return { ...(JSON.parse(JSON.stringify(rule)) as SubscriptionRule), ...who };
}

interface Event {
  type: string;
  source: string;
  subject?: string;
  other?: string;
}

/** Near the subscription, so that many match: its own texts, and longer ones. */
function eventOf(random: Random, wishes: RequestedEvents): Event {
  const near = JSON.stringify(wishes).match(/(?<=:"|\["|,")[^"]+(?="[\]},])/g) ?? ['b'];
  const text = () =>
    random.chance(0.2)
      ? random.pick(texts)
      : random.pick(['', '', '', 'z']) + random.pick(near) + random.pick(['', '', 'b', 'x', '*']);
  return {
    type: text(),
    source: text(),
    ...(random.chance(0.7) && { subject: text() }),
    ...(random.chance(0.5) && { other: text() }),
  };
}

/** Written apart from the product, and only for events. */
function isWithin(rule: SubscriptionRule, event: Event): boolean {
  if (rule.subscribers !== undefined && !rule.subscribers.includes('me')) return false;
  const fits = (allowed: string[] | undefined, text: string | undefined) =>
    allowed === undefined ||
    (text !== undefined &&
      allowed.some((value) =>
        value.endsWith('*') ? text.indexOf(value.substring(0, value.length - 1)) === 0 : text === value,
      ));
  return fits(rule.types, event.type) && fits(rule.sources, event.source) && fits(rule.subjects, event.subject);
}

test('an allowed subscription matches no event that the rules about its subscriber do not allow', () => {
  let allowed = 0;
  let matched = 0;
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const random = generator(seed);
    const subscriptionRules = random.some(() => ruleOf(random), 3);
    const wishes = wishesOf(random);
    const refused = refuseUnallowed({ name: 'o.example', subscriptionRules }, { subscriber: 'me' }, wishes);
    if (refused !== undefined) {
      if (refused.faults.length === 0) throw new Error(`seed ${seed} is refused without a fault`);
      continue;
    }
    allowed += 1;
    const matches = compileFilter({ id: '1', ...wishes }, dialects);
    for (let count = 0; count < 30; count += 1) {
      const event = eventOf(random, wishes);
      if (!matches(attributesOf({ ...event }))) continue;
      matched += 1;
      if (subscriptionRules.some((rule) => isWithin(rule, event))) continue;
      throw new Error(`seed ${seed}: ${JSON.stringify({ subscriptionRules, wishes, event })}`);
    }
  }
  // The property says something only if many are allowed and match.
  expect(allowed).toBeGreaterThan(200);
  expect(matched).toBeGreaterThan(400);
});

test('a refused subscription whose values are all literal could match an event that no rule allows', () => {
  let refusals = 0;
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const random = generator(seed);
    const subscriptionRules = random.some(() => ruleOf(random), 3);
    const wishes = {
      source: random.pick(texts),
      types: [random.pick(texts), random.pick(texts)],
      subject: random.pick(texts),
      filters: undefined,
    };
    if (refuseUnallowed({ name: 'o.example', subscriptionRules }, { subscriber: 'me' }, wishes) === undefined) continue;
    refusals += 1;
    const events = wishes.types.map((type) => ({ type, source: wishes.source, subject: wishes.subject }));
    const isOutside = (event: Event) => !subscriptionRules.some((rule) => isWithin(rule, event));
    if (!events.some(isOutside)) throw new Error(`seed ${seed}: ${JSON.stringify({ subscriptionRules, wishes })}`);
  }
  expect(refusals).toBeGreaterThan(400);
});
