import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  bases,
  denialOf,
  denials,
  standingOf,
  type Basis,
  type Denial,
  type Standing,
  type Subscribed,
} from '../../src/consent/decision.js';
import { isServer, startRegistry, type Registry } from '../support/registry.js';
import { startSenders, type Senders } from '../support/senders.js';
import type { Sender } from '../../src/kits/sender/index.js';

/**
 * One table for the question "may this origin send to this sink now": what is known of a pair, and what every interface
 * returns. Each row is a pair in the database, with a subscription for each letter of `subscriptions`: o(pen),
 * s(uspended), e(nded), b(locked subscriber).
 */
interface Case {
  grant: 'live' | 'ended' | 'revoked' | undefined;
  basis?: Basis;
  isBlocked?: boolean;
  isExpired?: boolean;
  subscriptions: string;
  isHeld?: boolean;
  /** What GET /grants says of the grant, and the feed, which reports neither blocks nor expiry. */
  standing: Standing | undefined;
  feed: string | undefined;
  denial: Denial | undefined;
  /** Why the first subscription does not match, and its status. */
  explained?: string;
  status?: string;
}

const blocked = { isBlocked: true };
const expired = { isExpired: true };
const held = { isHeld: true };
const agreement = { basis: 'agreement' as const };
const none = { grant: undefined, standing: undefined, feed: undefined, denial: 'no_grant' } as const;
const live = { grant: 'live', standing: 'live', feed: 'live', denial: undefined } as const;
const over = { grant: 'live', standing: 'expired', feed: 'live', denial: 'expired', ...expired } as const;
const stopped = { grant: 'live', standing: 'blocked', feed: 'live', denial: 'blocked', ...blocked } as const;
const revoked = { grant: 'revoked', standing: 'revoked', feed: 'revoked', denial: 'revoked' } as const;
const ended = { grant: 'ended', standing: 'ended', feed: 'ended', denial: 'ended' } as const;

const cases: Case[] = [
  { ...none, subscriptions: 'o', explained: 'no_grant', status: 'expired' },
  { ...none, subscriptions: 'o', ...blocked, explained: 'blocked', status: 'blocked' },
  { ...live, subscriptions: 'o', explained: 'matched', status: 'active' },
  { ...live, subscriptions: 'oseb', explained: 'matched', status: 'active' },
  { ...live, subscriptions: 's', denial: 'suspended', explained: 'suspended', status: 'suspended' },
  { ...live, subscriptions: 'b', denial: 'suspended', explained: 'blocked', status: 'blocked' },
  { ...live, subscriptions: 'es', denial: 'suspended', explained: 'ended', status: 'expired' },
  { ...live, subscriptions: '', denial: 'suspended' },
  { ...live, ...agreement, subscriptions: '' },
  { ...live, ...agreement, subscriptions: 'e', explained: 'ended', status: 'expired' },
  { ...live, ...agreement, subscriptions: 's', denial: 'suspended', explained: 'suspended', status: 'suspended' },
  { ...live, ...held, subscriptions: 'o', denial: 'held', explained: 'matched', status: 'active' },
  { ...live, ...held, subscriptions: 's', denial: 'suspended', explained: 'suspended', status: 'suspended' },
  { ...live, ...agreement, ...held, subscriptions: '', denial: 'held' },
  { ...over, subscriptions: 'o', explained: 'expired', status: 'expired' },
  { ...over, subscriptions: 's', explained: 'suspended', status: 'suspended' },
  { ...over, ...held, subscriptions: 'o', explained: 'expired', status: 'expired' },
  { ...over, ...agreement, subscriptions: '' },
  { ...stopped, subscriptions: 'o', explained: 'blocked', status: 'blocked' },
  { ...stopped, ...expired, subscriptions: 'o', explained: 'blocked', status: 'blocked' },
  { ...stopped, ...expired, ...held, subscriptions: 's', explained: 'blocked', status: 'blocked' },
  { ...revoked, subscriptions: 'o', explained: 'revoked', status: 'refused' },
  { ...revoked, ...blocked, ...expired, subscriptions: 'o', explained: 'blocked', status: 'blocked' },
  { ...ended, subscriptions: 'o', explained: 'ended', status: 'expired' },
  { ...ended, ...blocked, ...held, subscriptions: 'e', explained: 'ended', status: 'expired' },
];

