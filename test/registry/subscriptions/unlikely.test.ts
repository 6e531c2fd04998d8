import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { languages } from '../../../src/base/texts/text.js';
import { findUnlikely } from '../../../src/matching/filters/unlikely.js';
import { parseFilters } from '../../../src/matching/filters/filter.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
beforeAll(async () => {
  registry = await startRegistry({ start: false });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

const sink = 'https://webhook.hooks.test/';
const event = { specversion: '1.0', id: '1', source: 'https://cases.example.com', type: 'com.example.case.created' };
const tested = async (members: object, language = 'en') =>
  (
    await tenant.subscriber
      .post('/v1/filters/check')
      .set('Accept-Language', language)
      .send({ event, ...members })
      .expect(200)
  ).body;

/** The spelling that a warning gives, as a filter or as members. */
function advisedIn(detail: string): object {
  const filter = /the filter (\{.*\})\./.exec(detail)?.[1];
  if (filter !== undefined) return { filters: [JSON.parse(filter)] };
  const list = /entries: (\[.*\])\./.exec(detail)?.[1];
  if (list !== undefined) return { types: JSON.parse(list) };
  const text = /(?:ends: |write )("[^"]*")\./.exec(detail)?.[1];
  return text === undefined ? {} : { value: JSON.parse(text) };
}

describe('a value in the style of another product gets a warning with the spelling that matches', () => {
  const prefix = { filters: [{ prefix: { type: 'com.example.case.' } }] };
  const cases: Array<[style: string, type: string, advised: object]> = [
    ['a glob', 'com.example.case.*', prefix],
    ['a double glob', 'com.example.case.**', prefix],
    ['NATS', 'com.example.case.>', prefix],
    ['SQL', 'com.example.case.%', prefix],
    ['a regular expression', '^com\\.example\\.case\\..*$', prefix],
    ['a regular expression without an end', '^com\\.example\\.case\\.', prefix],
    ['a glob at the beginning', '*.created', { filters: [{ suffix: { type: '.created' } }] }],
    ['a regular expression of an end', '.*\\.created$', { filters: [{ suffix: { type: '.created' } }] }],
    ['a glob in the middle', 'com.example.*.created', { filters: [{ sql: "type LIKE 'com.example.%.created'" }] }],
    ['a glob on both sides', '*case*', { filters: [{ sql: "type LIKE '%case%'" }] }],
    ['everything', '*', {}],
    ['everything of NATS', '>', {}],
    ['everything of MQTT', '#', {}],
    ['everything of a regular expression', '.*', {}],
    [
      'a list',
      'com.example.case.created, com.example.case.closed',
      { types: ['com.example.case.created', 'com.example.case.closed'] },
    ],
    ['a blank', ' com.example.case.created', { value: 'com.example.case.created' }],
  ];
  test.each(cases)('%s: %s', async (_style, type, advised) => {
    const before = await tested({ types: [type] });
    expect(before.matched).toBe(false);
    expect(before.warnings).toEqual([{ pointer: '/types/0', rule: 'unlikely_to_match', detail: expect.any(String) }]);
    const members = advisedIn(before.warnings[0].detail);
    expect(members).toEqual(advised);
    const after = await tested('value' in members ? { types: [members.value] } : members);
    expect(after).toMatchObject({ matched: true });
  });

  test.each([
    ['MQTT', 'example/case/#', { filters: [{ prefix: { type: 'example/case/' } }] }],
    ['MQTT in the middle', 'example/+/created', { filters: [{ sql: "type LIKE 'example/%/created'" }] }],
  ])('%s: %s', async (_style, type, advised) => {
    const { warnings } = await tested({ types: [type] });
    expect(advisedIn(warnings[0].detail)).toEqual(advised);
  });

  test.each([
    [
      'a source with a slash at the end',
      { source: 'https://cases.example.com/' },
      '/source',
      { value: 'https://cases.example.com' },
    ],
    [
      'a source with a glob',
      { source: 'https://cases.*' },
      '/source',
      { filters: [{ prefix: { source: 'https://cases.' } }] },
    ],
    [
      'an exact filter',
      { filters: [{ any: [{ exact: { type: 'com.example.*' } }] }] },
      '/filters/0/any/0/exact/type',
      { filters: [{ prefix: { type: 'com.example.' } }] },
    ],
    [
      'a prefix with a wildcard',
      { filters: [{ not: { not: { prefix: { type: 'com.example.*' } } } }] },
      '/filters/0/not/not/prefix/type',
      { filters: [{ prefix: { type: 'com.example.' } }] },
    ],
    [
      'a suffix with a wildcard',
      { filters: [{ suffix: { type: '*.created' } }] },
      '/filters/0/suffix/type',
      { filters: [{ suffix: { type: '.created' } }] },
    ],
  ])('%s', async (_what, members, pointer, advised) => {
    const { matched, warnings } = await tested(members);
    expect([matched, warnings.map((each: { pointer: string }) => each.pointer)]).toEqual([false, [pointer]]);
    const better = advisedIn(warnings[0].detail);
    expect(better).toEqual(advised);
    const after = await tested('value' in better ? { source: better.value } : better);
    expect(after).toMatchObject({ matched: true });
  });

  test('LIKE with an asterisk', async () => {
    const { matched, warnings } = await tested({ filters: [{ sql: "type LIKE 'com.example.*'" }] });
    expect([matched, warnings[0].pointer]).toEqual([false, '/filters/0/sql']);
    expect(warnings[0].detail).toContain("LIKE 'com.example.%'");
  });

  test('a subscription is registered with its warnings, which a read and a patch show too', async () => {
    const created = await tenant.register(sink, { types: ['com.example.case.*', 'com.example.b'] }, 'respond-async');
    expect(created.warnings).toMatchObject([{ pointer: '/types/0', rule: 'unlikely_to_match' }]);
    expect((await tenant.read(created.id)).warnings).toEqual(created.warnings);
    expect(await tenant.replace(created.id, { sink, types: ['com.example.b'] })).not.toHaveProperty('warnings');
  });

  test('in both languages, in other words', async () => {
    const types = [...cases.map(([, type]) => type), '^a(b|c)$'];
    const found = findUnlikely({ types, source: 'https://a.example.com/' });
    expect(found).toHaveLength(types.length + 1);
    for (const { detail } of found) {
      for (const language of languages) expect(detail[language]).toMatch(/^\S.*\.$/);
      expect(detail.en).not.toBe(detail.nl);
    }
  });

  test.each([
    {
      types: [
        'com.example.case.created',
        'nl.vng.zaken.status-gewijzigd',
        'order.created',
        'Order/Created',
        'a b',
        'c++.compiled',
        'v1.0+build',
      ],
    },
    { source: 'https://cases.example.com' },
    { source: 'https://cases.example.com/a/b' },
    { source: 'urn:nld:oin:00000001823288444000:systeem:BRP' },
    { source: '/orders' },
    { source: '/' },
    { subject: 'order 7' },
    { subject: 'a,b.c' },
    { filters: [{ exact: { zone: '*' } }, { sql: "type LIKE 'com.*%'" }, { sql: "subject = '*'" }] },
  ])('%j gets none', (members) => {
    const parsed = parseFilters('filters' in members ? members.filters : undefined, '');
    expect(findUnlikely({ ...members, filters: 'filters' in parsed ? parsed.filters : [] })).toEqual([]);
  });
});

test('a member that a neighbour calls otherwise is refused with the name that it has here', async () => {
  const base = { sink, protocol: 'HTTP' };
  const cases: Array<[member: string, called: string | undefined, pointer?: string, body?: object]> = [
    ['sinkCredential', 'sinkcredential'],
    ['sink_credential', 'sinkcredential'],
    ['protocolSettings', 'protocolsettings'],
    ['expiresAt', 'expiresat'],
    ['requestedRate', 'requestedrate'],
    ['subscriptionExpireTime', 'expiresat'],
    ['eventTypes', 'types'],
    ['enabled_events', 'types'],
    ['includedEventTypes', 'types'],
    ['filterTypes', 'types'],
    ['filter', 'filters'],
    ['advancedFilters', 'filters'],
    ['kanalen', 'filters'],
    ['callbackUrl', 'sink'],
    ['endpointUrl', 'sink'],
    ['url', 'sink'],
    ['auth', 'sinkcredential'],
    ['rateLimit', 'requestedrate'],
    ['disabled', 'suspended'],
    ['constructor', undefined],
    ['somethingElse', undefined],
    ['accessToken', 'accesstoken', '/sinkcredential', { credentialtype: 'ACCESSTOKEN' }],
  ];
  for (const [member, called, at = '', inside] of cases) {
    const body =
      inside === undefined ? { ...base, [member]: 'x' } : { ...base, sinkcredential: { ...inside, [member]: 'x' } };
    const { faults } = (await tenant.subscriber.post('/v1/subscriptions').send(body).expect(400)).body;
    const detail = called === undefined ? 'This member does not exist.' : `This member is called "${called}" here.`;
    expect(faults).toContainEqual({ pointer: `${at}/${member}`, rule: 'member_unknown', detail });
  }
  const query = await tenant.admin.get('/v1/subscriptions').query({ createdSince: '2026-01-01T00:00:00Z' }).expect(400);
  expect(query.body.faults[0].detail).toBe('This parameter is called "createdsince" here.');
});

test('settings of CAMARA that end a subscription are refused, with what does the same', async () => {
  const config = { subscriptionExpireTime: '2030-01-01T00:00:00Z', subscriptionMaxEvents: 5, initialEvent: true };
  const body = { sink, protocol: 'HTTP', config };
  const { faults } = (await tenant.subscriber.post('/v1/subscriptions').send(body).expect(400)).body;
  expect(faults).toMatchObject([
    {
      pointer: '/config/subscriptionExpireTime',
      rule: 'value_not_allowed',
      detail: expect.stringContaining('"expiresat"'),
    },
    { pointer: '/config/subscriptionMaxEvents', rule: 'value_not_allowed' },
  ]);
});

describe('an expression that compares two texts never depends on the event, which a warning says', () => {
  test.each([
    [`"type" = 'com.example.case.created'`, 'type'],
    [`source = 'x' AND 'subject' LIKE 'a%'`, 'subject'],
    [`NOT ("type" IN ('a', 'b'))`, 'type'],
  ])('%s', async (sql, name) => {
    const { warnings } = await tested({ filters: [{ sql }] });
    expect(warnings).toEqual([
      {
        pointer: '/filters/0/sql',
        rule: 'unlikely_to_match',
        detail: expect.stringMatching(new RegExp(`compares two texts.* Write ${name}\\.$`)),
      },
    ]);
  });

  test('at registration, too, and not for an expression that reads an attribute', async () => {
    const register = (sql: string) =>
      tenant.subscriber.post('/v1/subscriptions?dryrun=true').send({ sink, protocol: 'HTTP', filters: [{ sql }] });
    const { body } = await register(`"type" = 'a'`).expect(200);
    expect(body.warnings).toMatchObject([{ pointer: '/filters/0/sql', rule: 'unlikely_to_match' }]);
    for (const sql of [`type = 'a'`, `'a' = type`, `type IN ('a')`, `CONCAT('a', type) = 'ab'`, `1 = 1`]) {
      expect((await register(sql).expect(200)).body.warnings).toBeUndefined();
    }
  });
});
