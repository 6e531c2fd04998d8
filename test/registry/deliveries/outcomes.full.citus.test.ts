import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passGrant } from '../../support/pass-time.js';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
let stranger: Client;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  stranger = await registry.as(['assent:deliver', 'assent:subscribe'], { tenant: 'provincie', subscriber: 'vreemd' });
});
afterAll(() => registry.stop());

let count = 0;
/** A sink that consented, with its subscription. */
async function newSink(more: object = {}) {
  const path = `/o${(count += 1)}`;
  registry.receiver.consent(path);
  const sink = registry.receiver.sink(path);
  const { id } = await tenant.register(sink, more);
  return { sink, id, path };
}

const report = async (entries: object[], client: Client = tenant.sender, key?: string) => {
  const request = client.post('/v1/deliveries/outcomes');
  if (key !== undefined) void request.set('Idempotency-Key', key);
  return (await request.send(entries.map((entry) => ({ origin: tenant.origin, ...entry }))).expect(200)).body;
};
const deliveries = async (id: string, client: Client = tenant.subscriber) =>
  (await client.get(`/v1/subscriptions/${id}/deliveries`).expect(200)).body;
const secondsUntil = (time: string) => (Date.parse(time) - Date.now()) / 1_000;
const kinds = async (sink: string) => (await tenant.changes(sink)).filter((kind) => kind.startsWith('grant.'));
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);
const gone = { accepted: true };

