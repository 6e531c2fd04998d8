import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { refuseUnallowed } from '../../../src/registry/subscriptions/allowed.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
let admin: Client;
let consumer: Client;

const rules = [
  { name: 'openbaar', types: ['nl.public*'] },
  {
    name: 'burgerzaken',
    subscribers: ['zaaksysteem', 'andere-afnemer'],
    types: ['nl.brp.persoon*', 'nl.brp.adres.gewijzigd'],
    sources: ['/brp', 'urn:nld:oin:1:systeem:*'],
    subjects: ['999*'],
  },
  { name: 'geheim', subscribers: ['geheime-dienst'], types: ['nl.secret*', 'nl.brp*'] },
  { name: 'toezicht', claims: { role: ['inspecteur', 'toezichthouder'] }, types: ['nl.toezicht*'] },
];
const fits = { types: ['nl.brp.persoon.geboren'], source: '/brp', subject: '999990019' };

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  consumer = await registry.as('assent:subscribe');
});
afterAll(() => registry.stop());

let origin: string;
let sink: string;
let count = 0;
const createOrigin = async (subscriptionrules?: unknown) => {
  const name = `o${(count += 1)}.example.com`;
  await admin.post('/v1/origins').send({ name, subscriptionrules }).expect(201);
  return name;
};
beforeEach(async () => {
  const path = `/a${(count += 1)}`;
  registry.receiver.consent(path);
  sink = registry.receiver.sink(path);
  origin = await createOrigin(rules);
});

const mergePatch = (client: Client, path: string, body: object) =>
  client.patch(`/v1${path}`).type('application/merge-patch+json').send(JSON.stringify(body));
const setRules = (name: string, subscriptionrules: unknown) =>
  mergePatch(admin, `/origins/${name}`, { subscriptionrules }).expect(200);
const register = (client: Client, members: object) =>
  client.post('/v1/subscriptions').send({ sink, protocol: 'HTTP', origin, ...members });
const stored = async () => {
  const [row] = await registry.sql<object>(`
    select (select json_agg(s order by id) from subscription s) as subscriptions,
      (select count(*)::int from handshake) as handshakes, (select count(*)::int from audit) as entries,
      (select count(*)::int from change) as changes, (select count(*)::int from idempotency) as keys`);
  return row;
};
const placesOf = ({ body }: { body: { faults?: Array<{ pointer: string; rule: string }> } }) =>
  body.faults?.map(({ pointer, rule }) => `${pointer} ${rule}`);

const badTypes = [
  'nl.brp.Persoon.geboren',
  'NL.BRP.PERSOON',
  'nl.brp.perso',
  'nl.brp.person',
  'nl.br',
  'nl',
  'n',
  'nl.brp',
  'nl.brp.*',
  '*',
  '**',
  'nl.brp.perso*',
  'nl.*',
  '%',
  'nl.brp.adres.gewijzigd*',
  'nl.brp.adres.gewijzigd.x',
  'nl.brp.adres.gewijzigd ',
  'nl.brp.adres',
  ' nl.brp.persoon',
  'x.nl.brp.persoon',
  'nl%2ebrp.persoon',
  'nl/brp/persoon',
  'nl.secret.x',
  'nl.Public.x',
  'nl.toezicht.x',
  'nl.brp.persооn', // Cyrillic o
  'ｎl.brp.persoon',
  'nl.brp.perso\u0301on',
  'nl.\u200bbrp.persoon',
  'nl.brp.\u202epersoon',
  'ŉl.brp.persoon',
];
const badSources = [
  '/BRP',
  '/brp/',
  '/brp/../brp',
  '//brp',
  './brp',
  '/brp?x',
  '/br%70',
  '/',
  'urn:nld:oin:1:Systeem:a',
  'urn:nld:oin:1:systeem',
];
const badSubjects = ['99', '9', '998', '9 99', ' 999', '９９９', '*', '99*', 'x999', '٩٩٩'];

