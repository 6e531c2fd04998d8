import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createFeedReader } from '../support/feed-reader.js';
import { reachRenewal } from '../support/pass-time.js';
import { offeredBy } from '../support/offer.js';
import { startRegistry, type Registry } from '../support/registry.js';
import { createTenant, type Tenant } from '../support/tenant.js';

/** Two registries in two schemas of one Citus cluster, each schema on its own node. */
let cluster: pg.Client;
const registries: Registry[] = [];
const tenants: Tenant[] = [];

beforeAll(async () => {
  cluster = new pg.Client({ connectionString: process.env['TEST_CITUS_URL'] });
  await cluster.connect();
  for (const place of [0, 1]) {
    const registry = await startRegistry({ reachable: true });
    registries.push(registry);
    tenants.push(await createTenant(registry));
    const node = (await nodes())[place] ?? '';
    if ((await nodeOf(schemaOf(registry))) !== node) await move(schemaOf(registry), node);
  }
});
afterAll(async () => {
  for (const registry of registries) await registry.stop();
  await cluster.end();
});

const schemaOf = ({ env }: Registry) => new URL(env['DATABASE_URL'] ?? '').searchParams.get('schema') ?? '';

/** The workers, by name and port. */
async function nodes(): Promise<string[]> {
  const { rows } = await cluster.query<{ node: string }>(
    `select nodename || ':' || nodeport as node from pg_dist_node where noderole = 'primary' and groupid > 0 order by 1`,
  );
  return rows.map(({ node }) => node);
}

