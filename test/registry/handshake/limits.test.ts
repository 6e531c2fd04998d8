import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import supertest from 'supertest';
import { RateWindows } from '../../../src/registry/handshake/rate-window.js';
import { createGate } from '../../support/gate.js';
import { passBudgets, passDelays, passLeases, passTurns } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

/** The registry must not flood anyone: it limits handshakes in flight and by the minute. Those over a limit wait. */
/** Requests are blocked until the expected number has arrived, however busy the machine is. */
const patient = { ASSENT_HANDSHAKE_DEADLINE_MS: '20000' };
const oneByOne = { ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT: '1', ASSENT_HANDSHAKE_ATTEMPTS: '1' };
const twoPerHost = { ASSENT_HANDSHAKES_PER_HOST: '2', ASSENT_HANDSHAKES_PER_TENANT: '5' };
let registry: Registry;
let tenant: Tenant;
const started = new Map<string, [Registry, Tenant]>();
afterAll(() => Promise.all([...started.values()].map(([each]) => each.stop())));

/** A registry with these settings, in which nothing is registered and no budget is used. */
async function start(env: Record<string, string> = {}) {
  const settings = { ASSENT_HANDSHAKE_RETRY_MS: '3600000', ...patient, ...env };
  const key = JSON.stringify(settings);
  const present = started.get(key);
  if (present === undefined) {
    registry = await startRegistry({ start: false, env: settings });
    tenant = await createTenant(registry);
    const admin = await registry.as('assent:admin', { tenant: 'provincie' });
    await admin.post('/v1/origins').send({ name: 'provincie.example.com', isdefault: true }).expect(201);
    started.set(key, [registry, tenant]);
  } else {
    [registry, tenant] = present;
    registry.receiver.asked.splice(0);
    await registry.sql('truncate subscription, handshake, handshake_lane, "grant", rate_window, cooldown cascade');
  }
}
const consents = (response: ServerResponse) =>
  response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
const enqueue = (sink: string, more: object = {}) => tenant.register(sink, more, 'respond-async');
/** The same for another tenant. */
async function enqueueElsewhere(...sinks: string[]): Promise<void> {
  const admin = await registry.as('assent:admin', { tenant: 'provincie' });
  for (const sink of sinks) {
    await admin.post('/v1/subscriptions').set('Prefer', 'wait=0').send({ sink, protocol: 'HTTP' }).expect(201);
  }
}
const drain = () => registry.service.worker.drain();

