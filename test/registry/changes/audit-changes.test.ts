import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

const reason = 'Because of a test.';
const mergePatch = 'application/merge-patch+json';
const secret = (value: string) => ({ credentialtype: 'PLAIN', identifier: 'planted-name', secret: value });
const fingerprint = expect.stringMatching(/^[\w-]{16}$/);

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

let count = 0;
function newSink(query = ''): string {
  const path = `/c${(count += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path) + query;
}

/** The newest entries of a target, the actions that were asked for only. */
async function entries(target: string, action?: string) {
  const query = { target, ...(action === undefined ? {} : { action }) };
  return (await tenant.admin.get('/v1/audit').query(query).expect(200)).body;
}
const latest = async (id: string, action = 'subscription.') => (await entries(`subscription:${id}`, action))[0];

async function patch(id: string, body: object, client: Client = tenant.subscriber) {
  await client.patch(`/v1/subscriptions/${id}`).type(mergePatch).send(JSON.stringify(body)).expect(200);
  return latest(id);
}

describe('every member that a client can write is in the entry about its change', () => {
  const contract = JSON.parse(readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8')) as {
    components: { schemas: Record<string, { properties: Record<string, { readOnly?: boolean }> }> };
  };
  const writable = (request: string, ...names: string[]) =>
    Object.entries(contract.components.schemas[request]!.properties)
      .filter(([member, { readOnly }]) => readOnly !== true && !names.includes(member))
      .map(([member]) => member)
      .sort();
  const sorted = (of: object) => Object.keys(of).sort();
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

  test('of a subscription', async () => {
    await tenant.admin.post('/v1/origins').send({ name: 'other.example.com' }).expect(201);
    const request = (n: number, origin: string) => ({
      source: `urn:${n}`,
      types: [`com.example.${n}`],
      subject: `${n}`,
      filters: [{ prefix: { id: `${n}` } }],
      sink: newSink(),
      sinkcredential: secret(`planted-every-${n}`),
      signingsecret: { secret: `whsec_${Buffer.alloc(32, n).toString('base64')}` },
      protocol: 'HTTP',
      protocolsettings: { headers: { 'X-Number': `${n}` } },
      config: { n },
      origin,
      requestedrate: n,
      callback: n === 1 ? 'offer' : 'never',
      expiresat: inDays(n),
    });
    const [first, second] = [request(1, tenant.origin), request(2, 'other.example.com')];
    const draft = { ...first, suspended: true };
    const { id } = (await tenant.subscriber.post('/v1/subscriptions').send(draft).expect(201)).body;
    expect(sorted(draft)).toEqual(writable('SubscriptionRegistration', 'id'));
    expect(sorted((await latest(id)).changed)).toEqual(sorted({ ...first, suspension: true }));
    await tenant.subscriber.put(`/v1/subscriptions/${id}`).send(second).expect(200);
    // There is one protocol.
    expect(sorted((await latest(id)).changed)).toEqual(writable('SubscriptionRequest', 'id', 'protocol'));
  });

  test('of an origin', async () => {
    const name = 'every.example.com';
    const policy = (n: number) => ({
      description: `Number ${n}`,
      isdefault: n === 2,
      notices: n === 1,
      requestedrate: n,
      defaultrate: n,
      burst: n,
      judgement: n === 1 ? 'lenient' : 'strict',
      callback: n === 1 ? 'never' : 'offer',
      signatures: n === 1 ? 'string' : 'off',
      unsupportedrate: n,
      grantseconds: 1000 + n,
      profile: n === 1 ? 'nl-gov' : 'belgif',
      goneafter: n,
      subscriptionrules: [{ name: `Rule ${n}`, subscribers: [`client-${n}`] }],
    });
    // Of another tenant, which has no default origin.
    const admin = await registry.as('assent:admin', { tenant: 'other', subscriber: 'beheer' });
    const changed = async () => {
      const { body } = await admin
        .get('/v1/audit')
        .query({ target: `origin:${name}` })
        .expect(200);
      return sorted(body[0].changed);
    };
    await admin
      .post('/v1/origins')
      .send({ name, ...policy(1) })
      .expect(201);
    expect(await changed()).toEqual(writable('OriginRequest', 'name'));
    await admin.put(`/v1/origins/${name}`).send(policy(2)).expect(200);
    expect(await changed()).toEqual(writable('OriginSettings', 'name'));
  });

  test('of a grant by agreement', async () => {
    const sink = newSink();
    const agree = async (n: number) => {
      const agreement = { origin: tenant.origin, sink, allowedrate: n, expiresat: inDays(n), agreement: `A-${n}` };
      expect(sorted(agreement)).toEqual(writable('GrantRequest'));
      const { id } = (await tenant.admin.post('/v1/grants').send(agreement).expect(201)).body;
      return (await entries(`grant:${id}`))[0].changed;
    };
    for (const n of [1, 2]) {
      expect(sorted(await agree(n))).toEqual(expect.arrayContaining(writable('GrantRequest', 'origin', 'sink')));
    }
  });
});

describe('an entry about a subscription has the members that changed, before and after', () => {
  test('registration: every member, from nothing', async () => {
    const sink = newSink();
    const { id } = await tenant.register(sink, { types: ['com.example.a'], requestedrate: 5 });
    expect((await latest(id)).changed).toEqual({
      origin: { before: null, after: tenant.origin },
      sink: { before: null, after: sink },
      protocol: { before: null, after: 'HTTP' },
      types: { before: null, after: ['com.example.a'] },
      requestedrate: { before: null, after: 5 },
    });
  });

  test('filters, types, subject, rate, callback and config', async () => {
    const filters = [{ prefix: { type: 'com.example.', source: 'urn:a' } }];
    const { id } = await tenant.register(newSink(), { filters, requestedrate: 5, config: { a: 1 } });
    const sql = [{ sql: "type = 'com.example.a'" }];
    const more = { filters: sql, types: ['com.example.a'], requestedrate: null, callback: 'never', config: { a: 2 } };
    expect((await patch(id, more)).changed).toEqual({
      filters: { before: filters, after: sql },
      types: { before: null, after: ['com.example.a'] },
      requestedrate: { before: 5, after: null },
      callback: { before: null, after: 'never' },
      config: { before: { a: 1 }, after: { a: 2 } },
    });
  });

  test('a draft and its end, and an end that is moved', async () => {
    const [first, second] = [30, 60].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
    const body = { sink: newSink(), protocol: 'HTTP', suspended: true, expiresat: first };
    const { id } = (await tenant.subscriber.post('/v1/subscriptions').send(body).expect(201)).body;
    expect((await latest(id, 'subscription.created')).changed).toMatchObject({
      expiresat: { before: null, after: first },
      suspension: { before: null, after: { by: 'subscriber' } },
    });
    expect((await patch(id, { expiresat: second })).changed).toEqual({ expiresat: { before: first, after: second } });
  });

  test('two filter changes and two rotations leave four different entries', async () => {
    const { id } = await tenant.register(newSink(), { sinkcredential: secret('planted-0') });
    const before = (await entries(`subscription:${id}`)).length;
    await patch(id, { filters: [{ exact: { type: 'a' } }] });
    await patch(id, { filters: [{ exact: { type: 'b' } }] });
    await patch(id, { sinkcredential: { ...secret('planted-1'), overlapseconds: 60 } });
    await patch(id, { sinkcredential: secret('planted-2') });
    const written = (await entries(`subscription:${id}`))
      .slice(0, -before)
      .map(({ changed }: { changed: object }) => changed);
    expect(new Set(written.map((changed: object) => JSON.stringify(changed))).size).toBe(4);
    const [second, first] = written;
    const credential = { credentialtype: 'PLAIN', fingerprint };
    expect(first).toEqual({
      sinkcredential: {
        before: credential,
        after: {
          ...credential,
          previous: { fingerprint: first.sinkcredential.before.fingerprint, until: expect.any(String) },
        },
      },
    });
    expect(second).toEqual({ sinkcredential: { before: first.sinkcredential.after, after: credential } });
  });

  test('a change that changes nothing has no `changed`: the order of members, a repeated rotation', async () => {
    const filters = [{ exact: { type: 'a', subject: 'b' } }];
    const sinkcredential = secret('planted-same');
    const { id } = await tenant.register(newSink(), { filters, sinkcredential });
    for (const same of [{ filters: [{ exact: { subject: 'b', type: 'a' } }] }, { sinkcredential }]) {
      const entry = await patch(id, same);
      expect(entry.action).toBe('subscription.replaced');
      expect(entry).not.toHaveProperty('changed');
    }
  });

  test('the query of a sink as a fingerprint: a change of it alone is seen, and reveals nothing', async () => {
    const sink = newSink();
    const { id } = await tenant.register(`${sink}?key=planted-query`);
    const changedTo = async (query: string) => (await patch(id, { sink: `${sink}${query}` })).changed.sink;
    const { before, after } = await changedTo('?key=planted-other');
    for (const shown of [before, after]) {
      expect(shown).toMatch(/\?\[fingerprint [\w-]{16}\]$/);
      expect(shown).toContain(`${sink}?`);
    }
    expect(after).not.toBe(before);
    expect(await changedTo('?key=planted-query')).toEqual({ before: after, after: before });
    expect(await changedTo('')).toEqual({ before, after: sink });
  });

  test('the values of headers as fingerprints, which show what changed', async () => {
    const settings = (key: string) => ({ headers: { 'X-Key': key, 'X-Other': 'planted-constant' } });
    const { id } = await tenant.register(newSink(), { protocolsettings: settings('planted-header') });
    const { changed } = await patch(id, { protocolsettings: settings('planted-changed') });
    const { before, after } = changed.protocolsettings;
    expect(before.headers['X-Key']).toEqual({ fingerprint });
    expect(before.headers['X-Key']).not.toEqual(after.headers['X-Key']);
    expect(before.headers['X-Other']).toEqual(after.headers['X-Other']);
  });

  test('suspending, by whom and why; resuming; deleting, with what was there', async () => {
    const sink = newSink();
    const { id } = await tenant.register(sink, { subject: 'a' });
    const path = `/v1/subscriptions/${id}`;
    await tenant.subscriber.post(`${path}/suspend`).send({ reason }).expect(200);
    expect((await latest(id)).changed).toEqual({ suspension: { before: null, after: { by: 'subscriber', reason } } });
    await tenant.admin.post(`${path}/suspend`).send({ reason: 'An incident.' }).expect(200);
    const byAdmin = { by: 'admin', reason: 'An incident.' };
    expect((await latest(id)).changed).toEqual({
      suspension: { before: { by: 'subscriber', reason }, after: byAdmin },
    });
    await tenant.subscriber.post(`${path}/suspend`).send({ reason }).expect(200);
    expect(await latest(id)).not.toHaveProperty('changed');
    await tenant.admin.post(`${path}/resume`).send({ reason }).expect(200);
    expect((await latest(id)).changed).toEqual({ suspension: { before: byAdmin, after: null } });
    await tenant.admin.delete(path).expect(200);
    expect(await latest(id)).toMatchObject({
      action: 'subscription.deleted',
      actor: 'beheer',
      subscriber: 'zaaksysteem',
      changed: { subject: { before: 'a', after: null }, sink: { before: sink, after: null } },
    });
  });

  test('no secret is anywhere in the record', async () => {
    const text = JSON.stringify(await registry.sql('select to_jsonb(audit)::text as row from audit'));
    expect(text).not.toContain('planted-');
  });
});

describe('an entry about an origin', () => {
  test('has the members of the policy that changed', async () => {
    const of = async () => (await entries('origin:policy.example.com'))[0].changed;
    await tenant.admin.post('/v1/origins').send({ name: 'policy.example.com' }).expect(201);
    expect(await of()).toMatchObject({ defaultrate: { before: null, after: 60 } });
    const path = '/v1/origins/policy.example.com';
    await tenant.admin.patch(path).type(mergePatch).send('{"defaultrate":"*","goneafter":3}').expect(200);
    expect(await of()).toEqual({ defaultrate: { before: 60, after: '*' }, goneafter: { before: 1, after: 3 } });
    await tenant.admin.patch(path).type(mergePatch).send('{"goneafter":3}').expect(200);
    expect(await of()).toBeUndefined();
    await tenant.admin.delete(path).expect(200);
    expect(await of()).toMatchObject({ goneafter: { before: 3, after: null } });
  });
});

describe('an entry about a grant', () => {
  test('has state, rate, expiry and hold, before and after', async () => {
    const sink = newSink();
    registry.receiver.consent(new URL(sink).pathname, { rate: '100' });
    await tenant.register(sink);
    const { id, expiresat } = await tenant.grant(sink);
    const of = async () => (await entries(`grant:${id}`))[0].changed;
    expect(await of()).toMatchObject({
      state: { before: null, after: 'live' },
      allowedrate: { before: null, after: 100 },
      expiresat: { before: null, after: expiresat },
    });

    const outcome = { origin: tenant.origin, sink, statuscode: 429, retryafter: 60 };
    await tenant.sender.post('/v1/deliveries/outcomes').send([outcome]).expect(200);
    const { helduntil } = await tenant.grant(sink);
    expect(await of()).toEqual({ helduntil: { before: null, after: helduntil } });
    await tenant.admin.post(`/v1/grants/${id}/release`).expect(200);
    expect(await of()).toEqual({ helduntil: { before: helduntil, after: null } });

    const until = new Date(Date.now() + 86_400_000).toISOString();
    const agreement = { origin: tenant.origin, sink, allowedrate: 5, expiresat: until, agreement: 'A-1' };
    await tenant.admin.post('/v1/grants').send(agreement).expect(201);
    expect(await of()).toMatchObject({
      basis: { before: 'response', after: 'agreement' },
      allowedrate: { before: 100, after: 5 },
      expiresat: { before: expiresat, after: until },
      agreement: { before: null, after: 'A-1' },
    });

    await tenant.admin.post(`/v1/grants/${id}/revoke`).send({ reason }).expect(200);
    expect(await of()).toEqual({
      state: { before: 'live', after: 'revoked' },
      endcode: { before: null, after: 'revoked' },
      endreason: { before: null, after: reason },
    });
  });

  test('says that an expired grant had expired', async () => {
    const sink = newSink();
    await tenant.register(sink);
    const { id } = await tenant.grant(sink);
    await registry.sql(`update "grant" set expiresat = now() - interval '1 hour' where id = $1::uuid`, id);
    await tenant.admin.post(`/v1/grants/${id}/revoke`).send({ reason }).expect(200);
    expect((await entries(`grant:${id}`))[0].changed.state).toEqual({ before: 'expired', after: 'revoked' });
  });

  test('of a removed origin is about nothing any more', async () => {
    const [name, sink] = ['removed.example.com', newSink()];
    await tenant.admin.post('/v1/origins').send({ name }).expect(201);
    const until = new Date(Date.now() + 86_400_000);
    const agreement = { origin: name, sink, allowedrate: 5, expiresat: until, agreement: 'A-1' };
    const { body } = await tenant.admin.post('/v1/grants').send(agreement).expect(201);
    await tenant.admin.delete(`/v1/origins/${name}`).expect(200);
    expect((await entries(`grant:${body.id}`))[0]).toMatchObject({
      action: 'grant.ended',
      details: { cause: 'origin_removed' },
      changed: { state: { before: 'live', after: null }, allowedrate: { before: 5, after: null } },
    });
  });
});

describe('Audit-Reference', () => {
  test('is the reference of every entry of the request', async () => {
    const { id } = await tenant.register(newSink());
    const deleted = await tenant.subscriber
      .delete(`/v1/subscriptions/${id}`)
      .set('Audit-Reference', 'INC-2041')
      .expect(200);
    const { body } = await tenant.admin.get('/v1/audit').query({ limit: 2 }).expect(200);
    expect(body).toMatchObject([
      { action: 'subscription.deleted', reference: 'INC-2041', requestid: deleted.get('X-Request-Id') },
      { action: 'grant.ended', reference: 'INC-2041' },
    ]);
  });

  test('that is too long or not visible ASCII is refused', async () => {
    for (const reference of ['x'.repeat(201), 'caf\u00e9']) {
      const answer = await tenant.admin
        .post('/v1/origins')
        .set('Audit-Reference', reference)
        .send({ name: 'x.example.com' });
      expect([answer.status, answer.body.faults?.[0]?.pointer]).toEqual([400, 'header/audit-reference']);
    }
  });
});
