import { BlockList, isIPv6 } from 'node:net';
import { beforeEach, expect, test } from '@jest/globals';
import { dialects } from '../../../src/matching/filters/dialects.js';
import { compileFailure } from '../../../src/registry/match/explain.js';
import { attributesOf } from '../../../src/events/context-attributes.js';
import { Replica, putOrRemove } from '../../../src/matching/replica/replica.js';
import { bases } from '../../../src/consent/decision.js';
import type { GrantState, SubscriptionState } from '../../../src/matching/replica/state.js';

const present = '2026-01-01T00:00:00.000Z';
let now: number;
const later = '2026-01-02T00:00:00.000Z';
const earlier = '2025-12-31T00:00:00.000Z';
const origins = ['a.example.com', 'b.example.com'];
let replica: Replica;

beforeEach(() => {
  now = Date.parse(present);
  replica = new Replica({ dialects, now: () => now });
  for (const name of origins) {
    replica.put({ kind: 'origin', tenant: name[0]!, origin: name }, { name, isdefault: true, profile: 'cloudevents' });
  }
});

const subscribers = ['zaaksysteem', 'archief', 'balie'];
const addresses = ['203.0.113.7', '198.51.100.7', '2001:db8::7', undefined];
const sinks = [
  ...Array.from({ length: 8 }, (_, place) => `https://hooks.example.com/${place}`),
  ...[
    'https://example.com/',
    'https://a.hooks.example.com:8443/',
    'https://203.0.113.9/',
    'https://[2001:db8::9]:8443/',
  ],
];
const values = [
  ...origins.map((value) => ({ kind: 'origin', value })),
  ...[sinks[0]!, sinks[9]!].map((value) => ({ kind: 'sink', value })),
  ...['hooks.example.com', '[2001:db8::9]'].map((value) => ({ kind: 'host', value })),
  ...['hooks.example.com', 'example.com', 'xample.com'].map((value) => ({ kind: 'domain', value })),
  ...['203.0.113.0/24', '203.0.113.8/30', '2001:db8::/32'].map((value) => ({ kind: 'network', value })),
  ...subscribers.map((value) => ({ kind: 'subscriber', value })),
  { kind: 'tenant', value: 'a' },
];

/** Any of the members, or `undefined` for one that is absent. */
type Members<Of> = { [Name in keyof Of]?: Of[Name] | undefined };

const subscription = (id: string, origin: string, sink: string, more: Members<SubscriptionState> = {}) =>
  ({
    id,
    origin,
    sink,
    types: [],
    hascredential: false,
    suspended: false,
    ...more,
  }) as SubscriptionState;
const grant = (origin: string, sink: string, more: Members<GrantState> = {}) =>
  ({
    id: '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f',
    origin,
    sink,
    state: 'live',
    basis: 'response',
    allowedrate: 120,
    expiresat: later,
    ...more,
  }) as GrantState;

const hasEnded = ({ expiresat }: SubscriptionState) => Boolean(expiresat) && Date.parse(expiresat!) <= now;

/** The expected results, computed from plain rows. */
class Model {
  readonly subscriptions = new Map<string, SubscriptionState>();
  readonly grants = new Map<string, GrantState>();
  readonly blocks = new Map<string, { tenant: string; kind: string; value: string }>();