describe('in flight', () => {
  /** The handshakes in flight, by a column, while `places` requests are blocked at the receiver. */
  async function inFlight(column: 'sinkhost' | 'tenant', places: number): Promise<Record<string, number>> {
    const seen = createGate();
    const waiting: ServerResponse[] = [];
    let counts: Record<string, number> = {};
    let count = 0;
    registry.receiver.on('/held', async (_request, response) => {
      waiting.push(response);
      count += 1;
      if (count === places) {
        const rows = await registry.sql<{ name: string; count: number }>(
          `select ${column} as name, count(*)::int as count from handshake where state = 'asking' group by 1`,
        );
        counts = Object.fromEntries(rows.map((row) => [row.name, row.count]));
        seen.open();
      }
      await seen.opened;
      consents(response);
    });
    await drain();
    expect(waiting.length).toBeGreaterThan(places);
    const open = await registry.sql(`select 1 from handshake where state <> 'granted'`);
    expect(open).toEqual([]);
    return counts;
  }

  test('a host gets at most two handshakes at the same time, and all of its handshakes get their turn', async () => {
    await start();
    for (let count = 0; count < 6; count += 1) {
      for (const host of ['one', 'two']) await enqueue(registry.receiver.sink(`/held?${count}`, `${host}.hooks.test`));
    }
    expect(await inFlight('sinkhost', 4)).toEqual({ 'one.hooks.test': 2, 'two.hooks.test': 2 });
  });

  test('the places of a process that died are free', async () => {
    await start();
    registry.receiver.on('/free', (_request, response) => consents(response));
    for (const place of [1, 2]) await enqueue(registry.receiver.sink(`/free?${place}`, 'one.hooks.test'));
    await registry.sql(`update handshake set state = 'asking', claimid = gen_random_uuid()`);
    await passLeases(registry);
    await drain();
    expect(registry.receiver.asked).toHaveLength(2);
    expect(await registry.sql(`select 1 from handshake where state <> 'granted'`)).toEqual([]);
  });

  test('a tenant has at most 20 at the same time, and other tenants do not wait for it', async () => {
    await start();
    for (let count = 0; count < 30; count += 1) await enqueue(registry.receiver.sink('/held', `h${count}.hooks.test`));
    await enqueueElsewhere(...['p0', 'p1', 'p2'].map((name) => registry.receiver.sink('/held', `${name}.hooks.test`)));
    expect(await inFlight('tenant', 23)).toEqual({ gemeente: 20, provincie: 3 });
  });

  test('dead webhooks of one tenant do not raise the lag, handshakes that could be sent do', async () => {
    await start();
    const lag = async () => {
      const { text } = await supertest(registry.service.operations).get('/metrics').expect(200);
      return Number(/^assent_handshake_lag_seconds (.*)$/m.exec(text)?.[1]);
    };
    for (let i = 0; i < 25; i += 1) await enqueue(`https://h${i}.hooks.test/dead`);
    await registry.sql(`update handshake set dueat = now() - interval '1 hour'`);
    await passTurns(registry);
    expect(await lag()).toBeGreaterThan(3_000);
    // All places of the tenant are in use.
    await registry.sql(`update handshake set state = 'asking', claimid = gen_random_uuid(), claimeduntil = now() + interval '1 hour'
      where id in (select id from handshake order by id limit 20)`);
    expect(await lag()).toBe(0);
    await enqueueElsewhere('https://other.hooks.test/');
    expect(await lag()).toBeLessThan(600);
    await registry.sql(`update handshake set dueat = now() - interval '10 minutes' where tenant = 'provincie'`);
    await passTurns(registry);
    expect(await lag()).toBeGreaterThanOrEqual(600);
    expect(await lag()).toBeLessThan(1_200);
  });

  test('many handshakes with one slow host do not delay those with other hosts of the tenant', async () => {
    await start();
    const released = createGate();
    registry.receiver.on('/crowd', async (_request, response) => {
      await released.opened;
      consents(response);
    });
    registry.receiver.on('/quick', (_request, response) => {
      released.open();
      consents(response);
    });
    for (let count = 0; count < 25; count += 1)
      await enqueue(registry.receiver.sink(`/crowd?${count}`, 'slow.hooks.test'));
    const { id } = await enqueue(registry.receiver.sink('/quick', 'quick.hooks.test'));
    await drain();
    expect(registry.receiver.asked.findIndex(({ path }) => path === '/quick')).toBeLessThan(3);
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    expect(await registry.sql(`select 1 from handshake where attempts <> 1 or state <> 'granted'`)).toEqual([]);
  });

  test('a handshake that waits for its tenant takes no place at its host from another tenant', async () => {
    await start(oneByOne);
    const released = createGate();
    registry.receiver.on('/slow', async (_request, response) => {
      await released.opened;
      consents(response);
    });
    registry.receiver.on('/shared', (_request, response) => {
      released.open();
      consents(response);
    });
    for (const path of ['/slow', '/shared?1', '/shared?2']) {
      await enqueue(registry.receiver.sink(path, path === '/slow' ? 'slow.hooks.test' : 'shared.hooks.test'));
    }
    await enqueueElsewhere(registry.receiver.sink('/shared?3', 'shared.hooks.test'));
    await drain();
    expect(registry.receiver.asked.map(({ path }) => path).sort()).toEqual([
      '/shared?1',
      '/shared?2',
      '/shared?3',
      '/slow',
    ]);
    expect(registry.receiver.asked.findIndex(({ path }) => path === '/shared?3')).toBeLessThan(2);
    expect(await registry.sql(`select 1 from handshake where attempts <> 1 or state <> 'granted'`)).toEqual([]);
  });
});

