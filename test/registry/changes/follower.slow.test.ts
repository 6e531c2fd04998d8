import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/** Two services on one database; the embedded database has only one process. */
const origin = 'eventemitter.example.com';
/** 30 for the long form. */
const seconds = Number(process.env['ASSENT_TEST_SECONDS'] ?? 0);
let registry: Registry;
let second: Registry;
let subscriber: Client;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_POLL_MS: '1000' } });
  second = await startRegistry({ beside: registry });
  const admin = await registry.as('assent:admin');
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  subscriber = await registry.as('assent:subscribe');
});
afterAll(async () => {
  await second?.stop();
  await registry?.stop();
});

const event = (type: string) => JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:example:a', type });

async function match(where: Registry, type: string, minRevision?: string) {
  const sender = await where.as('assent:deliver', { subscriber: 'mailroom' });
  const { body } = await sender
    .post('/v1/match')
    .query(minRevision === undefined ? {} : { minRevision })
    .set('Content-Type', 'application/cloudevents+json')
    .send(event(type))
    .expect(200);
  return body as { revision: string; sinks: Array<{ sink: string; subscriptions: string[] }> };
}

async function register(type: string, by: Client = subscriber): Promise<string> {
  registry.receiver.consent('/events');
  const sink = registry.receiver.sink('/events');
  const { body } = await by
    .post('/v1/subscriptions')
    .send({ sink, protocol: 'HTTP', types: [type] })
    .expect(201);
  return body.id as string;
}

test('a subscription that one process registered matches in another, at the revision that the first returned', async () => {
  const id = await register('com.example.there');
  const here = await match(registry, 'com.example.there');
  expect(here.sinks).toMatchObject([{ subscriptions: [id] }]);
  const there = await match(second, 'com.example.there', here.revision);
  expect(there.sinks).toMatchObject([{ subscriptions: [id] }]);
  expect(BigInt(there.revision)).toBeGreaterThanOrEqual(BigInt(here.revision));
});

test('two processes register at the same time, and each immediately matches its own registrations', async () => {
  const processes = [registry, second];
  await Promise.all(
    Array.from({ length: 40 }, async (_, writer) => {
      const by = processes[writer % 2] ?? registry;
      const client = await by.as('assent:subscribe');
      for (let turn = 0; turn < 3; turn += 1) {
        const type = `com.example.at${writer}-${turn}`;
        const id = await register(type, client);
        expect((await match(by, type)).sinks).toMatchObject([{ subscriptions: [id] }]);
      }
    }),
  );
});

test('a lost LISTEN connection loses no change', async () => {
  const killed = await registry.sql<{ ended: boolean }>(
    `select pg_terminate_backend(pid) as ended from pg_stat_activity
     where datname = current_database() and query like 'listen %' or query = 'select 1' and datname = current_database()`,
  );
  expect(killed.length).toBeGreaterThanOrEqual(2);
  const id = await register('com.example.silent');
  const { revision } = await match(registry, 'com.example.silent');
  expect((await match(second, 'com.example.silent', revision)).sinks).toMatchObject([{ subscriptions: [id] }]);
});

test(
  'fifty concurrent writers lose no change: in the end both processes match what the database contains',
  async () => {
    const kept: string[] = [];
    const until = performance.now() + seconds * 1_000;
    await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        for (let turn = 0; turn < 4 || performance.now() < until; turn += 1) {
          const id = await register(`com.example.writer${writer}`);
          if (turn % 2 === 0) await subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
          else kept.push(id);
        }
      }),
    );
    const { revision } = await match(registry, 'com.example.writer0');
    await match(second, 'com.example.writer0', revision);
    for (const process of [registry, second]) {
      const found = await Promise.all(
        Array.from({ length: 50 }, (_, writer) => match(process, `com.example.writer${writer}`)),
      );
      const ids = found.flatMap(({ sinks }) => sinks.flatMap(({ subscriptions }) => subscriptions));
      expect(ids.sort()).toEqual([...kept].sort());
    }
  },
  (seconds + 120) * 1_000,
);
