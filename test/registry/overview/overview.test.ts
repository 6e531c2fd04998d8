import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGrantReader } from '../../../src/registry/grants/read.js';
import { findAttention } from '../../../src/registry/subscriptions/attention.js';
import type { Principal } from '../../../src/base/contract/principal.js';
import { countBuffers } from '../../support/buffers.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry({ start: false, unloaded: true });
});
afterAll(() => registry.stop());

interface Group {
  group: string;
  count: number;
  recent?: number;
  more: boolean;
  firstsubscriptions?: Array<{ id: string; sink: string; status: string; statusdetails: { code: string } }>;
  firstgrants?: Array<{ sink: string }>;
}

interface Total {
  counted: string;
  count: number;
  more: boolean;
}

const overview = async (client: Client) =>
  (await client.get('/v1/overview').expect(200)).body as { groups: Group[]; totals: Total[] };
const summaryOf = ({ groups }: { groups: Group[] }) =>
  groups.map(({ group, count, recent, more }) => [group, count, recent, more]);
const totalsOf = ({ totals }: { totals: Total[] }) => totals.map(({ counted, count, more }) => [counted, count, more]);

const cases = [
  'active',
  'refused',
  'unreachable',
  'retired',
  'gone',
  'revoked',
  'expired',
  'waiting',
  'unasked',
  'held',
  'final',
  'ended',
];

/**
 * `each` subscriptions of a subscriber for each case, each with a pair of its own. What was granted has had a handshake
 * that failed before, except `plain`. The first of each case is so since today, the others since earlier.
 */
async function fill(tenant: string, subscriber: string, each: number, only = cases): Promise<void> {
  const origin = `${tenant}.example.com`;
  await registry.sql(
    `insert into origin (name, tenant, defaultrate, judgement, callback, grantseconds, profile)
     values ($1, $2, '60', 'strict', 'offer', 864000, 'cloudevents') on conflict do nothing`,
    origin,
    tenant,
  );
  await registry.sql(
    `insert into subscription (id, tenant, subscriber, origin, sink, protocol, endsat, endedat)
     select gen_random_uuid(), $1, $2, $3, 'https://' || $2 || '.example.org/' || kind || '/' || n || '/' || gen_random_uuid(), 'HTTP',
       case when kind = 'ended' then now() - interval '1 hour' end, case when kind = 'ended' then now() end
     from unnest($4::text[]) kind, generate_series(1, ${each}) n`,
    tenant,
    subscriber,
    origin,
    only,
  );
  const isNew = `s.tenant = '${tenant}' and s.subscriber = '${subscriber}' and not exists (select from handshake h where h.subscription = s.id)`;
  const kind = `split_part(s.sink, '/', 4)`;
  const ago = (today: string, earlier: string) =>
    `now() - case split_part(s.sink, '/', 5) when '1' then interval '${today}' else interval '${earlier}' end`;
  const granted = `('plain', 'active', 'gone', 'revoked', 'expired', 'held', 'final')`;
  await registry.sql(
    `insert into "grant" (origin, sink, id, tenant, state, endcode, endedat, basis, allowedrate, recordedby, grantedat, expiresat, renewat, helduntil)
     select s.origin, s.sink, gen_random_uuid(), s.tenant,
       case ${kind} when 'gone' then 'ended' when 'revoked' then 'revoked' else 'live' end,
       case ${kind} when 'gone' then 'target_gone' when 'revoked' then 'revoked' end,
       case when ${kind} in ('gone', 'revoked') then ${ago('30 minutes', '25 hours')} end,
       case ${kind} when 'final' then 'agreement' else 'response' end, '100', 'test', ${ago('1 hour', '2 days')},
       case ${kind} when 'expired' then ${ago('1 minute', '25 hours')} else now() + interval '5 days' end,
       case when ${kind} in ('plain', 'active', 'held') then now() + interval '4 days' end,
       case ${kind} when 'held' then now() + interval '1 hour' end
     from subscription s where ${isNew} and ${kind} in ${granted}`,
  );
  await registry.sql(
    `insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, trigger, startedby, state, verdict,
       attempts, createdat, finishedat, waitinguntil, dueat)
     select gen_random_uuid(), s.tenant, s.origin, s.sink, sink_host(s.sink), s.id, 1, trigger, 'test', state, verdict,
       1, at, case when state not in ('due', 'waiting') then at end, case when state = 'waiting' then now() + interval '1 hour' end,
       case when state = 'due' then now() + interval '1 hour' end
     from subscription s cross join lateral (
       select 'request' as trigger,
         case ${kind} when 'unasked' then 'due' when 'waiting' then 'waiting' when 'refused' then 'refused'
           when 'unreachable' then 'unreachable' when 'retired' then 'retired' else 'granted' end as state,
         case ${kind} when 'unasked' then null when 'waiting' then 'no_consent_headers' when 'refused' then 'origin_mismatch'
           when 'unreachable' then 'connection_refused' when 'retired' then 'gone' else 'granted' end as verdict,
         ${ago('1 hour', '2 days')} as at
       union all
       select 'registration', 'refused', 'no_consent_headers', now() - interval '3 days' where ${kind} in ${granted} and ${kind} <> 'plain'
     ) h where ${isNew}`,
  );
}

