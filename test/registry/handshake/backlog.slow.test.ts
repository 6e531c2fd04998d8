import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { lagSeconds } from '../../../src/registry/handshake/choose.js';
import { Queue } from '../../../src/registry/handshake/queue.js';
import { renewDue } from '../../../src/registry/handshake/renew.js';
import { findOverloads } from '../../../src/registry/handshake/renewal-load.js';
import { RateWindows } from '../../../src/registry/handshake/rate-window.js';
import type { Sql } from '../../../src/registry/storage/database.js';
import { passBudgets, passTurns } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';

/** What a backlog of due handshakes costs a claim, and whom it delays. Nothing is sent: the queue is used alone. */
let registry: Registry;
const perMinute = { perHost: 60, perTenant: 600 };
const inFlight = { perHost: 2, perTenant: 20 };
const createQueue = (limits: { perMinute?: typeof perMinute; inFlight?: typeof inFlight } = {}) =>
  new Queue({
    database: registry.service.database,
    rateWindows: new RateWindows(limits.perMinute ?? perMinute),
    publicUrl: 'https://assent.test',
    signers: { of: () => Promise.resolve(new Map()) },
    callbackSeconds: 3_600,
    deadlineMs: 10_000,
    inFlight: { ...(limits.inFlight ?? inFlight), unstored: new Set() },
  });

beforeAll(async () => {
  registry = await startRegistry({ start: false });
  await registry.sql(
    `insert into origin (name, tenant, defaultrate, judgement, callback, grantseconds, profile)
     select 'o' || k || '.example.com', 't' || k, '60', 'strict', 'offer', 864000, 'cloudevents' from generate_series(0, 29) k`,
  );
});
beforeEach(() => registry.sql('truncate handshake, handshake_lane, rate_window, subscription, "grant" cascade'));
afterAll(() => registry.stop());

/** Due handshakes, an hour ago and later; `host` and `tenant` are SQL for the number k. */
async function fill(from: number, to: number, tenant = 'k % 30', host = 'k % 499'): Promise<void> {
  await registry.sql(
    `insert into handshake (id, tenant, origin, sink, sinkhost, trigger, startedby, state, dueat)
     select gen_random_uuid(), 't' || ${tenant}, 'o' || ${tenant} || '.example.com',
       'https://h' || ${host} || '.example' || ${host} || '.com/' || k, 'h' || ${host} || '.example' || ${host} || '.com',
       'request', 'test', 'due', now() - interval '1 hour' + k * interval '1 ms'
     from generate_series($1::int, $2::int - 1) k`,
    from,
    to,
  );
  await passTurns(registry);
  await registry.sql('analyze handshake, handshake_lane');
}

const undo = new Error('It is measured, and taken back.');

/** The buffers that the queries of some work touch, which is then taken back. */
async function buffersOf(work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let buffers = 0;
  const measuring = registry.service.database.write(async ({ sql }) => {
    await work({
      ...sql,
      async $queryRaw<Rows>(text: TemplateStringsArray, ...values: unknown[]) {
        const strings = [`explain (analyze, buffers, format json) ${text[0]}`, ...text.slice(1)];
        const [explained] = await sql.$queryRaw<Array<{ 'QUERY PLAN': Array<{ Plan: Record<string, number> }> }>>(
          Object.assign(strings, { raw: strings }),
          ...values,
        );
        const { Plan: plan } = explained!['QUERY PLAN'][0]!;
        buffers += plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
        return sql.$queryRaw<Rows>(text, ...values);
      },
    });
    throw undo;
  });
  await measuring.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return buffers;
}

test('a claim and the lag touch no more of the database with 30,000 due handshakes than with 300', async () => {
  const queue = createQueue();
  const claim = (sql: Sql) => queue.claimIn(sql, 20);
  const lag = (sql: Sql) => lagSeconds(sql, new RateWindows(perMinute), { ...inFlight, unstored: new Set() });
  await fill(0, 300);
  const few = [await buffersOf(claim), await buffersOf(lag)] as const;
  await fill(300, 30_000);
  const many = [await buffersOf(claim), await buffersOf(lag)] as const;
  expect(many[0]).toBeLessThan(few[0] * 1.5);
  expect(many[1]).toBeLessThan(few[1] * 1.5);
  expect((await queue.claim(20)).begun).toHaveLength(20);
});

test('a tenant with 30,000 due handshakes delays no other tenant, neither elsewhere nor at the same host', async () => {
  await fill(0, 30_000, '1', 'k % 50');
  await fill(30_000, 30_002, '2', 'k % 2');
  const { begun } = await createQueue().claim(4);
  expect(begun.map(({ claim }) => claim.tenant).sort()).toEqual(['t1', 't1', 't2', 't2']);
});

test('tenants take turns at a host, one place at a time', async () => {
  await fill(0, 20, '1', '0');
  await fill(20, 24, '2', '0');
  const queue = createQueue({ inFlight: { perHost: 1, perTenant: 20 } });
  const order: string[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const { begun } = await queue.claim(20);
    order.push(...begun.map(({ claim }) => claim.tenant));
    await registry.sql(`update handshake set state = 'granted' where state = 'asking'`);
  }
  expect(order.filter((tenant) => tenant === 't2')).toHaveLength(4);
});