let senders: Senders;
let sender: Sender;
/** Another process, where the database allows one. */
let beside: Registry | undefined;
const origin = 'eventemitter.example.com';
const sinkOf = (place: number) => `https://${cases[place]?.isBlocked ? 'blocked' : 'free'}.example.com/${place}`;
const pairs = cases.map((_, place) => ({ origin, sink: sinkOf(place) }));
const byPlace = <T>(valueOf: (row: Case, place: number) => T) =>
  Object.fromEntries(cases.map((row, place) => [place, valueOf(row, place)]));

beforeAll(async () => {
  senders = await startSenders();
  const { registry, tenant } = senders;
  for (const block of [
    { kind: 'host', value: 'blocked.example.com' },
    { kind: 'subscriber', value: 'barred' },
  ]) {
    await tenant.admin
      .post('/v1/blocks')
      .send({ ...block, reason: 'Incident 7.' })
      .expect(201);
  }
  for (const [place, row] of cases.entries()) {
    const sink = sinkOf(place);
    for (const [each, letter] of [...row.subscriptions].entries()) {
      await registry.sql(
        `insert into subscription (id, tenant, subscriber, origin, sink, protocol, types, suspendedat, suspendedby, endsat,
           createdat)
         values (gen_random_uuid(), 'gemeente', $1, $2, $3, 'HTTP', '{com.example.table}', case when $4 = 's' then now() end, 'subscriber',
           case when $4 = 'e' then now() - interval '1 second' end, now() + make_interval(secs => $5::int))`,
        letter === 'b' ? 'barred' : 'zaaksysteem',
        origin,
        sink,
        letter,
        each,
      );
    }
    if (row.grant === undefined) continue;
    await registry.sql(
      `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat, helduntil,
         address, endcode)
       values ($1, $2, gen_random_uuid(), 'gemeente', $3, $4, '60', 'x', now() - interval '1 hour',
         now() + make_interval(secs => $5::int), case when $6 then now() + interval '1 hour' end, $7, case when $3 <> 'live' then 'revoked' end)`,
      origin,
      sink,
      row.grant,
      row.basis ?? 'response',
      row.isExpired ? -60 : 3_600,
      row.isHeld ?? false,
      place % 2 === 0 ? '203.0.113.7' : null,
    );
  }
  await registry.service.database.write(async (tx) => {
    const rows = await registry.sql<{ id: string; sink: string }>(
      'select id::text, sink from subscription order by id',
    );
    for (const { id, sink } of rows) {
      tx.change({ kind: 'subscription.created', tenant: 'gemeente', origin, sink, subscription: id });
    }
    for (const { sink } of pairs) tx.change({ kind: 'grant.live', tenant: 'gemeente', origin, sink });
  });
  await registry.service.follow();
  sender = await senders.startCurrent();
  if (isServer()) beside = await startRegistry({ beside: registry, env: { ASSENT_PORT: '0' } });
});
afterAll(async () => {
  await beside?.stop();
  await senders.stop();
});

const expected = byPlace(({ denial }) => denial ?? 'allowed');
type Permission = { allowed: boolean; denial?: string | undefined; message?: string | undefined };
/** The denial, whose text must be the one of the table. */
const saidOf = ({ allowed, denial, message }: Permission) => {
  if (allowed) return 'allowed';
  expect(message).toBe(denials[denial as Denial]);
  return denial;
};
async function ask<T>(question: (pair: { origin: string; sink: string }) => Promise<T> | T) {
  const found: Record<string, T> = {};
  for (const [place, pair] of pairs.entries()) found[place] = await question(pair);
  return found;
}

