import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyOf, offer, offeredBy, type Offer } from '../../support/offer.js';
import { passGrant } from '../../support/pass-time.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

const offered = () => offer(registry, tenant);
const rate = (value: string) => ({ headers: { 'WebHook-Allowed-Rate': value } });

describe('what grants', () => {
  test.each(['GET', 'POST'])('%s grants, and later calls change nothing', async (method) => {
    const { callback, sink } = await offered();
    const first = await fetch(callback, { method });
    expect(first.status).toBe(200);
    expect(await first.json()).toMatchObject({ granted: true, origin: tenant.origin, sink, allowedrate: 120 });
    const before = await tenant.grant(sink);
    for (const again of ['GET', 'POST', 'GET']) expect((await fetch(callback, { method: again })).status).toBe(200);
    expect(await tenant.grant(sink)).toEqual(before);
    expect(await tenant.changes(sink)).toEqual(['subscription.created', 'grant.live']);
  });

  test('the first call sets the rate; a later call with another rate returns the first one', async () => {
    const { callback, sink } = await offered();
    await fetch(callback, rate('7'));
    const second = await fetch(callback, { method: 'POST', ...rate('*') });
    expect(second.status).toBe(200);
    expect(await second.json()).toMatchObject({ allowedrate: 7 });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 7, basis: 'callback' });
  });

  test.each([
    ['absent', undefined, 120, undefined],
    ['42', '42', 42, undefined],
    ['a rate above the one that was asked for', '100000', 100_000, ['rate_above_requested']],
    ['*', '*', '*', ['rate_above_requested']],
    ['of 40 digits', '9'.repeat(40), 999_999_999_999_999, ['rate_above_requested', 'rate_capped']],
  ])('the rate %s grants %s, with the same warning as a response', async (_title, value, allowedrate, codes) => {
    const { callback, sink, id } = await offered();
    expect((await fetch(callback, value === undefined ? {} : rate(value))).status).toBe(200);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate });
    const { tolerated } = (await tenant.read(id)).statusdetails;
    expect(tolerated?.map((warning: { code: string }) => warning.code)).toEqual(codes);
  });

  test('a POST with any body grants, and only a form can refuse', async () => {
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', 'granted=yes'],
      ['application/json', '{"decision":"refuse"}'],
      ['text/plain', 'x'.repeat(70_000)],
    ] as const) {
      const { callback } = await offered();
      const answer = await fetch(callback, { method: 'POST', headers: { 'Content-Type': type }, body });
      expect([type, answer.status]).toEqual([type, 200]);
    }
    const { callback, sink } = await offered();
    const form = (fields: Record<string, string>) =>
      fetch(callback, { method: 'POST', body: new URLSearchParams(fields) });
    expect((await form({ decision: 'perhaps' })).status).toBe(400);
    const refused = await form({ decision: 'refuse' });
    expect(await refused.json()).toEqual({ granted: false, origin: tenant.origin, sink });
    expect((await form({ decision: 'allow' })).status).toBe(404);
    expect((await fetch(callback)).status).toBe(404);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
  });

  test('the default rate of the origin applies if no rate was requested or sent', async () => {
    const origin = 'undemanding.example.com';
    await tenant.admin.post('/v1/origins').send({ name: origin, defaultrate: 33 }).expect(201);
    const sink = registry.receiver.sink('/undemanding');
    const callbacks: string[] = [];
    registry.receiver.on('/undemanding', ({ headers }, response) => {
      callbacks.push(...offeredBy({ headers }));
      response.writeHead(200).end();
    });
    await tenant.register(sink, { origin });
    expect((await fetch(callbacks[0] ?? '')).status).toBe(200);
    expect(await tenant.permission(sink, origin)).toMatchObject({ allowed: true, allowedrate: 33 });
  });

  test.each(['0', '-1', '+5', '1.5', '1e3', '007', '60/min', '100, 200', '**', ''])(
    'the malformed rate "%s" is a 400 that consumes nothing',
    async (value) => {
      const { callback, sink } = await offered();
      const refused = await fetch(callback, rate(value));
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ code: 'callback_rate_malformed' });
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
      expect((await fetch(callback, rate('9'))).status).toBe(200);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 9 });
    },
  );

  test('a consent that names another origin is a 400 that consumes nothing', async () => {
    const { callback, sink } = await offered();
    const headers = { 'WebHook-Allowed-Origin': 'eventgrid.azure.net' };
    const refused = await fetch(callback, { method: 'POST', headers });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ faults: [{ rule: 'origin_mismatch' }] });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
    expect((await fetch(callback, { headers: { 'WebHook-Allowed-Origin': 'EventEmitter.Example.COM' } })).status).toBe(
      200,
    );
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });

  (isServer() ? test : test.skip)(
    '30 calls at once give one grant, one change and one audit record (real server)',
    async () => {
      const { callback, sink, id } = await offered();
      const calls = Array.from({ length: 30 }, (_, place) =>
        fetch(callback, { method: place % 2 === 0 ? 'GET' : 'POST', ...rate(String(place + 1)) }),
      );
      const answers = await Promise.all(calls.map(async (call) => (await call).json()));
      const { allowedrate } = await tenant.permission(sink);
      expect(answers).toHaveLength(30);
      for (const answer of answers) expect(answer).toMatchObject({ granted: true, allowedrate });
      expect(await tenant.changes(sink)).toEqual(['subscription.created', 'grant.live']);
      const { body } = await tenant.admin
        .get('/v1/audit')
        .query({ target: `subscription:${id}` })
        .expect(200);
      const granted = body.filter(({ action }: { action: string }) => action === 'handshake.granted');
      expect(granted).toHaveLength(1);
    },
  );
});

