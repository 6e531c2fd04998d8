import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type supertest from 'supertest';
import { exhaust, passGrant } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
let registry: Registry;
let admin: Client;
let one: Client;
let other: Client;
let sender: Client;
let foreign: Client;

type Entry = {
  id: string;
  sink: string;
  status: string;
  statusdetails: { code: string; label: string; since?: string; askedat?: string; allowedrate?: number };
  subscription?: string;
  [member: string]: unknown;
};
interface Registered {
  id: string;
  sink: string;
  path: string;
}

/** Sinks of three hosts, each with a path of its own. */
let paths = 0;
const sinkOn = (host: string, end = '') => {
  const sink = new URL(registry.receiver.sink(`/q${(paths += 1)}${end}`));
  sink.hostname = host;
  registry.receiver.consent(sink.pathname);
  return sink.href;
};

async function register(client: Client, members: object): Promise<Registered> {
  const { body } = await client
    .post('/v1/subscriptions')
    .send({ protocol: 'HTTP', ...members })
    .expect(201);
  return { ...body, path: `/v1/subscriptions/${body.id}` };
}

const find = async (client: Client, path: string, query: object = {}): Promise<Entry[]> =>
  (await client.get(path).query(query).expect(200)).body;
const idsOf = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);
/** With a plus sign: at least. */
const countIn = (answer: { get(name: string): string | undefined }) => {
  const count = answer.get('X-Total-Count');
  const bound = answer.get('X-Total-Count-At-Least');
  expect([count, bound]).toEqual([expect.stringMatching(/^\d+$/), bound === undefined ? undefined : 'true']);
  return `${count}${bound === undefined ? '' : '+'}`;
};
const countOf = async (client: Client, path: string, query: object) =>
  countIn(
    await client
      .get(path)
      .query({ ...query, count: true, limit: 1 })
      .expect(200),
  );

/** Every entry, over pages of this size. */
async function walk(client: Client, path: string, query: Record<string, string>, limit: number): Promise<Entry[]> {
  const found: Entry[] = [];
  let address: string | undefined = `${path}?${new URLSearchParams({ ...query, limit: String(limit) }).toString()}`;
  while (address !== undefined) {
    const page: supertest.Response = await client.get(address).expect(200);
    found.push(...page.body);
    address = /^<(.*)>; rel="next"$/.exec(page.get('Link') ?? '')?.[1];
  }
  return found;
}

/** Of `one`: two hosts; of `other`: another host; each in the order of registration. */
let mine: Registered[];
let theirs: Registered[];

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  one = await registry.as('assent:subscribe', { subscriber: 'one' });
  other = await registry.as('assent:subscribe', { subscriber: 'other' });
  sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  foreign = await registry.as('assent:admin', { tenant: 'provincie' });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  await admin.post('/v1/origins').send({ name: 'second.example.com' }).expect(201);
  mine = [
    await register(one, { sink: sinkOn('a.hooks.test', '/orders?key=100%25_x') }),
    await register(one, { sink: sinkOn('b.hooks.test', '/orders') }),
    await register(one, { sink: sinkOn('a.hooks.test', '/parcels'), origin: 'second.example.com' }),
  ];
  theirs = [await register(other, { sink: sinkOn('a.hooks.test', '/orders') })];
});
afterAll(() => registry.stop());