/** Members that replace those of a subscription that fits, and the place of the first fault. */
const hostile: Array<[object, string]> = [
  ...badTypes.flatMap((type): Array<[object, string]> => [
    [{ types: [type] }, '/types/0 type_not_allowed'],
    [{ types: ['nl.brp.persoon.geboren', type] }, '/types/1 type_not_allowed'],
    [{ types: undefined, filters: [{ exact: { type } }] }, '/filters/0/exact/type type_not_allowed'],
    [
      { types: [], filters: [{ any: [{ exact: { type: 'nl.brp.persoon' } }, { prefix: { type } }] }] },
      '/filters/0/any/1/prefix/type type_not_allowed',
    ],
  ]),
  ...badSources.flatMap((source): Array<[object, string]> => [
    [{ source }, '/source source_not_allowed'],
    [{ source: undefined, filters: [{ exact: { source } }] }, '/filters/0/exact/source source_not_allowed'],
    [{ source: undefined, filters: [{ prefix: { source } }] }, '/filters/0/prefix/source source_not_allowed'],
  ]),
  ...badSubjects.flatMap((subject): Array<[object, string]> => [
    [{ subject }, '/subject subject_not_allowed'],
    [{ subject: undefined, filters: [{ exact: { subject } }] }, '/filters/0/exact/subject subject_not_allowed'],
    [{ subject: undefined, filters: [{ prefix: { subject } }] }, '/filters/0/prefix/subject subject_not_allowed'],
  ]),
  [{ types: undefined }, '/types type_not_allowed'],
  [{ types: [] }, '/types type_not_allowed'],
  [{ types: [], filters: [] }, '/types type_not_allowed'],
  [{ source: undefined }, '/source source_not_allowed'],
  [{ subject: undefined }, '/subject subject_not_allowed'],
  // A prefix of an exact value covers more than the value.
  [{ source: undefined, filters: [{ prefix: { source: '/brp' } }] }, '/filters/0/prefix/source source_not_allowed'],
  [
    { types: undefined, filters: [{ prefix: { type: 'nl.brp.adres.gewijzigd' } }] },
    '/filters/0/prefix/type type_not_allowed',
  ],
  // An event without a subject matches these.
  [{ subject: undefined, filters: [{ not: { prefix: { subject: '999' } } }] }, '/subject subject_not_allowed'],
  [
    { subject: undefined, filters: [{ any: [{ prefix: { subject: '999' } }, { exact: { type: 'nl.brp.persoon' } }] }] },
    '/filters/0/any/1 subject_not_allowed',
  ],
  [{ subject: undefined, filters: [{ suffix: { subject: '999' } }] }, '/subject subject_not_allowed'],
  [{ subject: undefined, filters: [{ exact: { other: '999' } }] }, '/subject subject_not_allowed'],
  ...[
    { not: { exact: { type: 'nl.brp.persoon' } } },
    { not: { not: { prefix: { type: 'nl.brp.persoon' } } } },
    { not: { any: [{ prefix: { type: 'nl.brp.persoon' } }] } },
    { suffix: { type: 'nl.brp.persoon' } },
    { sql: "type = 'nl.brp.persoon'" },
    { sql: "type LIKE 'nl.brp.persoon%'" },
    { all: [{ not: { exact: { type: 'nl.brp.persoon' } } }, { sql: 'TRUE' }] },
    { exact: { othertype: 'nl.brp.persoon' } },
    { prefix: { source: 'nl.brp.persoon' } },
  ].map((filter): [object, string] => [{ types: undefined, filters: [filter] }, '/types type_not_allowed']),
  ...[
    [{ any: [{ prefix: { type: 'nl.brp.persoon' } }, { sql: 'TRUE' }] }, '/any/1'],
    [{ any: [{ prefix: { type: 'nl.brp.persoon' } }, { not: { exact: { type: 'x' } } }] }, '/any/1'],
    [{ any: [{ all: [{ exact: { type: 'nl.brp.persoon' } }] }, { all: [{ exact: { subject: 'x' } }] }] }, '/any/1'],
    [
      { any: [{ any: [{ exact: { type: 'nl.brp.persoon' } }, { exact: { type: 'nl.brp' } }] }] },
      '/any/0/any/1/exact/type',
    ],
    [
      { all: [{ any: [{ exact: { type: 'nl.brp.persoon' } }, { prefix: { type: 'nl.brp.' } }] }] },
      '/all/0/any/1/prefix/type',
    ],
  ].map(([filter, place]): [object, string] => [
    { types: undefined, filters: [filter] },
    `/filters/0${place as string} type_not_allowed`,
  ]),
];

