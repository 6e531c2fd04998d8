import { describe, expect, test } from '@jest/globals';
import type { Profile } from '../../src/consent/origin.js';
import { allRules, judgeEvent, profiles, checkBatch } from '../../src/events/check-event.js';
import { binary, faultsOf, minimal, readOne, structured } from './message.js';

// Valid events of each profile, so that changing one member breaks one rule.

const uuid = 'f3dce042-cd6e-4977-844d-05be8dce7cea';
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
/** A UUID of a later version. */
const later = `01${traceparent.slice(2)}-x`;
const good: Record<Profile, Record<string, unknown>> = {
  cloudevents: minimal,
  'nl-gov': {
    ...minimal,
    type: 'nl.brp.persoon-verhuisd',
    source: 'urn:nld:oin:00000001823288444000:systeem:BRP-component',
  },
  'intg-std-015': {
    ...minimal,
    id: uuid,
    type: 'com.example.order.created',
    source: 'https://orders.example.com/checkout',
    time: '2026-03-28T14:22:31.482Z',
    traceparent,
  },
  belgif: { ...minimal, type: 'be.nsso.employer.v1.addresses.notify.updated', service: 'be.nsso.employer.v1' },
};

type Change = Record<string, unknown>;
/** Rule, changes that break it, changes that keep it. Undefined removes a member. */
type Row = [rule: string, broken: Change[], kept: Change[]];

const source = (...sources: string[]) => sources.map((value) => ({ source: value }));
const type = (...types: string[]) => types.map((value) => ({ type: value }));
const of20 = 'a'.repeat(20);
/** An event of this size in bytes. */
const sized = (profile: Profile, bytes: number, more: Change = {}) => ({
  ...more,
  data: 'x'.repeat(bytes - JSON.stringify({ ...good[profile], ...more, data: '' }).length),
});
const text = { datacontenttype: 'text/plain' };
/** The bytes of 4 KiB that remain for a subject. */
const left = 4096 - ['subject', ...Object.entries(good['intg-std-015']).flat()].join('').length;