describe('by the minute', () => {
  const minute = async () => {
    await passDelays(registry);
    await passBudgets(registry);
  };
  const states = async () => {
    const rows = await registry.sql<{ state: string; verdict: string; count: number }>(
      `select state, case when exists (
         select from lane_hold l where h.state = 'due' and h.dueat <= now() and l.tenant = h.tenant and l.sinkhost = h.sinkhost)
       then 'held_by_budget' else verdict end as verdict, count(*)::int as count from handshake h group by 1, 2 order by 1, 2`,
    );
    return Object.fromEntries(rows.map(({ state, verdict, count }) => [`${state} ${verdict}`, count]));
  };

  test('handshakes over the budget of a host wait, say so, and are sent when the minute is over', async () => {
    await start({ ASSENT_HANDSHAKES_PER_HOST: '3' });
    registry.receiver.consent('/budget');
    const ids: string[] = [];
    for (let count = 0; count < 8; count += 1) ids.push((await enqueue(registry.receiver.sink(`/budget?${count}`))).id);
    await drain();
    expect(await states()).toEqual({ 'due held_by_budget': 5, 'granted granted': 3 });
    const held = await tenant.read(ids.at(-1) ?? '');
    expect(held).toMatchObject({
      status: 'pending',
      statusdetails: { code: 'held_by_budget', nextat: expect.any(String) },
    });
    expect(Date.parse(held.statusdetails.nextat)).toBeGreaterThan(Date.now() + 400);
    expect((await tenant.handshakes(ids.at(-1) ?? ''))[0].attempts).toEqual([]);

    await tenant.subscriber.post(`/v1/subscriptions/${ids.at(-1)}/handshakes`).expect(201);
    await drain();
    expect(registry.receiver.asked).toHaveLength(3);
    for (const granted of [6, 8]) {
      await minute();
      await drain();
      expect(registry.receiver.asked).toHaveLength(granted);
    }
    expect(await states()).toEqual({ 'granted granted': 8 });
  });

  test('the retry without the callback counts too, and waits if the budget is used up', async () => {
    await start({ ASSENT_HANDSHAKES_PER_HOST: '3' });
    registry.receiver.on('/silent', (_request, response) => void response.writeHead(200).end());
    const ids: string[] = [];
    for (const count of [1, 2]) ids.push((await enqueue(registry.receiver.sink(`/silent?${count}`))).id);
    await drain();
    expect(registry.receiver.asked).toHaveLength(3);
    expect(await states()).toEqual({ 'due held_by_budget': 1, 'waiting no_consent_headers': 1 });
    await minute();
    await drain();
    await drain();
    expect(await states()).toEqual({ 'waiting no_consent_headers': 2 });
    const offers = ({ headers }: { headers: object }) => 'webhook-request-callback' in headers;
    expect(registry.receiver.asked.map(offers).sort()).toEqual([false, false, true, true]);
  });

  test('no minute exceeds the budget, wherever it begins, and a handshake gets its turn after the wait', async () => {
    await start();
    const windows = new RateWindows({ perHost: 3, perTenant: 100 });
    const from = Date.UTC(2026, 10, 20, 12);
    const questions = ['one', 'two'].map((id) => ({ id, tenant: 'gemeente', sinkHost: 'hooks.test' }));
    const ask = (at: number, offered = questions) =>
      registry.service.database.write(({ sql }) => windows.admit(sql, offered, from + at));
    expect(await ask(0, questions.slice(1))).toEqual(new Map());
    const admitted = [0];
    let told: number | undefined;
    for (let at = 57_500; at < 200_000; at += 2_500) {
      const held = await ask(at);
      admitted.push(...questions.filter(({ id }) => !held.has(id)).map(() => at));
      if (told !== undefined && at >= told) expect(held.size).toBeLessThan(2);
      told = held.size === 2 ? at + (held.get('one') as number) : undefined;
    }
    const inMinuteFrom = (start: number) => admitted.filter((at) => at >= start && at < start + 60_000).length;
    expect(Math.max(...admitted.map(inMinuteFrom))).toBe(3);
    expect(admitted.length).toBeGreaterThanOrEqual(9);
  });

  test('a handshake that waits for its host uses no budget of its tenant', async () => {
    await start(twoPerHost);
    registry.receiver.consent('/budget');
    for (let count = 0; count < 8; count += 1) {
      await enqueue(registry.receiver.sink(`/budget?${count}`, 'crowd.hooks.test'));
    }
    await drain();
    expect(await states()).toEqual({ 'due held_by_budget': 6, 'granted granted': 2 });
    for (const _another of [1, 2, 3]) await enqueue(registry.receiver.sink('/budget'));
    await drain();
    expect(await states()).toEqual({ 'due held_by_budget': 7, 'granted granted': 4 });
    await enqueue(registry.receiver.sink('/budget', 'another.hooks.test'));
    await drain();
    expect(await states()).toEqual({ 'due held_by_budget': 7, 'granted granted': 5 });
  });

  test('each tenant gets its share of the budget of a host, however many another one has waiting', async () => {
    await start({ ASSENT_HANDSHAKES_PER_HOST: '3' });
    registry.receiver.consent('/budget');
    for (let count = 0; count < 8; count += 1) await enqueue(registry.receiver.sink(`/budget?${count}`));
    await enqueueElsewhere(registry.receiver.sink('/budget?last'));
    await drain();
    expect(registry.receiver.asked.map(({ path }) => path)).toContain('/budget?last');
    expect(await states()).toEqual({ 'due held_by_budget': 6, 'granted granted': 3 });
  });

  test('many names of one registrable domain share twice the budget of a host', async () => {
    await start(twoPerHost);
    registry.receiver.consent('/domain');
    for (let count = 0; count < 7; count += 1) await enqueue(registry.receiver.sink('/domain', `d${count}.hooks.test`));
    await drain();
    expect(await states()).toEqual({ 'due held_by_budget': 3, 'granted granted': 4 });
    await minute();
    await drain();
    expect(await states()).toEqual({ 'granted granted': 7 });
  });

  test('a host with the longest possible name has a budget too', async () => {
    await start(oneByOne);
    const host = `${[63, 63, 63, 50].map((length) => 'a'.repeat(length)).join('.')}.hooks.test`;
    expect(host).toHaveLength(253);
    await enqueue(registry.receiver.sink('/', host));
    await drain();
    await tenant.register(registry.receiver.sink('/?at-once', host), {}, 'wait=5');
    expect(await states()).toEqual({ 'unreachable certificate_invalid': 2 });
  });

  test('a tenant over its budget waits, and another one does not', async () => {
    await start({ ASSENT_HANDSHAKES_PER_TENANT: '4' });
    registry.receiver.consent('/tenant');
    for (let count = 0; count < 6; count += 1) await enqueue(registry.receiver.sink(`/tenant?${count}`));
    await enqueueElsewhere(registry.receiver.sink('/tenant'));
    await drain();
    expect(await states()).toEqual({ 'due held_by_budget': 2, 'granted granted': 5 });
    await minute();
    await drain();
    expect(await states()).toEqual({ 'granted granted': 7 });
  });

  test('a handshake that waits for its network has no attempt, however often that happens', async () => {
    // The operating system refuses to connect to a multicast address without sending a packet.
    await start({ ASSENT_HANDSHAKES_PER_HOST: '1', ASSENT_ALLOWED_NETWORKS: '224.0.0.0/24' });
    for (let count = 0; count < 5; count += 1) {
      const host = `hooks.network-${count}.test`;
      registry.dns.zone[host] = ['224.0.0.1'];
      await enqueue(`https://${host}/`);
    }
    await drain();
    const [held] = await registry.sql<{ id: string }>(
      `select subscription as id from handshake where verdict = 'held_by_budget'`,
    );
    expect(await states()).toEqual({ 'due connection_failed': 4, 'due held_by_budget': 1 });
    for (const _again of [1, 2, 3]) {
      await registry.sql(`update handshake set dueat = now() where verdict = 'held_by_budget'`);
      await registry.sql(`update rate_window set until = now(), fulluntil = null where key not like 'network%'`);
      await passTurns(registry);
      await drain();
    }
    const [handshake] = await tenant.handshakes(held?.id ?? '');
    expect(handshake).toMatchObject({ state: 'due', verdict: 'held_by_budget', attempts: [] });
    await registry.sql(`update handshake set dueat = now() where verdict = 'held_by_budget'`);
    await passBudgets(registry);
    await drain();
    const [asked] = await tenant.handshakes(held?.id ?? '');
    expect(asked).toMatchObject({ state: 'due', verdict: 'connection_failed', attempts: [{ number: 1 }] });
  });
});