describe('subscriptions', () => {
  test.each<[string, object, number[]]>([
    ['host', { host: 'a.hooks.test' }, [0, 2]],
    ['host in capitals', { host: 'A.Hooks.Test' }, [0, 2]],
    ['an unknown host', { host: 'hooks.test' }, []],
    ['host with a port', { host: 'a.hooks.test:443' }, []],
    ['part of the sink', { sinkcontains: '/orders' }, [0, 1]],
    ['part of the host', { sinkcontains: 'b.hooks' }, [1]],
    ['part of the sink in another case', { sinkcontains: '/Orders' }, []],
    ['a percent sign, which is no pattern', { sinkcontains: '%' }, [0]],
    ['an underscore, which is no pattern', { sinkcontains: '_' }, [0]],
    ['a quote', { sinkcontains: `'` }, []],
    [
      'host, origin and part of the sink',
      { host: 'a.hooks.test', origin: 'Second.example.com', sinkcontains: 'parcel' },
      [2],
    ],
    ['host and another origin', { host: 'b.hooks.test', origin: 'second.example.com' }, []],
    ['host and status', { host: 'a.hooks.test', status: 'active', code: 'granted' }, [0, 2]],
    ['host and subscriber', { host: 'a.hooks.test', subscriber: 'one' }, [0, 2]],
    ['another subscriber', { subscriber: 'other' }, []],
  ])('by %s returns exactly those, and the count of them', async (_, query, places) => {
    const expected = places.map((place) => mine[place]?.id);
    expect(idsOf(await find(one, '/v1/subscriptions', query))).toEqual(expected);
    expect(await countOf(one, '/v1/subscriptions', query)).toBe(String(places.length));
  });

  test('a consumer finds and counts only its own, an admin those of the tenant', async () => {
    const query = { host: 'a.hooks.test', sinkcontains: '/orders' };
    expect(idsOf(await find(other, '/v1/subscriptions', query))).toEqual(idsOf(theirs));
    expect(idsOf(await find(admin, '/v1/subscriptions', query))).toEqual([mine[0]?.id, theirs[0]?.id]);
    expect(idsOf(await find(admin, '/v1/subscriptions', { ...query, subscriber: 'one' }))).toEqual([mine[0]?.id]);
    expect(await find(foreign, '/v1/subscriptions', query)).toEqual([]);
    expect([await countOf(other, '/v1/subscriptions', query), await countOf(foreign, '/v1/subscriptions', {})]).toEqual(
      ['1', '0'],
    );
  });

  test('by time: from `createdsince` until before `createduntil`, with any offset', async () => {
    const [first, second, third] = await find(one, '/v1/subscriptions');
    const at = (entry: Entry | undefined) => String(entry?.['createdat']);
    const between = { createdsince: at(second), createduntil: at(third) };
    expect(idsOf(await find(one, '/v1/subscriptions', between))).toEqual([second?.id]);
    const inAmsterdam = new Date(Date.parse(at(second)) + 3_600_000).toISOString().replace('Z', '+01:00');
    expect(idsOf(await find(one, '/v1/subscriptions', { createduntil: inAmsterdam }))).toEqual([first?.id]);
    expect(await find(one, '/v1/subscriptions', { createdsince: '9999-12-31T23:59:59-23:59' })).toEqual([]);
    expect(await find(one, '/v1/subscriptions', { createduntil: '0000-01-01t00:00:00z' })).toEqual([]);
    expect(await countOf(one, '/v1/subscriptions', { createdsince: '2016-12-31T23:59:60Z' })).toBe('3');
    const { body } = await one.get('/v1/subscriptions?createdsince=yesterday').expect(400);
    expect(body.faults).toMatchObject([{ pointer: 'query/createdsince' }]);
  });

  test.each([
    ['of a subscriber', { sort: '-createdat' }],
    ['of a host', { sort: '-createdat', host: 'a.hooks.test' }],
    ['by candidates', { sort: '-createdat', origin }],
    ['by status', { sort: '-createdat', status: 'active' }],
  ])('newest first %s, over pages, are those that are oldest first without it', async (_, query) => {
    const { sort: _sort, ...search } = query;
    const oldest = idsOf(await find(one, '/v1/subscriptions', search));
    expect(oldest.length).toBeGreaterThan(1);
    expect(idsOf(await walk(one, '/v1/subscriptions', query, 1))).toEqual([...oldest].reverse());
    expect(idsOf(await walk(one, '/v1/subscriptions', { ...search, sort: 'createdat' }, 1))).toEqual(oldest);
    // Not a cursor of another order.
    const page = await one
      .get('/v1/subscriptions')
      .query({ ...query, limit: 1 })
      .expect(200);
    const next = /<(.*)>/.exec(page.get('Link') ?? '')?.[1] ?? '';
    await one.get(next.replace('sort=-createdat', 'sort=createdat')).expect(400);
  });

  test('the link to the next page keeps the search, and does not count again', async () => {
    const page = await one.get('/v1/subscriptions').query({ host: 'a.hooks.test', limit: 1, count: true }).expect(200);
    expect(countIn(page)).toBe('2');
    expect(page.get('X-Search-Examined')).toBeUndefined();
    const next = /<(.*)>/.exec(page.get('Link') ?? '')?.[1] ?? '';
    expect(next).toContain('host=a.hooks.test&');
    expect(next).not.toContain('count');
    const second = await one.get(next).expect(200);
    expect(idsOf(second.body)).toEqual([mine[2]?.id]);
    expect(second.get('X-Total-Count')).toBeUndefined();
  });

  test('an unknown code or verdict is a 400 that lists the known ones, in the language of the caller', async () => {
    const { body } = await one.get('/v1/subscriptions?code=orgin_mismatch').expect(400);
    expect(body.faults).toMatchObject([{ pointer: 'query/code', rule: 'value_not_allowed' }]);
    expect(body.faults[0].detail).toContain('origin_mismatch');
    const dutch = await admin.get('/v1/handshakes?verdict=x').set('Accept-Language', 'nl').expect(400);
    expect(dutch.body.faults).toMatchObject([
      { pointer: 'query/verdict', detail: expect.stringMatching(/^Dit moet een van deze waarden zijn/) },
    ]);
  });

  test('a search does not reveal why a name is not public, like the status', async () => {
    for (const code of ['name_not_found', 'address_not_allowed']) {
      await one.get('/v1/subscriptions').query({ code }).expect(400);
      await admin.get('/v1/subscriptions').query({ code }).expect(400);
    }
  });

  test('by code returns every subscription whose status details have it, whatever its status', async () => {
    const client = await registry.as('assent:subscribe', { subscriber: 'of every code' });
    const { receiver } = registry;
    const answering = (status: number, headers: Record<string, string> = {}) => {
      const sink = sinkOn('codes.hooks.test');
      receiver.on(new URL(sink).pathname, (_, response) => response.writeHead(status, headers).end());
      return sink;
    };
    const refusing = sinkOn('codes.hooks.test');
    receiver.consent(new URL(refusing).pathname, { origin: 'somebody-else.example.com' });
    const dropping = sinkOn('codes.hooks.test');
    receiver.on(new URL(dropping).pathname, (_, response) => response.destroy());
    const [over, revoked, gone] = [1, 2, 3].map(() => sinkOn('codes.hooks.test')) as [string, string, string];
    const absent = `https://${'absent'}.example.org/`;
    registry.dns.fallback = (name) => (name.endsWith('.hooks.test') ? ['127.0.0.1'] : undefined);
    for (const sink of [
      answering(200),
      answering(410),
      answering(404),
      refusing,
      dropping,
      over,
      revoked,
      gone,
      absent,
    ])
      await register(client, { sink });
    await register(client, { sink: revoked });
    const paused = await register(client, { sink: sinkOn('codes.hooks.test') });
    await client.post(`${paused.path}/suspend`).send({ reason: 'test' }).expect(200);
    const sink = 'https://agreed.example.org/';
    const expiresat = new Date(Date.now() + 86_400_000).toISOString();
    await admin.post('/v1/grants').send({ origin, sink, allowedrate: 1, expiresat, agreement: 'x' }).expect(201);
    await register(client, { sink });
    await passGrant(registry, over);
    const [grant] = await find(admin, '/v1/grants', { sink: revoked });
    await admin.post(`/v1/grants/${grant?.id}/revoke`).send({ reason: 'test' }).expect(200);
    await registry.sql(
      `update "grant" set state = 'ended', endcode = 'target_gone', endedat = now() where sink = $1`,
      gone,
    );
    await exhaust(registry);

    const all = await find(client, '/v1/subscriptions');
    const codes = [...new Set(all.map(({ statusdetails }) => statusdetails.code))];
    expect(codes).toEqual(
      expect.arrayContaining([
        'gone',
        'origin_mismatch',
        'expired',
        'revoked',
        'suspended',
        'agreement',
        'name_not_public',
      ]),
    );
    expect(codes.length).toBeGreaterThan(8);
    // What a row of a list shows, without a request for each.
    const rows = new Map(all.map(({ status, statusdetails: row }) => [row.code, { status, ...row }]));
    const moment = expect.stringMatching(/Z$/);
    for (const [code, row] of Object.entries({
      origin_mismatch: { status: 'refused', label: 'Allows another origin', since: moment, askedat: moment },
      expired: { status: 'expired', label: 'Grant expired', since: moment },
      revoked: { status: 'refused', label: 'Revoked by an admin', since: moment },
      gone: { status: 'retired', since: moment, askedat: moment },
      suspended: { status: 'suspended', label: 'Suspended by its owner', since: moment, askedat: moment },
      agreement: { status: 'active', label: 'Agreement recorded', allowedrate: 1 },
    })) {
      expect(rows.get(code)).toMatchObject(row);
    }
    expect(rows.get('agreement')).not.toHaveProperty('since');
    for (const code of codes) {
      const expected = idsOf(all.filter(({ statusdetails }) => statusdetails.code === code));
      expect([code, ...idsOf(await find(client, '/v1/subscriptions', { code }))]).toEqual([code, ...expected]);
      expect([code, await countOf(client, '/v1/subscriptions', { code })]).toEqual([code, String(expected.length)]);
      const [{ status } = { status: '' }] = all.filter(({ statusdetails }) => statusdetails.code === code);
      const both = all.filter((each) => each.status === status && each.statusdetails.code === code);
      expect(idsOf(await find(client, '/v1/subscriptions', { code, status }))).toEqual(idsOf(both));
    }
  });
});