test('what waits for a budget is neither looked at nor written, and none is exceeded', async () => {
  await fill(0, 3_000, 'k % 3', 'k % 20');
  const queue = createQueue({
    perMinute: { perHost: 30, perTenant: 50 },
    inFlight: { perHost: 1_000, perTenant: 1_000 },
  });
  const claimAll = async () => {
    for (;;) {
      const { begun, held } = await queue.claim(100);
      if (begun.length + held === 0) return;
      await registry.sql(`update handshake set state = 'granted' where state = 'asking'`);
    }
  };
  const granted = () =>
    registry.sql<{ count: number }>(
      `select count(*)::int as count from handshake where state = 'granted' group by tenant order by 1`,
    );
  await claimAll();
  expect(await granted()).toEqual([{ count: 50 }, { count: 50 }, { count: 50 }]);
  // Each of the waiting rows is as it was written.
  expect(await registry.sql(`select distinct xmin::text from handshake where state = 'due'`)).toHaveLength(1);
  await passBudgets(registry);
  await claimAll();
  expect(await granted()).toEqual([{ count: 100 }, { count: 100 }, { count: 100 }]);
});

test('handshakes that are not wanted are parked once, however many, and are due again when they are wanted', async () => {
  await fill(0, 1_000, '1', '0');
  await registry.sql(
    `insert into block (id, tenant, kind, value, reason, createdby) values (gen_random_uuid(), 't1', 'origin', 'o1.example.com', 'test', 'test')`,
  );
  const queue = createQueue();
  while ((await queue.claim(20)).held > 0);
  expect(await registry.sql('select count(*)::int as count from handshake where dueat is null')).toEqual([
    { count: 1_000 },
  ]);
  expect(await registry.sql('select from handshake_lane')).toEqual([]);
  await registry.service.sweep();
  expect((await queue.claim(20)).begun).toEqual([]);
  await registry.sql('delete from block');
  await registry.service.sweep();
  await registry.service.sweep();
  expect((await queue.claim(20)).begun).toHaveLength(2);
});

test('the queue has no more renewals than budgets send within minutes: those that end first, before newer handshakes', async () => {
  await registry.sql(
    `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
     select gen_random_uuid(), 't1', 's', 'o1.example.com', 'https://h' || k % 3 || '.example.com/' || k, 'HTTP' from generate_series(1, 300) k`,
  );
  await registry.sql(
    `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat, renewat)
     select origin, sink, gen_random_uuid(), tenant, 'live', 'response', '*', 'test', now() - interval '1 day',
       now() + split_part(sink, '/', 4)::int * interval '1 hour', now() - interval '1 minute' from subscription`,
  );
  const sweep = () => registry.service.database.write((tx) => renewDue(tx, 1_000, { perHost: 60, perTenant: 20 }));
  for (let round = 0; round < 3; round += 1) await sweep();
  const hours = async (where: string) =>
    (
      await registry.sql<{ hour: number }>(
        `select split_part(sink, '/', 4)::int as hour from handshake where ${where} order by 1`,
      )
    ).map(({ hour }) => hour);
  expect(await hours(`state = 'due'`)).toEqual(Array.from({ length: 40 }, (_, place) => place + 1));

  await fill(1_000, 1_100, '1', 'k % 3');
  await registry.sql(`update handshake set sinkhost = 'h0.example.com' where trigger = 'request'`);
  await passTurns(registry);
  const { begun } = await createQueue({ inFlight: { perHost: 2, perTenant: 4 } }).claim(4);
  expect(begun.map(({ claim }) => claim.trigger)).toEqual(Array<string>(4).fill('renewal'));
  await registry.sql(`update handshake set state = 'granted' where state = 'asking'`);
  await sweep();
  expect(await hours(`state = 'due' and trigger = 'renewal'`)).toHaveLength(40);

  // Of a host without a budget, the others are postponed by it, and none beyond the end of its grant.
  await registry.sql('truncate handshake, handshake_lane cascade');
  await registry.service.database.write((tx) => renewDue(tx, 1_000, { perHost: 1, perTenant: 600 }));
  expect(await hours(`state = 'due'`)).toHaveLength(6);
  expect(
    await registry.sql(
      `select from "grant" where renewat > now() + (expiresat - now()) / 2 + interval '1 minute' or renewat > now() + interval '3 hours'`,
    ),
  ).toEqual([]);
});

test('renewals that no budget allows within an hour are in the audit record once a day', async () => {
  await registry.sql(
    `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat, renewat)
     select 'o' || k % 2 || '.example.com', 'https://h' || k % 4 || '.example.com/' || k, gen_random_uuid(), 't' || k % 2, 'live',
       'response', '*', 'test', now(), now() + interval '1 day',
       now() + case k % 2 when 0 then interval '50 minutes' else interval '2 hours' end
     from generate_series(1, 400) k`,
  );
  for (const _hour of [1, 2]) {
    const found = await findOverloads(registry.service.database, { perHost: 1, perTenant: 3 });
    expect(found).toMatchObject([
      { tenant: 't0', due: 181, budget: 180 },
      { tenant: 't0', sinkhost: expect.stringMatching(/^h[02]/), budget: 60 },
      { tenant: 't0', sinkhost: expect.stringMatching(/^h[02]/), budget: 60 },
    ]);
  }
  const audited = await registry.sql(`select tenant from audit where action = 'renewals.exceed_budget'`);
  expect(audited).toEqual([{ tenant: 't0' }]);
  expect(await findOverloads(registry.service.database, { perHost: 60, perTenant: 600 })).toEqual([]);
});