const rows: Row[] = [
  ['cloudevents.required', [{ id: undefined }, { source: null }], [{}]],
  ['cloudevents.not_empty', [{ id: '' }, { subject: '' }], [{ subject: 'a' }]],
  ['cloudevents.specversion', [{ specversion: '0.3' }], [{ specversion: '1.0' }]],
  ['cloudevents.source', [{ source: 'a:b c' }], source('mailto:a@example.com')],
  ['cloudevents.datacontenttype', [{ datacontenttype: 'json' }], [{ datacontenttype: 'text/xml; charset=utf-8' }]],
  ['cloudevents.dataschema', [{ dataschema: '/a' }], [{ dataschema: 'urn:example:schema:1' }]],
  ['cloudevents.time', [{ time: '2018-02-30T00:00:00Z' }], [{ time: '2018-02-28T00:00:00+01:00' }]],
  ['cloudevents.attribute_name', [{ Abc: 'a' }, { a_b: 1 }], [{ abc: 'a' }]],
  ['cloudevents.attribute_text', [{ abc: '\u0001' }], [{ abc: 'é' }]],
  ['cloudevents.integer', [{ abc: 1.5 }, { abc: 2 ** 31 }], [{ abc: -(2 ** 31) }]],
  ['cloudevents.attribute_type', [{ subject: 5 }, { time: true }], [{ subject: '5' }]],
  ['cloudevents.attribute_value', [{ abc: {} }, { abc: [] }], [{ abc: false }, { abc: null }]],
  ['cloudevents.data_exclusive', [{ data: null, data_base64: '' }], [{ data: null }, { data_base64: '' }]],
  ['cloudevents.data_base64', [{ data_base64: 'a' }], [{ data_base64: 'aaaa' }]],
  [
    'cloudevents.data_string',
    [{ datacontenttype: 'text/xml', data: {} }],
    [
      { datacontenttype: 'text/xml', data: '' },
      { datacontenttype: 'a/b+json', data: {} },
    ],
  ],
  ['cloudevents.attribute_name_length', [{ [`${of20}a`]: 1 }], [{ [of20]: 1 }]],
  ['cloudevents.attribute_name_start', [{ '1a': 1 }], [{ a1: 1 }]],
  [
    'cloudevents.source_absolute',
    source('/a', '//example.com/a', '1-555-123-4567', '#a', '?a:b'),
    source('https://example.com', 'URN:example:a'),
  ],
  [
    'cloudevents.type_reverse_domain',
    type(
      'created',
      'order.created',
      'example.com',
      'com',
      'com.',
      '.com.a',
      'com..a',
      'com.-a.b',
      '10.example.a',
      'com.a-.b',
      `com.${'a'.repeat(64)}`,
    ),
    type(
      'com.example',
      `com.${'a'.repeat(63)}`,
      'nl.x',
      'xn--p1ai.a.b',
      'com.github.pull_request.opened',
      'com.example.order',
      'COM.Example.a b',
    ),
  ],
  [
    'cloudevents.dataschema_fragment',
    [{ dataschema: 'https://a.example/b#c' }],
    [{ dataschema: 'https://a.example/b' }],
  ],
  ['cloudevents.size', [sized('cloudevents', 65_537)], [sized('cloudevents', 65_536)]],
  [
    'cloudevents.sensitive_name',
    [
      { accesstoken: 'a' },
      { userpassword: 'a' },
      { examplebsn: 'a' },
      { useremail: 'a' },
      { exampleaccesskey: 'a' },
      { doorpasscode: 'a' },
      { firstname: 'a' },
      { customerlastname: 'a' },
      { citizensurname: 'a' },
      { voornaam: 'a' },
      { achternaam: 'a' },
      { birthday: 'a' },
      { geboortedatum: 'a' },
      { homeaddress: 'a' },
      { userphone: 'a' },
      { telefoonnummer: 'a' },
    ],
    [
      { businessname: 'a' },
      { tokyo: 'a' },
      { partitionkey: 'a' },
      { secretariat: 'a' },
      { tokenized: true },
      { possession: 'a' },
      { firstnamespace: 'a' },
      { lastnamespace: 'a' },
      { bypasscode: 'a' },
      { usessmartphone: true },
      { isiphone: true },
      { microphone: 'a' },
      { phonemodel: 'a' },
    ],
  ],

  [
    'nl-gov.type_reverse_domain',
    type(
      'zaakstatus-gewijzigd',
      'overheid.nl',
      'nl',
      'nl..x',
      'nl.x y',
      'nl/x.y',
      'nl.é',
      'nl.brp.',
      'nl.a_b.c',
      'order.created',
    ),
    type('nl.brp.persoon-verhuisd', 'com.github.pull_request.opened', 'NL.brp.Huwelijk', 'eu.x.v1.2.3-rc.1+b'),
  ],
  [
    'nl-gov.type_version',
    type(
      'nl.brp.a.v2',
      'nl.brp.a.1.2.3',
      'nl.brp.a.v1.2',
      'nl.brp.a.V1.2.3',
      'nl.brp.a.v01.2.3',
      'nl.brp.a.v1-rc',
      'nl.brp.a.v1beta1',
      'nl.brp.a.v2.0rc1',
      'nl.brp.a.v1.2.3-01',
      'nl.brp.a.v1.2.3-rc.01',
      'nl.brp.a.v1.2.3+a+b',
    ),
    type(
      'nl.brp.huwelijk-voltrokken.v0.1.0',
      'nl.brp.a.v1.2.3-rc.1',
      'nl.brp.a.v1.2.3-0a.0+01.b-c',
      'nl.brp.a',
      'nl.brp.v1.2.3.a',
      'nl.brp.5-ster',
      'nl.brp.a.v8motor',
    ),
  ],
  [
    'nl-gov.source_urn',
    source(
      'https://example.nl/a',
      'urn:example:urn:nld:kvknr:09220932.a',
      'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66',
      'urn:nld:',
      'urn:nld:/a.b',
      'urn:nld:?a',
      'urn:nld:kvknr:09220932.a?b',
      'urn:nld:kvknr:09220932.a?=',
      'urn:nld:kvknr:09220932.a?+/b',
      'nld:a:b',
      'urn:nl:a.b',
      '/a',
    ),
    source(
      'URN:NLD:oin:00000001823288444000:systeem:a',
      'urn:nld:kvknr:09220932.a',
      'urn:nld:kvknr:09220932.a?+b/?c?=d/?e#f/?g',
      'urn:nld:kvknr:09220932.a?=b',
      'urn:nld:kvknr:09220932.a#',
    ),
  ],
  [
    'nl-gov.source_parts',
    source(
      'urn:nld:oin:00000001823288444000',
      'urn:nld:oin:00000001823288444000:systeem:',
      'urn:nld:oin:00000001823288444000::',
      'urn:nld:oin:00000001823288444000:systeem:.',
      'urn:nld:oin:00000001823288444000:systeem?=a',
      'urn:nld:kvknr:09220932.',
      'urn:nld:kvknr:09220932?+a',
      'urn:nld:kvknr:09220932?=a.b',
      'urn:nld:kvknr:09220932#a',
    ),
    source(
      'urn:nld:oin:00000001823288444000:a',
      'urn:nld:oin:00000001823288444000:systeem:a',
      'urn:nld:kvknr:09220932.a',
      'urn:nld:kvknr:09220932.a?=b#c',
    ),
  ],
  [
    'nl-gov.source_organisation',
    source('urn:nld:gemeente-nijmegen.burgerzakensysteem', 'urn:nld:a:b'),
    source('urn:nld:kvk:09220932.a', 'urn:nld:eidas:NL/DE/12345678:systeem:a'),
  ],
  [
    'nl-gov.source_number',
    source(
      'urn:nld:oin:0000001823288444000:systeem:a',
      'urn:nld:oin:0000000182328844400x:systeem:a',
      'urn:nld:kvknr:9220932.a',
      'urn:nld:eidas:NLDE12345678:systeem:a',
    ),
    source('urn:nld:kvn:09220932.a', 'urn:nld:eidas:NL%2FDE%2F12345678:systeem:a', 'urn:nld:eidas:NL-DE-1.a'),
  ],
  [
    'nl-gov.source_location',
    [{ source: 'https://a.example/b', dataref: 'https://a.example/b' }],
    [{ dataref: 'https://a.example/b' }],
  ],
  [
    'nl-gov.data_json',
    [{ datacontenttype: 'text/xml', data: 'a' }],
    [
      { data: 'a' },
      { datacontenttype: 'text/xml' },
      { datacontenttype: 'application/hal+json', data: {} },
      { data_base64: '' },
    ],
  ],
  [
    'nl-gov.dataref',
    [{ dataref: 'a b' }, { dataref: 5 }],
    [{ dataref: 'https://gemeenteX/api/persoon/1' }, { dataref: '/a' }],
  ],
  [
    'nl-gov.sequence',
    [{ sequence: '' }, { sequence: 5 }, { sequence: true }],
    [{ sequence: '5' }, { sequence: 'abc' }],
  ],
  [
    'nl-gov.sequence_required',
    [{ sequencetype: 'Integer' }, { sequencetype: {} }],
    [
      { sequence: '1', sequencetype: 'Integer' },
      { sequence: 1.5, sequencetype: 'Integer' },
    ],
  ],
  [
    'nl-gov.sequencetype',
    [
      { sequence: '1', sequencetype: '' },
      { sequence: '1', sequencetype: 1 },
    ],
    [{ sequence: '1', sequencetype: 'other' }],
  ],
  [
    'nl-gov.sequence_integer',
    ['abc', '1.0', '+1', '01', '2147483648', '-2147483649', ' 1', '1e3', '--1', '99999999999'].map((sequence) => ({
      sequence,
      sequencetype: 'Integer',
    })),
    [
      ...['1', '0', '1234', '2147483647', '-2147483648'].map((sequence) => ({ sequence, sequencetype: 'Integer' })),
      { sequence: '1234', sequencetype: 'integer' },
      { sequence: 'abc', sequencetype: 'Letters' },
      { sequence: 'abc' },
    ],
  ],

  [
    'intg-std-015.type_pattern',
    type('OrderCreated', 'com.example.order', 'com.example.Order.created', 'com.example.order_x.created')
      .concat(
        type('com.example.order.', 'com.example.1order.created', 'com.example.order-.created', 'co-m.example.a.b'),
      )
      .concat(type('com.example.a--b.created')),
    type('com.example.order.created', 'com.example.sales.order.created.v2', 'com.example.order-line.re-opened'),
  ],
  ['intg-std-015.type_reverse_domain', type('order.line.item.created'), type('be.example.order.created')],
  [
    'intg-std-015.source_internal',
    source(
      'http://localhost/a',
      'https://LOCALHOST.',
      'https://orders.internal/a',
      'https://orders.svc.cluster.local',
      'https://orders/a',
      'https://%6cocalhost/',
      'https://orders.corp',
      'https://orders.default.svc/checkout',
      'https://10.0.0.1/a',
      'https://192.168.1.1',
      'https://203.0.113.9/a',
      'https://127.1/',
      'https://0x7f000001/',
      'https://2130706433/',
      'https://[::1]/',
      'https://[2001:db8::1]/a',
      'https://orders.example.com:8443/a',
      '//orders.example.com:1',
      'orders.example.com:8080/a',
      'orders.example.com:443',
      'https://user@orders.example.com:80/',
      'k8s://cluster/namespace/pod',
      'K8S://cluster',
      'docker://abc',
      'https://example.com/proxy/172.16.3.4/a',
      'https://example.com/?from=db.internal',
      'urn:example:orders.local',
      'https://example.com/db.internal./a',
      'urn:example:localhost.',
      'urn:example:10.1.2.3.',
      'urn:example:169.254.169.254',
      'mailto:root@localhost',
      'jdbc:postgresql://orders.example.com:5432/db',
      'https://example.com/?from=https%3A%2F%2Fdb.example.com:5432%2Fa',
      'https://example.com/https://user@db.example.com:5432',
      'jdbc:postgresql://db/orders',
      'jdbc:postgresql://user@db.corp./orders',
      'jdbc:postgresql://db?user=a@b.example.com',
      'jdbc:postgresql://203.0.113.9/orders',
      'https://example.com/?from=http://203.0.113.9&to=a',
      'https://example.com/?from=https%3A%2F%2F%5B2001:db8::1%5D%2Fa',
      'https://10-0-3-17.default.pod/',
      'https://example.com/ip-10-0-3-17',
      'https://ip-172-16-3-4.eu-west-1.example.com/',
      'urn:example:worker-10.0.3.17',
      'urn:example:192.168.1.1-eth0',
      'urn:example:fd12:3456:789a:1::1',
      'urn:example:be:fd00::1:orders',
      'urn:example:fe80:0:0:0:1:2:3:4',
      'urn:example:fd00::',
      'urn:example:fd00:1:2:3:4:5:6::',
      'https://example.com/?peer=fe80::1%25eth0',
      'https://example.com/?peer=::1',
      'https://example.com/%5B::1%5D/a',
      'https://example.com/?peer=::ffff:10.0.0.1',
      'https://example.com/?peer=::ffff:a00:1',
      'https://example.com/?peer=0:0:0:0:0:ffff:c0a8:101',
      'https://example.com/checkout-7d4b9c6f5d-x2x7p',
      `urn:example:${'0123456789abcdef'.repeat(4)}`,
    ),
    source(
      'https://orders.example.com/checkout',
      'urn:example:8080/a',
      'example.orders:a:1',
      '//orders.example.com/checkout',
      'https://orders.example.com./',
      'https://internal.example.com/internal/local',
      'https://localhost.example.com',
      'https://example.com/a.b./internal.',
      'urn:example:172.32.0.1',
      'urn:example:1.2.3',
      'https://example.com/order-25478964-24785',
      'https://example.com/order-7d4b9c6-x2x7p',
      'https://example.com/order-7d4b9c6f5d7-x2x7p',
      'https://example.com/checkout-7d4b9c6f5d-x2x7',
      'https://example.com/https://db.example.com/a:5432',
      'jdbc:postgresql://db.example.com?user=a@b:5432',
      'https://example.com/?from=https://db.example.com&to=https://user@www.example.com.&mail=a@b',
      'https://user;a@orders.example.com/a',
      'https://example.com/?from=https://',
      'jdbc:postgresql://db.example.com/orders',
      'urn:example:app-0.9.1.2',
      'urn:example:app-v10.2.0.4',
      'urn:example:app-10.2.0.4.5',
      'urn:oid:1.3.6.1.4.10.0.0.1',
      'urn:example:zip-10-0-3-17',
      'https://ip-203-0-113-9.example.com/',
      'urn:example:my-localhost',
      'urn:example:app.internal-tools',
      'urn:example:2001:db8::1',
      'urn:example:2001:db8:fd00::1',
      'https://example.com/?peer=::ffff:203.0.113.9',
      'https://example.com/?peer=::ffff:cb00:7109',
      'arn:aws:iam::123456789012:user/fd00',
      'arn:aws:s3:::1',
      'urn:example::1',
      'urn:example:fdab::orders',
      'urn:example:fe:80:00:01:02:03',
      'urn:example:fd:12:34:56:78:9a:bc:de',
      'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66',
      '/checkout',
      'https://example.com/a:80',
    ),
  ],
  [
    'intg-std-015.id_form',
    [
      { id: 'evt-100' },
      { id: '17' },
      { id: '6e8bc430-9c3a-11d9-9669-0800200c9a66' },
      { id: `8${'0'.repeat(25)}` },
      { id: '0'.repeat(25) },
      ...[0, 9, 15, 21, 25].map((gap) => ({ id: uuid.slice(0, gap) + uuid.slice(gap + 1) })),
    ],
    [{ id: uuid }, { id: uuid.toUpperCase() }, { id: '01HZX3KQVB8E72GQJHF5RM6YWN' }],
  ],
  [
    'intg-std-015.time_utc',
    [
      '2026-03-28T14:22:31+00:00',
      '2026-03-28T14:22:31z',
      '2026-03-28t14:22:31Z',
      '2026-03-28T14:22:31.1234567890Z',
    ].map((time) => ({ time })),
    ['2026-03-28T14:22:31Z', '2026-03-28T14:22:31.123456789Z', '2016-12-31T23:59:60Z'].map((time) => ({ time })),
  ],
  ['intg-std-015.time_present', [{ time: undefined }], [{}, { time: 'yesterday' }]],
  [
    'intg-std-015.datacontenttype_present',
    [{ data: {} }, { data_base64: '' }],
    [{}, { data: {}, datacontenttype: 'application/json' }, { data: {}, datacontenttype: 'json' }],
  ],
  [
    'intg-std-015.dataschema_versioned',
    [{ dataschema: 'https://schemas2.example.com/orders/created.json' }, { dataschema: 'urn:example:schema' }],
    [{ dataschema: 'https://schemas.example.com/orders/created/v1.json' }, { dataschema: 'urn:example:schema:2' }],
  ],
  ['intg-std-015.extension_name', [{ [`${of20}a`]: 'a' }, { '1a': 'a' }], [{ [of20]: 'a' }]],
  [
    'intg-std-015.extension_documented',
    [
      { traceparent: 'abc' },
      { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
      { traceparent: `ff${traceparent.slice(2)}` },
      { traceparent: `${traceparent}-x` },
      { traceparent: traceparent.replace(/-.{16}-/, `-${'0'.repeat(16)}-`) },
      ...[0, 3, 36, 53].map((at) => ({ traceparent: `${later.slice(0, at)}1${later.slice(at)}` })),
      { partitionkey: 5 },
      { sequence: '' },
      { sequence: '1', sequencetype: '' },
      { sequence: 'a', sequencetype: 'Integer' },
      { sequence: '2147483648', sequencetype: 'Integer' },
      { sampledrate: 'often' },
      { sampledrate: 0 },
      { sampledrate: '2147483648' },
      { dataref: 'a b' },
      { dataref: 5 },
      { tracestate: true },
    ],
    [
      { traceparent: later },
      { partitionkey: 'a', sequence: '1' },
      { sequence: 'a' },
      { sequence: 'a', sequencetype: 'Letters' },
      { sequence: '-2147483648', sequencetype: 'Integer' },
      { sampledrate: 30, sequence: '1', sequencetype: 'Integer' },
      { sampledrate: '2147483647', dataref: 'https://a.example/b' },
      { tracestate: 'a=b' },
    ],
  ],
  [
    'intg-std-015.extension_credentials',
    [
      { accesstoken: 'a' },
      { sessionid: 'a' },
      { exampleauth: 'Bearer abc' },
      { examplex: 'bearer abc' },
      { examplex: 'Basic dXNlcjpwYXNz' },
      { examplex: 'eyJhbGciOiJub25lIn0.e30.' },
    ],
    [
      { examplecorrelationid: 'abc' },
      { examplex: 'eyJ' },
      { examplex: 'Basic research' },
      { examplex: 'Basic cover' },
      { examplex: 'Bearer of good news' },
      { examplex: 'Bearerabc' },
      { examplex: 'BasicdXNlcjpwYXNz' },
      ...['no Bearer abc', 'no Basic dXNlcjpwYXNz', 'Basic dXNlcjpwYXNz at all'].map((examplex) => ({ examplex })),
      { examplecount: 5 },
    ],
  ],
  ['intg-std-015.traceparent_present', [{ traceparent: undefined }], [{}, { traceparent: {} }]],
  [
    'intg-std-015.tracestate_alone',
    [{ traceparent: undefined, tracestate: 'a=b' }],
    [{ tracestate: 'a=b' }, { traceparent: 1.5, tracestate: 'a=b' }],
  ],
  [
    'intg-std-015.data_embedded',
    [
      { datacontenttype: 'application/json', data: '{"a":1}' },
      { datacontenttype: 'application/json', data: ' [1] ' },
      { datacontenttype: 'application/json', data_base64: 'e30=' },
      { datacontenttype: 'Application/Geo+JSON; charset=utf-8', data_base64: '' },
    ],
    [
      { data_base64: 'e30=' },
      { datacontenttype: 'application/octet-stream', data_base64: 'e30=' },
      { datacontenttype: 'application/json', data_base64: null },
      { datacontenttype: 'application/json', data: 'just a string' },
      { datacontenttype: 'application/json', data: '{a}' },
      { datacontenttype: 'text/plain', data: '{"a":1}' },
      { datacontenttype: 'text', data: '{"a":1}' },
    ],
  ],
  [
    'intg-std-015.data_binary',
    [
      { datacontenttype: 'image/png', data: 'abc' },
      { datacontenttype: 'application/octet-stream', data: '{}' },
      { datacontenttype: 'application/vnd.apache.thrift.binary', data: 'abc' },
      { datacontenttype: 'application/x-protobuf', data: 'abc' },
      { datacontenttype: 'application/epub+zip', data: 'abc' },
    ],
    [
      { datacontenttype: 'image/png', data_base64: 'aaaa' },
      { datacontenttype: 'image/svg+xml', data: '<svg/>' },
      { datacontenttype: 'text/plain', data: 'abc' },
    ],
  ],
  ['intg-std-015.size', [sized('intg-std-015', 262_145, text)], [sized('intg-std-015', 262_144, text)]],
  [
    'intg-std-015.attributes_size',
    [{ subject: 'x'.repeat(left + 1) }, { subject: 'é'.repeat(left / 2 + 1) }],
    [{ subject: 'x'.repeat(left) }, { datacontenttype: 'text/plain', data: 'x'.repeat(9 * 1024) }],
  ],
  [
    'intg-std-015.data_size',
    [
      { data: 'x'.repeat(252 * 1024 - 1), ...text },
      { data_base64: Buffer.alloc(252 * 1024 + 1).toString('base64'), datacontenttype: 'a/b' },
    ],
    [{ data: 'x'.repeat(252 * 1024 - 2), datacontenttype: 'text/plain' }],
  ],
  [
    'intg-std-015.claim_check',
    [
      { claimCheckUri: 'https://a.example/b' },
      { claimCheckContentType: 'text/xml' },
      { claimCheckUri: '/b', claimCheckContentType: 'text/xml' },
      { claimCheckUri: 'https://a.example/b', claimCheckContentType: 5 },
    ].map((data) => ({ data, datacontenttype: 'application/json' })),
    [{ claimCheckUri: 'https://a.example/b', claimCheckContentType: 'text/xml', more: 1 }, { claim: 1 }].map(
      (data) => ({
        data,
        datacontenttype: 'application/json',
      }),
    ),
  ],

  ['belgif.service_required', [{ service: undefined }, { service: null }], [{}, { service: {} }]],
  ['belgif.service_string', [{ service: 5 }, { service: '' }], [{}]],
  [
    'belgif.service_form',
    ['addressChanges', 'addressChanges.1', 'addressChanges.v', 'v1', 'a.v1.2', 'A.v1', 'a.v01', 'a..v1'].map(
      (service) => ({
        service,
      }),
    ),
    [{ service: 'addressChanges.v1' }, { service: 'be.nsso.employer.v12' }],
  ],
  [
    'belgif.type_form',
    type(
      'be.nsso.employer.addresses',
      'be.nsso.v1.addresses',
      'v1.a.b',
      'be.v1.Addresses.notify',
      'be.nsso.v1.a-b.notify.c',
      'be.nsso.v1.notify.updated',
      'be.nsso.v1.get.reply',
      'be.nsso.v1.addresses.reply',
      'be.nsso.v1.addresses.problemReply',
    ),
    type(
      'be.nsso.employer.v1.employers.address.notify.updated',
      'addressChanges.v1.addresses.get',
      'addressChanges.v1.addresses.verify',
      'be.a.v1.b.get.reply',
    ),
  ],
  ['belgif.type_service', [{ service: 'be.nsso.employer.v2' }, { service: 'be.nsso.employer.v' }], [{}, { type: 5 }]],
  [
    'belgif.type_notify',
    type('be.nsso.employer.v1.addresses.notify'),
    type('be.nsso.employer.v1.addresses.notify.added'),
  ],
  [
    'belgif.reply_related',
    [
      ...type('be.a.v1.b.get.reply', 'be.a.v1.b.get.problemReply', 'be.a.v1.b.get.intermediateReply'),
      { relatedto: '1' },
      { relatedtosource: '/a' },
    ],
    [
      ...type('be.a.v1.b.get', 'be.a.v1.b.notify.replied'),
      { type: 'be.a.v1.b.get.reply', relatedto: '1', relatedtosource: '/a' },
      { relatedto: 1.5, relatedtosource: '/a' },
    ],
  ],
  [
    'belgif.relatedto',
    [
      { relatedto: 1, relatedtosource: '/a' },
      { relatedto: '', relatedtosource: '/a' },
    ],
    [{ relatedto: '1', relatedtosource: '/a' }],
  ],
  [
    'belgif.relatedtosource',
    [
      { relatedto: '1', relatedtosource: 'a b' },
      { relatedto: '1', relatedtosource: '' },
      { relatedto: '1', relatedtosource: 1 },
    ],
    [{ relatedto: '1', relatedtosource: 'urn:a:b' }],
  ],
  [
    'belgif.reply_suffix',
    [{ relatedto: '1', relatedtosource: '/a' }],
    [{ relatedto: '1', relatedtosource: '/a', type: 'be.a.v1.b.get.reply' }, {}],
  ],
];

/** Rules that no JSON object can break; they are tested below or with the readers. */
const elsewhere = [
  'cloudevents.attribute_reserved',
  'cloudevents.attribute_once',
  'cloudevents.event_object',
  'cloudevents.header_datacontenttype',
  'cloudevents.header_encoding',
  'cloudevents.batch_specversion',
  'intg-std-015.batch_size',
  'intg-std-015.batch_count',
];

function judged(profile: Profile, change: Change) {
  return judgeEvent(profile, readOne(structured({ ...good[profile], ...change })));
}

describe.each(rows)('the rule %s', (id, broken, kept) => {
  const rule = allRules.find((each) => each.id === id);
  const profile = rule?.profile ?? 'cloudevents';

  test.each(broken)('is broken by %j', (change) => {
    const { faults, warnings } = judged(profile, change);
    const found = (rule?.level === 'MUST' ? faults : warnings).find((breach) => breach.rule === id);
    expect(found).toMatchObject({ level: rule?.level, sentence: rule?.sentence });
    // The event, a member of it, or one that the rule names.
    const members = [...Object.keys({ ...good[profile], ...change }), ...(rule?.sentence.match(/\w+/g) ?? [])];
    expect(['', ...members.map((name) => `/${name}`)]).toContain(found?.pointer.match(/^\/?[^/]*/)?.[0]);
  });

  test.each(kept)('is kept by %j', (change) => {
    const { faults, warnings } = judged(profile, change);
    expect([...faults, ...warnings].map((breach) => breach.rule)).not.toContain(id);
  });
});

test('every rule has an event that breaks it and one that keeps it', () => {
  expect([...rows.map(([id]) => id), ...elsewhere].sort()).toEqual(allRules.map(({ id }) => id).sort());
  expect(faultsOf(binary({ 'ce-data': 'x' }))).toContain('header/ce-data attribute_reserved');
});

test('rule ids are unique, and every rule names its section and is a sentence', () => {
  expect(new Set(allRules.map(({ id }) => id)).size).toBe(allRules.length);
  for (const { id, profile, sentence, source } of allRules) {
    expect([id, sentence]).toEqual([
      expect.stringMatching(`^${profile}\\.[a-z0-9_]+$`),
      expect.stringMatching(/^[A-Z].*\.$/),
    ]);
    expect(source.document && source.section).toBeTruthy();
  }
});

test.each(Object.keys(good) as Profile[])('an event of the profile %s can keep every rule', (profile) => {
  expect(judged(profile, {})).toEqual({ faults: [], warnings: [] });
});

test.each(Object.keys(good) as Profile[])('the profile %s has the MUSTs of CloudEvents', (profile) => {
  const musts = profiles.cloudevents.filter(({ level }) => level === 'MUST');
  expect(profiles[profile]).toEqual(expect.arrayContaining(musts));
  expect(judged(profile, { id: undefined }).faults).toMatchObject([{ rule: 'cloudevents.required', pointer: '/id' }]);
});

test.each(Object.keys(good) as Profile[])(
  'what is missing or at fault leaves the other rules of %s as they are',
  (profile) => {
    for (const name of Object.keys(good[profile])) {
      for (const value of [undefined, null, '', 5, 'a b', {}]) {
        const others = judged(profile, { [name]: value, '1a': 'a' });
        const rules = [...others.faults, ...others.warnings].map(({ rule }) => rule);
        expect(rules).toContain(
          profile === 'intg-std-015' ? `${profile}.extension_name` : 'cloudevents.attribute_name_start',
        );
      }
    }
  },
);

test('a message that is not an event gets no further faults', () => {
  const { faults, warnings } = judgeEvent('intg-std-015', readOne(structured('5')));
  expect([faults, warnings]).toEqual([[expect.objectContaining({ rule: 'cloudevents.event_object' })], []]);
});

test("at most fifty faults are listed, including the profile's first", () => {
  const many = (name: string) => Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${name}${i}`, 1]));
  const read = judged('intg-std-015', { ...many('A'), type: 'created' });
  expect(read.faults).toHaveLength(50);
  expect(read.faults.slice(48)).toMatchObject([
    { rule: 'cloudevents.attribute_name' },
    { rule: 'intg-std-015.type_pattern' },
  ]);
  expect(judged('intg-std-015', many('token')).faults).toHaveLength(50);
  expect(judged('cloudevents', many('token')).warnings).toHaveLength(50);
  const few = judged('intg-std-015', { A: 1, ...many('token') }).faults;
  expect([few.length, few[0]?.rule, few[1]?.rule]).toEqual([
    50,
    'cloudevents.attribute_name',
    'intg-std-015.extension_credentials',
  ]);
});

test('INTG-STD-015 limits a batch; other profiles do not', () => {
  const large = { count: 101, bytes: 1024 * 1024 + 1 };
  expect(checkBatch('intg-std-015', large)).toMatchObject({
    faults: [{ rule: 'intg-std-015.batch_size' }],
    warnings: [{ rule: 'intg-std-015.batch_count' }],
  });
  expect(checkBatch('intg-std-015', { count: 100, bytes: 1024 * 1024 })).toEqual({ faults: [], warnings: [] });
  expect(checkBatch('nl-gov', large)).toEqual({ faults: [], warnings: [] });
});
