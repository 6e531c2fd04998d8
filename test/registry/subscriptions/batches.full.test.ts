import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

/** Concurrent registrations are written together, and each gets the response that it would get alone. */
const onServer = isServer() ? test : test.skip;
const registries: Registry[] = [];
let registry: Registry;
let tenant: Tenant;
afterAll(() => Promise.all(registries.map((each) => each.stop())));

async function start(env: Record<string, string> = {}) {
  registry = await startRegistry({ start: false, env });
  registries.push(registry);
  tenant = await createTenant(registry);
}
const many = <T>(count: number, call: (place: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)));
const policy = (more: object = {}) =>
  tenant.admin
    .put(`/v1/origins/${tenant.origin}`)
    .send({ isdefault: true, requestedrate: 120, ...more })
    .expect(200);

describe('registrations at once', () => {
  beforeAll(() =>
    start({ ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST: '100', ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT: '100' }),
  );

  test('are written in fewer commits, each with its handshake, grant, audit records and changes, and each webhook is asked once', async () => {
    registry.receiver.consent('/many');
    const sink = (place: number) => registry.receiver.sink(`/many?${place}`);
    const created = await many(30, (place) => tenant.register(sink(place)));
    expect(new Set(created.map(({ id }) => id)).size).toBe(30);
    for (const [place, each] of created.entries()) {
      expect(each).toMatchObject({ sink: sink(place), status: 'active', statusdetails: { allowedrate: 100 } });
      expect(each).toEqual(await tenant.read(each.id));
      expect(await tenant.changes(sink(place))).toEqual(['subscription.created', 'grant.live']);
    }
    expect(registry.receiver.asked.map(({ path }) => path).sort()).toEqual(created.map((_, i) => `/many?${i}`).sort());
    const [commits] = await registry.sql<{ count: number }>(
      'select count(distinct xmin::text)::int as count from change where sink <> $1',
      '',
    );
    expect(commits?.count).toBeLessThan(60);
    const audit = await registry.sql<{ action: string; count: number }>(
      `select action, count(*)::int as count from audit where action <> 'origin.created' group by 1 order by 1`,
    );
    expect(audit).toEqual([
      { action: 'grant.live', count: 30 },
      { action: 'handshake.granted', count: 30 },
      { action: 'subscription.created', count: 30 },
    ]);
  });

  test('to one sink share one grant, and the log has each consent', async () => {
    registry.receiver.consent('/same');
    const sink = registry.receiver.sink('/same');
    const created = await many(20, () => tenant.register(sink));
    expect(created.every(({ status }) => status === 'active')).toBe(true);
    expect(await registry.sql('select 1 from "grant" where sink = $1', sink)).toHaveLength(1);
    const kinds = await tenant.changes(sink);
    expect(kinds.filter((kind) => kind === 'subscription.created')).toHaveLength(20);
    expect(kinds.filter((kind) => kind === 'grant.live')).toHaveLength(20);
  });

  test('with an invalid one, a repeated one and one with a used key each get their own response', async () => {
    registry.receiver.consent('/mixed');
    const post = (key: string, body: object) =>
      tenant.subscriber
        .post('/v1/subscriptions')
        .set('Idempotency-Key', key)
        .send({ protocol: 'HTTP', ...body });
    const first = await post('used', { sink: registry.receiver.sink('/mixed') }).expect(201);
    const answers = await many(40, (place) => {
      const sink = registry.receiver.sink(`/mixed${place % 4 === 1 ? '' : `?${place}`}`);
      if (place % 4 === 0) return post(`new-${place}`, { sink, origin: 'unknown.example.com' });
      return post(place % 4 === 3 ? `new-${place}` : 'used', { sink });
    });
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => [404, 201, 409, 201][i % 4]));
    for (const [place, { body }] of answers.entries()) if (place % 4 === 1) expect(body.id).toBe(first.body.id);
    const made = `select 1 from subscription where sink like '%/mixed%'`;
    expect(await registry.sql(made)).toHaveLength(11);
    expect(await registry.sql('select 1 from idempotency')).toHaveLength(11);
  });
});

