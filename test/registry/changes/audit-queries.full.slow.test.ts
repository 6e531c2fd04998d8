import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import type supertest from 'supertest';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { until } from '../../support/until.js';

interface Entry {
  id: string;
  at: string;
  tenant: string;
  actor: string;
  action: string;
  target: string;
  subscriber?: string;
  reference?: string;
  details: Record<string, unknown>;
}

const limitedIssuer = { issuer: 'https://login.limited.example', audience: 'assent' };
let registry: Registry;
let jwks: JwksServer;
let key: SigningKey;
let admin: Client;
let operator: Client;

/**
 * Entries of three tenants, one each minute: ten actions of ten actors, in turn. `beheer` revoked one grant long ago. The
 * times repeat in `provincie`.
 */
beforeAll(async () => {
  jwks = await startJwksServer();
  key = await newSigningKey('limited');
  jwks.publishes(key.publicJwk);
  const issuers = [{ ...limitedIssuer, jwks: jwks.url, tenants: ['gemeente', 'provincie'] }];
  registry = await startRegistry({
    env: {
      ASSENT_ISSUERS: JSON.stringify(issuers),
      ASSENT_DEVELOPMENT_ISSUER: 'true',
      ASSENT_FEED_STALL_SECONDS: '30',
    },
  });
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  operator = await registry.as('assent:audit', { tenant: 'operator', subscriber: 'auditor' });
  await registry.sql(`
    insert into audit (id, at, tenant, actor, person, personname, action, target, subscriber, details)
    select ('0197f3c2-4a5b-7c6d-8e9f-' || lpad(to_hex(n + 100000 * place), 12, '0'))::uuid,
      timestamptz '2026-01-01T00:00:00Z' + make_interval(mins => case when tenant = 'provincie' then n / 10 else n end),
      tenant, 'actor-' || n % 10, case when n % 10 < 3 then 'person-' || n % 4 end,
      case when n % 10 < 3 then case when n % 4 = 0 then 'Another' else 'One name' end end,
      case when n % 10 < 5 then 'subscription.kind' || n % 5 else 'handshake.kind' || n % 5 end,
      'subscription:' || n % 7, 'subscriber-' || n % 3, jsonb_build_object('n', n, 'sink', 'https://webhook.example.com/' || repeat('x', 600))
    from unnest(array['gemeente', 'provincie', 'waterschap']) with ordinality as t (tenant, place), generate_series(1, 3000) n`);
  await registry.sql(`
    insert into audit (id, at, tenant, actor, action, target, reference, details) values
      ('0197f3c2-4a5b-7c6d-8e9f-000000000000', '2025-12-31T23:59:59.999Z', 'gemeente', 'beheer', 'grant.revoked', 'grant:1',
       'INC-1', '{"reason":"=1+1"}')`);
}, 60_000);
afterAll(async () => {
  await registry.stop();
  await jwks.stop();
});

async function all(client: Client, query: Record<string, string | number>): Promise<Entry[]> {
  const seen: Entry[] = [];
  let address: string | undefined =
    `/v1/audit?${new URLSearchParams({ limit: '200', ...query } as Record<string, string>)}`;
  while (address !== undefined) {
    const page: supertest.Response = await client.get(address).expect(200);
    seen.push(...(page.body as Entry[]));
    address = /^<(.*)>; rel="next"$/.exec(page.get('Link') ?? '')?.[1];
  }
  return seen;
}

/** The same by a plain statement. */
async function expected(where: string): Promise<string[]> {
  const rows = await registry.sql<{ id: string }>(`select id from audit where ${where} order by at desc, id desc`);
  return rows.map(({ id }) => id);
}
const idsOf = (entries: Entry[]) => entries.map(({ id }) => id);