describe('grants', () => {
  const search = async (query: object, client = admin) =>
    (await find(client, '/v1/grants', query)).map(({ sink }) => sink).sort();
  const sinksOf = (...entries: Array<Registered | undefined>) => entries.map((each) => each?.sink).sort();

  test('by host, part of the sink, subscriber, state, basis and expiry', async () => {
    const [first, second, third] = mine;
    expect(await search({ host: 'A.hooks.test' })).toEqual(sinksOf(first, third, theirs[0]));
    expect(await search({ sinkcontains: '/orders', host: 'a.hooks.test' })).toEqual(sinksOf(first, theirs[0]));
    expect(await search({ subscriber: 'one' })).toEqual(sinksOf(first, second, third));
    expect(await search({ subscriber: 'one', origin: 'second.example.com' })).toEqual(sinksOf(third));
    expect(await search({ subscriber: 'nobody' })).toEqual([]);
    expect(await search({ basis: 'agreement' })).toEqual(['https://agreed.example.org/']);
    expect(await search({ basis: 'policy' })).toEqual([]);
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    expect(await search({ state: 'live', expiresuntil: inAnHour })).toEqual([]);
    const expired = await find(admin, '/v1/grants', { expiresuntil: inAnHour });
    expect(expired.map(({ state }) => state)).toEqual(['expired']);
    expect(idsOf(await find(admin, '/v1/grants', { state: 'expired' }))).toEqual(idsOf(expired));
    expect((await find(admin, '/v1/grants', { state: 'revoked' })).map(({ state }) => state)).toEqual(['revoked']);
    expect(await countOf(admin, '/v1/grants', { host: 'b.hooks.test' })).toBe('1');
    expect(await search({ host: 'a.hooks.test' }, foreign)).toEqual([]);
  });

  test('a sender finds grants by their sink, but not by who subscribes', async () => {
    expect(await search({ host: 'b.hooks.test' }, sender)).toEqual(sinksOf(mine[1]));
    const { body } = await sender.get('/v1/grants?subscriber=one').expect(403);
    expect(body).toMatchObject({ code: 'scope_missing', detail: expect.stringContaining('assent:admin') });
  });
});