describe('the record of a call that granted nothing', () => {
  const audited = async (id: string) =>
    (
      await tenant.admin
        .get('/v1/audit')
        .query({ target: `subscription:${id}`, limit: 50 })
        .expect(200)
    ).body.filter(({ action }: { action: string }) => action === 'handshake.callback_rejected');

  test.each([
    ['a prefix of the origin', { 'WebHook-Allowed-Origin': 'eventemitter' }, 400, 'origin_mismatch', '"eventemitter"'],
    ['two origins', { 'WebHook-Allowed-Origin': 'a.example, b.example' }, 400, 'origin_repeated', '"a.example, b.ex'],
    ['the rate 0', { 'WebHook-Allowed-Rate': '0' }, 400, 'rate_malformed', 'WebHook-Allowed-Rate "0"'],
    ['an expired key', {}, 404, 'callback_expired', 'after its URL had expired'],
    ['a closed question', {}, 404, 'callback_closed', 'handshake that is closed'],
  ] satisfies Array<[string, Record<string, string>, number, string, string]>)(
    '%s: handshake and status say what arrived and what to send, and the audit record has the code and the values',
    async (_title, headers, status, code, came) => {
      const { callback, id, handshake, sink } = await offered();
      if (code === 'callback_expired') {
        await registry.sql('update attempt set callbackexpiresat = now() where handshake = $1::uuid', handshake);
      }
      if (code === 'callback_closed') {
        await fetch(callback, { method: 'POST', body: new URLSearchParams({ decision: 'refuse' }) });
      }
      expect((await fetch(callback, { method: 'POST', headers })).status).toBe(status);
      const trace = {
        code,
        message: expect.stringContaining(came),
        advice: expect.stringMatching(/^(?:Leave|Send|Ask again)\b/),
      };
      const sent = Object.fromEntries(
        Object.entries<string>(headers).map(([name, value]) => [name.replace(/WebHook-|-/g, '').toLowerCase(), value]),
      );
      const [shown] = await tenant.handshakes(id);
      expect(shown.rejectedcallback).toEqual({ ...trace, at: expect.any(String), count: 1 });
      expect((await tenant.read(id)).statusdetails.rejectedcallback).toEqual(shown.rejectedcallback);
      expect(
        (await audited(id)).map(({ actor, details }: { actor: string; details: object }) => [actor, details]),
      ).toEqual([['callback', { handshake, code, origin: tenant.origin, sink, ...sent }]]);
    },
  );

  test('a later grant removes it from the status, but not from the handshake', async () => {
    const { callback, id } = await offered();
    await fetch(callback, rate('0'));
    await fetch(callback);
    expect((await tenant.read(id)).statusdetails).not.toHaveProperty('rejectedcallback');
    expect((await tenant.handshakes(id))[0]).toMatchObject({ rejectedcallback: { code: 'rate_malformed' } });
  });

  test('many calls cannot fill the audit record, and a guessed key is not recorded', async () => {
    const { callback, id } = await offered();
    expect((await fetch(`${callback}x`, rate('0'))).status).toBe(404);
    for (let n = 0; n < 12; n += 1) await fetch(callback, rate(`${'x'.repeat(3_000)}${n}`));
    const [shown] = await tenant.handshakes(id);
    expect(shown.rejectedcallback).toMatchObject({ count: 12 });
    expect(shown.rejectedcallback.message.length).toBeLessThan(400);
    expect(await audited(id)).toHaveLength(10);
  });
});

