import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLog } from '../../../src/registry/changes/log.js';
import { createFeedReader, type FeedReader } from '../../support/feed-reader.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

const other = 'other.example.com';
let registry: Registry;
let tenant: Tenant;
let sender: FeedReader;
let stranger: FeedReader;
let neighbour: Client;

beforeAll(async () => {
  const env = {
    ASSENT_FEED_HEARTBEAT_SECONDS: '1',
    ASSENT_FEED_READERS_PER_TENANT: '8',
    // Readers that stall here are read again, however long that takes.
    ASSENT_FEED_STALL_SECONDS: '300',
  };
  registry = await startRegistry({ env });
  tenant = await createTenant(registry);
  await tenant.admin.post('/v1/origins').send({ name: other }).expect(201);
  sender = await createFeedReader(registry);
  stranger = await createFeedReader(registry, { tenant: 'provincie' });
  neighbour = await registry.as('assent:admin', { tenant: 'provincie' });
});
afterAll(() => registry.stop());

let paths = 0;
function newSink(): string {
  const path = `/f${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}
const end = async (query = {}): Promise<string> => (await sender.page(query)).cursor;
const kinds = (changes: Array<{ kind: string }>) => changes.map(({ kind }) => kind);

async function readAll(after: string, limit: number): Promise<Array<{ revision: string }>> {
  const read = [];
  for (let [at, isMore] = [after, true]; isMore;) {
    const page = await sender.page({ after: at, limit });
    expect(page.changes.length).toBeLessThanOrEqual(limit);
    read.push(...page.changes);
    [at, isMore] = [page.cursor, page.more];
  }
  return read;
}

/** A change of another tenant. */
let origins = 0;
async function changeElsewhere(): Promise<void> {
  await neighbour
    .post('/v1/origins')
    .send({ name: `origin${(origins += 1)}.example.net` })
    .expect(201);
}

/** Appends this many changes of the tenant, as a writer would, each with this many characters of text. */
async function log(count: number, characters = 0): Promise<void> {
  await registry.sql(
    `select append_changes(array_fill('gemeente'::text, array[$1::int]), array_fill($2::text, array[$1::int]),
       array_fill('grant.ended'::text, array[$1::int]),
       (select array_agg('https://a.example/' || n || repeat('x', $3::int)) from generate_series(1, $1::int) n),
       array_fill(null::uuid, array[$1::int]))::text`,
    count,
    tenant.origin,
    characters,
  );
  await registry.service.follow();
}

describe('pages', () => {
  test('contain the changes after a cursor, in order, each with its subject as it is now', async () => {
    const after = await end();
    const sink = newSink();
    const { id } = await tenant.register(sink, { types: ['com.example.a'] });
    await tenant.admin.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Because.' }).expect(200);
    await tenant.revoke(sink);
    await tenant.admin.delete(`/v1/subscriptions/${id}`).expect(200);
    const { changes, more } = await sender.page({ after });
    expect(more).toBe(false);
    expect(changes).toMatchObject([
      {
        kind: 'subscription.created',
        origin: tenant.origin,
        sink,
        subscription: id,
        resource: { id, suspended: false },
      },
      { kind: 'grant.live', sink, resource: { sink, state: 'live' } },
      { kind: 'subscription.suspended', subscription: id, resource: { suspended: true } },
      { kind: 'grant.revoked', sink, resource: { state: 'revoked' } },
      { kind: 'subscription.deleted', subscription: id },
    ]);
    expect(changes.at(-1)).not.toHaveProperty('resource');
    const revisions = changes.map(({ revision }: { revision: string }) => BigInt(revision));
    expect(revisions).toEqual([...revisions].sort((a, b) => (a < b ? -1 : 1)));
  });

  test('continue from every cursor with exactly the changes after it, from memory and from the log', async () => {
    const after = await end();
    await log(25);
    const { changes } = await sender.page({ after });
    expect(changes).toHaveLength(25);
    for (const [place, { cursor }] of changes.entries()) {
      expect((await sender.page({ after: cursor })).changes).toEqual(changes.slice(place + 1));
    }
    // More than fits into memory, so that the log is read.
    for (let i = 0; i < 4; i += 1) await log(5_000);
    for (const [place, { cursor }] of changes.entries()) {
      const page = await sender.page({ after: cursor, limit: 25 });
      expect(page.changes.slice(0, 24 - place)).toEqual(changes.slice(place + 1));
      expect(page).toMatchObject({ more: true, cursor: page.changes.at(-1).cursor });
    }
  });

  test('of every size together contain every change once', async () => {
    const after = await end();
    await log(1_100);
    const all = await readAll(after, 1_000);
    expect(new Set(all.map(({ revision }) => revision)).size).toBe(1_100);
    for (const limit of [97, 999]) expect(await readAll(after, limit)).toEqual(all);
  });

  test('of the log have a limit in bytes too, and together contain every change once', async () => {
    const after = await end();
    await log(60);
    await registry.sql(
      `update change set resource = jsonb_build_object('id', '1', 'origin', origin, 'sink', repeat('x', 60000), 'state', 'ended',
         'basis', 'response', 'allowedrate', 1, 'expiresat', now())
       where position > (select max(position) - 60 from change) returning 1`,
    );
    // Reloaded, so that memory contains none of it.
    await registry.sql(`update feed_state set epoch = gen_random_uuid() returning 1`);
    await registry.service.follow();
    await registry.sql(`update feed_state set epoch = $1::uuid returning 1`, epochOf(after));
    await registry.service.follow();
    const [page, revisions] = [await sender.page({ after, limit: 1_000 }), new Set<string>()];
    expect(page.more).toBe(true);
    expect(JSON.stringify(page).length).toBeLessThan(300_000);
    for (let [at, isMore] = [after, true]; isMore;) {
      const next = await sender.page({ after: at, limit: 1_000 });
      expect(next.changes.length).toBeLessThan(6);
      next.changes.forEach(({ revision }: { revision: string }) => revisions.add(revision));
      [at, isMore] = [next.cursor, next.more];
    }
    expect(revisions.size).toBe(60);
  });

  test('without a cursor start at the current end, or with the last changes before it', async () => {
    await log(1);
    const page = await sender.page();
    expect(page).toEqual({ changes: [], cursor: expect.any(String), more: false });
    await log(1);
    const { changes } = await sender.page({ after: page.cursor });
    expect(changes).toHaveLength(1);
    await changeElsewhere();
    const last = await sender.page({ last: 2 });
    expect(last.changes.slice(1)).toEqual(changes);
    expect(last.changes).toHaveLength(2);
    expect((await sender.page({ last: 1, origin: other })).changes).toMatchObject([{ kind: 'origin.changed' }]);
  });

  test('have a cursor that advances when only other tenants change something', async () => {
    const after = await end();
    await changeElsewhere();
    const page = await sender.page({ after });
    expect(page).toMatchObject({ changes: [], more: false });
    expect(page.cursor).not.toBe(after);
    expect((await stranger.page({ after: (await stranger.page()).cursor })).changes).toEqual([]);
  });
});

test('when a subscription moves to another origin, the reader of each origin sees it, and nothing of other origins', async () => {
  const [after, sink] = [await end(), newSink()];
  const { id } = await tenant.register(sink);
  await tenant.replace(id, { sink, origin: other });
  const left = await sender.page({ after, origin: tenant.origin });
  expect(left.changes).toMatchObject([
    { kind: 'subscription.created', resource: { id } },
    { kind: 'grant.live' },
    { kind: 'grant.ended' },
    { kind: 'subscription.moved', origin: tenant.origin, subscription: id },
  ]);
  expect(left.changes.at(-1)).not.toHaveProperty('resource');
  expect(await sender.page({ after, origin: tenant.origin.toUpperCase() })).toEqual(left);
  const come = await sender.page({ after, origin: other });
  expect(come.changes[0]).toMatchObject({
    kind: 'subscription.replaced',
    origin: other,
    resource: { id, origin: other },
  });
  expect([...left.changes, ...come.changes].every(({ subscription = id }) => subscription === id)).toBe(true);
  expect(come.changes.every(({ origin }: { origin: string }) => origin === other)).toBe(true);
});

test.each(['/v1/changes', '/v1/snapshot'])('%s refuses an invalid origin name, with the place', async (path) => {
  const { status, body } = await sender.ask(path, { origin: `https://${tenant.origin}` });
  expect({ status, faults: body.faults }).toMatchObject({
    status: 400,
    faults: [{ pointer: 'query/origin', rule: 'origin_scheme' }],
  });
});