describe('handshakes', () => {
  test('of all subscriptions, newest first, as each subscription shows them', async () => {
    const all = await walk(admin, '/v1/handshakes', {}, 7);
    expect(idsOf(all)).toEqual(idsOf(all).sort().reverse());
    for (const { id, path } of [...mine, ...theirs]) {
      const own = await find(admin, `${path}/handshakes`);
      expect(all.filter(({ subscription }) => subscription === id)).toEqual(own);
    }
    expect(await countOf(admin, '/v1/handshakes', {})).toBe(String(all.length));
    expect(await find(foreign, '/v1/handshakes')).toEqual([]);
    await one.get('/v1/handshakes').expect(403);
    await sender.get('/v1/handshakes').expect(403);
  });

  test('by host, part of the sink, subscriber, origin, state, verdict, trigger and time', async () => {
    const all = await walk(admin, '/v1/handshakes', {}, 200);
    const trigger = 'registration';
    const own =
      (id: string | undefined) =>
      ({ subscription }: Entry) =>
        subscription === id;
    const searches: Array<[Record<string, string>, (entry: Entry) => boolean]> = [
      [{ host: 'A.Hooks.test' }, ({ sink }) => new URL(sink).hostname === 'a.hooks.test'],
      [{ sinkcontains: '/orders' }, ({ sink }) => sink.includes('/orders')],
      [{ sink: mine[1]?.sink ?? '' }, own(mine[1]?.id)],
      [{ subscriber: 'one' }, ({ subscription }) => idsOf(mine).includes(subscription ?? '')],
      [{ subscriber: 'one', host: 'a.hooks.test', sinkcontains: 'parcels' }, own(mine[2]?.id)],
      [{ origin: 'Second.example.com' }, own(mine[2]?.id)],
      [{ trigger }, (entry) => entry['trigger'] === trigger],
      [{ trigger: 'renewal' }, (entry) => entry['trigger'] === 'renewal'],
      ...[...new Set(all.map(({ state }) => String(state)))].map(
        (state): [Record<string, string>, (entry: Entry) => boolean] => [
          { state },
          (entry) => entry['state'] === state,
        ],
      ),
      ...[...new Set(all.flatMap(({ verdict }) => (typeof verdict === 'string' ? [verdict] : [])))].map(
        (verdict): [Record<string, string>, (entry: Entry) => boolean] => [
          { verdict },
          (entry) => entry['verdict'] === verdict,
        ],
      ),
      [
        { createduntil: String(all[0]?.['createdat']) },
        (entry) => String(entry['createdat']) < String(all[0]?.['createdat']),
      ],
    ];
    expect(searches.length).toBeGreaterThan(14);
    for (const [query, matches] of searches) {
      const expected = idsOf(all.filter(matches));
      expect([query, ...idsOf(await walk(admin, '/v1/handshakes', query, 2))]).toEqual([query, ...expected]);
      expect([query, await countOf(admin, '/v1/handshakes', query)]).toEqual([query, String(expected.length)]);
    }
  });

  test('a renewal names no subscription, and belongs to every subscriber of its pair', async () => {
    const { sink } = mine[1] as Registered;
    await registry.sql(`update "grant" set renewat = now() - interval '1 millisecond' where sink = $1`, sink);
    await registry.service.sweep();
    await registry.service.worker.drain();
    const [renewal] = await find(admin, '/v1/handshakes', { trigger: 'renewal', subscriber: 'one' });
    expect(renewal).toMatchObject({ sink, state: 'granted' });
    expect(renewal).not.toHaveProperty('subscription');
    expect(await find(admin, '/v1/handshakes', { trigger: 'renewal', subscriber: 'other' })).toEqual([]);
  });
});