/** What is refused is decided in one place: requests with every tenth are enough. */
const some = <T>(list: T[]) => list.filter((_, place) => place % 10 === 0);

describe('hostile subscriptions', () => {
  test('are refused at registration with the place and the closest rule, and nothing is stored', async () => {
    expect(hostile.length).toBeGreaterThanOrEqual(200);
    const before = await stored();
    for (const [members, place] of hostile) {
      const what = JSON.stringify(members);
      const wishes = { filters: undefined, ...fits, ...members };
      const judged = refuseUnallowed({ name: origin, subscriptionRules: rules }, { subscriber: 'zaaksysteem' }, wishes);
      const [fault] = judged?.faults ?? [];
      expect([what, `${fault?.pointer} ${fault?.rule}`]).toEqual([what, place]);
    }
    for (const [members, place] of some(hostile)) {
      const answer = await register(consumer, { ...fits, ...members });
      const what = JSON.stringify(members);
      expect([what, answer.status, answer.body.code]).toEqual([what, 403, 'subscription_not_allowed']);
      expect([what, placesOf(answer)?.[0]]).toEqual([what, place]);
      expect(answer.body.detail).toMatch(/The rule "(?:burgerzaken|openbaar)" comes closest/);
      expect(JSON.stringify(answer.body)).not.toMatch(/geheim|andere-afnemer|inspecteur/);
    }
    expect(await stored()).toEqual(before);
    expect(registry.receiver.asked.filter(({ path }) => sink.endsWith(path))).toEqual([]);
  });

  test.each(['put', 'patch'] as const)(
    'are refused as a %s of an allowed one, which stays as it was',
    async (method) => {
      const { body: created } = await register(consumer, { ...fits, suspended: true }).expect(201);
      const path = `/subscriptions/${created.id}`;
      const before = await stored();
      for (const [members] of some(hostile)) {
        const patch = Object.fromEntries(Object.entries(members).map(([name, value]) => [name, value ?? null]));
        const answer = await (method === 'put'
          ? consumer.put(`/v1${path}`).send({ sink, protocol: 'HTTP', origin, ...fits, ...members })
          : mergePatch(consumer, path, patch));
        const what = JSON.stringify(members);
        expect([what, answer.status, answer.body.code]).toEqual([what, 403, 'subscription_not_allowed']);
      }
      expect(await stored()).toEqual(before);
    },
  );
});

test.each<[string, object]>([
  ['an exact type', { types: ['nl.brp.adres.gewijzigd'] }],
  ['a type that is the beginning itself', { types: ['nl.brp.persoon'] }],
  ['a source of a family', { source: 'urn:nld:oin:1:systeem:a' }],
  ['a prefix that is longer than the allowed one', { types: [], filters: [{ prefix: { type: 'nl.brp.persoon.' } }] }],
  [
    'an any whose filters all fit',
    {
      types: [],
      filters: [{ any: [{ exact: { type: 'nl.brp.persoon.x' } }, { prefix: { type: 'nl.brp.persoon.y' } }] }],
    },
  ],
  [
    'filters in place of every member',
    {
      types: undefined,
      source: undefined,
      subject: undefined,
      filters: [{ all: [{ exact: { type: 'nl.brp.persoon', source: '/brp' } }, { prefix: { subject: '9991' } }] }],
    },
  ],
  ['filters that narrow further', { filters: [{ sql: "subject LIKE '%1'" }, { not: { exact: { subject: '999' } } }] }],
  ['types of two rules', { types: ['nl.brp.persoon', 'nl.public.x'] }],
  ['what is for everyone', { types: ['nl.public.x'], source: undefined, subject: undefined }],
])('%s is allowed', async (_, members) => {
  await register(consumer, { ...fits, ...members }).expect(201);
});

test('types of two rules must each fit the source and subject of the rule', async () => {
  const answer = await register(consumer, { types: ['nl.public.x', 'nl.brp.persoon'] }).expect(403);
  expect(placesOf(answer)).toEqual(['/types/1 type_not_allowed']);
});

test('without rules anyone may subscribe to anything; with an empty array no client may', async () => {
  const free = await createOrigin();
  await register(consumer, { origin: free }).expect(201);
  await setRules(free, []);
  expect((await register(consumer, { origin: free }).expect(403)).body).toMatchObject({
    code: 'subscription_not_allowed',
    detail: `${free} limits who may subscribe to what, and none of its rules is about this subscriber. Ask an admin.`,
    faults: [{ pointer: '/origin', rule: 'subscriber_not_allowed' }],
  });
  await setRules(free, null);
  await register(consumer, { origin: free }).expect(201);
});