  stops(origin: string, sink: string, address: string | null | undefined): boolean {
    const blocks = this.blocksOf(origin);
    if (blocks.length === 0) return false;
    const { hostname } = new URL(sink);
    const asked = /^[[\d]/.test(hostname) ? hostname.replace(/[[\]]/g, '') : address;
    return blocks.some(({ kind, value }) => {
      const [network = '', prefix] = value.split('/');
      const list = new BlockList();
      if (kind === 'network') list.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4');
      return {
        tenant: true,
        origin: value === origin,
        sink: value === sink,
        host: value === hostname,
        domain: `.${hostname}`.endsWith(`.${value}`),
        network: Boolean(asked) && list.check(asked!, isIPv6(asked!) ? 'ipv6' : 'ipv4'),
      }[kind];
    });
  }

  isBarred({ origin, subscriber }: SubscriptionState): boolean {
    return this.blocksOf(origin).some(({ kind, value }) => kind === 'subscriber' && value === subscriber);
  }

  blocksOf(origin: string) {
    return [...this.blocks.values()].filter(({ tenant }) => tenant === '*' || tenant === origin[0]);
  }

  denial(origin: string, sink: string): string | undefined {
    const held = this.grants.get(`${origin} ${sink}`);
    if (held === undefined) return 'no_grant';
    if (held.state !== 'live') return held.state;
    if (this.stops(origin, sink, held.address)) return 'blocked';
    if (Date.parse(held.expiresat) <= now) return 'expired';
    const own = [...this.subscriptions.values()].filter((each) => each.origin === origin && each.sink === sink);
    const counted = own.filter((each) => !hasEnded(each));
    if (
      counted.every((each) => each.suspended || this.isBarred(each)) &&
      (counted.length > 0 || held.basis !== 'agreement')
    ) {
      return counted.length === 0 && own.length > 0 ? 'ended' : 'suspended';
    }
    return held.helduntil && Date.parse(held.helduntil) > now ? 'held' : undefined;
  }

  open(origin: string): SubscriptionState[] {
    const own = [...this.subscriptions.values()].filter((each) => each.origin === origin);
    return own.filter((each) => !each.suspended && !this.isBarred(each) && !hasEnded(each));
  }

  match(origin: string, event: ReturnType<typeof attributesOf>): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const each of this.open(origin)) {
      const denial = this.denial(origin, each.sink);
      const isDeliverable = denial === undefined || denial === 'held';
      const { source, types, subject, filters, id, sink } = each;
      const wants = { id, source: source ?? undefined, types: types ?? undefined, subject: subject ?? undefined };
      if (!isDeliverable || compileFailure({ ...wants, filters: filters ?? undefined })(event)) continue;
      found.set(sink, [...(found.get(sink) ?? []), id].sort());
    }
    return found;
  }
}

test.each([1, 2, 3])('agrees with the rows, after each of 3,000 random changes (seed %i)', (seed) => {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pick = <T>(values: readonly T[]): T => values[next(values.length)]!;
  const model = new Model();
  const wrong: unknown[] = [];
  for (let turn = 0; turn < 3_000; turn += 1) {
    const origin = pick(origins);
    const sink = pick(sinks);
    if (next(8) === 0) {
      // Several may be equal, and few are in force at a time.
      const id = String(next(12));
      const tenant = pick(['a', 'b', '*']);
      const isLifted = next(3) > 0;
      const changed = { tenant, ...pick(values) };
      replica.put({ kind: 'block', tenant, id }, isLifted ? null : { id, ...changed });
      if (isLifted) model.blocks.delete(id);
      else model.blocks.set(id, changed);
    } else if (next(3) === 0) {
      const changed = grant(origin, sink, {
        state: pick(['live', 'live', 'ended', 'revoked']),
        basis: pick(['response', 'agreement']),
        expiresat: pick([later, later, earlier, present]),
        helduntil: pick([undefined, undefined, earlier, present, later]),
        allowedrate: pick(['*', 1, 999_999_999_999_999] as const),
        address: pick(addresses),
      });
      const isGone = next(5) === 0;
      replica.put({ kind: 'grant', origin, sink }, isGone ? null : changed);
      if (isGone) model.grants.delete(`${origin} ${sink}`);
      else model.grants.set(`${origin} ${sink}`, changed);
    } else {
      const id = `0197f3c2-0000-7000-8000-${String(next(60)).padStart(12, '0')}`;
      const known = model.subscriptions.get(id);
      if (known !== undefined && (next(2) === 0 || known.origin !== origin)) {
        // The order of the log for a move to another origin: the old origin first.
        replica.put({ kind: 'subscription', origin: known.origin, id }, null);
        model.subscriptions.delete(id);
      } else {
        const changed = subscription(id, origin, sink, {
          // As in the registry, it never changes.
          subscriber: subscribers[Number(id.slice(-1)) % subscribers.length]!,
          types: pick([[], ['a'], ['a', 'b']]),
          subject: pick([undefined, 'x']),
          filters: pick([undefined, [{ prefix: { source: '/s' } }], [{ not: { exact: { type: 'b' } } }]]),
          suspended: next(3) === 0,
          expiresat: pick([undefined, undefined, undefined, later, earlier, present]),
        });
        replica.put({ kind: 'subscription', origin, id }, changed);
        model.subscriptions.set(id, changed);
      }
    }
    // The clock that all expiries follow may be corrected, too.
    now = Date.parse(pick([present, present, earlier, later])) + next(3) - 1;
    const asked = pick(origins);
    const askedSink = pick(sinks);
    const { denial, grant: known } = replica.permission(asked[0]!, asked, askedSink);
    const held = model.grants.get(`${asked} ${askedSink}`);
    if (denial !== model.denial(asked, askedSink)) wrong.push({ turn, denial });
    if (known?.expiresAt !== (held && Date.parse(held.expiresat))) wrong.push({ turn, known });
    if (String(known?.allowedRate) !== String(held?.allowedrate)) wrong.push({ turn, known });
    if (known?.heldUntil !== (held?.helduntil ? Date.parse(held.helduntil) : undefined)) wrong.push({ turn, known });
    const event = attributesOf({
      type: pick(['a', 'b', 'c']),
      source: pick(['/s/1', '/t']),
      subject: pick(['x', 'y']),
    });
    const found = replica.match(replica.origin(asked[0]!, asked)!, event);
    const told = Object.fromEntries(found.map((pair) => [pair.sink, pair.subscriptions]));
    if (JSON.stringify(Object.entries(told).sort()) !== JSON.stringify([...model.match(asked, event)].sort())) {
      wrong.push({ turn, told });
    }
    const settings = replica.sinkOf(asked[0]!, asked, askedSink);
    if (denial === undefined || denial === 'held') {
      const open = model.open(asked).filter((each) => each.sink === askedSink);
      const ends = [held!.expiresat, held!.helduntil, ...open.map((each) => each.expiresat)];
      const until = Math.min(...ends.flatMap((end) => (end && Date.parse(end) > now ? Date.parse(end) : [])));
      const ids = open.map(({ id }) => id).sort();
      if (settings?.until !== until) wrong.push({ turn, until, settings });
      if (settings?.matched.subscriptions.join() !== ids.join()) wrong.push({ turn, ids, settings });
    } else if (settings !== undefined && !['ended', 'suspended'].includes(denial)) wrong.push({ turn, settings });
    const own = [...model.subscriptions.values()].filter((each) => each.origin === asked).length;
    if (replica.subscriptionsOf(asked[0]!) !== own) wrong.push({ turn, own });
  }
  expect(wrong).toEqual([]);
  expect(replica.size().subscriptions).toBe(model.subscriptions.size);
  for (const { id, origin } of model.subscriptions.values()) replica.put({ kind: 'subscription', origin, id }, null);
  for (const { origin, sink } of model.grants.values()) replica.put({ kind: 'grant', origin, sink }, null);
  expect(replica.size()).toMatchObject({ subscriptions: 0, pairs: 0 });
});

