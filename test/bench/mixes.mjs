// Made-up registries to measure with. Subscriptions come in circles: a circle is everybody who wants one kind of event,
// and has 1, 10 or 100 subscriptions. Two of five subscriptions are in circles of one, three in circles of 10, the rest
// in circles of 100. A thousand organisations (fewer in a small registry) share a vocabulary of types, actions and
// regions.
//
// Within a circle the filters differ as they do among people: half of them add a condition or a type of their own, and
// the others are what several subscribers ask for alike.
import { pick, seeded } from './random-filters.mjs';

const domains = ['orders', 'billing', 'permits', 'sensors', 'shipments', 'citizens', 'cases', 'documents'];
const entities = ['order', 'invoice', 'permit', 'reading', 'parcel', 'address', 'case', 'file'];
const actions = ['created', 'updated', 'removed', 'approved', 'rejected', 'archived'];
const regions = ['eu-west', 'eu-north', 'us-east', 'ap-south'];
const circleSizes = [1, 10, 100];
const hotType = 'com.example.everybody.wants.this';

export const mixNames = ['exact', 'mixed', 'unanchored'];
/** Mixes to find out what one property costs: compare with the mix without it. */
export const sideMixNames = ['mixed-plain', 'hot-type', 'lengths'];

/** Calls `take(subscription, number)` for each of `size` subscriptions, the same ones every time. */
export function eachSubscription(mix, size, take) {
  const random = seeded(size);
  const circles = circlesOf(size);
  let number = 0;
  for (let circle = 0; number < size; circle += 1) {
    const event = circleEvent(circle, circles.organisations);
    for (let member = 0; member < circles.sizeOf(circle) && number < size; member += 1, number += 1) {
      const id = `${hex(random)}-${hex(random).slice(0, 4)}-4${hex(random).slice(0, 3)}-9000-${hex(random)}0000`;
      // As it comes from a request or a row: no string shares memory with another.
      take(JSON.parse(JSON.stringify({ id, ...subscriptionOf(mix, random, event, circle, number) })), number);
    }
  }
}

/**
 * Up to `most` events that should match 0, 1, 10 or 100 subscriptions of the mix, spread over the registry. Prefixes of
 * a neighbour match too now and then: whoever measures counts, and leaves those out.
 */
export function eventsOf(mix, size, matched, max) {
  const random = seeded(size + matched + 1);
  const circles = circlesOf(size);
  const isHot = mix === 'hot-type';
  const wanted = isHot ? matched * 10 : matched;
  const events = [];
  for (let tries = 0; events.length < max && tries < max * 200; tries += 1) {
    const circle = Math.floor(random() * circles.count);
    const event = circleEvent(circle, circles.organisations);
    if (isHot) event.type = hotType;
    if (matched === 0) {
      // A type and an organisation that everybody knows, but of a source and subject that nobody asked for.
      events.push(
        finish(
          { ...event, source: `${event.source}x`, subject: hex(random), type: `com.example.${event.type}` },
          random,
        ),
      );
    } else if (circles.sizeOf(circle) === wanted) {
      events.push(finish(event, random));
    }
  }
  return events;
}

function finish(event, random) {
  return JSON.parse(JSON.stringify({ specversion: '1.0', id: hex(random), time: '2025-01-01T00:00:00Z', ...event }));
}

/** Which circle has which size follows from its number: of 344 circles 308 are of one, 33 of 10 and 3 of 100. */
function circlesOf(size) {
  const sizeOf = (circle) => {
    const place = (circle * 149) % 437;
    return circleSizes[place < 400 ? 0 : place < 430 ? 1 : 2];
  };
  let left = size;
  let count = 0;
  while (left > 0) left -= sizeOf(count++);
  // The last circle may be cut short: no event is made of it.
  return { count: count - 1, sizeOf, organisations: Math.max(10, Math.min(1000, Math.floor(size / 100))) };
}

function circleEvent(circle, organisations) {
  const organisation = circle % organisations;
  const random = seeded(circle);
  const entity = `${pick(random, entities)}${Math.floor(circle / organisations)}`;
  return {
    type: `com.organisation${organisation}.${pick(random, domains)}.${entity}.${pick(random, actions)}.v1`,
    source: `https://organisation${organisation}.example.com/${pick(random, regions)}/systems/${circle}`,
    subject: `${entity}/${circle}-${Math.floor(random() * 1e4)}`,
    tenantid: `t${organisation}`,
  };
}