test('another tenant sees none of it, in pages or streams, even if it names the origin', async () => {
  const { cursor: after } = await stranger.page();
  const stream = await stranger.stream({ after });
  await tenant.register(newSink());
  await changeElsewhere();
  expect(kinds((await stranger.page({ after })).changes)).toEqual(['origin.changed']);
  expect((await stranger.page({ after, origin: tenant.origin })).changes).toEqual([]);
  expect(await stream.change()).toMatchObject({
    event: 'origin.changed',
    data: { origin: expect.stringMatching(/example\.net$/) },
  });
  stream.close();
});

test('a block is one change for every reader that it concerns, from memory and from the log, and is in snapshots', async () => {
  await tenant.register(newSink());
  const operator = await registry.as('assent:block', { tenant: 'rijk', subscriber: 'noc' });
  const [after, afterOfStranger] = [await end(), (await stranger.page()).cursor];
  const [last] = await registry.sql<{ position: string }>('select max(position)::text as position from change');
  const stream = await stranger.stream({ after: afterOfStranger });
  const ids: string[] = [];
  for (const [client, body] of [
    [tenant.admin, { kind: 'host', value: 'own.example.com' }],
    [operator, { kind: 'tenant', value: 'gemeente' }],
    [operator, { kind: 'host', value: 'all.example.com', tenant: '*' }],
  ] as const) {
    ids.push(
      (
        await client
          .post('/v1/blocks')
          .send({ ...body, reason: 'r' })
          .expect(201)
      ).body.id,
    );
  }
  await registry.service.sweep();
  const change = (place: number, kind: string, value: string) => ({
    kind: 'block.created',
    block: ids[place],
    resource: { id: ids[place], kind, value },
  });
  const all = change(2, 'host', 'all.example.com');
  const own = [change(0, 'host', 'own.example.com'), change(1, 'tenant', 'gemeente'), all];
  const partOf = (changes: object[]) => changes.map((each) => expect.objectContaining(each));
  for (const origin of [undefined, tenant.origin, other]) {
    const { changes } = await sender.page({ after, origin });
    expect(changes).toEqual(partOf(own));
    const limits = { rows: 500, bytes: 1_000_000 };
    const log = await readLog(registry.service.database.query, BigInt(last!.position), limits, {
      tenant: 'gemeente',
      origin,
    });
    const blocks = log.changes.filter(({ kind }) => !kind.startsWith('subscription.'));
    expect(blocks.map(({ position }) => String(position))).toEqual(
      changes.map(({ revision }: { revision: string }) => revision),
    );
    const lines = await sender.snapshot({ origin });
    expect(lines.filter(({ kind }) => kind === 'block').map(({ resource }) => resource)).toEqual(
      own.map(({ resource }) => resource),
    );
  }
  // What the tenant's block did to its subscriptions is for those who report it.
  const { changes } = await sender.page({ after, statuses: 'true' });
  expect(changes.slice(3).map(({ kind }: { kind: string }) => kind)).toContain('subscription.blocked');
  expect((await stranger.page({ after: afterOfStranger })).changes).toEqual(partOf([all]));
  expect(await stream.change()).toMatchObject({ event: 'block.created', data: all });
  stream.close();
  for (const id of ids) await operator.delete(`/v1/blocks/${id}`).expect(200);
  const lifted = (await sender.page({ after })).changes.slice(3);
  expect(lifted).toEqual(partOf(ids.map((block) => ({ kind: 'block.lifted', block }))));
  for (const each of lifted) expect(each).not.toHaveProperty('resource');
});