describe('waiting', () => {
  test('a tenant with as many waiting as it may have is refused another one, until they are sent; others are not', async () => {
    await start({ ASSENT_HANDSHAKES_DUE_PER_TENANT: '3' });
    registry.receiver.consent('/waits');
    const { id } = await tenant.register(registry.receiver.sink('/waits'));
    const register = () => {
      const body = { sink: registry.receiver.sink('/waits'), protocol: 'HTTP' };
      return tenant.subscriber.post('/v1/subscriptions').set('Prefer', 'respond-async').send(body);
    };
    const draft = await tenant.register(registry.receiver.sink('/draft'), { suspended: true });
    // At once: the fourth does not get in because the others are not stored yet.
    const burst = await Promise.all(Array.from({ length: 40 }, register));
    expect(burst.filter(({ status }) => status === 201)).toHaveLength(3);
    const refused = burst.find(({ status }) => status !== 201)!;
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: 'too_many_handshakes', detail: expect.stringContaining('3') });
    expect(refused.headers['retry-after']).toBe('60');
    const again = () => tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'respond-async');
    expect((await again()).body).toMatchObject({ code: 'too_many_handshakes' });
    const moved = { sink: registry.receiver.sink('/waits?moved'), protocol: 'HTTP' };
    expect((await tenant.subscriber.put(`/v1/subscriptions/${id}`).send(moved)).body).toMatchObject({
      code: 'too_many_handshakes',
    });
    expect((await tenant.subscriber.post(`/v1/subscriptions/${draft.id}/resume`).send({})).body).toMatchObject({
      code: 'too_many_handshakes',
    });
    await enqueueElsewhere(registry.receiver.sink('/waits'));

    await drain();
    await until(async () => (await again()).status === 201);
    await drain();
  });
});

test('a guessed callback key costs no transaction', async () => {
  await start();
  const begun = jest.spyOn(registry.service.database, 'write');
  const guess = `/v1/callbacks/019a0000-0000-7000-8000-000000000000?key=${'a'.repeat(43)}`;
  for (const method of ['get', 'post'] as const) await tenant.sender[method](guess).expect(404);
  expect(begun).not.toHaveBeenCalled();
});
