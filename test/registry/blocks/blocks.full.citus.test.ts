import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { offer } from '../../support/offer.js';
import { announceBlocks } from '../../../src/registry/blocks/announcements.js';
import { passGrant, passTurns, reachRenewal } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

// No loop runs in this registry, so a handshake is sent when a test drains the worker.

let registry: Registry;
let tenant: Tenant;
let operator: Client;

beforeAll(async () => {
  registry = await startRegistry({ start: false });
  tenant = await createTenant(registry);
  operator = await registry.as('assent:block', { tenant: 'rijk', subscriber: 'noc' });
});
afterAll(() => registry.stop());

let count = 0;
let host: string;
let sink: string;
beforeEach(() => {
  host = `blocks-${(count += 1)}.hooks.test`;
  registry.receiver.consent(`/${host}`);
  sink = registry.receiver.sink(`/${host}`, host);
});

/** A failed test must not stop the next ones. */
afterEach(async () => {
  for (const { id } of (await tenant.admin.get('/v1/blocks').expect(200)).body) {
    await operator.delete(`/v1/blocks/${id}`).expect(200);
  }
});

const asked = () => registry.receiver.asked.filter(({ path }) => path === `/${host}`).length;
const drain = () => registry.service.worker.drain();
async function register(more: object = {}) {
  const { id } = await tenant.register(sink, more, 'respond-async');
  await drain();
  return tenant.read(id);
}
const block = async (body: object, client = tenant.admin) =>
  (
    await client
      .post('/v1/blocks')
      .send({ reason: 'Incident 7.', ...body })
      .expect(201)
  ).body;
const lift = async ({ id }: { id: string }, client = tenant.admin) =>
  (await client.delete(`/v1/blocks/${id}`).expect(200)).body;
const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.block' };
async function matched(query = '', client = tenant.sender) {
  const response = await client
    .post(`/v1/match${query}`)
    .set('Content-Type', 'application/cloudevents+json')
    .send(JSON.stringify(event))
    .expect(200);
  return response.body;
}
const matches = async () => (await matched()).sinks.some((each: { sink: string }) => each.sink === sink);
const leased = async () =>
  tenant.sender.post('/v1/leases').send({ origin: tenant.origin, sink, instance: 'a', requests: 1 });

/** What each kind of block is made of, for the sink of this test. */
const kinds: Array<[string, () => object]> = [
  ['origin', () => ({ kind: 'origin', value: tenant.origin })],
  ['sink', () => ({ kind: 'sink', value: sink })],
  ['host', () => ({ kind: 'host', value: host })],
  ['domain', () => ({ kind: 'domain', value: 'hooks.test' })],
  ['network', () => ({ kind: 'network', value: '127.0.0.0/24' })],
  ['subscriber', () => ({ kind: 'subscriber', value: 'zaaksysteem' })],
  ['tenant', () => ({ kind: 'tenant', value: 'gemeente' })],
];

