// Random subscriptions and events that hit each other often: few names, few values, and values that are beginnings and
// ends of each other. The same seed gives the same sequence.

/** A small generator of numbers from 0 up to 1 (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  };
}

const names = ['type', 'source', 'subject', 'id', 'time', 'count', 'tenantid'];
const texts = [
  'a',
  'ab',
  'abc',
  'b',
  'ba',
  'com.example.',
  'com.example.created',
  'com.example.created.v1',
  '5',
  'true',
];
const more = [
  'com.example.removed',
  'com.exämple.\u{1f600}',
  '\u{1f600}',
  '\ud83d',
  '/x',
  '/x/y',
  'x/y',
  'y',
  'Com.example.',
];
const values = [...texts, ...more];

export function randomEvent(random) {
  const event = {};
  for (const name of names) if (random() < 0.7) event[name] = pick(random, values);
  if (random() < 0.2) event.count = Math.floor(random() * 7);
  if (random() < 0.2) event.tenantid = random() < 0.5;
  return event;
}

export function randomSubscription(random, id) {
  const subscription = { id };
  if (random() < 0.3) subscription.source = pick(random, values);
  if (random() < 0.4) subscription.types = several(random, 3, () => pick(random, values));
  if (random() < 0.15) subscription.subject = pick(random, values);
  if (random() < 0.7) subscription.filters = several(random, 3, () => randomFilter(random, 4));
  return subscription;
}

export function randomFilter(random, depth) {
  const chance = depth <= 1 ? random() * 0.6 : random();
  if (chance < 0.25) return { exact: attributes(random) };
  if (chance < 0.45) return { prefix: attributes(random) };
  if (chance < 0.6) return { suffix: attributes(random) };
  if (chance < 0.73) return { all: several(random, 3, () => randomFilter(random, depth - 1)) };
  if (chance < 0.86) return { any: several(random, 3, () => randomFilter(random, depth - 1)) };
  return { not: randomFilter(random, depth - 1) };
}

function attributes(random) {
  return Object.fromEntries(several(random, 2, () => [pick(random, names), pick(random, values)]));
}

function several(random, max, make) {
  return Array.from({ length: 1 + Math.floor(random() * max) }, make);
}

export function pick(random, list) {
  return list[Math.floor(random() * list.length)];
}