async function nodeOf(schema: string): Promise<string | undefined> {
  const { rows } = await cluster.query<{ node: string }>(
    `select distinct nodename || ':' || nodeport as node from citus_shards where table_name::text like $1`,
    [`${schema}.%`],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.node;
}

const move = (schema: string, node: string) =>
  cluster.query('select citus_schema_move($1::regnamespace, $2, $3::int)', [schema, ...node.split(':')]);

test('each registry is entirely on its own node, and sees nothing of the other', async () => {
  expect(await Promise.all(registries.map((registry) => nodeOf(schemaOf(registry))))).toEqual(await nodes());
  const [one, other] = tenants as [Tenant, Tenant];
  registries[0]?.receiver.consent('/own');
  const sink = registries[0]?.receiver.sink('/own') ?? '';
  expect(await one.register(sink)).toMatchObject({ status: 'active' });
  expect(await one.permission(sink)).toMatchObject({ allowed: true });
  expect(await other.permission(sink)).toMatchObject({ allowed: false, denial: 'no_grant' });
  expect((await other.admin.get('/v1/subscriptions').expect(200)).body).toEqual([]);
});

test.each([0, 1])(
  'registry %i: registration, handshake, callback, grants, look-up, match, feed, leases and renewal',
  async (place) => {
    const [registry, tenant] = [registries[place] as Registry, tenants[place] as Tenant];
    const feed = await createFeedReader(registry);
    const { cursor } = await feed.page();
    const { receiver } = registry;

    receiver.consent('/answer', { rate: '600' });
    const sink = receiver.sink('/answer');
    const subscription = await tenant.register(sink, { types: ['com.example.citus'] });
    expect(subscription).toMatchObject({ status: 'active', statusdetails: { allowedrate: 600 } });

    let callback = '';
    receiver.on('/callback', (request, response) => {
      callback = offeredBy(request)[0] ?? callback;
      response.writeHead(200).end();
    });
    const called = await tenant.register(receiver.sink('/callback'), { types: ['com.example.citus'] });
    expect(called).toMatchObject({ status: 'pending' });
    expect((await fetch(callback, { method: 'POST', headers: { 'WebHook-Allowed-Rate': '60' } })).status).toBe(200);
    expect(await tenant.permission(receiver.sink('/callback'))).toMatchObject({ allowed: true, allowedrate: 60 });

    const agreed = receiver.sink('/agreement');
    const agreement = { origin: tenant.origin, sink: agreed, allowedrate: 5, agreement: 'DVO 7' };
    const expiresat = new Date(Date.now() + 3_600_000).toISOString();
    await tenant.admin
      .post('/v1/grants')
      .send({ ...agreement, expiresat })
      .expect(201);
    expect(await tenant.permission(agreed)).toMatchObject({ allowed: true, basis: 'agreement' });
    await tenant.revoke(agreed);
    expect(await tenant.permission(agreed)).toMatchObject({ allowed: false, denial: 'revoked' });

    const event = { specversion: '1.0', id: randomUUID(), source: '/citus', type: 'com.example.citus' };
    const match = await tenant.sender
      .post('/v1/match')
      .set('Content-Type', 'application/cloudevents+json')
      .send(JSON.stringify(event))
      .expect(200);
    expect(JSON.stringify(match.body)).toContain(subscription.id);

    const lease = { origin: tenant.origin, sink, instance: 'one', requests: 3 };
    const taken = await tenant.sender.post('/v1/leases').send(lease).expect(201);
    await tenant.sender.delete(`/v1/leases/${taken.body.lease}`).query({ unused: 2 }).expect(200);
    const outcomes = [{ origin: tenant.origin, sink, statuscode: 200 }];
    expect((await tenant.sender.post('/v1/deliveries/outcomes').send(outcomes).expect(200)).body).toEqual([
      { accepted: true },
    ]);

    await reachRenewal(registry, sink);
    const before = await tenant.grant(sink);
    await registry.service.sweep();
    await registry.service.worker.drain();
    expect((await tenant.grant(sink)).grantedat > before.grantedat).toBe(true);
    await registry.service.forget();

    const { changes } = await feed.page({ after: cursor, limit: 100 });
    const kinds = changes.filter((change: { sink: string }) => change.sink === sink).map(({ kind }: never) => kind);
    expect(kinds).toEqual(['subscription.created', 'grant.live', 'grant.live']);
  },
);

test('a schema moves to another node under load, and no acknowledged change is lost', async () => {
  const [registry, tenant] = [registries[0] as Registry, tenants[0] as Tenant];
  const [from, to] = (await nodes()) as [string, string];
  const feed = await createFeedReader(registry);
  const { cursor } = await feed.page();
  registry.receiver.consent('/moving');

  let isMoved = false;
  let refused = 0;
  const acknowledged = new Map<string, string>();
  const client = async (name: number) => {
    for (let turn = 0; !isMoved || turn < 3; turn += 1) {
      const sink = registry.receiver.sink(`/moving?${name}-${turn}`);
      const key = randomUUID();
      for (;;) {
        const answer = await tenant.subscriber
          .post('/v1/subscriptions')
          .set({ 'Idempotency-Key': key, Prefer: 'wait=1' })
          .send({ sink, protocol: 'HTTP' });
        if (answer.status === 201) {
          acknowledged.set(answer.body.id, sink);
          break;
        }
        expect(answer.status).toBe(503);
        refused += 1;
      }
    }
  };
  const clients = [1, 2, 3, 4].map(client);
  const startedAt = performance.now();
  await move(schemaOf(registry), to);
  const seconds = (performance.now() - startedAt) / 1_000;
  isMoved = true;
  await Promise.all(clients);

  expect(await nodeOf(schemaOf(registry))).toBe(to);
  await registry.service.worker.drain();
  const changes = [];
  for (let after = cursor; ;) {
    const page = await feed.page({ after, limit: 1_000 });
    changes.push(...page.changes);
    after = page.cursor;
    if (!page.more) break;
  }
  for (const [id, sink] of acknowledged) {
    expect(await tenant.read(id)).toMatchObject({ sink, status: 'active' });
    const kinds = changes.filter((change) => change.sink === sink).map(({ kind }) => kind);
    expect(kinds).toEqual(['subscription.created', 'grant.live']);
  }
  const moved = `${acknowledged.size} registrations acknowledged while the schema moved in ${seconds.toFixed(1)} s`;
  process.stdout.write(`${moved} from ${from} to ${to}, ${refused} answered 503 and repeated, none lost\n`);
});