describe.each(kinds)('a block of the kind %s', (kind, bodyOf) => {
  test('stops what was active, is in the feed, and lifting it restores everything without a handshake', async () => {
    const { id } = await register();
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    expect(await matches()).toBe(true);
    const before = asked();
    const blocked = await block(bodyOf());

    expect(await tenant.read(id)).toMatchObject({
      status: 'blocked',
      statusdetails: { code: 'blocked', message: expect.stringContaining('Incident 7.') },
    });
    const denial = kind === 'subscriber' ? 'suspended' : 'blocked';
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: denial });
    expect((await leased()).body).toMatchObject({ code: 'not_permitted', faults: [{ rule: denial }] });
    expect(await matches()).toBe(false);
    const { explanations } = await matched('?explain=true', tenant.admin);
    expect(explanations).toContainEqual(expect.objectContaining({ subscription: id, matched: false, code: 'blocked' }));
    if (kind !== 'subscriber') expect((await tenant.grant(sink)).state).toBe('blocked');
    const [found] = (await tenant.subscriber.get('/v1/subscriptions').query({ status: 'blocked', sink }).expect(200))
      .body;
    expect(found.id).toBe(id);

    await lift(blocked);
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    expect(await matches()).toBe(true);
    expect((await leased()).status).toBe(201);
    await drain();
    expect(asked()).toBe(before);

    // Followers get one change each time, however much is under the block.
    const rows = await registry.sql<{ kind: string }>(
      `select kind from change where block = $1::uuid order by position`,
      blocked.id,
    );
    expect(rows.map((row) => row.kind)).toEqual(['block.created', 'block.lifted']);
  });

  test('refuses registrations, agreements, moves and requests for a handshake by name, and stores nothing', async () => {
    const present = await register({ types: ['com.example.present'] });
    const elsewhere = registry.receiver.sink(`/elsewhere-${count}`, 'localhost');
    const moving = await tenant.register(elsewhere, {}, 'respond-async');
    const blocked = await block(bodyOf());
    const number = async () => (await registry.sql('select 1 from subscription')).length;
    const before = await number();

    const refused = await tenant.subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(403);
    expect(refused.body).toMatchObject({ code: 'blocked', detail: expect.stringContaining('Incident 7.') });
    const pointer = { origin: '/origin', subscriber: undefined, tenant: undefined }[kind as 'origin'];
    const expected = ['subscriber', 'tenant'].includes(kind) ? undefined : (pointer ?? '/sink');
    if (kind !== 'network') expect(refused.body.faults?.[0].pointer).toBe(expected);
    expect(await number()).toBe(before);
    if (kind !== 'network') {
      const put = await tenant.subscriber.put(`/v1/subscriptions/${moving.id}`).send({ sink, protocol: 'HTTP' });
      if (!['origin', 'tenant', 'subscriber'].includes(kind)) expect(put.body.code).toBe('blocked');
    }
    const again = await tenant.subscriber.post(`/v1/subscriptions/${present.id}/handshakes`).expect(403);
    expect(again.body.code).toBe('blocked');
    if (kind !== 'subscriber') {
      const expiresat = new Date(Date.now() + 86_400_000).toISOString();
      const agreement = { origin: tenant.origin, sink, allowedrate: 5, agreement: '1', expiresat };
      expect((await tenant.admin.post('/v1/grants').send(agreement).expect(403)).body.code).toBe('blocked');
    }
    await lift(blocked);
    await drain();
  });
});

test('nothing under a block is asked: neither a registration that is due nor a renewal, until it is lifted', async () => {
  const active = await register({ types: ['com.example.renewed'] });
  await reachRenewal(registry, sink);
  const { id } = await tenant.register(sink, {}, 'respond-async');
  const before = asked();
  const blocked = await block({ kind: 'host', value: host });
  await registry.service.sweep();
  await drain();
  expect(asked()).toBe(before);
  await lift(blocked);
  await registry.service.sweep();
  await drain();
  expect(asked()).toBeGreaterThan(before);
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  expect(await tenant.read(active.id)).toMatchObject({ status: 'active' });
});

test('a grant that expires under a block is asked for again after it', async () => {
  const { id } = await register();
  await reachRenewal(registry, sink);
  await registry.service.sweep();
  const blocked = await block({ kind: 'domain', value: host });
  await passGrant(registry, sink);
  await drain();
  expect(await tenant.read(id)).toMatchObject({ status: 'blocked' });
  await lift(blocked);
  await registry.service.sweep();
  await drain();
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
});

test('a blocked network is not connected to, even by a name that was never asked before', async () => {
  const blocked = await block({ kind: 'network', value: '127.0.0.1' });
  expect(blocked.value).toBe('127.0.0.1/32');
  const { id, status } = await register();
  expect(status).toBe('pending');
  expect((await tenant.read(id)).statusdetails.code).toBe('blocked');
  expect(asked()).toBe(0);
  await lift(blocked);
  await registry.sql('update handshake set dueat = now() where subscription = $1::uuid', id);
  await passTurns(registry);
  await drain();
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
});

test('a callback under a block gets a 403, grants nothing, and the same URL works after it', async () => {
  const { id, sink: target, callback } = await offer(registry, tenant, `/${host}`);
  const url = callback.slice('https://assent.test'.length);
  const blocked = await block({ kind: 'sink', value: target });
  const refused = await tenant.subscriber.post(url).expect(403);
  expect(refused.body.code).toBe('blocked');
  expect(await tenant.grant(target)).toBeUndefined();
  await lift(blocked);
  expect((await tenant.read(id)).statusdetails.rejectedcallback).toMatchObject({ code: 'blocked', count: 1 });
  await tenant.subscriber.post(url).expect(200);
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
});