test('the rules of the default origin count if a subscription names no origin', async () => {
  const tenant = 'gemeente-met-standaard';
  const owner = await registry.as('assent:admin', { tenant });
  const client = await registry.as('assent:subscribe', { tenant });
  const name = `o${(count += 1)}.example.com`;
  await owner.post('/v1/origins').send({ name, isdefault: true, subscriptionrules: rules }).expect(201);
  const members = { sink, protocol: 'HTTP' };
  await client.post('/v1/subscriptions').send(members).expect(403);
  await client
    .post('/v1/subscriptions')
    .send({ ...members, ...fits })
    .expect(201);
});

describe('claims', () => {
  const types = ['nl.toezicht.x'];
  test.each<[string, object, unknown]>([
    ['a string', { role: 'inspecteur' }, { role: 'inspecteur' }],
    ['one of several', { role: ['x', 'inspecteur'] }, { role: 'inspecteur' }],
    ['an array that has it', { role: 'inspecteur' }, { role: ['x', 'inspecteur'] }],
    ['a number', { level: 3 }, { level: 3 }],
    ['a boolean', { sworn: true }, { sworn: true }],
    ['a member of an object', { '/realm_access/roles': 'a/b' }, { realm_access: { roles: ['a/b'] } }],
    ['a name with a slash', { '/https:~1~1example.com~1role': 'x' }, { 'https://example.com/role': 'x' }],
    ['a URL as the name', { 'https://example.com/role': 'x' }, { 'https://example.com/role': 'x' }],
    ['two claims', { role: 'x', level: 3 }, { role: 'x', level: 3 }],
  ])('%s in the token opens the rule', async (_, claims, token) => {
    const limited = await createOrigin([{ name: 'r', claims, types }]);
    const client = await registry.as('assent:subscribe', { claims: token as Record<string, unknown> });
    await register(client, { origin: limited, types }).expect(201);
    expect(placesOf(await register(consumer, { origin: limited, types }).expect(403))).toEqual([
      '/origin subscriber_not_allowed',
    ]);
  });

  test.each<[string, object, unknown]>([
    ['another case', { role: 'inspecteur' }, { role: 'Inspecteur' }],
    ['a string with it inside', { role: 'inspecteur' }, { role: 'inspecteur x' }],
    ['an array inside an array', { role: 'inspecteur' }, { role: [['inspecteur']] }],
    ['an object', { role: 'inspecteur' }, { role: { inspecteur: true } }],
    ['null', { role: 'null' }, { role: null }],
    ['the number as a string', { level: 3 }, { level: '3' }],
    ['the string as a number', { level: '3' }, { level: 3 }],
    ['a truthy value', { sworn: true }, { sworn: 1 }],
    ['one claim of two', { role: 'x', level: 3 }, { role: 'x' }],
    ['no claim, but a member of every object', { '/toString/name': 'toString' }, {}],
    ['the index of an array', { '/roles/0': 'a' }, { roles: ['a'] }],
    ['an empty array', { role: 'inspecteur' }, { role: [] }],
    ['the nested name without the pointer', { 'realm_access/roles': 'a' }, { realm_access: { roles: 'a' } }],
  ])('%s in the token does not', async (_, claims, token) => {
    const limited = await createOrigin([{ name: 'r', claims, types }]);
    const client = await registry.as('assent:subscribe', { claims: token as Record<string, unknown> });
    await register(client, { origin: limited, types }).expect(403);
  });

  test('a rule with clients and claims needs both', async () => {
    const limited = await createOrigin([{ name: 'r', subscribers: ['a'], claims: { role: 'x' }, types }]);
    const statuses = [];
    for (const subscriber of ['a', 'b']) {
      for (const claims of [{ role: 'x' }, { role: 'y' }]) {
        const client = await registry.as('assent:subscribe', { subscriber, claims });
        statuses.push((await register(client, { origin: limited, types })).status);
      }
    }
    expect(statuses).toEqual([201, 403, 403, 403]);
  });

  test('a token cannot replace a claim that the registry reads', async () => {
    const client = await registry.as('assent:subscribe', { claims: { client_id: 'geheime-dienst', tenant: 'other' } });
    const { body } = await register(client, { types: ['nl.public.x'] }).expect(201);
    expect(body.subscriber).toBe('zaaksysteem');
  });
});