test('GET and POST /permissions', async () => {
  const { tenant } = senders;
  expect(await ask(async ({ sink }) => saidOf(await tenant.permission(sink)))).toEqual(expected);
  const { body } = await tenant.sender.post('/v1/permissions').send(pairs).expect(200);
  expect({ ...body.map(saidOf) }).toEqual(expected);
});

test('a lease', async () => {
  const leased = await ask(async (pair) => {
    const { status, body } = await senders.tenant.sender
      .post('/v1/leases')
      .send({ ...pair, instance: 'one', requests: 1 });
    if (status === 403) {
      const [{ rule, detail }] = body.faults;
      expect(detail).toBe(denials[rule as Denial]);
      return rule;
    }
    return body.helduntil === undefined ? 'allowed' : 'held';
  });
  expect(leased).toEqual(expected);
});

test('the operation of gateways', async () => {
  const asked = await ask(async (pair) => {
    const answer = await senders.tenant.sender.get('/v1/authorize').query(pair);
    const denial = answer.get('Assent-Denial');
    if (denial === 'held') expect(Number(answer.get('Retry-After'))).toBeGreaterThan(0);
    return answer.status === 204 ? 'allowed' : denial;
  });
  expect(asked).toEqual(expected);
});

test('AuthZEN', async () => {
  const evaluated = await ask(async ({ sink }) => {
    const request = { subject: { type: 'origin', id: origin }, action: { name: 'deliver' } };
    const { body } = await senders.tenant.sender
      .post('/access/v1/evaluation')
      .send({ ...request, resource: { type: 'sink', id: sink } })
      .expect(200);
    return saidOf({ ...body.context, allowed: body.decision });
  });
  expect(evaluated).toEqual(expected);
});

test("the sender's kit", async () => {
  expect(await ask(({ sink }) => saidOf(sender.permission(origin, sink)))).toEqual(expected);
});

test('GET /grants, by id, in lists and by state', async () => {
  const { admin } = senders.tenant;
  const standings = byPlace(({ standing }) => standing);
  const found = await ask(async (pair) => {
    const [grant] = (await admin.get('/v1/grants').query(pair).expect(200)).body;
    if (grant === undefined) return undefined;
    const one = await admin.get(`/v1/grants/${grant.id}`).expect(200);
    for (const state of ['live', 'expired', 'blocked', 'ended', 'revoked']) {
      const { body } = await admin
        .get('/v1/grants')
        .query({ ...pair, state })
        .expect(200);
      expect(body.length).toBe(state === grant.state ? 1 : 0);
    }
    expect(one.body.state).toBe(grant.state);
    return grant.state;
  });
  expect(found).toEqual(standings);
});

test('the feed', async () => {
  const lines = await senders.reader.snapshot();
  const states = new Map(
    lines
      .filter(({ kind }) => kind === 'grant')
      .map(({ resource }): [string, string] => [resource.sink, resource.state]),
  );
  expect(await ask(({ sink }) => states.get(sink))).toEqual(byPlace(({ feed }) => feed));
});

test('the explanation of a match, and the status of a subscription', async () => {
  const { registry, tenant } = senders;
  const event = { specversion: '1.0', id: '1', source: 'urn:example:t', type: 'com.example.table' };
  const { body } = await tenant.admin
    .post('/v1/match?explain=true')
    .type('application/cloudevents+json')
    .send(JSON.stringify(event))
    .expect(200);
  const found = await ask(async ({ sink }) => {
    const [first] = await registry.sql<{ id: string; status: string }>(
      `select s.id::text, d.status from subscription s join subscription_status d on d.id = s.id where s.sink = $1
       order by s.createdat, s.id limit 1`,
      sink,
    );
    if (first === undefined) return [undefined, undefined];
    const { code } = body.explanations.find((one: { subscription: string }) => one.subscription === first.id);
    const read = await tenant.admin.get(`/v1/subscriptions/${first.id}`).expect(200);
    expect(read.body.status).toBe(first.status);
    return [code, read.body.status];
  });
  expect(found).toEqual(byPlace(({ explained, status }) => [explained, status]));
});