test('a host is not the domain, a domain has its subdomains and nothing that only ends alike', async () => {
  const sinks = [host, `x${host}`].map((name) => registry.receiver.sink(`/${host}`, name));
  for (const each of sinks) await tenant.register(each, {}, 'respond-async');
  await drain();
  const allowed = () => Promise.all(sinks.map(async (each) => (await tenant.permission(each)).allowed));
  const during = async (body: object) => {
    const blocked = await block(body);
    const result = await allowed();
    await lift(blocked);
    return result;
  };
  expect(await during({ kind: 'host', value: 'hooks.test' })).toEqual([true, true]);
  expect(await during({ kind: 'host', value: host.toUpperCase() })).toEqual([false, true]);
  expect(await during({ kind: 'domain', value: host })).toEqual([false, true]);
  expect(await during({ kind: 'domain', value: 'hooks.test' })).toEqual([false, false]);
  expect(await allowed()).toEqual([true, true]);
});

test('of two blocks on one thing, lifting one leaves the other in force', async () => {
  const { id } = await register();
  const [one, other] = [await block({ kind: 'host', value: host }), await block({ kind: 'sink', value: sink })];
  const kindsOf = async () => {
    await registry.service.sweep();
    return (await tenant.changes(sink)).filter((kind) => kind.endsWith('blocked'));
  };
  await lift(one);
  expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'blocked' });
  expect(await kindsOf()).toEqual(['subscription.blocked']);
  await lift(other);
  expect(await kindsOf()).toEqual(['subscription.blocked', 'subscription.unblocked']);
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
});

test('a block leaves suspensions, revocations and ends as they are', async () => {
  const { id } = await register();
  await tenant.admin.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Later.' }).expect(200);
  const blocked = await block({ kind: 'host', value: host });
  expect(await tenant.read(id)).toMatchObject({ status: 'blocked', suspended: true, suspension: { reason: 'Later.' } });
  await tenant.revoke(sink);
  expect((await tenant.grant(sink)).state).toBe('revoked');
  await lift(blocked);
  expect(await tenant.read(id)).toMatchObject({ status: 'suspended' });
  expect((await tenant.grant(sink)).state).toBe('revoked');
});

test('dryrun returns the effect that the block then has, and stores nothing', async () => {
  await register();
  const body = { kind: 'host', value: host, reason: 'What if?' };
  const preview = (await tenant.admin.post('/v1/blocks?dryrun=true').send(body).expect(200)).body;
  expect(preview).toEqual({
    tenant: 'gemeente',
    ...body,
    effect: {
      origins: [tenant.origin],
      subscriptioncount: 1,
      subscribers: ['zaaksysteem'],
      grantcount: 1,
      handshakecount: 0,
      more: false,
    },
  });
  expect((await tenant.admin.get('/v1/blocks').query({ value: host }).expect(200)).body).toEqual([]);
  expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  const created = await block(body);
  expect(created.effect).toEqual(preview.effect);
  const read = async () => (await tenant.admin.get(`/v1/blocks/${created.id}`).expect(200)).body;
  expect(await read()).toEqual(created);
  expect(created.announcement).toEqual({ state: 'running', subscriptioncount: 0 });
  await registry.service.sweep();
  expect((await read()).announcement).toEqual({ state: 'finished', subscriptioncount: 1 });
  await lift(created);
  await tenant.admin.get(`/v1/blocks/${created.id}`).expect(404);
});

test('a block ends at its end', async () => {
  const { id } = await register();
  const { id: blockId } = await block({ kind: 'host', value: host, expiresat: '2030-01-01T00:00:00Z' });
  expect((await tenant.read(id)).statusdetails).toMatchObject({
    code: 'blocked',
    nextat: '2030-01-01T00:00:00.000Z',
  });
  await registry.sql(`update block set endsat = now() where id = $1::uuid`, blockId);
  await registry.service.sweep();
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  const { body } = await tenant.admin
    .get('/v1/audit')
    .query({ target: `block:${blockId}`, action: 'block.lifted' })
    .expect(200);
  expect(body).toMatchObject([{ actor: 'assent' }]);
});