describe('after the rules were tightened', () => {
  const none = [{ name: 'none', subscribers: ['zaaksysteem'], types: ['nl.other'] }];

  test('a subscription that exists stays, and each change must fit the new rules', async () => {
    const { body } = await register(consumer, fits).expect(201);
    await setRules(origin, none);
    const path = `/subscriptions/${body.id}`;
    expect((await consumer.get(`/v1${path}`)).body).toMatchObject({ status: 'active', types: fits.types });
    for (const members of [{ config: { a: 1 } }, { subject: '9991' }, { requestedrate: 5 }, { expiresat: null }]) {
      expect((await mergePatch(consumer, path, members).expect(403)).body.code).toBe('subscription_not_allowed');
    }
    await mergePatch(consumer, path, { types: ['nl.other'] }).expect(200);
    await setRules(origin, []);
    await consumer.delete(`/v1${path}`).expect(200);
  });

  test('a draft cannot be resumed by its subscriber, but by an admin', async () => {
    const { body } = await register(consumer, { ...fits, suspended: true }).expect(201);
    await setRules(origin, none);
    const resume = (client: Client) => client.post(`/v1/subscriptions/${body.id}/resume`).send({ reason: 'x' });
    const before = await stored();
    expect(placesOf(await resume(consumer).expect(403))).toEqual(['/types/0 type_not_allowed']);
    expect(await stored()).toEqual(before);
    expect((await resume(admin).expect(200)).body.status).toBe('active');
  });

  test('a repeated registration returns what the first one created', async () => {
    const key = `key-${(count += 1)}`;
    const first = await register(consumer, fits).set('Idempotency-Key', key).expect(201);
    await setRules(origin, []);
    const again = await register(consumer, fits).set('Idempotency-Key', key).expect(201);
    expect(again.body.id).toBe(first.body.id);
  });

  test('a subscription cannot move to an origin whose rules do not allow it', async () => {
    const free = await createOrigin();
    const { body } = await register(consumer, { origin: free, suspended: true }).expect(201);
    const before = await stored();
    await mergePatch(consumer, `/subscriptions/${body.id}`, { origin }).expect(403);
    expect(await stored()).toEqual(before);
    await mergePatch(consumer, `/subscriptions/${body.id}`, { origin, ...fits }).expect(200);
  });
});

describe('admins', () => {
  test('are bound when they subscribe themselves', async () => {
    await register(admin, fits).expect(403);
    await register(admin, { types: ['nl.public.x'] }).expect(201);
  });

  test('are bound by the rules about the subscriber when they change what it receives', async () => {
    const { body } = await register(consumer, { ...fits, suspended: true }).expect(201);
    const path = `/subscriptions/${body.id}`;
    await mergePatch(admin, path, { types: ['nl.secret.x'] }).expect(403);
    await mergePatch(admin, path, { types: null }).expect(403);
    await mergePatch(admin, path, { types: ['nl.brp.persoon'] }).expect(200);
  });

  test('can change everything else of a subscription that the rules no longer allow, but not where it goes', async () => {
    const { body } = await register(consumer, { ...fits, suspended: true }).expect(201);
    await setRules(origin, []);
    const path = `/subscriptions/${body.id}`;
    const sinkcredential = { credentialtype: 'PLAIN', identifier: 'a', secret: 'b' };
    await mergePatch(admin, path, { sinkcredential, requestedrate: 7 }).expect(200);
    await mergePatch(admin, path, { sink: `${sink}-elsewhere` }).expect(403);
  });
});

test('registrations that arrive together are refused one by one', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, place) =>
      register(consumer, { ...fits, suspended: true, ...(place % 2 === 0 ? {} : { subject: '1' }) }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, place) => (place % 2 === 0 ? 201 : 403)));
});