const expected = (each: number) => [
  ['refused', 2 * each, 2, false],
  ['unreachable', each, 1, false],
  ['retired', 2 * each, 2, false],
  ['expired', each, 1, false],
  ['blocked', 1, 1, false],
  ['pending', each, 1, false],
  ['ending', each, 1, false],
  ['held', each, undefined, false],
];

test('has the counts that the lists have, and those of today, in a small tenant and in a large one', async () => {
  const admin = await registry.as('assent:admin', { tenant: 'town' });
  await fill('town', 'one', 2);
  await registry.sql(`insert into subscription (id, tenant, subscriber, origin, sink, protocol)
    values (gen_random_uuid(), 'town', 'one', 'town.example.com', 'https://blocked.example.org/', 'HTTP')`);
  await admin.post('/v1/blocks').send({ kind: 'host', value: 'blocked.example.org', reason: 'test' }).expect(201);
  const small = await overview(admin);
  expect(summaryOf(small)).toEqual(expected(2));

  await fill('town', 'two', 1_100, ['plain']);
  const large = await overview(admin);
  expect(summaryOf(large)).toEqual(expected(2));
  for (const { group, count, recent, firstsubscriptions: subscriptions } of large.groups) {
    if (subscriptions === undefined) continue;
    const reason = group === 'expired' ? { code: 'expired' } : {};
    const { body } = await admin
      .get('/v1/subscriptions')
      .query({ status: group, ...reason })
      .expect(200);
    const listed = (body as Array<{ id: string; statusdetails: { attention: boolean; since: string } }>).filter(
      ({ statusdetails }) => group !== 'pending' || statusdetails.attention,
    );
    const ofToday = listed.filter(({ statusdetails: { since } }) => Date.parse(since) > Date.now() - 86_400_000);
    expect([group, listed.length, ofToday.length]).toEqual([group, count, recent]);
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(subscriptions.map(({ id }) => id)));
    expect(subscriptions.map(({ status }) => status)).toEqual(subscriptions.map(() => group));
  }
  const ending = await admin.get('/v1/grants?state=live&renews=false&sort=expiresat').expect(200);
  expect((ending.body as unknown[]).length).toBe(2);
  const blocked = large.groups.find(({ group }) => group === 'blocked');
  expect(blocked?.firstsubscriptions?.[0]?.sink).toBe('https://blocked.example.org/');
  expect(totalsOf(large)).toEqual([
    ['attention', 16, false],
    ...(await Promise.all(
      ['subscriptions', 'grants?state=live'].map(async (list) => {
        const { headers } = await admin.get(`/v1/${list}`).query({ count: true, limit: 1 }).expect(200);
        return [list.split('?')[0], Number(headers['x-total-count']), false];
      }),
    )),
    ['origins', 1, false],
    ['blocks', 1, false],
  ]);
});

test('a consumer sees its own and no grants; another tenant and a sender see nothing of it', async () => {
  const of = (subscriber: string) => registry.as('assent:subscribe', { tenant: 'town', subscriber });
  const own = await overview(await of('one'));
  expect(summaryOf(own)).toEqual(expected(2).slice(0, 6));
  expect(totalsOf(own)).toEqual([
    ['attention', 14, false],
    ['subscriptions', 25, false],
    ['origins', 1, false],
  ]);
  // More than are looked at one by one: nothing of other subscribers is counted.
  const many = await overview(await of('two'));
  expect(summaryOf(many)).toEqual([]);
  const other = await overview(await registry.as('assent:admin', { tenant: 'elsewhere' }));
  expect(summaryOf(other)).toEqual([]);
  expect(totalsOf(other).map(([, count]) => count)).toEqual([0, 0, 0, 0, 0]);
  await (await registry.as('assent:deliver', { tenant: 'town' })).get('/v1/overview').expect(403);
});