test('the audit record has who blocked what, why, and on which ticket', async () => {
  const { id } = (
    await tenant.admin
      .post('/v1/blocks')
      .set('Audit-Reference', 'INC-7')
      .send({ kind: 'host', value: host, reason: 'It leaks.' })
      .expect(201)
  ).body;
  await lift({ id });
  const entries = (
    await tenant.admin
      .get('/v1/audit')
      .query({ target: `block:${id}` })
      .expect(200)
  ).body;
  expect(entries).toMatchObject([
    { action: 'block.lifted', changed: { value: { before: host, after: null } } },
    {
      action: 'block.created',
      actor: 'beheer',
      reference: 'INC-7',
      changed: { kind: { after: 'host' }, value: { before: null, after: host }, reason: { after: 'It leaks.' } },
    },
  ]);
});

describe('what a block did is announced to consumers, in pages', () => {
  const never = new AbortController().signal;
  const announce = () => announceBlocks(registry.service.database, never, 2);
  const told = async () => {
    const rows = await registry.sql<{ kind: string; subscription: string; subscribers: string[]; resource: unknown }>(
      `select kind, subscription::text, subscribers, resource from change
       where kind in ('subscription.blocked', 'subscription.unblocked') and sink like $1 order by position`,
      `https://${host}%`,
    );
    expect(rows.every(({ resource }) => resource === null)).toBe(true);
    return rows.map(({ kind, subscription, subscribers }) => `${kind.slice(13)} ${subscription} ${subscribers.join()}`);
  };
  const stop = (body: object = { kind: 'host', value: host }) => block(body);
  const all = (kind: string, ids: readonly string[]) => ids.map((id) => `${kind} ${id} zaaksysteem`);
  async function five(): Promise<string[]> {
    const ids: string[] = [];
    for (let place = 0; place < 5; place += 1) {
      const types = [`com.example.${place}`];
      ids.push((await tenant.register(`${sink}?${place % 4}`, { types }, 'respond-async')).id);
    }
    await drain();
    return ids;
  }
  const auditOf = async ({ id }: { id: string }) =>
    (
      await tenant.admin
        .get('/v1/audit')
        .query({ target: `block:${id}`, action: 'block.announced' })
        .expect(200)
    ).body;

  test('each subscription once when it begins, and once when it is lifted, with an audit record of how many', async () => {
    registry.receiver.consent(`/${host}?0`);
    const ids = await five();
    await announce();
    const blocked = await stop();
    await Promise.all([announce(), announce()]);
    expect(await told()).toEqual(all('blocked', ids));
    const { grantcount } = (await auditOf(blocked))[0].details;
    expect(await auditOf(blocked)).toMatchObject([
      { actor: 'assent', details: { what: 'created', value: host, subscriptioncount: 5, origins: 1 } },
    ]);
    expect(grantcount).toBe(
      (await registry.sql(`select 1 from "grant" where sink like $1`, `https://${host}%`)).length,
    );
    await lift(blocked);
    await announce();
    await announce();
    expect(await told()).toEqual([...all('blocked', ids), ...all('unblocked', ids)]);
    expect((await auditOf(blocked))[0].details).toMatchObject({ what: 'lifted', subscriptioncount: 5 });
    expect(await registry.sql('select 1 from block_announcement')).toEqual([]);
  });

  test('a block that is lifted halfway takes back only what it announced', async () => {
    const ids = await five();
    await announce();
    const blocked = await stop();
    // One page, and then the process is told to stop.
    const stopping = new AbortController();
    const { write } = registry.service.database;
    await announceBlocks({ write: (work) => write(work).finally(() => stopping.abort()) }, stopping.signal, 2);
    expect(await told()).toEqual(all('blocked', ids.slice(0, 2)));
    expect((await tenant.admin.get(`/v1/blocks/${blocked.id}`).expect(200)).body.announcement).toEqual({
      state: 'running',
      subscriptioncount: 2,
    });
    await lift(blocked);
    await announce();
    expect(await told()).toEqual([...all('blocked', ids.slice(0, 2)), ...all('unblocked', ids.slice(0, 2))]);
  });

  test('overlapping blocks announce a subscription once, and release it with the last of them', async () => {
    const ids = await five();
    await announce();
    const older = await stop();
    await announce();
    const younger = await stop({ kind: 'domain', value: host });
    await announce();
    expect(await told()).toEqual(all('blocked', ids));
    await lift(older);
    await announce();
    expect(await told()).toEqual(all('blocked', ids));
    expect((await auditOf(older))[0].details).toMatchObject({ what: 'lifted', subscriptioncount: 0 });
    const [both, last] = [await stop({ kind: 'sink', value: `${sink}?0` }), await stop()];
    await lift(younger);
    await lift(both);
    await announce();
    await lift(last);
    await announce();
    const free = await told();
    expect(free.slice(0, 5)).toEqual(all('blocked', ids));
    expect(free.slice(-5).sort()).toEqual(all('unblocked', ids).sort());
    expect(free.filter((each) => each.startsWith('unblocked'))).toHaveLength(5);
  });

  test('a block that is lifted before anything was announced leaves nothing to do', async () => {
    await five();
    await announce();
    const blocked = await stop();
    await lift(blocked);
    expect(await registry.sql('select 1 from block_announcement')).toEqual([]);
    expect(await told()).toEqual([]);
  });

  test('one that fails stops no other one, and is tried again', async () => {
    const [id] = [(await register()).id];
    await announce();
    const [broken, works] = [await stop({ kind: 'network', value: '192.0.2.0/24' }), await stop()];
    await registry.sql(`update block_announcement set value = 'x' where block = $1::uuid`, broken.id);
    await expect(announce()).rejects.toThrow();
    expect(await told()).toEqual(all('blocked', [id]));
    expect((await auditOf(works)).length).toBe(1);
    await registry.sql(`update block_announcement set value = '192.0.2.0/24' where block = $1::uuid`, broken.id);
    await announce();
    expect((await auditOf(broken)).length).toBe(1);
  });
});