test('the refusal is in Dutch if the client prefers it', async () => {
  const { body } = await register(consumer, { ...fits, types: ['nl.brp.x'] })
    .set('Accept-Language', 'nl')
    .expect(403);
  expect([body.title, body.detail, body.faults]).toEqual([
    'De regels van de herkomst staan dit abonnement niet toe.',
    `${origin} beperkt wie zich waarop mag abonneren. De regel "burgerzaken" komt het dichtst in de buurt. Bij faults staat wat die toestaat.`,
    [
      {
        pointer: '/types/0',
        rule: 'type_not_allowed',
        detail:
          'De regel "burgerzaken" vereist dat elke gebeurtenis een van deze waarden als type heeft: "nl.brp.persoon*", "nl.brp.adres.gewijzigd".',
      },
    ],
  ]);
});

describe('the rules', () => {
  test('only admins see them', async () => {
    const sender = await registry.as('assent:deliver');
    expect((await admin.get(`/v1/origins/${origin}`)).body.subscriptionrules).toEqual(rules);
    for (const client of [consumer, sender]) {
      for (const path of [`/v1/origins/${origin}`, '/v1/origins?limit=200']) {
        expect((await client.get(path).expect(200)).text).not.toMatch(/subscriptionrules|geheim/);
      }
    }
  });

  test('a change is in the audit record, before and after; a change of something else does not repeat them', async () => {
    await setRules(origin, [{ name: 'r', types: ['a*'] }]);
    await mergePatch(admin, `/origins/${origin}`, { grantseconds: 600 }).expect(200);
    const { body } = await admin.get(`/v1/audit?target=origin:${origin}`).expect(200);
    expect(body.map(({ changed }: { changed: object }) => changed)).toEqual([
      { grantseconds: { before: 864_000, after: 600 } },
      { subscriptionrules: { before: rules, after: [{ name: 'r', types: ['a*'] }] } },
      expect.objectContaining({ subscriptionrules: { before: null, after: rules } }),
    ]);
    expect(body[0].details).not.toHaveProperty('subscriptionrules');
  });

  test('a PUT of the GET response keeps them, and a PUT without them switches them off', async () => {
    const { body } = await admin.get(`/v1/origins/${origin}`).expect(200);
    expect((await admin.put(`/v1/origins/${origin}`).send(body).expect(200)).body.subscriptionrules).toEqual(rules);
    expect((await admin.put(`/v1/origins/${origin}`).send({}).expect(200)).body).not.toHaveProperty(
      'subscriptionrules',
    );
  });

  test.each<[string, unknown, string]>([
    ['no array', {}, ' type'],
    ['a rule without a name', [{ types: ['a'], sources: ['a'] }], '/0/name required'],
    ['a rule that says nothing', [{ name: 'r' }], '/0 length_wrong'],
    [
      'two rules of one name',
      [
        { name: 'r', types: ['a'] },
        { name: 'r', types: ['b'] },
      ],
      '/1/name repeated',
    ],
    ['an unknown member', [{ name: 'r', type: ['a'] }], '/0/type member_unknown'],
    ['no client', [{ name: 'r', subscribers: [] }], '/0/subscribers length_wrong'],
    ['an empty client', [{ name: 'r', subscribers: [''] }], '/0/subscribers/0 value_empty'],
    ['no claim', [{ name: 'r', claims: {} }], '/0/claims length_wrong'],
    ['no value of a claim', [{ name: 'r', claims: { a: [] } }], '/0/claims/a value_not_allowed'],
    ['an object as the value of a claim', [{ name: 'r', claims: { a: {} } }], '/0/claims/a value_not_allowed'],
    ['null as the value of a claim', [{ name: 'r', claims: { a: [null] } }], '/0/claims/a value_not_allowed'],
    ['a fraction as the value of a claim', [{ name: 'r', claims: { a: 0.5 } }], '/0/claims/a value_not_allowed'],
    ['a claim without a name', [{ name: 'r', claims: { '': 'a' } }], '/0/claims/ name_empty'],
    [
      'a claim with a forbidden name',
      [{ name: 'r', claims: { constructor: 'a' } }],
      '/0/claims/constructor name_forbidden',
    ],
    ['half an escape in a claim', [{ name: 'r', claims: { '/a~2': 'a' } }], '/0/claims/~1a~02 name_malformed'],
    ['no type', [{ name: 'r', types: [] }], '/0/types length_wrong'],
    ['an empty type', [{ name: 'r', types: ['a', ''] }], '/0/types/1 value_empty'],
    ['an asterisk alone', [{ name: 'r', subjects: ['*'] }], '/0/subjects/0 wildcard_alone'],
    ['two asterisks', [{ name: 'r', sources: ['**'] }], '/0/sources/0 wildcard_misplaced'],
    ['an asterisk inside', [{ name: 'r', types: ['nl.*.persoon'] }], '/0/types/0 wildcard_misplaced'],
    ['a control character', [{ name: 'r', types: ['nl\n'] }], '/0/types/0 control_character'],
    ['too many rules', Array.from({ length: 101 }, (_, n) => ({ name: `${n}`, types: ['a'] })), ' length_wrong'],
    ['too much text', [{ name: 'r', types: Array.from({ length: 20 }, () => 'x'.repeat(2_000)) }], ' too_long'],
  ])('%s is refused with its place, and nothing is stored', async (_, invalid, place) => {
    const before = await registry.sql('select * from origin order by name');
    const places = [`/subscriptionrules${place}`];
    const name = `o${(count += 1)}.example.com`;
    expect(placesOf(await admin.post('/v1/origins').send({ name, subscriptionrules: invalid }).expect(400))).toEqual(
      places,
    );
    const patched = await mergePatch(admin, `/origins/${origin}`, { subscriptionrules: invalid }).expect(400);
    expect(placesOf(patched)).toEqual(places);
    expect(await registry.sql('select * from origin order by name')).toEqual(before);
  });

  test('only admins change them', async () => {
    await mergePatch(consumer, `/origins/${origin}`, { subscriptionrules: null }).expect(403);
  });
});