describe('a search that few of many match', () => {
  const many = 20_600;
  beforeAll(async () => {
    await registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
       select ('ffffffff-ffff-7fff-bfff-' || lpad(to_hex(n), 12, '0'))::uuid, 'gemeente', 'crowd', $1,
         'https://crowd.example.org/' || n || case when n = ${many} then '/needle' else '' end, 'HTTP'
       from generate_series(1, ${many}) n`,
      origin,
    );
  });

  test('examines a limited number for each request, says so, and leads to all that match', async () => {
    const crowd = await registry.as('assent:subscribe', { subscriber: 'crowd' });
    const query = { code: 'expired', sinkcontains: 'needle' };
    const page = await crowd
      .get('/v1/subscriptions')
      .query({ ...query, count: true })
      .expect(200);
    expect(page.body).toEqual([]);
    expect(page.get('X-Search-Examined')).toBe('20000');
    expect(countIn(page)).toBe('0+');
    const next = /<(.*)>/.exec(page.get('Link') ?? '')?.[1] ?? '';
    const second = await crowd.get(next).expect(200);
    expect(second.body).toMatchObject([{ sink: `https://crowd.example.org/${many}/needle` }]);
    expect([second.get('Link'), second.get('X-Search-Examined')]).toEqual([undefined, undefined]);
  });

  test('a count is exact up to 10,000, and says if there are more', async () => {
    const crowd = await registry.as('assent:subscribe', { subscriber: 'crowd' });
    expect(await countOf(crowd, '/v1/subscriptions', {})).toBe('10000+');
    expect(await countOf(crowd, '/v1/subscriptions', { sinkcontains: '.org/1' })).toBe('10000+');
    expect(await countOf(crowd, '/v1/subscriptions', { sinkcontains: '.org/15' })).toBe('1111');
    expect(await countOf(one, '/v1/subscriptions', {})).toBe('3');
  });
});