describe('filters', () => {
  const times = { since: '2026-01-01T10:00:00Z', until: '2026-01-01T20:00:00+00:00' };
  const between = `at >= '2026-01-01T10:00:00Z' and at < '2026-01-01T20:00:00Z'`;
  const cases: Array<[string, Record<string, string | number>, string]> = [
    ['nothing', {}, 'true'],
    ['since and until', times, between],
    ['one action', { action: 'subscription.kind3' }, `action = 'subscription.kind3'`],
    ['actions that start with a prefix', { action: 'subscription.' }, `action like 'subscription.%'`],
    ['an action that is a prefix of another, without a dot', { action: 'subscription.kind' }, 'false'],
    ['a prefix of no action', { action: 'origin.' }, 'false'],
    ['an actor', { actor: 'actor-4' }, `actor = 'actor-4'`],
    ['a person', { person: 'person-2' }, `person = 'person-2'`],
    ['a name of three persons', { person: 'One name' }, `personname = 'One name'`],
    [
      'a name, an action and a client',
      { person: 'One name', action: 'subscription.', actor: 'actor-1' },
      `personname = 'One name' and action like 'subscription.%' and actor = 'actor-1'`,
    ],
    [
      'a name and a target',
      { person: 'One name', target: 'subscription:3' },
      `personname = 'One name' and target = 'subscription:3'`,
    ],
    ['people', { people: 'true' }, 'person is not null'],
    [
      'people, actions and a client',
      { people: 'true', action: 'subscription.', actor: 'actor-1' },
      `person is not null and action like 'subscription.%' and actor = 'actor-1'`,
    ],
    [
      'people and a subscriber',
      { people: 'true', subscriber: 'subscriber-1', limit: 7 },
      `person is not null and subscriber = 'subscriber-1'`,
    ],
    [
      'people and a target',
      { people: 'true', target: 'subscription:3' },
      `person is not null and target = 'subscription:3'`,
    ],
    ['people, one by name', { people: 'true', person: 'Another' }, `personname = 'Another'`],
    ['a person that did nothing', { person: 'nobody' }, 'false'],
    ['a rare action, after all others', { action: 'grant.revoked' }, `action = 'grant.revoked'`],
    ['a target', { target: 'subscription:3' }, `target = 'subscription:3'`],
    ['a subscriber', { subscriber: 'subscriber-1' }, `subscriber = 'subscriber-1'`],
    [
      'all of them',
      { ...times, action: 'handshake.', actor: 'actor-7', subscriber: 'subscriber-1', target: 'subscription:3' },
      `${between} and action like 'handshake.%' and actor = 'actor-7' and subscriber = 'subscriber-1' and target = 'subscription:3'`,
    ],
    [
      'pages of three',
      { limit: 3, action: 'handshake.', actor: 'actor-7', until: '2026-01-01T01:00:00Z' },
      `at < '2026-01-01T01:00:00Z' and action like 'handshake.%' and actor = 'actor-7'`,
    ],
  ];
  test.each(cases)('%s: each entry once, newest first, for an admin', async (_, query, where) => {
    const own = await expected(`tenant = 'gemeente' and (${where})`);
    expect(idsOf(await all(admin, query))).toEqual(own);
  });

  test.each(cases)('%s: the same across tenants, for an operator', async (_, query, where) => {
    const found = await all(operator, query);
    expect(idsOf(found)).toEqual(await expected(where));
    expect(idsOf(await all(operator, { ...query, tenant: 'provincie' }))).toEqual(
      await expected(`tenant = 'provincie' and (${where})`),
    );
  });

  test('a handshake is about the subscriber of its subscription, whoever started it', async () => {
    await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
    registry.receiver.consent('/about');
    const consumer = await registry.as('assent:subscribe', { subscriber: 'case-system' });
    const { body } = await consumer
      .post('/v1/subscriptions')
      .send({ sink: registry.receiver.sink('/about'), protocol: 'HTTP' })
      .expect(201);
    await admin.post(`/v1/subscriptions/${body.id}/handshakes`).expect(201);
    const about = await all(admin, { subscriber: 'case-system' });
    expect(about.map(({ actor, action }) => `${actor} ${action}`).reverse()).toEqual([
      'case-system subscription.created',
      'assent handshake.granted',
      'beheer handshake.requested',
      'assent handshake.granted',
    ]);
  });

  test.each([
    ['since=yesterday', 'query/since'],
    ['until=2026-02-30T00:00:00Z', 'query/until'],
    ['action=', 'query/action'],
    ['cursor=Zm9yZ2Vk', 'query/cursor'],
  ])('%s is refused, with its place', async (query, pointer) => {
    const { body } = await admin.get(`/v1/audit?${query}`).expect(400);
    expect(body.faults).toMatchObject([{ pointer }]);
  });
});

describe('the scope assent:audit', () => {
  test('reads every tenant, named in each entry, and nothing else', async () => {
    const found = await all(operator, { until: '2026-01-01T00:05:00Z' });
    expect(new Set(found.map(({ tenant }) => tenant))).toEqual(new Set(['gemeente', 'provincie', 'waterschap']));
    for (const path of ['/v1/subscriptions', '/v1/origins', '/v1/grants', '/v1/changes', '/v1/snapshot']) {
      await operator.get(path).expect(403);
    }
    await operator.post('/v1/origins').send({ name: 'operator.example.com' }).expect(403);
  });

  test('is not part of assent:admin: another tenant is 403, not an empty list', async () => {
    const { body } = await admin.get('/v1/audit?tenant=provincie').expect(403);
    expect(body).toMatchObject({ code: 'scope_missing', detail: expect.stringContaining('assent:audit') });
    expect(idsOf(await all(admin, { tenant: 'gemeente', actor: 'actor-1' }))).toHaveLength(300);
  });

  test('does not reach beyond the tenants of an issuer that is limited to them', async () => {
    const iat = Math.floor(Date.now() / 1000);
    const token = (tenant: string) =>
      signed(key, {
        iss: limitedIssuer.issuer,
        aud: limitedIssuer.audience,
        iat,
        exp: iat + 600,
        client_id: 'auditor',
        tenant,
        scope: 'assent:audit assent:admin',
      });
    const get = async (path: string, tenant = 'gemeente') =>
      operator.get(path).set('Authorization', `Bearer ${await token(tenant)}`);
    for (const query of ['limit=200', 'actor=actor-1', 'target=subscription:1']) {
      const { body } = await get(`/v1/audit?until=2026-01-01T00:20:00Z&${query}`);
      expect(new Set(body.map(({ tenant }: Entry) => tenant))).toEqual(new Set(['gemeente', 'provincie']));
    }
    expect((await get('/v1/audit?tenant=provincie')).status).toBe(200);
    expect((await get('/v1/audit?tenant=waterschap')).status).toBe(403);
    expect((await get('/v1/audit', 'waterschap')).status).toBe(401);
    const exported = await operator
      .get('/v1/audit')
      .set({ Authorization: `Bearer ${await token('gemeente')}`, Accept: 'text/csv' })
      .expect(200);
    expect(exported.text).toContain(',provincie,');
    expect(exported.text).not.toContain(',waterschap,');
  });
});

