import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { createFeedReader, type FeedReader } from '../../support/feed-reader.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

const other = 'other.example.com';
let registry: Registry;
let tenant: Tenant;
let sender: FeedReader;
let stranger: FeedReader;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_FEED_STALL_SECONDS: '2', ASSENT_STOP_SECONDS: '3' } });
  tenant = await createTenant(registry);
  await tenant.admin.post('/v1/origins').send({ name: other }).expect(201);
  sender = await createFeedReader(registry);
  stranger = await createFeedReader(registry, { tenant: 'provincie' });
});
afterAll(() => registry.stop());

let paths = 0;
function newSink(): string {
  const path = `/s${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

test('a snapshot contains every origin, subscription and grant of the tenant, and ends with the cursor to continue from', async () => {
  const sink = newSink();
  const { id } = await tenant.register(sink, { types: ['com.example.a'], source: 'urn:example:a' });
  // In UTC and with milliseconds, like every time in a response.
  const expiresat = expect.stringMatching(/T[\d:]{8}\.\d{3}Z$/);
  const lines = await sender.snapshot();
  expect(lines).toEqual([
    { kind: 'origin', resource: expect.objectContaining({ name: tenant.origin, isdefault: true }) },
    { kind: 'origin', resource: expect.objectContaining({ name: other, isdefault: false }) },
    {
      kind: 'subscription',
      resource: expect.objectContaining({ id, sink, types: ['com.example.a'], suspended: false }),
    },
    {
      kind: 'grant',
      resource: expect.objectContaining({ sink, state: 'live', allowedrate: expect.any(Number), expiresat }),
    },
    { kind: 'end', cursor: expect.any(String), revision: expect.stringMatching(/^\d+$/) },
  ]);
  const after = lines.at(-1).cursor;
  expect(await sender.page({ after })).toMatchObject({ changes: [], more: false });
  await tenant.revoke(sink);
  const { changes } = await sender.page({ after });
  expect(changes).toEqual([
    expect.objectContaining({
      kind: 'grant.revoked',
      sink,
      resource: expect.objectContaining({ state: 'revoked', expiresat }),
    }),
  ]);
});

test('a snapshot of one origin contains nothing of another', async () => {
  const sink = newSink();
  const { id } = await tenant.register(sink, { origin: other });
  expect(await sender.snapshot({ origin: other })).toEqual([
    { kind: 'origin', resource: expect.objectContaining({ name: other }) },
    { kind: 'subscription', resource: expect.objectContaining({ id, origin: other }) },
    { kind: 'grant', resource: expect.objectContaining({ origin: other, sink }) },
    { kind: 'end', cursor: expect.any(String), revision: expect.any(String) },
  ]);
});

test('another tenant sees none of it', async () => {
  expect(await stranger.snapshot()).toEqual([expect.objectContaining({ kind: 'end' })]);
  expect(await stranger.snapshot({ origin: tenant.origin })).toEqual([expect.objectContaining({ kind: 'end' })]);
});

test('a snapshot contains no credential', async () => {
  const secret = 'planted-secret-7c1d';
  await tenant.register(newSink(), { sinkcredential: { credentialtype: 'PLAIN', identifier: 'a', secret } });
  const lines = await sender.snapshot();
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(lines.filter(({ resource }) => resource?.hascredential)).toHaveLength(1);
});

test('a snapshot that the client does not read is aborted; a tenant gets two at a time, and then there is room again', async () => {
  await registry.sql(`
    insert into subscription (id, tenant, subscriber, origin, sink, protocol, types)
    select gen_random_uuid(), 'gemeente', 'zaaksysteem', '${other}', sink, protocol, array[repeat('é', 2000), n::text]
    from (select * from subscription limit 1) one, generate_series(1, 5000) n returning 1`);
  const { hostname, port } = new URL(registry.url);
  const open = async () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(`GET /v1/snapshot HTTP/1.1\r\nHost: a\r\nAuthorization: ${sender.headers['Authorization']}\r\n\r\n`);
    await once(socket, 'readable');
    return socket;
  };
  const silent = isServer() ? await Promise.all([open(), open()]) : [await open()];
  if (isServer()) {
    const refused = await sender.ask('/v1/snapshot');
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_readers' } });
    expect(refused.headers.get('Retry-After')).toBe('5');
  }
  const areCutOff = async () =>
    /assent_feed_readers{kind="snapshot"} 0/.test(await (await fetch(`${registry.operationsUrl}/metrics`)).text());
  // A client that does not read must hold no transaction, which would keep dead rows of every table. Internal work of
  // Postgres does not count, nor do transactions that the service has started since. Transactions that were ending may
  // end.
  const [{ moment } = { moment: '' }] = await registry.sql<{ moment: string }>(
    'select clock_timestamp()::text as moment',
  );
  const countTransactions = () =>
    registry.sql<{ open: number }>(
      `select count(*)::int as open from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and xact_start < '${moment}'`,
    );
  if (isServer()) await until(async () => (await countTransactions())[0]?.open === 0 || (await areCutOff()));
  expect(await areCutOff()).toBe(false);
  await until(areCutOff);
  for (const socket of silent) {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    expect(text).not.toContain('"kind":"end"');
  }
  const lines = await sender.snapshot();
  expect(lines.length).toBeGreaterThan(5_000);
  expect(lines.at(-1)).toMatchObject({ kind: 'end' });
  expect(new Set(lines.map(({ kind, resource }) => `${kind} ${resource?.id ?? resource?.name}`)).size).toBe(
    lines.length,
  );
  expect((await readdir(tmpdir())).filter((name) => name.startsWith('assent-snapshot-'))).toEqual([]);
});