describe('operators', () => {
  test('block one thing for every tenant, or one tenant; its admins see that and cannot lift it', async () => {
    await register();
    for (const body of [
      { kind: 'host', value: host, tenant: '*' },
      { kind: 'origin', value: tenant.origin, tenant: 'gemeente' },
      { kind: 'tenant', value: 'gemeente' },
    ]) {
      const blocked = await block(body, operator);
      expect(blocked).toMatchObject({ byoperator: true, createdby: 'noc' });
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'blocked' });
      await registry.service.sweep();
      const read = (await tenant.admin.get(`/v1/blocks/${blocked.id}`).expect(200)).body;
      expect(read).toMatchObject({ id: blocked.id, announcement: { state: 'finished' } });
      expect(read.announcement.subscriptioncount).toBeGreaterThanOrEqual(1);
      await tenant.admin.delete(`/v1/blocks/${blocked.id}`).expect(403);
      await lift(blocked, operator);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    }
  });

  test('are the only ones who reach beyond their own tenant', async () => {
    const other = await registry.as('assent:admin', { tenant: 'other', subscriber: 'other-admin' });
    const own = await block({ kind: 'host', value: host });
    await other.get(`/v1/blocks/${own.id}`).expect(404);
    await other.delete(`/v1/blocks/${own.id}`).expect(404);
    for (const body of [{ tenant: 'gemeente' }, { tenant: '*' }, { kind: 'tenant', value: 'gemeente' }]) {
      const refused = await other.post('/v1/blocks').send({ kind: 'host', value: host, reason: 'r', ...body });
      expect(refused.body.code).toBe('scope_missing');
    }
    // The same host, for the other tenant only.
    await lift(own);
    await register();
    await lift(await block({ kind: 'host', value: host }, other), other);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });
});