function subscriptionOf(mix, random, event, circle, number) {
  if (mix === 'exact') return exactOf(random, event);
  if (mix === 'hot-type') return number % 10 === 0 ? hotOf(random, event) : mixedOf(random, event, 1);
  if (mix === 'lengths') return lengthsOf(random, event, circle);
  if (mix === 'unanchored' && random() < 0.005) return unanchoredOf(random);
  return mixedOf(random, event, mix === 'mixed-plain' ? 0.95 : 1);
}

function mixedOf(random, event, upTo) {
  const chance = random() * upTo;
  if (chance < 0.6) return exactOf(random, event);
  if (chance < 0.85) return also(random, event, { filters: [{ prefix: prefixOf(random, event) }] });
  if (chance < 0.95)
    return also(random, event, { filters: [{ suffix: { subject: event.subject.slice(-tail(event)) } }] });
  return oddOf(random, event);
}

/** Source and types, or type and subject in a filter. */
function exactOf(random, event) {
  if (random() < 0.2)
    return also(random, event, { filters: [{ exact: { type: event.type, subject: event.subject } }] });
  const types = [event.type];
  while (random() < 0.5 && types.length < 4) types.push(`${event.type.slice(0, -2)}v${2 + Math.floor(random() * 50)}`);
  return { source: event.source, types };
}

/** Of the type up to its entity or a little further, or of the source but for its last character or two. */
function prefixOf(random, event) {
  if (random() < 0.3) return { source: event.source.slice(0, event.source.length - Math.floor(random() * 2)) };
  const toEntity = event.type.split('.').slice(0, 4).join('.').length + 1;
  return { type: event.type.slice(0, toEntity + Math.floor(random() * 6)) };
}

/** Half of the subscriptions have one more condition, which is true for the events that are sent. */
function also(random, event, subscription) {
  if (random() < 0.5) return subscription;
  const { filters } = subscription;
  const not = { not: { exact: { subject: `${Math.floor(random() * 1e6)}` } } };
  const extra = random() < 0.5 ? not : { exact: { tenantid: event.tenantid } };
  return { ...subscription, filters: [...filters, extra] };
}

/** any, not, sql, and conditions that only come to light when `not` is taken apart. */
function oddOf(random, event) {
  const other = `${event.type}.${Math.floor(random() * 1000)}`;
  const chance = random();
  if (chance < 0.3)
    return { filters: [{ any: [{ exact: { type: event.type, source: event.source } }, { prefix: { type: other } }] }] };
  if (chance < 0.5)
    return { source: event.source, filters: [{ not: { suffix: { type: `.v${2 + Math.floor(random() * 99)}` } } }] };
  if (chance < 0.6)
    return { filters: [{ sql: `type = '${event.type}' AND subject LIKE '${event.subject.slice(0, 4)}%'` }] };
  if (chance < 0.75)
    return { filters: [{ not: { any: [{ not: { exact: { source: event.source } } }, { exact: { type: other } }] } }] };
  return {
    filters: [
      { any: [{ exact: { type: other } }, { suffix: { subject: event.subject.slice(-tail(event)) } }] },
      { not: { exact: { subject: other } } },
    ],
  };
}

/** True for no event that is sent, but nothing shows that before it is tried. */
function unanchoredOf(random) {
  return { filters: [{ not: { prefix: { type: 'com.' } } }, { not: { exact: { subject: hex(random) } } }] };
}

/** Everybody asks for one type, and each for a subject. Events have the type of their circle, or this one. */
function hotOf(random, event) {
  return {
    types: [hotType],
    filters: [{ exact: { subject: event.subject } }, { not: { exact: { id: hex(random) } } }],
  };
}

/** Prefixes of fifty lengths. */
function lengthsOf(random, event, circle) {
  return { filters: [{ prefix: { type: `${event.type}${'.x'.repeat(25)}`.slice(0, 20 + (circle % 50)) } }] };
}

function tail(event) {
  return event.subject.length - event.subject.indexOf('/');
}

function hex(random) {
  return Math.floor(random() * 0x100000000)
    .toString(16)
    .padStart(8, '0');
}