describe('with the usual limits', () => {
  beforeAll(() => start());

  test('concurrent registrations send a host at most two requests at the same time, and all get their turn', async () => {
    let [now, max] = [0, 0];
    registry.receiver.on('/busy', (_request, response: ServerResponse) => {
      now += 1;
      max = Math.max(max, now);
      setImmediate(() => {
        now -= 1;
        response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
      });
    });
    await many(8, (place) => tenant.register(registry.receiver.sink(`/busy?${place}`), {}, 'wait=1'));
    await registry.service.worker.drain();
    expect(await registry.sql(`select 1 from handshake where state = 'granted' and sink like '%/busy%'`)).toHaveLength(
      8,
    );
    expect(max).toBeLessThanOrEqual(2);
  });

  onServer('the current policy counts when a registration is written, whatever was cached of its origin', async () => {
    registry.receiver.consent('/policy');
    const register = () =>
      tenant.subscriber
        .post('/v1/subscriptions')
        .send({ sink: registry.receiver.sink('/policy'), protocol: 'HTTP', types: ['zaak-gewijzigd'] });
    await register().expect(201);
    await policy({ profile: 'nl-gov' });
    await register().expect(400);
    await policy({ profile: 'cloudevents' });
    await register().expect(201);
    await policy({ isdefault: false });
    const refused = (await register()).body;
    expect(refused).toMatchObject({ code: 'no_default_origin' });
    await policy({ requestedrate: 7 });
    await register().expect(201);
    expect(registry.receiver.asked.at(-1)?.headers['webhook-request-rate']).toBe('7');
  });

  onServer('the current policy counts when a response is judged, in both directions', async () => {
    registry.receiver.consent('/judged');
    await tenant.register(registry.receiver.sink('/judged'));
    for (const [judgement, status] of [
      ['lenient', 'active'],
      ['strict', 'refused'],
    ]) {
      registry.receiver.on(`/${judgement}`, async (_request, response) => {
        await policy({ judgement });
        response.writeHead(200, { 'WebHook-Allowed-Origin': `${tenant.origin}.`, 'WebHook-Allowed-Rate': '5' }).end();
      });
      expect(await tenant.register(registry.receiver.sink(`/${judgement}`))).toMatchObject({ status });
    }
  });

  onServer('the current policy counts also where another process has changed it (real server)', async () => {
    const other = await startRegistry({ start: false, beside: registry });
    registry.receiver.consent('/other');
    const sink = registry.receiver.sink('/other');
    await tenant.register(sink, { types: ['zaak-gewijzigd'] });
    const admin = await other.as('assent:admin');
    await admin.put(`/v1/origins/${tenant.origin}`).send({ isdefault: true, profile: 'nl-gov' }).expect(200);
    await tenant.subscriber
      .post('/v1/subscriptions')
      .send({ sink, protocol: 'HTTP', types: ['zaak-gewijzigd'] })
      .expect(400);
    await other.stop();
    await policy();
  });

  onServer('a subscription that is suspended during its handshake is returned as suspended', async () => {
    registry.receiver.on('/suspended', async (_request, response) => {
      const [{ id }] = (await tenant.admin.get('/v1/subscriptions?sinkcontains=suspended').expect(200)).body;
      await tenant.admin.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Too early.' }).expect(200);
      response
        .writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*', 'Content-Length': 0 })
        .end();
    });
    expect(await tenant.register(registry.receiver.sink('/suspended'))).toMatchObject({ status: 'suspended' });
  });
});

onServer.each<[string, object, (place: number) => string | undefined, number]>([
  ['host:localhost', { ASSENT_HANDSHAKES_PER_HOST: '3' }, () => undefined, 3],
  ['domain:hooks.test', { ASSENT_HANDSHAKES_PER_HOST: '2' }, (place) => `h${place}.hooks.test`, 4],
  ['tenant:gemeente', { ASSENT_HANDSHAKES_PER_TENANT: '3' }, () => undefined, 3],
])(
  'of registrations that come at once no more are asked than the budget of %s has left',
  async (key, env, host, left) => {
    await start({ ...env, ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST: '100' });
    registry.receiver.consent('/budget');
    const created = await many(8, (place) =>
      tenant.register(registry.receiver.sink(`/budget?${place}`, host(place)), {}, 'wait=1'),
    );
    let read: Awaited<ReturnType<typeof tenant.read>>[] = [];
    const open = ['not_asked_yet', 'asking'];
    await until(async () => {
      read = await Promise.all(created.map(({ id }) => tenant.read(id)));
      return !read.some(({ statusdetails }) => open.includes(statusdetails.code));
    });
    expect(registry.receiver.asked).toHaveLength(left);
    expect(read.filter(({ status }) => status === 'active')).toHaveLength(left);
    const held = read.filter(({ status }) => status === 'pending');
    expect(held.map(({ statusdetails }) => statusdetails.code)).toEqual(held.map(() => 'held_by_budget'));
    const [budget] = await registry.sql<{ taken: object }>('select taken from rate_window where key = $1', key);
    expect(Object.values(budget?.taken ?? {}).reduce((sum, count) => sum + count, 0)).toBe(left);
  },
);