describe('cursors', () => {
  const refused = { status: 400, body: { code: 'invalid_request' } };

  test('that were modified, invented or issued to another tenant are refused, with the place', async () => {
    const own = await end();
    const { cursor: foreign } = await stranger.page();
    const changed = `${own.startsWith('A') ? 'B' : 'A'}${own.slice(1)}`;
    for (const after of [foreign, changed, 'AAAA', '']) {
      expect(await sender.ask('/v1/changes', { after })).toMatchObject({
        ...refused,
        body: { code: 'invalid_request', faults: [{ pointer: 'query/after', rule: 'cursor_unknown' }] },
      });
    }
    const stream = await sender.stream({}, foreign);
    expect(stream.status).toBe(400);
  });

  test('of one origin continue only with that origin, wherever they are from; those of all origins continue with each', async () => {
    const whole = await end();
    await tenant.register(newSink(), { origin: other });
    const page = await sender.page({ after: whole, origin: other });
    const stream = await sender.stream({ after: whole, origin: other });
    const event = (await stream.change())!;
    stream.close();
    const snapshot = await sender.snapshot({ origin: other });
    const cursors: string[] = [page.cursor, page.changes[0].cursor, event.id, snapshot.at(-1).cursor];
    for (const after of cursors) {
      for (const origin of [tenant.origin, undefined]) {
        expect(await sender.ask('/v1/changes', { after, origin })).toMatchObject({
          ...refused,
          body: { code: 'invalid_request', faults: [{ pointer: 'query/after', rule: 'cursor_of_other_origin' }] },
        });
        expect((await sender.stream({ origin }, after)).status).toBe(400);
      }
    }
    expect(page.changes[0].cursor).toBe(event.id);
    expect((await sender.page({ after: event.id, origin: other.toUpperCase() })).changes).toEqual(
      page.changes.slice(1),
    );
    expect((await sender.page({ after: whole })).changes[0].cursor).not.toBe(event.id);
  });

  test('older than the retention get 410 and never an empty page; newer ones miss nothing', async () => {
    const old = await end();
    await log(10);
    const { changes } = await sender.page({ after: old });
    const [third, last] = [changes[2], changes[9]];
    await registry.sql(
      `update change set at = now() - interval '169 hours' where position <= $1::bigint returning 1`,
      BigInt(third.revision),
    );
    await registry.service.forget();
    await registry.service.follow();
    for (const after of [old, changes[1].cursor]) {
      expect(await sender.ask('/v1/changes', { after })).toMatchObject({
        status: 410,
        body: { code: 'cursor_too_old' },
      });
      expect(await sender.ask('/v1/changes', { after, wait: 1 })).toMatchObject({ status: 410 });
      expect((await sender.stream({ after })).status).toBe(410);
    }
    expect((await sender.page({ after: third.cursor })).changes).toEqual(changes.slice(3));
    expect((await sender.page({ after: last.cursor })).changes).toEqual([]);
    const rows = await registry.sql('select 1 from change where position <= $1::bigint', BigInt(third.revision));
    expect(rows).toEqual([]);
  });

  test('of another history get 410; open streams end, and the process reloads and continues', async () => {
    const [after, stream] = [await end(), await sender.stream()];
    const waiting = sender.ask('/v1/changes', { after, wait: 30 });
    await stream.next();
    await registry.sql('update feed_state set epoch = gen_random_uuid() returning 1');
    await registry.service.follow();
    expect(await waiting).toMatchObject({ status: 410, body: { code: 'cursor_of_other_history' } });
    expect(await stream.ended).toBe(true);
    expect(await sender.ask('/v1/changes', { after })).toMatchObject({
      status: 410,
      body: { code: 'cursor_of_other_history' },
    });
    const now = (await sender.snapshot()).at(-1).cursor;
    await log(2);
    expect((await sender.page({ after: now })).changes).toHaveLength(2);
  });

  test('ahead of the log, as after a backup was restored in place, get 410', async () => {
    const before = await end();
    await log(3);
    const ahead = await end();
    await registry.sql('delete from change where position > (select max(position) - 3 from change) returning 1');
    // A process that starts on the restored database does not know the lost changes.
    await registry.sql('update feed_state set epoch = gen_random_uuid() returning 1');
    await registry.service.follow();
    await registry.sql(`update feed_state set epoch = $1::uuid returning 1`, epochOf(ahead));
    await registry.service.follow();
    expect(await sender.ask('/v1/changes', { after: ahead })).toMatchObject({
      status: 410,
      body: { code: 'cursor_of_other_history' },
    });
    expect(await sender.page({ after: before })).toMatchObject({ changes: [] });
  });
});