describe('a check of rules', () => {
  const check = (client: Client, name: string, body: object) =>
    client.post(`/v1/origins/${name}/subscriptionrules/check`).send(body);

  test('says which subscriptions they would refuse, and which depend on a token, and changes nothing', async () => {
    const free = await createOrigin();
    const draft = { origin: free, suspended: true };
    const inspector = await registry.as('assent:subscribe', { subscriber: 'inspecteur' });
    const all = await register(consumer, draft).expect(201);
    await register(consumer, { ...draft, ...fits }).expect(201);
    const byClaim = await register(inspector, { ...draft, types: ['nl.toezicht.x'] }).expect(201);
    const before = await stored();
    expect((await check(admin, free, { subscriptionrules: rules }).expect(200)).body).toEqual({
      examined: 3,
      complete: true,
      refused: 1,
      undecided: 1,
      results: [
        {
          id: all.body.id,
          subscriber: 'zaaksysteem',
          result: 'refused',
          faults: [expect.objectContaining({ pointer: '/types', rule: 'type_not_allowed' })],
        },
        {
          id: byClaim.body.id,
          subscriber: 'inspecteur',
          result: 'undecided',
          faults: [expect.objectContaining({ pointer: '/types/0', rule: 'type_not_allowed' })],
        },
      ],
    });
    expect(await stored()).toEqual(before);
    expect((await check(admin, free, {}).expect(200)).body).toMatchObject({ examined: 3, refused: 0, undecided: 0 });
    await setRules(free, []);
    expect((await check(admin, free, {}).expect(200)).body).toMatchObject({ examined: 3, refused: 3, undecided: 0 });
  });

  test('examines all subscriptions and lists a hundred', async () => {
    const free = await createOrigin();
    await registry.sql(`
      insert into subscription (id, tenant, subscriber, origin, sink, protocol, types)
      select gen_random_uuid(), 'gemeente', 'zaaksysteem', '${free}', 'https://a.example/' || n, 'HTTP', '{}'
      from generate_series(1, 2500) n`);
    const { body } = await check(admin, free, { subscriptionrules: [] }).expect(200);
    expect(body).toMatchObject({ examined: 2_500, complete: true, refused: 2_500, undecided: 0 });
    expect(body.results).toHaveLength(100);
  });

  test('is for admins of the tenant, and names the faults of the rules', async () => {
    const other = await registry.as('assent:admin', { tenant: 'provincie' });
    await check(other, origin, {}).expect(404);
    await check(consumer, origin, {}).expect(403);
    const invalid = await check(admin, origin, { subscriptionrules: [{ name: 'r', types: ['*'] }] }).expect(400);
    expect(placesOf(invalid)).toEqual(['/subscriptionrules/0/types/0 wildcard_alone']);
  });
});