test('a sink has its own subscriptions, however many sinks there are', () => {
  const [origin] = origins as [string];
  const sinkOf = (place: number) => `https://hooks.example.com/${place}/${'x'.repeat(place % 60)}`;
  const places = Array.from({ length: 300 }, (_, place) => place);
  for (const place of places) {
    replica.put({ kind: 'subscription', origin, id: `s${place}` }, subscription(`s${place}`, origin, sinkOf(place)));
    replica.put({ kind: 'grant', origin, sink: sinkOf(place) }, grant(origin, sinkOf(place)));
  }
  const told = () => places.map((place) => replica.sinkOf('a', origin, sinkOf(place))?.matched.subscriptions);
  expect(told()).toEqual(places.map((place) => [`s${place}`]));
  for (const place of places) {
    const sink = sinkOf(place - (place % 3));
    replica.put({ kind: 'subscription', origin, id: `s${place}` }, subscription(`s${place}`, origin, sink));
  }
  const three = (place: number) => [0, 1, 2].map((more) => `s${place + more}`).sort();
  expect(told()).toEqual(places.map((place) => (place % 3 === 0 ? three(place) : [])));
});

test('a block that this version cannot compare stops everything of its tenant, is reported, and can be lifted', () => {
  const told: unknown[] = [];
  for (const each of origins)
    replica.put({ kind: 'grant', origin: each, sink: sinks[0]! }, grant(each, sinks[0]!, { basis: 'agreement' }));
  const answers = () => origins.map((each) => replica.permission(each[0]!, each, sinks[0]!).denial);
  for (const state of [
    { kind: 'planet', value: 'earth' },
    { kind: 'network', value: 'x' },
  ]) {
    const subject = { kind: 'block' as const, tenant: 'a', id: 'an' };
    putOrRemove(replica, subject, { id: 'an', ...state }, (one) => told.push(one));
    expect(answers()).toEqual(['blocked', undefined]);
    putOrRemove(replica, subject, null, (one) => told.push(one));
    expect(answers()).toEqual([undefined, undefined]);
  }
  expect(told).toHaveLength(2);
});