test('a log that was set back is another history: readers get 410, and the process reloads', async () => {
  const [before, stream] = [await end(), await sender.stream()];
  await stream.next();
  await log(3);
  const ahead = await end();
  await registry.sql('delete from change where position > (select max(position) - 3 from change) returning 1');
  await registry.service.follow();
  expect(await stream.ended).toBe(true);
  expect(await sender.ask('/v1/changes', { after: ahead })).toMatchObject({
    status: 410,
    body: { code: 'cursor_of_other_history' },
  });
  await log(1);
  expect((await sender.page({ after: before })).changes).toHaveLength(1);
});

test('a change that this version cannot apply is logged, denies permission for its subject, and affects nothing else', async () => {
  const [wrong, right] = [newSink(), newSink()];
  const { id } = await tenant.register(wrong, { types: ['com.example.wrong'] });
  const matched = async (type: string) => {
    const { body } = await tenant.sender
      .post('/v1/match')
      .set('Content-Type', 'application/cloudevents+json')
      .send(JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:example:a', type }))
      .expect(200);
    const sinks: string[] = body.sinks.map(({ sink }: { sink: string }) => sink);
    return sinks.filter((sink) => [wrong, right].includes(sink));
  };
  expect(await matched('com.example.wrong')).toEqual([wrong]);
  await registry.sql(
    `update subscription set filters = '[{"ofalaterversion": {"a": 1}}]' where id = $1::uuid returning 1`,
    id,
  );
  const faults = () => registry.logs.filter((line) => line.includes('"follower fault"') && line.includes(id)).length;
  await registry.sql(
    `select append_changes(array['gemeente'], array[$1], array['subscription.replaced'], array[$2], array[$3::uuid])::text`,
    tenant.origin,
    wrong,
    id,
  );
  await registry.service.follow();
  expect(faults()).toBe(1);
  expect(await matched('com.example.wrong')).toEqual([]);
  await tenant.register(right, { types: ['com.example.right'] });
  expect(await matched('com.example.right')).toEqual([right]);
  // The same after a reload.
  await registry.sql('update feed_state set epoch = gen_random_uuid() returning 1');
  await registry.service.follow();
  expect(faults()).toBe(2);
  expect(await matched('com.example.wrong')).toEqual([]);
  expect(await matched('com.example.right')).toEqual([right]);
  await tenant.admin.delete(`/v1/subscriptions/${id}`).expect(200);
});

function epochOf(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('hex', 0, 16);
}

describe('long polls', () => {
  test('return when something changes, but not for changes of other tenants', async () => {
    const after = await end();
    const waiting = sender.page({ after, wait: 30 });
    const ofOther = sender.page({ after, wait: 1, origin: other });
    await changeElsewhere();
    await log(2);
    expect((await waiting).changes).toHaveLength(2);
    expect(await ofOther).toMatchObject({ changes: [], more: false });
  });

  test('return after their time, with a cursor that has advanced', async () => {
    const after = await end();
    const startedAt = performance.now();
    const waiting = sender.page({ after, wait: 1 });
    await changeElsewhere();
    const page = await waiting;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(page.changes).toEqual([]);
    expect(page.cursor).not.toBe(after);
  });

  test('return immediately if there already are changes', async () => {
    const after = await end();
    await log(1);
    expect((await sender.page({ after, wait: 60 })).changes).toHaveLength(1);
  });
});

test.each(['text/event-stream;q=0, */*', 'text/event-stream;q=0.5, application/json', 'application/json', '*/*'])(
  'a client that accepts "%s" gets a page',
  async (accept) => {
    const answer = await fetch(`${registry.url}/v1/changes`, { headers: { ...sender.headers, Accept: accept } });
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(await answer.json()).toHaveProperty('cursor');
  },
);

describe('streams', () => {
  test('send their position first, then each change with its cursor', async () => {
    const stream = await sender.stream();
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(await stream.next()).toMatchObject({ event: 'heartbeat', id: await end() });
    const after = await end();
    await log(3);
    const { changes } = await sender.page({ after });
    for (const change of changes) {
      expect(await stream.change()).toEqual({ id: change.cursor, event: 'grant.ended', data: change });
    }
    stream.close();
  });

  test('continue after Last-Event-ID, which overrides `after`', async () => {
    const after = await end();
    await log(4);
    const { changes } = await sender.page({ after });
    const stream = await sender.stream({ after }, changes[1].cursor);
    expect([await stream.change(), await stream.change()].map((event) => event?.data)).toEqual(changes.slice(2));
    stream.close();
    const again = await sender.stream({ after });
    expect((await again.change())?.data).toEqual(changes[0]);
    again.close();
  });

  test('get heartbeats whose id advances when only other tenants change something', async () => {
    const stream = await sender.stream();
    const first = await stream.next();
    await changeElsewhere();
    let beat = await stream.next();
    while (beat?.id === first?.id) beat = await stream.next();
    expect(beat).toMatchObject({ event: 'heartbeat' });
    expect(await sender.page({ after: beat?.id ?? '' })).toMatchObject({ changes: [] });
    stream.close();
  });

  test('of one origin get heartbeats while another origin changes all the time', async () => {
    const stream = await sender.stream({ origin: other });
    const first = await stream.next();
    let isOver = false;
    const changes = (async () => {
      while (!isOver) await log(1).then(() => sleep(200));
    })();
    let beat = await stream.next();
    while (beat?.id === first?.id) beat = await stream.next();
    isOver = true;
    await changes;
    expect(beat).toMatchObject({ event: 'heartbeat', data: { more: false } });
    stream.close();
  });

  test('that stall keep a bounded part in memory; when read again, they miss nothing and report that more follows', async () => {
    const stream = await sender.stream();
    await stream.next();
    stream.response.pause();
    const count = 16_000;
    for (let i = 0; i < count / 1_000; i += 1) await log(1_000, 2_000);
    const before = await changesSent();
    expect(await settled(changesSent)).toBeLessThan(before + count / 2);
    stream.response.resume();
    const revisions: bigint[] = [];
    let behind = 0;
    while (revisions.length < count) {
      const event = await stream.next();
      if (event?.event !== 'heartbeat') revisions.push(BigInt(event?.data.revision));
      else if (event.data.more) behind += 1;
    }
    expect(behind).toBeGreaterThan(0);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => (a < b ? -1 : 1)));
    stream.close();
  });

  test('are limited for each tenant', async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => sender.stream()));
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(await sender.ask('/v1/changes', { wait: 1 })).toMatchObject({
      status: 429,
      body: { code: 'too_many_readers' },
    });
    expect((await sender.ask('/v1/changes')).status).toBe(200);
    expect((await stranger.ask('/v1/changes', { wait: 1 })).status).toBe(200);
    streams.forEach((stream) => stream.close());
    await until(async () => (await sender.ask('/v1/changes', { wait: 1 })).status === 200);
  });

  test('whose client disconnects before they open are not counted, nor are such polls and snapshots', async () => {
    const { hostname, port } = new URL(registry.url);
    // Each with a new token, because verifying one takes a moment.
    const clients = await Promise.all(
      Array.from({ length: 18 }, (_, n) => createFeedReader(registry, { tenant: `tenant${n}`, minutes: 30 })),
    );
    const paths = ['/v1/changes', '/v1/changes?wait=60', '/v1/snapshot'];
    const sockets = clients.map(() => connect(Number(port), hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const written = clients.map(async ({ headers }, n) => {
      const accept = n % 3 === 0 ? 'text/event-stream' : '*/*';
      const head = `GET ${paths[n % 3]} HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\n`;
      const wanted = `${head}Authorization: ${headers['Authorization']}\r\n\r\n`;
      await new Promise<void>((resolve) => sockets[n]?.write(wanted, () => resolve()));
    });
    await Promise.all(written);
    sockets.forEach((socket) => socket.destroy());
    // All of them have reached the point where readers are counted.
    await stranger.page({ wait: 1 });
    expect(registry.logs.some((line) => line.includes('"status":499'))).toBe(true);
    await until(hasNoReaders);
    // Before the poll times out.
  }, 50_000);

  test('that wait behind another response on their connection are no longer counted when it closes', async () => {
    const { hostname, port } = new URL(registry.url);
    const paths = ['/v1/changes', '/v1/changes', '/v1/changes?wait=60', '/v1/changes'];
    const requests = paths.map(
      (path) =>
        `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${sender.headers['Authorization']}\r\n` +
        `Accept: ${path.includes('wait') ? '*/*' : 'text/event-stream'}\r\n\r\n`,
    );
    const socket = connect(Number(port), hostname);
    socket.write(requests.join(''));
    await until(async () => /kind="stream"} 3\n.*kind="poll"} 1/.test(await metrics(registry)));
    socket.destroy();
    await until(hasNoReaders);
    // Before the poll times out.
  }, 50_000);

  test('end when their token expires, and so does a long poll', async () => {
    const brief = await createFeedReader(registry, { minutes: 0.05 });
    const { cursor: after } = await brief.page();
    const polled = brief.page({ after, wait: 60 });
    const stream = await brief.stream();
    expect(stream.status).toBe(200);
    expect(await stream.ended).toBe(true);
    expect(await polled).toMatchObject({ changes: [] });
  });
});

