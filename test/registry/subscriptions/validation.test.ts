import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type supertest from 'supertest';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
let admin: Client;
let subscriber: Client;

beforeAll(async () => {
  registry = await startRegistry({ start: false });
  admin = await registry.as('assent:admin');
  subscriber = await registry.as('assent:subscribe');
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

const valid = () => ({ sink: registry.receiver.sink('/events'), protocol: 'HTTP' });

async function rows(): Promise<unknown> {
  const [counted] = await registry.sql(`select (select count(*) from subscription)::int as subscriptions,
    (select count(*) from handshake)::int as handshakes, (select count(*) from idempotency)::int as keys,
    (select count(*) from change)::int as changes, (select count(*) from audit)::int as audit`);
  return counted;
}

/** Sends a request that must be refused, and checks that it changed nothing. */
async function refused(send: () => PromiseLike<supertest.Response>, status = 400): Promise<supertest.Response> {
  const before = await rows();
  const answer = await send();
  expect([answer.status, answer.type]).toEqual([status, 'application/problem+json']);
  expect(await rows()).toEqual(before);
  expect(registry.receiver.asked).toEqual([]);
  return answer;
}

const placesOf = (answer: supertest.Response): string[] =>
  answer.body.faults.map(({ pointer, rule }: { pointer: string; rule: string }) => `${pointer} ${rule}`);

const post = (body: object) => subscriber.post('/v1/subscriptions').set('Idempotency-Key', 'refused').send(body);
const plain = { credentialtype: 'PLAIN', identifier: 'a', secret: 'b' };
const nested = (depth: number): object => (depth === 0 ? { exact: { type: 'a' } } : { not: nested(depth - 1) });
const inAll = (depth: number): object => (depth === 0 ? nested(0) : { all: [inAll(depth - 1)] });

/** The mistake, the members in addition to a valid sink and protocol, and every place and rule in the response. */
const faulty: Array<[string, object, ...string[]]> = [
  ['no sink', { sink: undefined }, '/sink required'],
  ['no protocol', { protocol: undefined }, '/protocol required'],
  ['a member that does not exist', { filter: [] }, '/filter member_unknown'],
  ['a number for a sink', { sink: 7 }, '/sink type'],
  ['null for a source', { source: null }, '/source type'],
  ['a string for types', { types: 'a' }, '/types type'],
  ['an object for filters', { filters: { exact: { type: 'a' } } }, '/filters type'],
  ['a string for a filter', { filters: ['type = a'] }, '/filters/0 type'],
  ['an array for config', { config: [] }, '/config type'],
  ['a header that is a number', { protocolsettings: { headers: { 'X-A': 1 } } }, '/protocolsettings/headers/X-A type'],
  ['null for a protocol', { protocol: null }, '/protocol type'],
  ['a string for settings', { protocolsettings: 'x' }, '/protocolsettings type'],
  ['a credential without a type', { sinkcredential: { secret: 'a' } }, '/sinkcredential/credentialtype required'],
  [
    'a credential with a number for a type',
    { sinkcredential: { credentialtype: 1 } },
    '/sinkcredential/credentialtype type',
  ],
  ['a rate of zero', { requestedrate: 0 }, '/requestedrate value_out_of_range'],
  ['a rate beyond an integer', { requestedrate: 2_147_483_648 }, '/requestedrate value_out_of_range'],
  ['a rate without a limit', { requestedrate: '*' }, '/requestedrate type'],
  ['1001 types', { types: Array.from({ length: 1_001 }, (_, i) => `t${i}`) }, '/types length_wrong'],
  ['a sink without https', { sink: 'http://hooks.example.com/' }, '/sink not_https'],
  ['a sink in a private network', { sink: 'https://10.0.0.1/' }, '/sink ip_literal'],
  ['a sink that is the registry itself', { sink: 'https://assent.test/v1/subscriptions' }, '/sink own_host'],
  ['a protocol that is not supported', { protocol: 'MQTT5' }, '/protocol protocol_not_supported'],
  ['an empty source', { source: '' }, '/source value_empty'],
  ['a source that is no URI reference', { source: 'a b' }, '/source not_a_uri_reference'],
  ['a type twice', { types: ['a', 'b', 'a'] }, '/types/2 repeated'],
  ['a subject with a line end', { subject: 'a\nb' }, '/subject control_character'],
  ['a subject with a noncharacter', { subject: 'a\uffff' }, '/subject cloudevents.attribute_text'],
  [
    'a filter with a line end',
    { filters: [{ exact: { subject: 'a\nb' } }] },
    '/filters/0/exact/subject cloudevents.attribute_text',
  ],
  ['a filter in CESQL that breaks off', { filters: [{ sql: 'type =' }] }, '/filters/0/sql operand_expected'],
  ['an unknown dialect', { filters: [{ regex: { type: 'a' } }] }, '/filters/0/regex dialect_unknown'],
  ['filters too deep', { filters: [nested(32)] }, `/filters/0${'/not'.repeat(32)} too_deep`],
  ['filters too deep in all', { filters: [inAll(32)] }, `/filters/0${'/all/0'.repeat(32)} too_deep`],
  ['a Host header', { protocolsettings: { headers: { host: 'a' } } }, '/protocolsettings/headers/host header_reserved'],
  [
    'an unknown credential',
    { sinkcredential: { credentialtype: 'KEY' } },
    '/sinkcredential/credentialtype value_not_allowed',
  ],
  [
    'half a credential',
    { sinkcredential: { credentialtype: 'PLAIN', secret: 'a' } },
    '/sinkcredential/identifier required',
  ],
  [
    'a credential to keep where there is none',
    { sinkcredential: { credentialtype: 'PLAIN' } },
    '/sinkcredential nothing_to_keep',
  ],
  ['a config of more than 8 KiB', { config: { a: 'x'.repeat(8_200) } }, '/config too_long'],
  ['an origin that is an address', { origin: '192.0.2.1' }, '/origin origin_address'],
  [
    'a member of another type of credential',
    { sinkcredential: { ...plain, accesstoken: 'a' } },
    '/sinkcredential/accesstoken member_unknown',
  ],
  [
    'an overlap of a year',
    { sinkcredential: { ...plain, overlapseconds: 31_536_000 } },
    '/sinkcredential/overlapseconds value_out_of_range',
  ],
  [
    'an endpoint for tokens in a private network',
    {
      sinkcredential: {
        credentialtype: 'REFRESHTOKEN',
        accesstoken: 'a',
        accesstokenexpiresutc: '2027-01-01T00:00:00Z',
        refreshtoken: 'b',
        refreshtokenendpoint: 'https://169.254.169.254/token',
      },
    },
    '/sinkcredential/refreshtokenendpoint ip_literal',
  ],
  [
    'several members of the wrong type',
    { sink: 1, types: [1, 'a', null], subject: {} },
    '/sink type',
    '/types/0 type',
    '/types/2 type',
    '/subject type',
  ],
  [
    'several members against their rules',
    { sink: 'ftp://a.example.com/', source: '', types: [''], filters: [{}, { exact: {} }], origin: 'a' },
    '/sink not_https',
    '/source value_empty',
    '/types/0 value_empty',
    '/filters/0 dialect_missing',
    '/filters/1/exact attributes_empty',
    '/origin origin_single_label',
  ],
];

describe('members', () => {
  test.each(faulty)('%s is refused with its place and rule, and nothing is stored', async (_, members, ...places) => {
    const answer = await refused(() => post({ ...valid(), ...members }));
    expect(placesOf(answer).sort()).toEqual(places.sort());
    expect(['invalid_request', 'invalid_subscription']).toContain(answer.body.code);
    for (const { detail } of answer.body.faults) expect(detail).toMatch(/^[A-Z"].*\.$/);
  });

  /** They are read as a registration is, so that a few are enough. */
  const alike = faulty.filter((_, place) => place >= 14 && place % 5 === 4);
  test.each(alike)('a replacement and a patch with %s are refused alike', async (_, members, ...places) => {
    const created = await subscriber.post('/v1/subscriptions').set('Prefer', 'respond-async').send(valid()).expect(201);
    const path = `/v1/subscriptions/${created.body.id}`;
    for (const answer of [
      await refused(() => subscriber.put(path).send({ ...valid(), ...members })),
      await refused(() => subscriber.patch(path).type('application/merge-patch+json').send(JSON.stringify(members))),
    ]) {
      expect(placesOf(answer).sort()).toEqual(places.sort());
    }
    expect((await subscriber.get(path)).body).toEqual(created.body);
  });

  test('a key can be reused after a refusal', async () => {
    await refused(() => post({ ...valid(), source: '' }));
    const created = await post({ ...valid() })
      .set('Prefer', 'respond-async')
      .expect(201);
    expect(created.get('Idempotency-Replayed')).toBeUndefined();
  });

  test.each([
    ['[]', ' type'],
    ['"text"', ' type'],
    ['null', ' type'],
    ['{}', ' length_wrong'],
  ])('a patch that is %s is refused', async (body, place) => {
    const path = '/v1/subscriptions/0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f';
    const answer = await refused(() => subscriber.patch(path).type('application/merge-patch+json').send(body));
    expect(placesOf(answer)).toEqual([place]);
  });
});

describe('the language of a refusal', () => {
  const members = { sink: 'http://a.example.com/', source: '', types: ['a', 'a'], origin: 'localhost' };
  const detailsOf = ({ body }: supertest.Response) => {
    return Object.fromEntries(
      body.faults.map((fault: { pointer: string; detail: string }) => [fault.pointer, fault.detail]),
    );
  };

  test('is Dutch if the client prefers Dutch', async () => {
    const answer = await refused(() => post({ ...valid(), ...members }).set('Accept-Language', 'nl-NL, en;q=0.5'));
    expect(answer.get('Content-Language')).toBe('nl');
    expect(answer.get('Vary')).toContain('Accept-Language');
    expect(answer.body).toMatchObject({
      code: 'invalid_subscription',
      title: 'Het abonnement is ongeldig.',
      detail: 'Bij faults staat welke velden ongeldig zijn, en waarom.',
    });
    expect(detailsOf(answer)).toEqual({
      '/sink': 'De sink moet een https-URL zijn.',
      '/source': 'De string moet minstens één teken hebben.',
      '/types/1': 'Dit type staat al in de array.',
      '/origin': 'Een herkomst heeft minstens twee delen, zoals in example.com.',
    });
  });

  test.each([undefined, 'en', 'fr'])('is English for Accept-Language %s', async (accepted) => {
    const answer = await refused(() =>
      post({ ...valid(), ...members }).set(accepted === undefined ? {} : { 'Accept-Language': accepted }),
    );
    expect(answer.get('Content-Language')).toBe('en');
    expect(answer.body.title).toBe('The subscription is invalid.');
    expect(detailsOf(answer)).toEqual({
      '/sink': 'The sink must be an https URL.',
      '/source': 'The string must have at least one character.',
      '/types/1': 'This type is already in the array.',
      '/origin': 'An origin has at least two parts, as in example.com.',
    });
  });

  test('is Dutch for an expression, a credential and its endpoint too', async () => {
    const sinkcredential = {
      credentialtype: 'REFRESHTOKEN',
      accesstoken: 'a b',
      accesstokenexpiresutc: '2026-11-20T12:00:00Z',
      refreshtoken: 'r',
      refreshtokenendpoint: 'http://auth.example.com/',
    };
    const filters = [{ sql: "type = 'a" }, { sql: 'LENGTH(subject, 1) > 2' }, { exact: { data: 'a' } }];
    const answer = await refused(() => post({ ...valid(), filters, sinkcredential }).set('Accept-Language', 'nl'));
    expect(detailsOf(answer)).toEqual({
      '/filters/0/sql': "Bij teken 8: De string die hier begint, heeft geen afsluitende '.",
      '/filters/1/sql': 'Bij teken 1: LENGTH accepteert dit aantal argumenten niet: 2.',
      '/filters/2/exact/data': 'Filters vergelijken attributen, en "data" is geen attribuut.',
      '/sinkcredential/accesstoken':
        'Dit wordt in een header verstuurd en mag daarom alleen zichtbare ASCII-tekens zonder spaties bevatten.',
      '/sinkcredential/refreshtokenendpoint':
        'Het endpoint moet voldoen aan de regels voor sinks. De sink moet een https-URL zijn.',
    });
  });
});

describe('bodies', () => {
  const json = (text: string | Buffer) =>
    subscriber
      .post('/v1/subscriptions')
      .type('json')
      .serialize((bytes) => bytes)
      .send(text);
  const withSubject = (subject: string) => `{"sink":"https://a.example.com/","protocol":"HTTP","subject":${subject}}`;

  test.each<[string, string | Buffer, string]>([
    ['empty', '', ' not_json'],
    ['not JSON', '{"sink": secret-word}', ' not_json'],
    ['JSON with something after it', '{} {}', ' not_json'],
    ['with NUL as it is', withSubject('"a\0b"'), ' not_json'],
    ['not UTF-8', Buffer.from([...Buffer.from('{"subject":"'), 0xc3, 0x28, ...Buffer.from('"}')]), ' not_utf8'],
    ['UTF-16', Buffer.from(withSubject('"a"'), 'utf16le'), ' not_json'],
    ['an array', '[]', ' type'],
    ['a name twice', '{"sink":"https://a.example.com/","sink":"https://b.example.com/"}', '/sink name_repeated'],
    ['a name twice, once escaped', '{"config":{"a":1,"\\u0061":2}}', '/config/a name_repeated'],
    ['__proto__', '{"config":{"__proto__":{"isAdmin":true}}}', '/config/__proto__ name_forbidden'],
    [
      'constructor',
      '{"sink":"https://a.example.com/","protocol":"HTTP","constructor":{}}',
      '/constructor member_unknown',
    ],
    [
      'constructor in free members',
      '{"sink":"https://a.example.com/","protocol":"HTTP","config":{"constructor":{}}}',
      '/config/constructor name_forbidden',
    ],
    [
      'a number that no double holds',
      '{"sink":"https://a.example.com/","protocol":"HTTP","config":{"a":[1,-1e400]}}',
      '/config/a/1 value_out_of_range',
    ],
    [
      'an integer that a double would change',
      '{"sink":"https://a.example.com/","protocol":"HTTP","config":{"a":9007199254740993}}',
      '/config/a value_out_of_range',
    ],
    ['NUL as an escape', withSubject('"a\\u0000b"'), '/subject text_nul'],
    ['NUL in a name', '{"config":{"a\\u0000":1}}', '/config/a\0 text_nul'],
    ['half of a surrogate pair', withSubject('"\\ud83d"'), '/subject text_lone_surrogate'],
    ['more than 68 deep', `{"config":${'{"a":'.repeat(68)}1${'}'.repeat(69)}`, `/config${'/a'.repeat(67)} too_deep`],
    ['thousands deep', '['.repeat(30_000) + ']'.repeat(30_000), `${'/0'.repeat(68)} too_deep`],
  ])('a body that is %s is refused with its place', async (_, body, place) => {
    const answer = await refused(() => json(body));
    expect(placesOf(answer)).toEqual([place]);
    expect(answer.text).not.toContain('secret-word');
  });

  test('the largest integers and any fractions are returned as they were sent', async () => {
    const config = '{"a":[-9007199254740991,9007199254740991,0.1,1.5e300]}';
    const body = JSON.stringify(valid()).replace('}', `,"config":${config}}`);
    const { body: created } = await json(body).set('Prefer', 'respond-async').expect(201);
    const answer = await subscriber.get(`/v1/subscriptions/${created.id}`).buffer(true).expect(200);
    expect(answer.text).toContain('"config":{"a":[-9007199254740991,9007199254740991,0.1,1.5e+300]}');
  });

  test('a body with filters of the maximum depth is accepted', async () => {
    const body = { ...valid(), filters: [inAll(31)] };
    await json(JSON.stringify(body)).set('Prefer', 'respond-async').expect(201);
  });

  test('a body of 64 KiB is accepted, one byte more is 413', async () => {
    const body = JSON.stringify(valid());
    await json(body.padEnd(65_536)).set('Prefer', 'respond-async').expect(201);
    const answer = await refused(() => json(body.padEnd(65_537)), 413);
    expect(answer.body.code).toBe('body_too_large');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/merge-patch+json', 'application/jsonp'])(
    'a body of the type %s is 415',
    async (type) => {
      const answer = await refused(
        () => subscriber.post('/v1/subscriptions').set('Content-Type', type).send(JSON.stringify(valid())),
        415,
      );
      expect(answer.body.code).toBe('media_type_unsupported');
    },
  );

  test.each(['application/json', 'application/json-patch+json'])(
    'a patch of the type %s is 415, because its meaning is not defined',
    async (type) => {
      const { body } = await json(JSON.stringify(valid())).set('Prefer', 'respond-async').expect(201);
      const path = `/v1/subscriptions/${body.id}`;
      const answer = await refused(() => subscriber.patch(path).set('Content-Type', type).send('{"source":"a"}'), 415);
      expect(answer.body).toMatchObject({
        code: 'media_type_unsupported',
        detail: 'The body must be application/merge-patch+json.',
      });
      expect((await subscriber.get(path)).get('ETag')).toBe('"1"');
    },
  );

  test('a body without a type is 415', async () => {
    await refused(() => subscriber.post('/v1/subscriptions'), 415);
  });

  test.each(['gzip', 'br', 'gzip, identity', 'unheard-of'])('a body in the encoding %s is 415', async (encoding) => {
    const answer = await refused(() => json(JSON.stringify(valid())).set('Content-Encoding', encoding), 415);
    expect(answer.body.code).toBe('media_type_unsupported');
  });
});

test('faults of the contract are sentences', async () => {
  const faults = async (body: object) => {
    const answer = await refused(() => subscriber.post('/v1/filters/check').send(body));
    return answer.body.faults.map(({ pointer, detail }: { pointer: string; detail: string }) => [pointer, detail]);
  };
  expect(await faults({ event: [], source: 5, types: Array(1_001).fill('a'), subject: 'x'.repeat(2_049) })).toEqual([
    ['/event', 'This must be an object.'],
    ['/source', 'This must be a string.'],
    ['/types', 'This must have at most 1000 entries.'],
    ['/subject', 'This must have at most 2048 characters.'],
  ]);
  const { body } = await subscriber.post('/v1/subscriptions').set('Prefer', 'respond-async').send(valid()).expect(201);
  const reasons = await subscriber.post(`/v1/subscriptions/${body.id}/suspend`).send({ reason: '' }).expect(400);
  expect(reasons.body.faults[0].detail).toBe('This must not be empty.');
  const page = await subscriber.get('/v1/subscriptions?limit=0').expect(400);
  expect(page.body.faults[0].detail).toBe('This must be at least 1.');
  const agreement = { origin: 'a.example.com', sink: 'https://a.example.com/', allowedrate: 1, agreement: 'Z-2026-1' };
  const time = await admin
    .post('/v1/grants')
    .send({ ...agreement, expiresat: '2027-01-01' })
    .expect(400);
  const detail = 'This must be a date and time with an offset, such as 2026-11-20T12:00:00Z.';
  expect(time.body.faults[0].detail).toBe(detail);
});

describe('parameters', () => {
  test.each([
    ['limit=0', 'query/limit value_out_of_range'],
    ['limit=201', 'query/limit value_out_of_range'],
    ['limit=abc', 'query/limit type'],
    ['limit=1.5', 'query/limit type'],
    ['limit=0x5', 'query/limit type'],
    ['limit=1e1', 'query/limit type'],
    ['limit=%205', 'query/limit type'],
    ['limit=', 'query/limit type'],
    ['limit=1&limit=2', 'query/limit parameter_repeated'],
    ['source=a&source=b', 'query/source parameter_repeated'],
    ['source=%00', 'query/source text_nul'],
    ['limit=5&subject=%FF', 'query/subject percent_encoding'],
    ['source=%ed%a0%80', 'query/source percent_encoding'],
    ['subject=100%', 'query/subject percent_encoding'],
    ['status=sleeping', 'query/status value_not_allowed'],
    ['state=active', 'query/state member_unknown'],
    ['__proto__=a', 'query/__proto__ member_unknown'],
    ['access_token=a', 'query/access_token member_unknown'],
    ['cursor=', 'query/cursor cursor_unknown'],
    ['cursor=forged', 'query/cursor cursor_unknown'],
    [`cursor=${Buffer.from("/v1/subscriptions ' or true --").toString('base64url')}`, 'query/cursor cursor_unknown'],
    ['limit=0&status=a', 'query/limit value_out_of_range', 'query/status value_not_allowed'],
  ])('?%s is refused with its place', async (query, ...places) => {
    const answer = await refused(() => subscriber.get(`/v1/subscriptions?${query}`));
    expect(placesOf(answer).sort()).toEqual(places);
  });

  test.each([
    ['Idempotency-Key', 'two words', 'header/idempotency-key format_wrong'],
    ['Idempotency-Key', 'a'.repeat(201), 'header/idempotency-key length_wrong'],
  ])('a malformed %s is refused with its place', async (name, value, place) => {
    const answer = await refused(() => subscriber.post('/v1/subscriptions').set(name, value).send(valid()));
    expect(placesOf(answer)).toEqual([place]);
  });
});
