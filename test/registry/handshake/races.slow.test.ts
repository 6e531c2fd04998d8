import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGate } from '../../support/gate.js';
import { passLeases } from '../../support/pass-time.js';
import { offeredBy } from '../../support/offer.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

/** Concurrent actions of two connections or processes; the embedded database has only one connection. */
const onServer = isServer() ? test : test.skip;
let registry: Registry;
let second: Registry;
let tenant: Tenant;

beforeAll(async () => {
  if (!isServer()) return;
  registry = await startRegistry({ reachable: true });
  second = await startRegistry({ beside: registry, env: { ASSENT_PORT: '0' } });
  tenant = await createTenant(registry);
});
afterAll(async () => {
  await second?.stop();
  await registry?.stop();
});

/** Runs that many races, ten at a time; each gets a number. */
async function race(races: number, run: (place: number) => Promise<void>) {
  for (let from = 0; from < races; from += 10) {
    await Promise.all(Array.from({ length: Math.min(10, races - from) }, (_, place) => run(from + place)));
  }
}
/** Up to two milliseconds, so that both orders happen. */
const aMoment = () => new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 2));
const consent = { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' };
const ending = (kinds: string[]) => kinds.filter((kind) => kind.startsWith('grant.'));

onServer('16 races of a consenting answer against a revocation: revoked stays revoked (real server)', async () => {
  await race(16, async (place) => {
    const path = `/answer-${place}`;
    registry.receiver.consent(path);
    const sink = registry.receiver.sink(path, `answer-${place}.hooks.test`);
    const { id } = await tenant.register(sink);
    await Promise.all([
      tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`),
      aMoment().then(() => tenant.revoke(sink)),
    ]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'revoked' });
    const kinds = ending(await tenant.changes(sink));
    expect(kinds.at(-1)).toBe('grant.revoked');
    expect(kinds.filter((kind) => kind === 'grant.revoked')).toHaveLength(1);
  });
});

onServer(
  '16 races of a callback against a revocation: revoked stays revoked, and the caller gets an error (real server)',
  async () => {
    const winners = { callback: 0, revocation: 0 };
    await race(16, async (place) => {
      const path = `/callback-${place}`;
      registry.receiver.consent(path);
      const sink = registry.receiver.sink(path, `callback-${place}.hooks.test`);
      const { id } = await tenant.register(sink);
      let callback = '';
      registry.receiver.on(path, (request, response) => {
        callback = offeredBy(request)[0] ?? callback;
        response.writeHead(200).end();
      });
      await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
      const [{ status }] = await Promise.all([fetch(callback), aMoment().then(() => tenant.revoke(sink))]);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'revoked' });
      expect([status, ending(await tenant.changes(sink))]).toEqual(
        status === 200 ? [200, ['grant.live', 'grant.live', 'grant.revoked']] : [404, ['grant.live', 'grant.revoked']],
      );
      winners[status === 200 ? 'callback' : 'revocation'] += 1;
    });
    expect(winners.callback + winners.revocation).toBe(16);
  },
);

onServer(
  '16 races of a callback against another sink: the old sink has no grant in the end (real server)',
  async () => {
    const next = registry.receiver.sink('/next');
    registry.receiver.consent('/next');
    await race(16, async (place) => {
      const path = `/replace-${place}`;
      let callback = '';
      registry.receiver.on(path, (request, response) => {
        callback = offeredBy(request)[0] ?? callback;
        response.writeHead(200).end();
      });
      const sink = registry.receiver.sink(path, `replace-${place}.hooks.test`);
      const { id } = await tenant.register(sink);
      const [{ status }] = await Promise.all([
        fetch(callback),
        aMoment().then(async () => {
          const replace = () =>
            tenant.subscriber
              .put(`/v1/subscriptions/${id}`)
              .set('Prefer', 'respond-async')
              .send({ sink: next, protocol: 'HTTP' });
          // On a busy machine the response may be a 503 to retry.
          let response = await replace();
          while (response.status === 503) response = await replace();
          expect(response.status).toBe(200);
        }),
      ]);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
      expect([status, ending(await tenant.changes(sink))]).toEqual(
        status === 200 ? [200, ['grant.live', 'grant.ended']] : [404, []],
      );
    });
  },
);

onServer(
  '12 races of a worker that claims against another sink: the response of the old one counts for nothing (real server)',
  async () => {
    await race(12, async (place) => {
      const path = `/claim-${place}`;
      registry.receiver.consent(path);
      const sink = registry.receiver.sink(path, `claim-${place}.hooks.test`);
      const { id } = await tenant.register(sink, {}, 'respond-async');
      await Promise.all([
        registry.service.worker.drain(),
        tenant.subscriber
          .put(`/v1/subscriptions/${id}`)
          .set('Prefer', 'respond-async')
          .send({ sink: registry.receiver.sink('/next'), protocol: 'HTTP' })
          .expect(200),
      ]);
      await registry.service.worker.drain();
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
      expect(await registry.sql(`select 1 from "grant" where sink = $1 and state = 'live'`, sink)).toEqual([]);
    });
  },
);

onServer(
  '12 races of the last two subscriptions of a sink deleted at once: no grant is left behind (real server)',
  async () => {
    registry.receiver.consent('/elsewhere');
    await race(12, async (place) => {
      const path = `/leave-${place}`;
      registry.receiver.consent(path);
      const sink = registry.receiver.sink(path, `leave-${place}.hooks.test`);
      const [one, other] = [await tenant.register(sink), await tenant.register(sink)];
      const leave = (id: string) =>
        place % 2 === 0
          ? tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200)
          : tenant.subscriber
              .put(`/v1/subscriptions/${id}`)
              .set('Prefer', 'respond-async')
              .send({ sink: registry.receiver.sink('/elsewhere'), protocol: 'HTTP' })
              .expect(200);
      await Promise.all([leave(one.id), leave(other.id)]);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    });
  },
);

onServer(
  '12 races of deleting the last subscription against a new one: the new one gets a handshake (real server)',
  async () => {
    await race(12, async (place) => {
      const path = `/arrive-${place}`;
      registry.receiver.consent(path);
      const sink = registry.receiver.sink(path, `arrive-${place}.hooks.test`);
      const { id } = await tenant.register(sink);
      const [arrived] = await Promise.all([
        tenant.register(sink),
        aMoment().then(() => tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200)),
      ]);
      expect(await tenant.read(arrived.id)).toMatchObject({ status: 'active' });
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    });
  },
);

onServer(
  '12 races of a due renewal against deleting the last subscription: nothing is revived (real server)',
  async () => {
    await race(12, async (place) => {
      const path = `/renew-${place}`;
      registry.receiver.consent(path);
      const sink = registry.receiver.sink(path, `renew-${place}.hooks.test`);
      const { id } = await tenant.register(sink);
      await registry.sql(`update "grant" set renewat = now() where sink = $1`, sink);
      await Promise.all([
        second.service.sweep(),
        aMoment().then(() => tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200)),
      ]);
      await registry.service.worker.drain();
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    });
    expect(
      await registry.sql(`select 1 from handshake where trigger = 'renewal' and state in ('due', 'asking')`),
    ).toEqual([]);
  },
);

onServer(
  '16 races of an agreement against the removal of its origin: no grant outlives its origin (real server)',
  async () => {
    await race(16, async (place) => {
      const name = `going-${place}.example.com`;
      await tenant.admin.post('/v1/origins').send({ name }).expect(201);
      const sink = registry.receiver.sink(`/going-${place}`);
      const expiresat = new Date(Date.now() + 3_600_000).toISOString();
      const agreement = { origin: name, sink, allowedrate: 9, agreement: 'Z-2026-3', expiresat };
      const [{ status }] = await Promise.all([
        tenant.admin.post('/v1/grants').send(agreement),
        aMoment().then(() => tenant.admin.delete(`/v1/origins/${name}`).expect(200)),
      ]);
      expect([201, 404]).toContain(status);
      expect(await registry.sql('select 1 from "grant" where origin = $1', name)).toEqual([]);
      expect(await tenant.permission(sink, name)).toMatchObject({ allowed: false, denial: 'no_grant' });
    });
  },
);

onServer(
  'a callback offered during a revocation is unknown after an admin reopened the grant (real server)',
  async () => {
    const path = '/revoking';
    const sink = registry.receiver.sink(path, 'revoking.hooks.test');
    const callbacks: string[] = [];
    registry.receiver.consent(path);
    const { id } = await tenant.register(sink);
    registry.receiver.on(path, (request, response) => {
      callbacks.push(...offeredBy(request));
      response.writeHead(200).end();
    });
    let revoking: Promise<void> | undefined;
    await registry.service.database.write(async ({ sql }) => {
      await sql.$queryRaw`select 1 from "grant" where sink = ${sink} for update`;
      revoking = tenant.revoke(sink);
      // Until it waits for the lock of the grant, after it closed the open handshakes; others wait for other locks.
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like 'select 1 from "grant" where id%'`;
      await until(async () => (await registry.sql(waiting)).length > 0);
      await tenant.register(sink, {}, 'respond-async');
      await registry.service.worker.drain();
    });
    await revoking;
    await registry.service.worker.drain();
    await tenant.admin.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(callbacks.length).toBeGreaterThan(0);
    const statuses = [];
    for (const callback of callbacks.slice(0, -1)) statuses.push((await fetch(callback)).status);
    expect(statuses.filter((status) => status !== 404)).toEqual([]);
  },
);

onServer('two services on one database, 24 registrations: no webhook is asked twice (real server)', async () => {
  registry.receiver.asked.splice(0);
  const clients = [await registry.as('assent:subscribe'), await second.as('assent:subscribe')];
  const registered = Array.from({ length: 24 }, async (_, place) => {
    const path = `/shared-${place}`;
    registry.receiver.on(path, (_request, response) => {
      setTimeout(() => response.writeHead(200, consent).end(), Math.random() * 50);
    });
    const prefer = place % 3 === 0 ? 'respond-async' : 'wait=20';
    const sink = registry.receiver.sink(path, `shared-${place}.hooks.test`);
    const { body } = await clients[place % 2]!.post('/v1/subscriptions')
      .set('Prefer', prefer)
      .send({ sink, protocol: 'HTTP' })
      .expect(201);
    return body.id as string;
  });
  const ids = await Promise.all(registered);
  await Promise.all([registry.service.worker.drain(), second.service.worker.drain()]);
  for (const id of ids) expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  const times = new Map<string, number>();
  for (const { path } of registry.receiver.asked) times.set(path, (times.get(path) ?? 0) + 1);
  expect(times.size).toBe(24);
  expect([...times].filter(([, count]) => count !== 1)).toEqual([]);
});

onServer(
  'the claim of a process that died is taken over after it expires, not before, and its late response counts for nothing (real server)',
  async () => {
    const quiet = { ASSENT_PORT: '0', ASSENT_POLL_MS: '60000' };
    const [dead, heir] = [
      await startRegistry({ beside: registry, start: false, env: quiet }),
      await startRegistry({ beside: registry, start: false, env: quiet }),
    ];
    const [reached, released, askedAgain] = [createGate(), createGate(), createGate()];
    let asked = 0;
    registry.receiver.on('/inherited', async (_request, response) => {
      asked += 1;
      if (asked > 1) {
        askedAgain.open();
        response.writeHead(200, consent).end();
        return;
      }
      reached.open();
      await released.opened;
      response.writeHead(200, { 'WebHook-Allowed-Origin': 'other.example.com' }).end();
    });
    const client = await dead.as('assent:subscribe');
    const sink = registry.receiver.sink('/inherited');
    const { body } = await client
      .post('/v1/subscriptions')
      .set('Prefer', 'wait=0')
      .send({ sink, protocol: 'HTTP' })
      .expect(201);
    const work = dead.service.worker.drain();
    await reached.opened;
    await heir.service.worker.drain();
    expect(asked).toBe(1);

    await passLeases(registry);
    await heir.service.worker.drain();
    // One of the two that run may have been first.
    await askedAgain.opened;
    released.open();
    await work;
    await until(async () => (await tenant.read(body.id)).status === 'active');
    expect(asked).toBe(2);
    expect(await tenant.read(body.id)).toMatchObject({ statusdetails: { allowedrate: 5 } });
    const [{ attempts }] = await tenant.handshakes(body.id);
    expect(attempts.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['interrupted', 'granted_any_origin']);
    await Promise.all([dead.service.stop(), heir.service.stop()]);
  },
);