test.each([
  ['origin', origin],
  ['sink', sinkOf(2)],
  ['host', 'free.example.com'],
  ['domain', 'example.com'],
  ['network', '203.0.113.0/24'],
  ['subscriber', 'zaaksysteem'],
  ['tenant', 'gemeente'],
])('followers apply a block of the kind %s as the database does, and its end', async (kind, value) => {
  const { registry, tenant } = senders;
  const inDatabase = async () => {
    const rows = await registry.sql<{ sink: string; denial: string | null }>(
      'select sink, denial from pair_permission',
    );
    const denials = new Map(rows.map(({ sink, denial }) => [sink, denial ?? 'allowed']));
    return byPlace((_, place) => denials.get(sinkOf(place)) ?? 'no_grant');
  };
  const agree = async () => {
    const decided = await inDatabase();
    const [last] = await registry.sql<{ position: number }>('select max(position)::int as position from change');
    const event = { specversion: '1.0', id: '1', source: 'urn:example:none', type: 'com.example.none' };
    while (Number(sender.match(event).revision) < last!.position) await sleep(10);
    expect(await ask(({ sink }) => saidOf(sender.permission(origin, sink)))).toEqual(decided);
    await beside?.service.follow();
    for (const process of [registry, ...(beside ? [beside] : [])]) {
      const client = await process.as('assent:deliver', { subscriber: 'mailroom' });
      const { body } = await client.post('/v1/permissions').send(pairs).expect(200);
      expect({ ...body.map(saidOf) }).toEqual(decided);
    }
    return decided;
  };
  const block = await tenant.admin.post('/v1/blocks').send({ kind, value, reason: 'Incident 8.' }).expect(201);
  expect(await agree()).not.toEqual(expected);
  await tenant.admin.delete(`/v1/blocks/${block.body.id}`).expect(200);
  expect(await agree()).toEqual(expected);
});

test('the database and the memory decide the same for all that can be known', async () => {
  const facts = ['live', 'ended', 'revoked', undefined].flatMap((state) =>
    [true, false].flatMap((isBlocked) =>
      [-1, 0, 1].flatMap((end) =>
        (['open', 'suspended', 'ended', 'none'] satisfies Subscribed[]).flatMap((subscribed) =>
          bases.flatMap((basis) =>
            [-1, 0, 1].map((hold) => ({
              state: state as Standing | undefined,
              isBlocked,
              end,
              subscribed,
              basis,
              hold,
            })),
          ),
        ),
      ),
    ),
  );
  const now = 1_700_000_000_000;
  const rows = await senders.registry.sql<{ denial: Denial | null }>(
    `select delivery_denial(grant_standing(f.state, f."isBlocked", to_timestamp(f."end"), to_timestamp(0)), f.subscribed,
       f.basis, to_timestamp(f.hold), to_timestamp(0)) as denial
     from jsonb_array_elements($1::jsonb) with ordinality as j (fact, place),
       jsonb_to_record(j.fact) as f (state text, "isBlocked" boolean, "end" int, subscribed text, basis text, hold int)
     order by j.place`,
    JSON.stringify(facts),
  );
  const inMemory = facts.map(({ state, isBlocked, end, subscribed, basis, hold }) =>
    denialOf(standingOf(state, isBlocked, now + end, now), subscribed, basis, now + hold, now),
  );
  expect(rows.map(({ denial }) => denial ?? undefined)).toEqual(inMemory);
  // Every denial occurs.
  expect(new Set(inMemory)).toEqual(new Set([undefined, ...Object.keys(denials)]));
});