describe('subscriptions as CSV', () => {
  const csv = (client: Client, query: object = {}) =>
    client.get('/v1/subscriptions').query(query).set('Accept', 'text/csv').buffer(true).expect(200);

  test('are exactly those of the list, in its order, with a header line', async () => {
    const whole = await csv(admin, { sinkcontains: '/orders', sort: '-createdat', limit: 1 });
    expect(whole.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(whole.get('Vary')).toContain('Accept');
    const [head, ...lines] = whole.text.split('\r\n');
    expect(head).toBe('id,status,code,sink,origin,subscriber,allowedrate,createdat');
    const [newest, second, first] = [theirs[0], mine[1], mine[0]];
    expect(lines.map((line) => line.split(',')[0])).toEqual([newest?.id, second?.id, first?.id, '']);
    expect(lines[0]).toMatch(/^[^,]+,active,granted,https:[^,]+,eventemitter\.example\.com,other,\d+,\d{4}-[^,]+Z$/);
    expect((await csv(other)).text.split('\r\n')).toHaveLength(theirs.length + 2);
    expect((await csv(foreign)).text).toBe(`${head}\r\n`);
    await admin.get('/v1/subscriptions?code=nothing').set('Accept', 'text/csv').expect(400);
  });

  test('are complete however many there are, and no text is a formula or ends its cell', async () => {
    const tenant = 'waterschap';
    const many = await registry.as('assent:admin', { tenant });
    await many.post('/v1/origins').send({ name: 'many.example.com' }).expect(201);
    const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', 'a"b', 'two\nlines', 'a,b', 'plain'];
    await registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
       select gen_random_uuid(), $1, ($2::text[])[n % 10 + 1], 'many.example.com', 'https://' || n || '.example.com/', 'HTTP'
       from generate_series(0, 9999) n`,
      tenant,
      texts,
    );
    const { text } = await csv(many);
    const lines = text.split('\r\n').slice(1, -1);
    expect(new Set(lines.map((line) => /^[^,]+/.exec(line)?.[0])).size).toBe(10_000);
    const cells = new Set(lines.map((line) => /many\.example\.com,(.*?),[^,]*,\d{4}-\d\d-[^,]*Z$/s.exec(line)?.[1]));
    const shown = [`'=1+1`, `'+1`, `'-1`, `'@SUM(A1)`, `'\tx`, `"'\rx"`, '"a""b"', '"two\nlines"', '"a,b"', 'plain'];
    expect([...cells].sort()).toEqual(shown.sort());
  });
});