describe('what grants nothing', () => {
  /** Status, headers and body, without the parts that differ between requests. */
  async function seen(url: string, method = 'GET') {
    const answer = await fetch(url, { method });
    const headers = Object.fromEntries(answer.headers);
    const { requestid, ...body } = (await answer.json()) as Record<string, unknown>;
    expect(requestid).toBe(headers['x-request-id']);
    return { status: answer.status, headers: { ...headers, date: '', 'x-request-id': '' }, body };
  }
  const keyed = (callback: string, key: string) => callback.replace(/key=.*/, `key=${key}`);

  test('a wrong, an expired and a closed key and an unknown handshake return the same 404', async () => {
    const { callback, handshake, sink } = await offered();
    const wrong = await seen(keyed(callback, 'A'.repeat(43)));
    expect(wrong).toMatchObject({ status: 404, body: { code: 'callback_unknown' } });

    const closed = await offered();
    await tenant.subscriber.delete(`/v1/subscriptions/${closed.id}`).expect(200);
    const expired = await offered();
    await registry.sql('update attempt set callbackexpiresat = now() where handshake = $1::uuid', expired.handshake);
    const cases = {
      short: keyed(callback, 'x'),
      empty: keyed(callback, ''),
      unknown: callback.replace(handshake, '019a0000-0000-7000-8000-000000000000'),
      noId: callback.replace(handshake, 'nonsense'),
      ofAnother: keyed(callback, keyOf(expired.callback)),
      closed: closed.callback,
      expired: expired.callback,
    };
    for (const [name, url] of Object.entries(cases)) {
      for (const method of ['GET', 'POST']) expect([name, await seen(url, method)]).toEqual([name, wrong]);
    }
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
  });

  test('HEAD is 405 and grants nothing', async () => {
    const { callback, sink } = await offered();
    const answer = await fetch(callback, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS']);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
  });

  test.each([
    ['Sec-Purpose', 'prefetch'],
    ['Sec-Purpose', 'prefetch;prerender'],
    ['Sec-Purpose', 'prefetch;anonymous-client-ip'],
    ['Purpose', 'prefetch'],
  ])('%s: %s decides nothing, and a later call does', async (name, purpose) => {
    const { callback, sink } = await offered();
    const ahead = await fetch(callback, { headers: { [name]: purpose, Accept: 'text/html' } });
    expect(ahead.status).toBe(409);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
    const posted = await fetch(callback, {
      method: 'POST',
      headers: { [name]: purpose },
      body: new URLSearchParams({ decision: 'refuse' }),
    });
    expect(posted.status).toBe(409);
    expect((await fetch(callback)).status).toBe(200);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });

  test.each([
    ['a PUT of the sink', async ({ id, sink }: Offer) => tenant.replace(id, { sink: `${sink}-moved` })],
    [
      'a PUT of the origin',
      async ({ id, sink }: Offer) => {
        const name = 'other.example.com';
        await tenant.admin.post('/v1/origins').send({ name });
        await tenant.replace(id, { sink, origin: name });
      },
    ],
    ['deletion', async ({ id }: Offer) => tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200)],
  ])('after %s the key is unknown, whether it was used before or not', async (_title, change) => {
    for (const isUsed of [true, false]) {
      const { callback, ...about } = await offered();
      if (isUsed) expect((await fetch(callback)).status).toBe(200);
      await change({ callback, ...about });
      for (const method of ['GET', 'POST']) expect((await fetch(callback, { method })).status).toBe(404);
      expect(await tenant.permission(about.sink)).toMatchObject({ allowed: false });
    }
  });

  test('a used key is unknown after its grant expired, and grants nothing', async () => {
    const { callback, sink } = await offered();
    await fetch(callback);
    await passGrant(registry, sink);
    for (const method of ['GET', 'POST']) expect((await fetch(callback, { method })).status).toBe(404);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'expired' });
  });

  test('a used key is unknown after its grant ended, and revives nothing', async () => {
    const { callback, sink } = await offered();
    await fetch(callback);
    await tenant.gone(sink);
    for (const method of ['GET', 'POST']) expect((await fetch(callback, { method })).status).toBe(404);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test('after revocation the keys of all subscriptions to the sink are unknown', async () => {
    const first = await offered();
    await fetch(first.callback);
    await tenant.register(first.sink);
    const second = first.callbacks[1] ?? '';
    expect(second).not.toBe('');
    await tenant.revoke(first.sink);
    for (const callback of [first.callback, second]) expect((await fetch(callback)).status).toBe(404);
    expect(await tenant.permission(first.sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  });

  const agree = (sink: string) =>
    tenant.admin
      .post('/v1/grants')
      .send({
        origin: tenant.origin,
        sink,
        allowedrate: 9,
        agreement: 'A-1',
        expiresat: new Date(Date.now() + 86_400_000).toISOString(),
      })
      .expect(201);

  test.each([
    ['an agreement', ({ sink }: Offer) => agree(sink)],
    ["an admin's handshake", ({ id }: Offer) => tenant.admin.post(`/v1/subscriptions/${id}/handshakes`).expect(201)],
  ])('a key offered during the revocation of the grant is unknown after %s', async (_title, reopen) => {
    const about = await offered();
    await agree(about.sink);
    await registry.sql(`update "grant" set state = 'revoked', endcode = 'revoked' where sink = $1`, about.sink);
    await reopen(about);
    for (const method of ['GET', 'POST']) expect((await fetch(about.callback, { method })).status).toBe(404);
  });
});