describe('a report', () => {
  test('is counted by kind, and a success resets the failures', async () => {
    const { sink, id } = await newSink();
    expect(await deliveries(id)).toEqual({ origin: tenant.origin, sink, counts: {}, failures: 0 });
    const failures = [
      { statuscode: 500, count: 3 },
      { statuscode: 415 },
      { statuscode: undefined },
      { statuscode: 404 },
    ];
    await report([{ statuscode: 204, count: 40 }, ...failures].map((entry) => ({ sink, ...entry })));
    const counts = { delivered: 40, mediarefused: 1, rejected: 1, failed: 3, no_response: 1 };
    expect(await deliveries(id)).toMatchObject({ counts, failures: 6, lastoutcome: 'rejected' });
    await report([{ sink, statuscode: 202, origin: tenant.origin.toUpperCase() }]);
    const after = await deliveries(id);
    expect(after).toMatchObject({ counts: { ...counts, delivered: 41 }, failures: 0, lastoutcome: 'delivered' });
    expect(after).not.toHaveProperty('failingsince');
    expect(after).not.toHaveProperty('advice');
    await report([{ sink, statuscode: 500 }]);
    const first = await deliveries(id);
    await report([{ sink, statuscode: 500 }]);
    const { failingsince, deliveredat } = await deliveries(id);
    expect({ failingsince, deliveredat }).toEqual({
      failingsince: first.failingsince,
      deliveredat: after.deliveredat,
    });
  });

  test.each<[number | undefined, string, RegExp]>([
    [415, 'mediarefused', /contentmode/],
    [401, 'unauthorized', /sinkcredential/],
    [403, 'unauthorized', /sinkcredential/],
    [301, 'redirected', /URL that the redirect points to/],
    [400, 'rejected', /log of the webhook/],
    [502, 'failed', /log of the webhook/],
    [503, 'unavailable', /back into service/],
    [undefined, 'no_response', /host is up/],
  ])('of %s is shown to the subscriber as %s, with advice', async (status, lastoutcome, advice) => {
    const { sink, id } = await newSink();
    await report([{ sink, statuscode: status }]);
    const shown = await deliveries(id);
    expect(shown).toMatchObject({ counts: { [lastoutcome]: 1 }, failures: 1, lastoutcome });
    expect(shown.advice).toMatch(advice);
    expect(secondsUntil(shown.failingsince)).toBeGreaterThan(-30);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });

  test('shows the status of the webhook to admins only', async () => {
    const { sink, id } = await newSink();
    await report([{ sink, statuscode: 418 }]);
    expect(await deliveries(id)).not.toHaveProperty('laststatuscode');
    expect(await deliveries(id, tenant.admin)).toMatchObject({ laststatuscode: 418 });
  });

  test('with invalid entries accepts the others, and reports each fault with its position', async () => {
    const { sink, id } = await newSink();
    const results = await report([
      { sink, statuscode: 200 },
      { sink, statuscode: 199 },
      { sink: 'https://nobody.example.com/', statuscode: 200 },
      { sink, statuscode: 200, count: 0, more: 1 },
      { sink, statuscode: 'timeout', at: 'yesterday' },
      { sink, statuscode: 201 },
      { sink, statuscode: 410, at: '2020-11-20T12:00:00+01' },
    ]);
    const places = results.map((each: { accepted: boolean; faults?: Array<{ pointer: string; rule: string }> }) =>
      each.accepted ? 'accepted' : each.faults?.map(({ pointer, rule }) => `${pointer} ${rule}`).sort(),
    );
    expect(places).toEqual([
      'accepted',
      ['/1/statuscode value_out_of_range'],
      ['/2/sink no_grant'],
      ['/3/count value_out_of_range', '/3/more member_unknown'],
      ['/4/at format_wrong', '/4/statuscode type'],
      'accepted',
      ['/6/at format_wrong'],
    ]);
    expect(results[1].faults[0].detail).toBe('This must be at least 200.');
    expect((await deliveries(id)).counts).toEqual({ delivered: 2 });
  });

  test('rejects an entry with invalid text, and accepts the others', async () => {
    const { sink, id } = await newSink();
    const origin = JSON.stringify(tenant.origin);
    const entry = (more: string) => `{"origin":${origin},"sink":${JSON.stringify(sink)},${more}}`;
    const deep = 30_000;
    const entries = [
      entry('"statuscode":200'),
      entry('"statuscode":429,"retryafter":"a\\u0000"'),
      `{"origin":${origin},"sink":"https://a.example.com/\\ud83d","statuscode":200}`,
      entry('"statuscode":200,"statuscode":500'),
      entry('"__proto__":1'),
      `${'['.repeat(deep)}"\\u0000"${']'.repeat(deep)}`,
      '"\\u0000"',
      entry('"statuscode":201'),
    ];
    const send = () =>
      tenant.sender.post('/v1/deliveries/outcomes').set('Idempotency-Key', id).type('json').send(`[${entries.join()}]`);
    const first = await send().expect(200);
    expect(first.body.map(({ faults }: { faults?: Array<{ pointer: string; rule: string }> }) => faults?.[0])).toEqual([
      undefined,
      expect.objectContaining({ pointer: '/1/retryafter', rule: 'text_nul' }),
      expect.objectContaining({ pointer: '/2/sink', rule: 'text_lone_surrogate' }),
      expect.objectContaining({ pointer: '/3/statuscode', rule: 'name_repeated' }),
      expect.objectContaining({ pointer: '/4/__proto__', rule: 'name_forbidden' }),
      expect.objectContaining({ pointer: `/5${'/0'.repeat(67)}`, rule: 'too_deep' }),
      expect.objectContaining({ pointer: '/6', rule: 'text_nul' }),
      undefined,
    ]);
    expect((await send().expect(200)).body).toEqual(first.body);
    expect((await deliveries(id)).counts).toEqual({ delivered: 2 });
  });

  test('accepts at most a thousand entries', async () => {
    const { sink, id } = await newSink();
    const entries = Array.from({ length: 1_000 }, () => ({ origin: tenant.origin, sink, statuscode: 200 }));
    expect(await report(entries)).toEqual(entries.map(() => ({ accepted: true })));
    expect((await deliveries(id)).counts).toEqual({ delivered: 1_000 });
    for (const body of [[...entries, entries[0]], [], {}, 1]) {
      const answer = await tenant.sender.post('/v1/deliveries/outcomes').type('json').send(JSON.stringify(body));
      expect([answer.status, answer.body.code, answer.body.faults?.[0].pointer]).toEqual([400, 'invalid_request', '']);
    }
  });

  test('repeated with the same key returns the same and counts nothing; another report with that key is rejected', async () => {
    const { sink, id } = await newSink();
    const entries = [
      { sink, statuscode: 200 },
      { sink: 'https://nobody.example.com/', statuscode: 200 },
      { sink, statuscode: 1 },
    ];
    const first = await report(entries, tenant.sender, 'report-1');
    expect(first.map(({ accepted }: { accepted: boolean }) => accepted)).toEqual([true, false, false]);
    expect(await report(entries, tenant.sender, 'report-1')).toEqual(first);
    expect((await deliveries(id)).counts).toEqual({ delivered: 1 });
    const other = tenant.sender.post('/v1/deliveries/outcomes').set('Idempotency-Key', 'report-1');
    expect((await other.send([{ origin: tenant.origin, sink, statuscode: 200 }]).expect(409)).body.code).toBe(
      'idempotency_key_reused',
    );
  });

  test('of another tenant changes nothing, and is not shown there', async () => {
    const { sink, id } = await newSink();
    expect(await report([{ sink, statuscode: 410 }], stranger)).toMatchObject([
      { accepted: false, faults: [{ pointer: '/0/sink', rule: 'no_grant' }] },
    ]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    await stranger.get(`/v1/subscriptions/${id}/deliveries`).expect(404);
    const colleague = await registry.as('assent:subscribe', { subscriber: 'other' });
    await colleague.get(`/v1/subscriptions/${id}/deliveries`).expect(404);
    for (const client of [tenant.subscriber, tenant.admin]) {
      await client.post('/v1/deliveries/outcomes').send([]).expect(403);
    }
  });
});

describe('410 Gone', () => {
  test('ends the grant immediately, retires its subscriptions, and is in the audit record and the change log', async () => {
    const { sink, id } = await newSink();
    expect(await report([{ sink, statuscode: 410 }])).toEqual([gone]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    const ended = await tenant.grant(sink);
    expect(ended).toMatchObject({ state: 'ended', endcode: 'target_gone', endedby: 'mailroom' });
    expect(ended).not.toHaveProperty('renewat');
    expect(await tenant.read(id)).toMatchObject({
      status: 'retired',
      statusdetails: { code: 'gone', advice: expect.stringMatching(/replaces this one/) },
    });
    expect(await kinds(sink)).toEqual(['grant.live', 'grant.ended']);
    const [entry] = (await tenant.admin.get('/v1/audit').query({ limit: 1 }).expect(200)).body;
    expect(entry).toMatchObject({ action: 'grant.ended', actor: 'mailroom', details: { cause: 'target_gone' } });
    await tenant.sender
      .post('/v1/leases')
      .send({ origin: tenant.origin, sink, instance: 'one', requests: 1 })
      .expect(403);
  });

  test('of many webhooks in one report retires them all, each with its audit record and its change', async () => {
    const sinks = await Promise.all(Array.from({ length: 5 }, () => newSink()));
    await report(sinks.map(({ sink }) => ({ sink, statuscode: 410 })));
    for (const { sink, id } of sinks) {
      expect(await tenant.grant(sink)).toMatchObject({ state: 'ended', endcode: 'target_gone' });
      expect(await tenant.read(id)).toMatchObject({ status: 'retired' });
      expect(await kinds(sink)).toEqual(['grant.live', 'grant.ended']);
    }
    const told = (await tenant.admin.get('/v1/audit').query({ limit: 5 }).expect(200)).body;
    expect(told.map(({ details }: { details: { sink: string } }) => details.sink).sort()).toEqual(
      sinks.map(({ sink }) => sink).sort(),
    );
  });

  test('retires only after as many in a row as the policy says', async () => {
    const origin = 'patient.example.com';
    await tenant.admin.post('/v1/origins').send({ name: origin, goneafter: 3 }).expect(201);
    const { sink } = await newSink({ origin });
    const reportOf = (...statuses: number[]) => report(statuses.map((statuscode) => ({ origin, sink, statuscode })));
    await reportOf(410, 410, 200, 410);
    await reportOf(500, 410);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: true });
    await reportOf(204);
    await reportOf(410, 410);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: true });
    await reportOf(410);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test('of a webhook that recovered within the same report retires nothing', async () => {
    const { sink } = await newSink();
    await report([410, 410, 200].map((statuscode) => ({ sink, statuscode })));
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });

  test('ends an agreement too', async () => {
    const sink = registry.receiver.sink(`/o${(count += 1)}`);
    const agreement = { origin: tenant.origin, sink, allowedrate: 60, agreement: 'A-1' };
    await tenant.admin
      .post('/v1/grants')
      .send({ ...agreement, expiresat: inSeconds(86_400).toISOString() })
      .expect(201);
    await report([{ sink, statuscode: 410 }]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test('from before a new consent does not count after it', async () => {
    const origin = 'twice.example.com';
    await tenant.admin.post('/v1/origins').send({ name: origin, goneafter: 2 }).expect(201);
    const { sink, id } = await newSink({ origin });
    const askAgain = () =>
      tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
    const before = inSeconds(-60).toISOString();
    await report([{ origin, sink, statuscode: 410 }]);
    await askAgain();
    await report([{ origin, sink, statuscode: 410 }]);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: true });
    await report([{ origin, sink, statuscode: 410 }]);
    expect(await tenant.read(id)).toMatchObject({ status: 'retired' });
    await askAgain();
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    await report([{ origin, sink, statuscode: 410, count: 5, at: before }]);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: true });
  });

  test('from before the current consent does not add to one from after it', async () => {
    const origin = 'late.example.com';
    await tenant.admin.post('/v1/origins').send({ name: origin, goneafter: 3 }).expect(201);
    const { sink, id } = await newSink({ origin });
    const [before, after] = [inSeconds(-60).toISOString(), inSeconds(60).toISOString()];
    const gones = (...times: Array<string | undefined>) =>
      report(times.map((at) => ({ origin, sink, statuscode: 410, ...(at === undefined ? {} : { at }) })));
    await gones(before, before);
    await gones(undefined, after);
    expect((await deliveries(id)).counts).toEqual({ gone: 4 });
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: true });
    // The latest 410 of a report sets its time, in any order.
    await gones(after, before);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test('without a time counts as now, whatever else its report has', async () => {
    const origin = 'untimed.example.com';
    await tenant.admin.post('/v1/origins').send({ name: origin, goneafter: 2 }).expect(201);
    const { sink } = await newSink({ origin });
    const entry = { origin, sink, statuscode: 410 };
    await report([entry, { ...entry, at: inSeconds(-60).toISOString() }]);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test.each([
    ['0000-01-01T00:00:00+23:59', true],
    ['9999-12-31T23:59:59-23:59', false],
  ])('at an extreme time counts like any other: %s', async (at, allowed) => {
    const { sink } = await newSink();
    expect(await report([{ sink, statuscode: 410, at }])).toEqual([{ accepted: true }]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed });
  });

  test('retires until another handshake grants', async () => {
    const { sink, id, path } = await newSink();
    await report([{ sink, statuscode: 410 }]);
    registry.receiver.consent(path, { origin: 'somebody-else.example.com' });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
    expect(await tenant.read(id)).toMatchObject({ status: 'refused', statusdetails: { code: 'origin_mismatch' } });
  });
});