test('says that there may be more, instead of a number that it did not count', async () => {
  const admin = await registry.as('assent:admin', { tenant: 'flood' });
  await fill('flood', 'one', 600, ['refused', 'plain']);
  await fill('flood', 'two', 10_000, ['plain']);
  const { groups, totals } = await overview(admin);
  expect(totalsOf({ totals }).slice(0, 3)).toEqual([
    ['attention', 500, true],
    ['subscriptions', 10_000, true],
    ['grants', 10_000, true],
  ]);
  expect(summaryOf({ groups })).toEqual([['refused', 500, expect.any(Number), true]]);
  expect(groups[0]?.firstsubscriptions).toHaveLength(3);

  // Among the newest 1,000 that failed is none that still matters.
  const past = await registry.as('assent:admin', { tenant: 'past' });
  await fill('past', 'one', 1, ['refused']);
  await fill('past', 'one', 1_100, ['active']);
  await registry.sql(
    `update handshake set id = ('00000000' || substr(id::text, 9))::uuid where tenant = 'past' and verdict = 'origin_mismatch'`,
  );
  expect(summaryOf(await overview(past))).toEqual([['refused', 0, 0, true]]);
});

test('what failed before a later handshake ended is no candidate any more', async () => {
  const { receiver } = registry;
  const tenant = { tenant: 'again' };
  const admin = await registry.as('assent:admin', tenant);
  const consumer = await registry.as('assent:subscribe', tenant);
  await admin.post('/v1/origins').send({ name: 'again.example.com', isdefault: true }).expect(201);
  receiver.consent('/again', { origin: 'somebody-else.example.com' });
  const { body } = await consumer
    .post('/v1/subscriptions')
    .set('Prefer', 'respond-async')
    .send({ sink: receiver.sink('/again'), protocol: 'HTTP', callback: 'never' })
    .expect(201);
  await registry.service.worker.drain();
  const marks = async () =>
    registry.sql(`select state, superseded from handshake where subscription = $1::uuid order by createdat`, body.id);
  expect(await marks()).toEqual([{ state: 'refused', superseded: false }]);
  receiver.consent('/again');
  await consumer.post(`/v1/subscriptions/${body.id}/handshakes`).set('Prefer', 'respond-async').expect(201);
  await registry.service.worker.drain();
  expect(await marks()).toEqual([
    { state: 'refused', superseded: true },
    { state: 'granted', superseded: false },
  ]);
  expect(summaryOf(await overview(admin))).toEqual([]);
});

test('warns an admin, and nobody else, that renewals exceeded the budget within the last day', async () => {
  const tenant = { tenant: 'busy' };
  const overloads = [
    { due: 601, budget: 600 },
    { sinkhost: 'webhook.example.org', due: 61, budget: 60 },
  ];
  const add = (id: string, ago: string) =>
    registry.sql(
      `insert into audit (id, at, tenant, actor, action, target, details)
       values ($1::uuid, now() - $2::interval, 'busy', 'assent', 'renewals.exceed_budget', 'tenant:busy', $3::jsonb)`,
      id,
      ago,
      JSON.stringify({ overloads }),
    );
  const admin = await registry.as('assent:admin', tenant);
  const alerts = async (client: Client) => (await client.get('/v1/overview').expect(200)).body.alerts;
  await add('0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e01', '25 hours');
  expect(await alerts(admin)).toEqual([]);
  await add('0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e02', '1 hour');
  expect(await alerts(admin)).toMatchObject([
    { code: 'renewals_exceed_budget', message: expect.stringContaining('More than 600 renewals are due') },
    { code: 'renewals_exceed_budget', message: expect.stringContaining('for webhook.example.org') },
  ]);
  expect(await alerts(await registry.as('assent:subscribe', tenant))).toEqual([]);
});

test('touches as much of the database, however many subscriptions there are', async () => {
  const buffers = await countBuffers(registry.env['DATABASE_URL']);
  const principal = { tenant: 'city', subscriber: 'beheer', scopes: new Set(['assent:admin']) } as unknown as Principal;
  const grants = createGrantReader({ sql: buffers.sql } as never, Date.now);
  const touched = async (each: number) => {
    await fill('city', 'one', each, ['active', 'refused', 'unreachable', 'expired', 'waiting', 'final', 'held']);
    await buffers.execute('vacuum analyze subscription, "grant", handshake');
    return (
      (await buffers.of(() => findAttention(buffers.sql, principal))) +
      (await buffers.of(() => grants.attention('city')))
    );
  };
  try {
    // Past the limit of each group.
    const few = await touched(1_000);
    const many = await touched(2_000);
    expect(many).toBeLessThan(1.5 * few);
  } finally {
    await buffers.end();
  }
});