test('a block that could never stop anything is refused, with the kind and the value that would', async () => {
  const cases: Array<[kind: string, value: string, rule: string, instead?: [kind: string, value?: string]]> = [
    ['origin', 'https://example.com', 'origin_scheme', ['sink', 'https://example.com/']],
    ['origin', '*', 'origin_wildcard', ['tenant']],
    ['origin', '*.example.com', 'origin_wildcard', ['domain', 'example.com']],
    ['sink', 'http://example.com/', 'not_https', ['host', 'example.com']],
    ['sink', 'https://EXAMPLE.com/', 'not_canonical', ['sink', 'https://example.com/']],
    ['sink', 'https://example.com/a#b', 'fragment', ['sink', 'https://example.com/a']],
    ['sink', 'https://user@example.com/', 'userinfo', ['sink', 'https://example.com/']],
    ['sink', 'https://*.example.com/', 'host_malformed', ['domain', 'example.com']],
    ['sink', 'https://example.com./', 'trailing_dot'],
    ['sink', 'https://hooks.invalid/', 'special_use_name'],
    ['sink', 'https://webhook/', 'single_label'],
    ['sink', 'example.com', 'not_a_url', ['host', 'example.com']],
    ['host', '*.example.com', 'host_malformed', ['domain', 'example.com']],
    ['host', '*', 'host_malformed', ['tenant']],
    ['host', 'example.com:443', 'host_malformed', ['host', 'example.com']],
    ['host', 'example.com/a', 'host_malformed'],
    ['host', 'https://example.com/a', 'host_malformed', ['sink', 'https://example.com/a']],
    ['host', 'user@example.com', 'host_malformed'],
    ['host', '192.0.2.0/24', 'host_malformed', ['network', '192.0.2.0/24']],
    ['host', 'hooks.onion', 'special_use_name'],
    ['host', 'webhook', 'host_malformed'],
    ['domain', '192.0.2.1', 'host_malformed', ['host', '192.0.2.1']],
    ['domain', '.example.com', 'host_malformed', ['domain', 'example.com']],
    ['domain', '*.*.example.com', 'host_malformed', ['domain', 'example.com']],
    ['domain', 'example.com:443', 'host_malformed', ['host', 'example.com']],
    ['network', '192.0.2.1/24', 'format_wrong'],
    ['network', '192.0.2.0/33', 'format_wrong'],
    ['network', '::ffff:192.0.2.0/120', 'format_wrong'],
    ['network', 'example.com', 'format_wrong', ['host', 'example.com']],
    ['network', '224.0.0.0/8', 'value_not_allowed'],
    ['network', 'ff02::/16', 'value_not_allowed'],
    ['subscriber', '*', 'value_not_allowed', ['tenant']],
    ['subscriber', ' case-system', 'value_not_allowed'],
  ];
  const seen = [];
  for (const [kind, value] of cases) {
    const { body } = await tenant.admin.post('/v1/blocks').send({ kind, value, reason: 'r' }).expect(400);
    expect(body.faults).toHaveLength(1);
    const [{ pointer, rule, detail }] = body.faults;
    const [, other, its] = /kind "(\w+)"(?: with the value "(.*)")?/.exec(detail) ?? [];
    seen.push([pointer, kind, value, rule, other && (its ? [other, its] : [other])]);
    // What is advised is accepted.
    if (its !== undefined) await lift(await block({ kind: other, value: its }));
  }
  expect(seen).toEqual(cases.map(([kind, value, rule, instead]) => ['/value', kind, value, rule, instead]));
  const unknown = await tenant.admin.post('/v1/blocks').send({ kind: 'country', value: 'NL', reason: 'r' }).expect(400);
  expect(unknown.body.faults).toMatchObject([{ pointer: '/kind', rule: 'value_not_allowed' }]);
  for (const [kind, value] of [
    ['domain', 'com'],
    ['host', 'localhost'],
    ['host', '[2001:db8::1]'],
    ['host', 'db.internal'],
    ['sink', 'https://10.0.0.1/a*b'],
    ['network', '10.0.0.0/8'],
  ]) {
    await lift(await block({ kind, value }));
  }
});

test('an end in the past, and a missing reason, are refused', async () => {
  const body = { kind: 'host', value: host, reason: 'r', expiresat: '2020-01-01T00:00:00Z' };
  const past = await tenant.admin.post('/v1/blocks').send(body).expect(400);
  expect(past.body.faults).toMatchObject([{ pointer: '/expiresat', rule: 'time_out_of_range' }]);
  await tenant.admin.post('/v1/blocks').send({ kind: 'host', value: host }).expect(400);
});