describe('a hold', () => {
  const retryAfters: Array<[string, () => string | number, number]> = [
    ['seconds', () => '120', 120],
    ['seconds as a number', () => 120, 120],
    ['a date', () => inSeconds(300).toUTCString(), 300],
    ['more than a day', () => '99999999', 86_400],
  ];
  test.each(retryAfters)('that a 429 asks for in %s applies to every sender', async (_, retryafter, seconds) => {
    const { sink, id } = await newSink();
    expect(await report([{ sink, statuscode: 429, retryafter: retryafter() }])).toEqual([{ accepted: true }]);
    const permission = await tenant.permission(sink);
    expect(permission).toMatchObject({ allowed: false, denial: 'held' });
    expect(Math.abs(secondsUntil(permission.helduntil) - seconds)).toBeLessThan(3);
    const lease = { origin: tenant.origin, sink, instance: 'one', requests: 1 };
    expect((await tenant.sender.post('/v1/leases').send(lease).expect(200)).body).toMatchObject({
      requests: 0,
      helduntil: permission.helduntil,
    });
    expect(await deliveries(id)).toMatchObject({ helduntil: permission.helduntil, advice: expect.any(String) });
    expect(await kinds(sink)).toEqual(['grant.live', 'grant.held']);
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  });

  test('with a date is measured by the clock of the sender', async () => {
    const { sink } = await newSink();
    const date = new Date('2040-01-01T00:01:40Z').toUTCString();
    await report([{ sink, statuscode: 429, retryafter: date, at: '2040-01-01T00:00:00Z' }]);
    expect(Math.abs(secondsUntil((await tenant.permission(sink)).helduntil) - 100)).toBeLessThan(5);
  });

  test.each(['120', () => inSeconds(-100 + 120).toUTCString()])(
    'that is reported late is shorter, and absent if it is over: %s',
    async (asked) => {
      const { sink } = await newSink();
      const retryafter = typeof asked === 'string' ? asked : asked();
      const lateBy = async (seconds: number, more: object = { retryafter: '120' }) => {
        await report([{ sink, statuscode: 429, at: inSeconds(-seconds).toISOString(), ...more }]);
        return tenant.permission(sink);
      };
      expect(await lateBy(130)).toMatchObject({ allowed: true });
      expect(await lateBy(30, {})).toMatchObject({ allowed: true });
      expect(Math.abs(secondsUntil((await lateBy(100, { retryafter })).helduntil) - 20)).toBeLessThan(5);
    },
  );

  test('without Retry-After that is reported late is shorter', async () => {
    const { sink } = await newSink();
    await report([{ sink, statuscode: 200 }]);
    await registry.sql(`update delivery set holds = 3 where sink = $1`, sink);
    await report([-70, -50, -60].map((seconds) => ({ sink, statuscode: 429, at: inSeconds(seconds).toISOString() })));
    expect(Math.abs(secondsUntil((await tenant.permission(sink)).helduntil) - 30)).toBeLessThan(5);
  });

  test('applies for a 503 with Retry-After; a 503 without it is only a failure', async () => {
    const { sink } = await newSink();
    await report([{ sink, statuscode: 503 }]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    await report([{ sink, statuscode: 503, retryafter: '60' }]);
    expect(await tenant.permission(sink)).toMatchObject({ denial: 'held' });
  });

  test('is never shortened by a later report', async () => {
    const { sink } = await newSink();
    const holdOf = async (...entries: object[]) => {
      await report(entries.map((entry) => ({ sink, statuscode: 429, ...entry })));
      return secondsUntil((await tenant.permission(sink)).helduntil);
    };
    expect(await holdOf({ retryafter: '600' }, { retryafter: '5' })).toBeGreaterThan(590);
    expect(await holdOf({ retryafter: '5' }, { statuscode: 200 })).toBeGreaterThan(590);
    expect(await holdOf({ retryafter: '1200' })).toBeGreaterThan(1_190);
    expect(await kinds(sink)).toEqual(['grant.live', 'grant.held', 'grant.held']);
  });

  test('changes the ETag of its grant only if its end moves', async () => {
    const { sink } = await newSink();
    const { id } = await tenant.grant(sink);
    const tags: string[] = [];
    for (const retryafter of [undefined, '60', '5', '600']) {
      if (retryafter !== undefined) await report([{ sink, statuscode: 429, retryafter }]);
      const { headers, body } = await tenant.admin.get(`/v1/grants/${id}`).expect(200);
      expect(body.helduntil === undefined).toBe(retryafter === undefined);
      tags.push(String(headers['etag']));
    }
    expect(tags).toEqual(['"1"', '"2"', '"2"', '"3"']);
    await tenant.admin.post(`/v1/grants/${id}/release`).set('If-Match', '"1"').expect(412);
    await tenant.admin.post(`/v1/grants/${id}/release`).set('If-Match', '"3"').expect(200);
  });

  test('for a 429 without Retry-After lasts ten seconds, then twice as long, until a success', async () => {
    const { sink } = await newSink();
    const hold = async (entry: object = {}) => {
      await registry.sql(`update "grant" set helduntil = now() where sink = $1`, sink);
      await report([{ sink, statuscode: 429, ...entry }]);
      // A second report of the same burst changes nothing.
      await report([{ sink, statuscode: 429 }]);
      return Math.round(secondsUntil((await tenant.permission(sink)).helduntil) / 10) * 10;
    };
    expect([await hold(), await hold(), await hold()]).toEqual([10, 20, 40]);
    const unixTime = String(Math.floor(Date.now() / 1_000) + 30);
    const [ofUnixTime] = await report([{ sink, statuscode: 429, retryafter: unixTime }]);
    expect(ofUnixTime).toMatchObject({ accepted: true, warnings: [{ rule: 'retryafter_malformed' }] });
    const warned = await report([{ sink, statuscode: 429, retryafter: '1.5' }]);
    expect(warned).toMatchObject([
      { accepted: true, warnings: [{ pointer: '/0/retryafter', rule: 'retryafter_malformed' }] },
    ]);
    await registry.sql(`update delivery set holds = 30 where sink = $1`, sink);
    expect(await hold()).toBe(600);
    await report([{ sink, statuscode: 200 }]);
    expect(await hold()).toBe(10);
  });

  test('continues through a renewal, and ends with the grant that it was for', async () => {
    const { sink, id } = await newSink();
    const askAgain = () =>
      tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
    await report([{ sink, statuscode: 429, retryafter: '600' }]);
    await askAgain();
    expect(await tenant.permission(sink)).toMatchObject({ denial: 'held' });
    for (const end of [() => report([{ sink, statuscode: 410 }]), () => passGrant(registry, sink)]) {
      await end();
      await askAgain();
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
      await report([{ sink, statuscode: 429, retryafter: '600' }]);
    }
  });

  test('ends immediately if an admin releases it, with an audit record and a change', async () => {
    const { sink } = await newSink();
    await report([{ sink, statuscode: 429, retryafter: '600' }]);
    const { id } = await tenant.grant(sink);
    const release = (client: Client, tag = '*') => client.post(`/v1/grants/${id}/release`).set('If-Match', tag);
    for (const client of [tenant.sender, tenant.subscriber]) await release(client).expect(403);
    await release(await registry.as('assent:admin', { tenant: 'provincie' })).expect(404);
    await release(tenant.admin, '"77"').expect(412);
    expect(await tenant.permission(sink)).toMatchObject({ denial: 'held' });
    expect((await release(tenant.admin).expect(200)).body).not.toHaveProperty('helduntil');
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    const lease = { origin: tenant.origin, sink, instance: 'one', requests: 1 };
    await tenant.sender.post('/v1/leases').send(lease).expect(201);
    const [entry] = (await tenant.admin.get('/v1/audit').query({ limit: 1 }).expect(200)).body;
    expect(entry).toMatchObject({ action: 'grant.released', actor: 'beheer', target: `grant:${id}` });
    // Without a hold, nothing is written.
    await release(tenant.admin).expect(200);
    expect(await kinds(sink)).toEqual(['grant.live', 'grant.held', 'grant.released']);
  });

  test('of an ended grant changes nothing, and is not shown', async () => {
    const { sink, id } = await newSink();
    await report([{ sink, statuscode: 429, retryafter: '60' }]);
    expect(await deliveries(id)).toHaveProperty('helduntil');
    await tenant.revoke(sink);
    expect(await deliveries(id)).not.toHaveProperty('helduntil');
    await report([
      { sink, statuscode: 429, retryafter: '60' },
      { sink, statuscode: 410 },
    ]);
    expect(await tenant.permission(sink)).toMatchObject({ denial: 'revoked' });
    expect(await kinds(sink)).toEqual(['grant.live', 'grant.held', 'grant.revoked']);
  });
});

(isServer() ? test : test.skip)(
  'reports of the same sinks in any order, at once, neither fail nor miscount',
  async () => {
    const sinks = await Promise.all(Array.from({ length: 6 }, () => newSink()));
    const beside = await startRegistry({ beside: registry });
    const senders = [tenant.sender, await beside.as('assent:deliver', { subscriber: 'mailroom' })];
    const statuses = [{ statuscode: 200 }, { statuscode: 429, retryafter: '1' }, { statuscode: 500 }];
    for (let round = 0; round < 15; round += 1) {
      const entries = sinks.map(({ sink }, place) => ({ sink, ...statuses[(round + place) % 3] }));
      const orders = [entries, entries.toReversed(), entries, entries.toReversed()];
      const answers = await Promise.all(orders.map((order, each) => report(order, senders[each % 2])));
      expect(answers.flat()).toEqual(Array.from({ length: 24 }, () => ({ accepted: true })));
    }
    await beside.stop();
    for (const { id } of sinks) {
      const { counts } = await deliveries(id);
      expect(counts.delivered + counts.throttled + counts.failed).toBe(60);
    }
    const deadlocks = await registry.sql<{ deadlocks: bigint }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(Number(deadlocks[0]?.deadlocks)).toBe(0);
  },
);

(isServer() ? test : test.skip)('a report beside the removal of its origin is taken in for the others', async () => {
  const { sink, id } = await newSink();
  for (let round = 0; round < 8; round += 1) {
    const origin = `going-${round}.example.com`;
    await tenant.admin.post('/v1/origins').send({ name: origin }).expect(201);
    const agreement = { origin, sink, allowedrate: 60, agreement: 'A-1', expiresat: inSeconds(86_400).toISOString() };
    await tenant.admin.post('/v1/grants').send(agreement).expect(201);
    const entries = [200, 410].map((statuscode) => ({ origin, sink, statuscode }));
    const [, ...results] = await Promise.all([
      tenant.admin.delete(`/v1/origins/${origin}`).expect(200),
      ...entries.map((entry) => report([entry, { sink, statuscode: 200 }])),
    ]);
    for (const [first, second] of results) {
      expect(first.accepted || first.faults[0].rule === 'no_grant').toBe(true);
      expect(second).toEqual({ accepted: true });
    }
    expect(await report([{ origin, sink, statuscode: 200 }])).toMatchObject([{ accepted: false }]);
  }
  expect((await deliveries(id)).counts).toEqual({ delivered: 16 });
});

test('the metrics count leases, reports and holds', async () => {
  const { sink } = await newSink();
  const lease = { origin: tenant.origin, sink, instance: 'one', requests: 2 };
  await tenant.sender.post('/v1/leases').send(lease).expect(201);
  await report([{ sink, statuscode: 429, retryafter: 5 }]);
  const metrics = await (await fetch(`${registry.operationsUrl}/metrics`)).text();
  for (const line of [
    /^assent_leases_total\{outcome="granted"\} [1-9]/m,
    /^assent_leased_requests_total [1-9]/m,
    /^assent_deliveries_reported_total\{kind="throttled"\} [1-9]/m,
    /^assent_grants_held_total [1-9]/m,
  ]) {
    expect(metrics).toMatch(line);
  }
});
