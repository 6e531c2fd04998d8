import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passGrant, reachRenewal } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

// No loop runs in this registry: the ends pass, and nothing is swept unless a test says so.

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ start: false, env: { ASSENT_RETENTION_DAYS: '30' } });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

let paths = 0;
function newSink(): string {
  const path = `/end${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}
const askedAt = (sink: string) => registry.receiver.asked.filter(({ path }) => sink.endsWith(path)).length;
const pathOf = ({ id }: { id: string }) => `/v1/subscriptions/${id}`;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const inDays = (days: number) => inMs(days * 86_400_000);

async function register(sink: string, more: object = {}) {
  const { id } = await tenant.register(sink, { types: ['com.example.other'], ...more }, 'respond-async');
  await registry.service.worker.drain();
  return tenant.read(id);
}

/** As after waiting for it: the row, and the resource that the feed has. */
async function passEnd({ id, origin, sink }: { id: string; origin: string; sink: string }): Promise<void> {
  await registry.sql(`update subscription set endsat = now() - interval '1 millisecond' where id = $1::uuid`, id);
  await registry.service.database.write(async (tx) => {
    tx.change({ kind: 'subscription.replaced', tenant: 'gemeente', origin, sink, subscription: id });
  });
  await registry.service.follow();
}

async function patch(one: { id: string }, body: object) {
  const { id } = (
    await tenant.subscriber
      .patch(pathOf(one))
      .set('Content-Type', 'application/merge-patch+json')
      .set('Prefer', 'respond-async')
      .send(body)
      .expect(200)
  ).body;
  await registry.service.worker.drain();
  return tenant.read(id);
}

/** Moves the end to a moment that is ahead when the request arrives, however slow the machine is. */
async function endSoon(one: { id: string }): Promise<string> {
  for (let ms = 500; ; ms *= 2) {
    const expiresat = inMs(ms);
    const { status } = await tenant.subscriber
      .patch(pathOf(one))
      .set('Content-Type', 'application/merge-patch+json')
      .send({ expiresat });
    if (status === 200) return expiresat;
  }
}

const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.ending' };
const matched = async (at: string) => {
  const response = await tenant.sender
    .post('/v1/match')
    .set('Content-Type', 'application/cloudevents+json')
    .send(JSON.stringify(event))
    .expect(200);
  return (response.body.sinks as Array<{ sink: string; subscriptions: string[] }>).filter(({ sink }) => sink === at);
};
const audit = async ({ id }: { id: string }) => {
  const { body } = await tenant.admin
    .get('/v1/audit')
    .query({ target: `subscription:${id}` })
    .expect(200);
  return (body as Array<{ action: string; actor: string }>).filter(({ action }) => action === 'subscription.expired');
};

describe('expiresat', () => {
  test('is stored in UTC, returned, replaced, patched and removed', async () => {
    const sink = newSink();
    const created = await register(sink, { expiresat: '2029-01-01T01:00:00.25+01:00' });
    expect(created).toMatchObject({ status: 'active', expiresat: '2029-01-01T00:00:00.250Z' });
    const later = inDays(400);
    expect(await patch(created, { expiresat: later })).toMatchObject({ expiresat: later });
    expect(await patch(created, { expiresat: null })).not.toHaveProperty('expiresat');
    expect(await tenant.replace(created.id, { sink, expiresat: later })).toMatchObject({ expiresat: later });
    expect(await tenant.replace(created.id, { sink })).not.toHaveProperty('expiresat');
    expect(askedAt(sink)).toBe(1);
  });

  test.each([
    ['in the past', () => inMs(-1), 'time_out_of_range'],
    ['more than five years away', () => inDays(1_831), 'time_out_of_range'],
    ['without an offset', () => '2027-01-01T00:00:00', 'format_wrong'],
    ['a number', () => 5, 'type'],
  ])('is refused if it is %s', async (_, end, rule) => {
    const created = await register(newSink());
    const post = tenant.subscriber
      .post('/v1/subscriptions')
      .send({ sink: newSink(), protocol: 'HTTP', expiresat: end() });
    const put = tenant.subscriber.put(pathOf(created)).send({ ...created, expiresat: end() });
    const change = tenant.subscriber
      .patch(pathOf(created))
      .set('Content-Type', 'application/merge-patch+json')
      .send({ expiresat: end() });
    for (const { body } of [await post.expect(400), await put.expect(400), await change.expect(400)]) {
      expect(body).toMatchObject({
        code: expect.stringMatching(/^invalid_/),
        faults: [{ pointer: '/expiresat', rule }],
      });
    }
  });

  test('is announced as what happens next, if that is before the renewal', async () => {
    const end = inDays(1);
    const { statusdetails } = await register(newSink(), { expiresat: end });
    expect(statusdetails).toMatchObject({ code: 'granted', next: 'The subscription ends.', nextat: end });
  });
});

describe('after its end, without a sweep, a subscription', () => {
  test('matches nothing from that moment on, and neither permission nor lease covers it', async () => {
    const sink = newSink();
    const ending = await register(sink, { types: [event.type], expiresat: inDays(1) });
    const lease = () =>
      tenant.sender.post('/v1/leases').send({ origin: tenant.origin, sink, instance: 'a', requests: 1 });
    expect(await matched(sink)).toMatchObject([{ sink, subscriptions: [ending.id] }]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    await lease().expect(201);
    const end = await endSoon(ending);
    await registry.service.follow();
    await sleep(Date.parse(end) - Date.now() + 50);
    expect(await matched(sink)).toEqual([]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    const denied = await lease().expect(403);
    expect(denied.body.faults).toMatchObject([{ rule: 'ended' }]);
    const read = await tenant.read(ending.id);
    expect(read).toMatchObject({
      status: 'expired',
      statusdetails: { code: 'ended', message: 'The subscription ended at its expiresat.' },
    });
    const dutch = await tenant.subscriber.get(pathOf(ending)).set('Accept-Language', 'nl').expect(200);
    expect(dutch.body.statusdetails.message).toBe('Het abonnement is beëindigd op het tijdstip in expiresat.');
    const { body } = await tenant.subscriber
      .post('/v1/match?explain=true')
      .set('Content-Type', 'application/cloudevents+json')
      .send(JSON.stringify(event))
      .expect(200);
    expect(body.explanations).toContainEqual(expect.objectContaining({ subscription: ending.id, code: 'ended' }));
  });

  test('is not asked, and the grant of its sink is not renewed for it', async () => {
    const sink = newSink();
    const ending = await register(sink, { expiresat: inDays(1) });
    await passEnd(ending);
    await reachRenewal(registry, sink);
    await registry.sql(`update subscription set endedat = null where id = $1::uuid`, ending.id);
    await registry.sql(
      `insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, trigger, startedby, state, dueat)
       select gen_random_uuid(), tenant, origin, sink, 'x', id, generation, 'request', 'test', 'due', now()
       from subscription where id = $1::uuid`,
      ending.id,
    );
    await registry.service.worker.drain();
    expect(askedAt(sink)).toBe(1);
    const again = await tenant.subscriber.post(`${pathOf(ending)}/handshakes`).expect(409);
    expect(again.body).toMatchObject({ code: 'subscription_ended', detail: expect.stringContaining('expiresat') });
    await registry.service.sweep();
    await registry.service.worker.drain();
    expect(askedAt(sink)).toBe(1);
  });

  test('leaves the others of its sink as they are', async () => {
    const sink = newSink();
    const staying = await register(sink, { types: [event.type] });
    const ending = await register(sink, { types: [event.type], expiresat: inDays(1) });
    await passEnd(ending);
    expect(await matched(sink)).toMatchObject([{ sink, subscriptions: [staying.id] }]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    await registry.service.sweep();
    expect(await matched(sink)).toMatchObject([{ sink, subscriptions: [staying.id] }]);
    expect((await tenant.read(staying.id)).status).toBe('active');
    await tenant.subscriber.delete(pathOf(staying)).expect(200);
    expect(await tenant.grant(sink)).toMatchObject({ state: 'ended', endcode: 'no_subscription' });
  });

  test('leaves the sink suspended if only suspended ones are left, and an agreement as if it had been deleted', async () => {
    const sink = newSink();
    const suspended = await register(sink);
    await tenant.subscriber
      .post(`${pathOf(suspended)}/suspend`)
      .send({ reason: 'Later.' })
      .expect(200);
    const ending = await register(sink, { expiresat: inDays(1) });
    await passEnd(ending);
    const take = { origin: tenant.origin, sink, instance: 'a', requests: 1 };
    for (const step of ['passed', 'recorded']) {
      if (step === 'recorded') await registry.service.sweep();
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'suspended' });
      const { body } = await tenant.sender.post('/v1/leases').send(take).expect(403);
      expect(body.faults).toMatchObject([{ rule: 'suspended' }]);
    }
    const agreed = newSink();
    const other = await register(agreed, { expiresat: inDays(1) });
    const terms = { origin: tenant.origin, sink: agreed, allowedrate: 10, expiresat: inDays(30), agreement: 'A-1' };
    await tenant.admin.post('/v1/grants').send(terms).expect(201);
    await passEnd(other);
    for (const step of ['passed', 'recorded']) {
      if (step === 'recorded') await registry.service.sweep();
      expect(await tenant.permission(agreed)).toMatchObject({ allowed: true });
      const { status } = await tenant.sender.post('/v1/leases').send({ ...take, sink: agreed, instance: step });
      expect([200, 201]).toContain(status);
    }
  });

  test('can be resumed without a handshake, and stays expired', async () => {
    const sink = newSink();
    const draft = await register(sink, { suspended: true, expiresat: inDays(1) });
    await passEnd(draft);
    expect((await tenant.read(draft.id)).statusdetails.code).toBe('ended');
    const { body } = await tenant.subscriber
      .post(`${pathOf(draft)}/resume`)
      .send({ reason: 'Go.' })
      .expect(200);
    await registry.service.worker.drain();
    expect([body.status, askedAt(sink)]).toEqual(['expired', 0]);
  });
});

describe('the sweep', () => {
  test('records the end once, with its change, and releases the grant', async () => {
    const sink = newSink();
    const ending = await register(sink, { types: [event.type], expiresat: inDays(1) });
    await passEnd(ending);
    const before = (await tenant.changes(sink)).length;
    await Promise.all([registry.service.sweep(), registry.service.sweep(), registry.service.sweep()]);
    expect(await audit(ending)).toMatchObject([{ actor: 'assent' }]);
    expect((await tenant.changes(sink)).slice(before).sort()).toEqual(['grant.ended', 'subscription.expired']);
    const [change] = await registry.sql<{ resource: unknown }>(
      `select resource from change where kind = 'subscription.expired' and sink = $1`,
      sink,
    );
    expect(change).toEqual({ resource: null });
    expect(await tenant.grant(sink)).toMatchObject({ state: 'ended', endcode: 'no_subscription' });
    const list = await tenant.subscriber.get('/v1/subscriptions').query({ status: 'expired', sink }).expect(200);
    expect(list.body).toMatchObject([{ id: ending.id, status: 'expired' }]);
    for (const status of ['active', 'suspended', 'refused']) {
      const { body } = await tenant.subscriber.get('/v1/subscriptions').query({ status, sink }).expect(200);
      expect(body).toEqual([]);
    }
  });

  test('closes callbacks: consent that comes after the end grants nothing', async () => {
    const path = `/end${(paths += 1)}`;
    registry.receiver.on(path, (_request, response) => void response.writeHead(200).end());
    const sink = registry.receiver.sink(path);
    const ending = await register(sink, { expiresat: inDays(1) });
    expect(ending.status).toBe('pending');
    await passEnd(ending);
    await registry.service.sweep();
    const rows = await registry.sql<{ callbackopen: boolean; state: string }>(
      'select callbackopen, state from handshake where sink = $1',
      sink,
    );
    expect(new Set(rows.map(({ callbackopen }) => callbackopen))).toEqual(new Set([false]));
    expect(rows.some(({ state }) => ['due', 'asking', 'waiting'].includes(state))).toBe(false);
  });

  test('forgets the subscription after the retention, and not before', async () => {
    const ending = await register(newSink(), { expiresat: inDays(1) });
    await passEnd(ending);
    await registry.service.sweep();
    await registry.service.forget();
    await tenant.read(ending.id);
    await registry.sql(`update subscription set endedat = now() - interval '31 days' where id = $1::uuid`, ending.id);
    await registry.service.forget();
    await tenant.subscriber.get(pathOf(ending)).expect(404);
  });
});

describe('an extension', () => {
  test('asks again after the grant was released, and matches again', async () => {
    const sink = newSink();
    const ending = await register(sink, { types: ['com.example.extended'], expiresat: inDays(1) });
    await passEnd(ending);
    await registry.service.sweep();
    expect(await patch(ending, { expiresat: inDays(2) })).toMatchObject({ status: 'active' });
    expect(askedAt(sink)).toBe(2);
    await registry.service.follow();
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    await passEnd(ending);
    await registry.service.sweep();
    expect(await audit(ending)).toHaveLength(2);
    expect(await patch(ending, { expiresat: null })).toMatchObject({ status: 'active' });
  });

  test('asks no one while another subscription keeps the grant, or before the end was recorded', async () => {
    const sink = newSink();
    const ending = await register(sink, { expiresat: inDays(1) });
    await passEnd(ending);
    expect(await patch(ending, { expiresat: inDays(1) })).toMatchObject({ status: 'active' });
    await register(sink);
    await passEnd(ending);
    await registry.service.sweep();
    expect(await patch(ending, { expiresat: inDays(1) })).toMatchObject({ status: 'active' });
    expect(askedAt(sink)).toBe(2);
    await passEnd(ending);
    await registry.service.sweep();
    await passGrant(registry, sink);
    await patch(ending, { expiresat: inDays(1) });
    expect(askedAt(sink)).toBe(3);
  });

  test('is what an ended subscription needs: another change leaves it ended, and asks no one', async () => {
    const sink = newSink();
    const ending = await register(sink, { expiresat: inDays(1) });
    await passEnd(ending);
    await registry.service.sweep();
    const moved = newSink();
    expect(await patch(ending, { sink: moved, requestedrate: 3 })).toMatchObject({
      status: 'expired',
      statusdetails: { code: 'ended' },
    });
    expect([askedAt(sink), askedAt(moved)]).toEqual([1, 0]);
    expect(await patch(ending, { expiresat: inDays(1) })).toMatchObject({ status: 'active' });
    expect(askedAt(moved)).toBe(1);
  });

  test('of a suspended subscription waits until it is resumed', async () => {
    const sink = newSink();
    const draft = await register(sink, { suspended: true, expiresat: inDays(1) });
    await passEnd(draft);
    await registry.service.sweep();
    expect(await patch(draft, { expiresat: inDays(1) })).toMatchObject({ status: 'suspended' });
    expect(askedAt(sink)).toBe(0);
  });

  test('at the moment of the sweep wins or loses cleanly, whichever comes first', async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const sink = newSink();
        const { id } = await tenant.register(sink, { expiresat: inDays(1) }, 'respond-async');
        return { id: id as string, sink, origin: tenant.origin };
      }),
    );
    await registry.service.worker.drain();
    for (const one of all) await passEnd(one);
    const extend = async (one: { id: string }) =>
      tenant.subscriber
        .patch(pathOf(one))
        .set('Content-Type', 'application/merge-patch+json')
        .set('Prefer', 'respond-async')
        .send({ expiresat: inDays(1) })
        .expect(200);
    const sweeps = async () => {
      for (let n = 0; n < 5; n += 1) await registry.service.sweep();
    };
    // The first is extended before the sweep, the last after it, and the others around that moment.
    await extend(all[0]!);
    const others = all.slice(1, -1).map((one, n) => sleep(n * 15).then(() => extend(one)));
    await Promise.all([sleep(50).then(sweeps), ...others]);
    await extend(all.at(-1)!);
    await registry.service.worker.drain();
    await registry.service.sweep();
    const records: number[] = [];
    for (const one of all) {
      expect(await tenant.read(one.id)).toMatchObject({ status: 'active' });
      const recorded = (await audit(one)).length;
      records.push(recorded);
      const kinds = await tenant.changes(one.sink);
      expect(kinds.filter((kind) => kind === 'subscription.expired')).toHaveLength(recorded);
      expect(kinds.filter((kind) => kind === 'grant.ended')).toHaveLength(recorded);
      expect(askedAt(one.sink)).toBe(1 + recorded);
      expect(await tenant.permission(one.sink)).toMatchObject({ allowed: true });
    }
    expect([records[0], records.at(-1)]).toEqual([0, 1]);
  });
});
