import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type supertest from 'supertest';
import { createGrantReader } from '../../../src/registry/grants/read.js';
import type { ExpirySort } from '../../../src/registry/storage/search.js';
import { createSubscriptionReader } from '../../../src/registry/subscriptions/read.js';
import type { Principal } from '../../../src/base/contract/principal.js';
import { countBuffers } from '../../support/buffers.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
type Entry = { id: string; sink: string; expiresat: string };

let registry: Registry;
let admin: Client;

beforeAll(async () => {
  registry = await startRegistry({ start: false, unloaded: true });
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

/** Subscriptions of a tenant with their grants, each of which expires `step` after the one before it. */
async function fill(tenant: string, from: number, until: number, step = '1 minute'): Promise<void> {
  const name = `${tenant}.example.com`;
  await registry.sql(
    `insert into origin (name, tenant, defaultrate, judgement, callback, grantseconds, profile)
     values ($1, $2, '60', 'strict', 'offer', 864000, 'cloudevents') on conflict do nothing`,
    name,
    tenant,
  );
  await registry.sql(
    `insert into subscription (id, tenant, subscriber, origin, sink, protocol, endsat)
     select gen_random_uuid(), $2, 'crowd', $1, 'https://crowd.example.org/' || n, 'HTTP', now() + interval '1 day' + n * $3::interval
     from generate_series(${from}, ${until - 1}) n`,
    name,
    tenant,
    step,
  );
  await registry.sql(
    `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat, renewat)
     select origin, sink, gen_random_uuid(), tenant, 'live', 'response', '100', 'test', now(), endsat, endsat
     from subscription where tenant = $1 on conflict do nothing`,
    tenant,
  );
}

/** Reads page after page; `meanwhile` runs between two of them. */
async function walk(client: Client, path: string, meanwhile?: (page: number) => Promise<unknown>): Promise<Entry[]> {
  const found: Entry[] = [];
  let address: string | undefined = path;
  for (let page = 1; address !== undefined; page += 1) {
    const response: supertest.Response = await client.get(address).expect(200);
    found.push(...(response.body as Entry[]));
    address = /^<(.*)>; rel="next"$/.exec(response.get('Link') ?? '')?.[1];
    await meanwhile?.(page);
  }
  return found;
}

const expiriesOf = (entries: readonly Entry[]) => entries.map(({ expiresat }) => expiresat);

describe('in the order of their expiry', () => {
  test('grants that keep theirs are on exactly one page, while others are renewed, added and removed', async () => {
    const client = await registry.as('assent:admin', { tenant: 'busy' });
    await fill('busy', 0, 60, '1 hour');
    // Of one moment, so that only their ids tell them apart.
    await registry.sql(
      `update "grant" set expiresat = now() + interval '2 days' where tenant = 'busy' and sink ~ '/3[0-9]$'`,
    );
    const before = await walk(client, '/v1/grants?sort=expiresat&limit=7');
    expect(before).toHaveLength(60);
    expect(expiriesOf(before)).toEqual(expiriesOf(before).sort());
    const moved = new Set(['/2', '/40', '/55'].map((path) => `https://crowd.example.org${path}`));
    const seen = await walk(client, '/v1/grants?sort=expiresat&limit=7', async (page) => {
      if (page === 2) {
        await fill('busy', 60, 70, '1 hour');
        await registry.sql(`update "grant" set expiresat = now() + interval '90 days' where sink = any ($1::text[])`, [
          ...moved,
        ]);
      }
      if (page === 3) await registry.sql(`delete from "grant" where tenant = 'busy' and sink ~ '/5[0-2]$'`);
    });
    const times = new Map<string, number>();
    for (const { sink } of seen) times.set(sink, (times.get(sink) ?? 0) + 1);
    for (const { sink } of before) {
      if (moved.has(sink) || /\/5[0-2]$/.test(sink)) continue;
      expect([sink, times.get(sink)]).toEqual([sink, 1]);
    }
    // It had been read before it moved to the end.
    expect(times.get('https://crowd.example.org/2')).toBe(2);
    expect(times.get('https://crowd.example.org/40')).toBe(1);

    const after = await walk(client, '/v1/grants?sort=expiresat&limit=200');
    expect(await walk(client, '/v1/grants?sort=-expiresat&limit=9')).toEqual([...after].reverse());
    // Each filter leaves the order as it is.
    for (const filter of [
      'host=crowd.example.org',
      `origin=busy.example.com`,
      'subscriber=crowd',
      'sinkcontains=/4',
      'state=live',
    ]) {
      const found = await walk(client, `/v1/grants?sort=expiresat&limit=6&${filter}`);
      const expected = filter.startsWith('sinkcontains') ? after.filter(({ sink }) => sink.includes('/4')) : after;
      expect([filter, ...found]).toEqual([filter, ...expected]);
    }
    const [early, late] = [after[10]?.expiresat, after[20]?.expiresat];
    const between = await walk(client, `/v1/grants?sort=expiresat&limit=4&expiressince=${early}&expiresuntil=${late}`);
    expect(between).toEqual(after.slice(10, 20));
  });

  test('subscriptions: those with an end, of the tenant for an admin, its own for a consumer', async () => {
    await fill('busy', 70, 75);
    await registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol, endsat)
       values ('0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e01', 'busy', 'other', 'busy.example.com', 'https://other.example.org/1', 'HTTP', now() + interval '26 hours'),
         ('0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e02', 'busy', 'other', 'busy.example.com', 'https://other.example.org/2', 'HTTP', null)`,
    );
    const client = await registry.as('assent:admin', { tenant: 'busy' });
    const all = await walk(client, '/v1/subscriptions?sort=expiresat&limit=11');
    expect(all).toHaveLength(76);
    expect(expiriesOf(all)).toEqual(expiriesOf(all).sort());
    const other = await registry.as('assent:subscribe', { tenant: 'busy', subscriber: 'other' });
    const own = await walk(other, '/v1/subscriptions?sort=-expiresat');
    expect(own.map(({ sink }) => sink)).toEqual(['https://other.example.org/1']);
    const soon = `expiresuntil=${all[4]?.expiresat}`;
    expect(await walk(client, `/v1/subscriptions?sort=expiresat&limit=3&${soon}`)).toEqual(all.slice(0, 4));
    const unsorted = await walk(client, `/v1/subscriptions?limit=3&${soon}`);
    expect(unsorted.map(({ id }) => id).sort()).toEqual(
      all
        .slice(0, 4)
        .map(({ id }) => id)
        .sort(),
    );
  });

  test('a cursor of another order, and an order that does not exist, are refused', async () => {
    const client = await registry.as('assent:admin', { tenant: 'busy' });
    for (const list of ['/v1/grants', '/v1/subscriptions']) {
      const cursorOf = async (query: string) => {
        const page = await client.get(`${list}?limit=1${query}`).expect(200);
        return new URLSearchParams(/\?(.*)>/.exec(page.get('Link') ?? '')?.[1]).get('cursor') ?? '';
      };
      const [byId, first, last] = [
        await cursorOf(''),
        await cursorOf('&sort=expiresat'),
        await cursorOf('&sort=-expiresat'),
      ];
      for (const [sort, cursor] of [
        ['', first],
        ['expiresat', byId],
        ['expiresat', last],
        ['-expiresat', first],
        ['expiresat', Buffer.from(`${list.slice(3)} expiresat 2026-99-99T00:00:00.000Z x`).toString('base64url')],
      ] as const) {
        const { body } = await client
          .get(list)
          .query({ cursor, ...(sort && { sort }) })
          .expect(400);
        expect(body.faults).toMatchObject([{ pointer: 'query/cursor', rule: 'cursor_unknown' }]);
      }
      const { body } = await client.get(list).query({ sort: 'sink' }).expect(400);
      expect(body.faults).toMatchObject([{ pointer: 'query/sort', rule: 'value_not_allowed' }]);
    }
  });
});

test('a page in the order of expiry touches as much of the database, however many others there are', async () => {
  const buffers = await countBuffers(registry.env['DATABASE_URL']);
  const query = { tenant: 'large', after: undefined, limit: 20 };
  const principal = {
    tenant: 'large',
    subscriber: 'beheer',
    scopes: new Set(['assent:admin']),
  } as unknown as Principal;
  const grants = createGrantReader({ sql: buffers.sql } as never, Date.now);
  const subscriptions = createSubscriptionReader({ sql: buffers.sql } as never, Date.now);
  const sort: ExpirySort = 'expiresat';
  const lists: Array<() => Promise<unknown>> = [
    () => grants.list({ ...query, sort }),
    () => grants.list({ ...query, sort, state: 'live' }),
    () => grants.list({ ...query, sort: '-expiresat', state: 'expired' }),
    () => grants.list({ ...query, sort, state: 'live', renews: false }),
    () => grants.list({ ...query, sort, held: true }),
    () => grants.list({ ...query, sort, subscriber: 'few' }),
    () => grants.list({ ...query, sort, host: 'few.example.org' }),
    () => grants.list({ ...query, sort, host: 'crowd.example.org' }),
    () => subscriptions.list(principal, { ...query, sort }),
    () => subscriptions.list(principal, { ...query, sort, subscriber: 'few' }),
  ];
  const touched = async (from: number, until: number) => {
    await fill('large', from, until, '1 second');
    await buffers.execute('vacuum analyze subscription, "grant"');
    const counts: number[] = [];
    for (const list of lists) counts.push(await buffers.of(list));
    return counts;
  };
  try {
    // Enough for the first step of a search, which is the same at every size.
    const few = await touched(0, 1_000);
    const many = await touched(1_000, 20_000);
    // A larger index can have one level more at each of its look-ups.
    many.forEach((count, place) => expect([place, count < 2 * (few[place] ?? 0) + 200]).toEqual([place, true]));
  } finally {
    await buffers.end();
  }
});