test('a stop ends streams and long polls immediately and properly', async () => {
  const closing = await startRegistry({ env: { ASSENT_STOP_SECONDS: '60' } });
  await closing.service.follow();
  const reader = await createFeedReader(closing);
  const streams = await Promise.all([reader.stream(), reader.stream()]);
  await Promise.all(streams.map((stream) => stream.next()));
  const { cursor: after } = await reader.page();
  const waiting = reader.page({ after, wait: 60 });
  await until(async () => /assent_feed_readers{kind="poll"} 1/.test(await metrics(closing)));
  await closing.stop();
  expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([true, true]);
  expect(await waiting).toMatchObject({ changes: [] });
});

async function metrics(where: Registry): Promise<string> {
  return (await fetch(`${where.operationsUrl}/metrics`)).text();
}

const hasNoReaders = async () => !/assent_feed_readers{kind="\w+"} [1-9]/.test(await metrics(registry));

async function changesSent(): Promise<number> {
  return Number(/^assent_feed_changes_sent_total (\d+)/m.exec(await metrics(registry))?.[1]);
}

/** The value when it no longer changes. */
async function settled(read: () => Promise<number>): Promise<number> {
  for (let before = NaN; ;) {
    const value = await read();
    if (value === before) return value;
    before = value;
    await sender.page();
  }
}