describe('an export', () => {
  const text = async (accept: string, query: string, client = admin) =>
    client.get(`/v1/audit?${query}`).set('Accept', accept).buffer(true).expect(200);

  test('as JSON lines has every entry that matches, as the pages have it', async () => {
    const answer = await text('application/jsonl', 'until=2026-02-01T00:00:00Z');
    expect(answer.type).toBe('application/jsonl');
    expect(answer.get('Vary')).toContain('Accept');
    const lines = String(answer.body instanceof Buffer ? answer.body : answer.text)
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line) as Entry)).toEqual(await all(admin, { until: '2026-02-01T00:00:00Z' }));
  });

  test('of all tenants with a filter has every entry once', async () => {
    const answer = await text('application/jsonl', 'actor=actor-3', operator);
    const lines = String(answer.body instanceof Buffer ? answer.body : answer.text)
      .trimEnd()
      .split('\n');
    expect(idsOf(lines.map((line) => JSON.parse(line) as Entry))).toEqual(await expected(`actor = 'actor-3'`));
  });

  test('as CSV has a header line, CRLF, and no formula', async () => {
    await registry.sql(`
      insert into audit (id, at, tenant, actor, person, personname, action, target, reference, changed, details) values
        ('0197f3c2-4a5b-7c6d-8e9f-00000000aaaa', '2025-01-01T00:00:00Z', 'gemeente', '@actor', 'u-1', '=1+2', 'a.b', '+target',
         '=HYPERLINK("https://evil.example"; "x")', '{"rate":{"before":null,"after":5}}',
         jsonb_build_object('reason', E'\\t=cmd|'' /C calc''!A0\\r\\nsecond "line"', 'n', 1))`);
    const answer = await text('text/csv', 'until=2026-01-01T00:00:00Z');
    expect(answer.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(answer.text).toBe(
      [
        'at,tenant,actor,person,personname,issuer,action,target,subscriber,reference,reason,changed,details,requestid,id',
        `2025-12-31T23:59:59.999Z,gemeente,beheer,,,,grant.revoked,grant:1,,INC-1,'=1+1,,{},,0197f3c2-4a5b-7c6d-8e9f-000000000000`,
        `2025-01-01T00:00:00.000Z,gemeente,'@actor,u-1,'=1+2,,a.b,'+target,,"'=HYPERLINK(""https://evil.example""; ""x"")",` +
          `"'\t=cmd|' /C calc'!A0\r\nsecond ""line""","{""rate"":{""before"":null,""after"":5}}","{""n"":1}",,0197f3c2-4a5b-7c6d-8e9f-00000000aaaa`,
        '',
      ].join('\r\n'),
    );
    expect((await text('text/csv', 'until=2020-01-01T00:00:00Z')).text).toMatch(/^at,tenant,[^\r\n]*\r\n$/);
  });

  test('ends when its reader disconnects, and frees its place', async () => {
    const { hostname, port } = new URL(registry.url);
    const who = { tenant: 'operator', subscriber: 'auditor', scopes: ['assent:audit'], minutes: 5 };
    const authorization = await createToken(who, registry.env);
    const sockets = [];
    for (let n = 0; n < 2; n += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(
        `GET /v1/audit HTTP/1.1\r\nHost: a\r\nAccept: application/jsonl\r\nAuthorization: Bearer ${authorization}\r\n\r\n`,
      );
      await once(socket, 'data');
      socket.pause();
      sockets.push(socket);
    }
    const another = () => operator.get('/v1/audit?until=2025-01-02T00:00:00Z').set('Accept', 'text/csv');
    expect((await another()).body).toMatchObject({ code: 'too_many_readers' });
    for (const socket of sockets) socket.destroy();
    await until(async () => (await another()).status === 200);
    expect(registry.logs.filter((line) => line.includes('"fault"'))).toEqual([]);
  });

  test('is refused like a page, with a problem', async () => {
    const answer = await admin.get('/v1/audit?tenant=provincie').set('Accept', 'text/csv').expect(403);
    expect(answer.type).toBe('application/problem+json');
  });
});