test('an end is exact to the millisecond, and one that cannot be read has passed', () => {
  const [origin] = origins as [string];
  const sink = 'https://h.example.com/';
  const put = (expiresat: string | undefined) =>
    replica.put({ kind: 'subscription', origin, id: 'an' }, subscription('an', origin, sink, { expiresat }));
  const answers = () => [
    replica.permission('a', origin, sink).denial,
    replica.match(replica.origin('a', origin)!, attributesOf({ type: 'a', source: '/s' })).length,
  ];
  replica.put({ kind: 'grant', origin, sink }, grant(origin, sink));
  put('2026-01-01T00:00:00.001Z');
  expect(answers()).toEqual([undefined, 1]);
  now += 1;
  expect(answers()).toEqual(['ended', 0]);
  put(later);
  expect(answers()).toEqual([undefined, 1]);
  put('soon');
  expect(answers()).toEqual(['ended', 0]);
  put(undefined);
  expect(answers()).toEqual([undefined, 1]);
});

test('removing an origin removes everything of it, and it is empty when it is added again', () => {
  const [origin, other] = origins as [string, string];
  for (const each of origins) {
    replica.put({ kind: 'grant', origin: each, sink: 'https://h.example.com/' }, grant(each, ''));
    replica.put({ kind: 'subscription', origin: each, id: 'an' }, subscription('an', each, 'https://h.example.com/'));
    const suspended = subscription('other', each, 'https://h.example.com/', { suspended: true });
    replica.put({ kind: 'subscription', origin: each, id: 'other' }, suspended);
  }
  replica.put({ kind: 'origin', tenant: 'd', origin }, { name: origin, isdefault: true, profile: 'belgif' });
  expect(['a', 'b', 'd'].map((tenant) => replica.subscriptionsOf(tenant))).toEqual([0, 2, 2]);
  replica.put({ kind: 'origin', tenant: 'd', origin }, null);
  expect(replica.origin('d', origin)).toBeUndefined();
  replica.put({ kind: 'grant', origin, sink: 'https://h.example.com/' }, grant(origin, ''));
  replica.put({ kind: 'origin', tenant: 'c', origin }, { name: origin, isdefault: false, profile: 'belgif' });
  expect(replica.permission('c', origin, 'https://h.example.com/').denial).toBe('no_grant');
  expect(replica.permission('b', other, 'https://h.example.com/').grant?.allowedRate).toBe(120);
  expect(replica.size()).toMatchObject({ subscriptions: 2, pairs: 1 });
  expect(['b', 'd'].map((tenant) => replica.subscriptionsOf(tenant))).toEqual([2, 0]);
});

test('a tenant cannot see an origin of another tenant', () => {
  const origin = origins[0]!;
  replica.put({ kind: 'grant', origin, sink: 'https://h.example.com/' }, grant(origin, ''));
  expect(replica.permission('b', origin, 'https://h.example.com/')).toEqual({ denial: 'no_grant', grant: undefined });
  expect(replica.origin('b', origin)).toBeUndefined();
});

test('a grant with a basis of a later version counts like one by a response', () => {
  const [origin] = origins as [string];
  const sink = 'https://h.example.com/';
  for (const state of ['live', 'ended', 'revoked'] as const) {
    replica.put({ kind: 'grant', origin, sink }, grant(origin, sink, { state, basis: 'later' as 'response' }));
    const { denial, grant: known } = replica.permission('a', origin, sink);
    expect([denial, known?.basis]).toEqual([state === 'live' ? 'suspended' : state, 'response']);
  }
});

test.each(bases)('a grant by %s in a state of a later version allows nothing, and is reported', (basis) => {
  const [origin] = origins as [string];
  const subject = { kind: 'grant' as const, origin, sink: 'https://h.example.com/?key=hidden' };
  const told: unknown[] = [];
  replica.put(subject, grant(origin, subject.sink, { basis: 'agreement' }));
  expect(replica.permission('a', origin, subject.sink).denial).toBeUndefined();
  putOrRemove(replica, subject, grant(origin, subject.sink, { basis, state: 'paused' as 'live' }), (one) =>
    told.push(one),
  );
  expect(replica.permission('a', origin, subject.sink)).toEqual({ denial: 'no_grant', grant: undefined });
  // Webhooks have their keys in the query, and faults are logged.
  expect(told.map(String)).toEqual([expect.stringMatching(/^(?!.*hidden).*"https:\/\/h\.example\.com\/\?\[secret\]"/)]);
  expect(replica.size().pairs).toBe(0);
});
