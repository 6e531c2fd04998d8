import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/base/errors.js';
import {
  checkConfig,
  checkProtocol,
  checkProtocolSettings,
  checkSource,
  checkSubject,
  checkTypes,
} from '../../../src/registry/subscriptions/rules.js';
import { readSigningSecret, readSinkCredential } from '../../../src/registry/subscriptions/credential.js';
import type { SinkCredential } from '../../../src/registry/subscriptions/read-secrets.js';
import { subscriptionTexts } from '../../../src/base/texts/subscriptions.js';
import { textIn } from '../../../src/base/texts/text.js';
import { cpuTime } from '../../support/cpu-time.js';

/** The places and rules of the faults; the sentences are for people. */
function seen(faults: Fault[]): string[] {
  for (const { detail } of faults) expect(textIn(detail, 'en')).toMatch(/^["A-Z].*\.$/);
  return faults.map(({ pointer, rule }) => `${pointer} ${rule}`);
}

const controls = ['a\0b', 'a\nb', 'a\r\nb', 'a\tb', 'a\u007f', 'a\u0085'];

describe('source', () => {
  test.each([
    '/sensors/tn-1234567/alerts',
    'https://github.com/cloudevents/spec/pull?x=1#y',
    'urn:nld:oin:00000001823288444000:systeem:BRP-component',
    'mailto:cncf-wg-serverless@lists.cncf.io',
    'cloudevents/spec/pull/123',
    '1-555-123-4567',
    '#fragment',
    '?query',
    '.',
    './a:b',
    '//host:80/x',
    'http://user:pass@[2001:db8::1]:8080/?a=/?#/?',
    'file:///etc',
    'https://example.com:/',
    'a%20b',
    "!$&'()*+,;=@~_-.",
  ])('may be the URI reference %j', (value) => {
    expect(checkSource(value, '/source')).toEqual([]);
  });

  test.each([
    'a b',
    ' /a',
    '/a ',
    'caf\u00e9',
    '1a:b',
    ':a',
    'a%2',
    'a%zz',
    '%',
    'a\\b',
    '<a>',
    '"a"',
    '{a}',
    'a|b',
    'a^b',
    '`',
    '#a#b',
    '//a@b@c',
    'http://[::1',
    'http://a:b:c/',
    'http://a:80x/',
    '/a[0]',
  ])('may not be %j', (value) => {
    expect(seen(checkSource(value, '/source'))).toEqual(['/source not_a_uri_reference']);
  });

  test('is a non-empty string without control characters, or absent', () => {
    expect(checkSource(undefined, '/source')).toEqual([]);
    expect(seen(checkSource('', '/source'))).toEqual(['/source value_empty']);
    for (const value of controls) expect(seen(checkSource(value, '/source'))).toEqual(['/source control_character']);
  });

  test('of any length is checked quickly', () => {
    const check = () => {
      for (const part of ['a', 'a:', '/', '/a', '//a', '%41', '@', ':', '?', '=:@', '[::]']) {
        checkSource(`${part.repeat(60_000)} `, '/source');
        checkSource(`//${part.repeat(60_000)} `, '/source');
      }
    };
    expect(cpuTime(check)).toBeLessThan(10_000);
  });
});

describe('types', () => {
  test('may be absent, empty, or up to a thousand different non-empty strings', () => {
    const thousand = Array.from({ length: 1000 }, (_, index) => `com.example.${index}`);
    for (const value of [undefined, [], ['com.example.created'], ['a', 'A'], thousand]) {
      expect(checkTypes(value, '/types')).toEqual([]);
    }
  });

  test('report every fault at its place', () => {
    expect(seen(checkTypes(['a', '', 'b', 'a', 'a\0', 'b', 'a'], '/types'))).toEqual([
      '/types/1 value_empty',
      '/types/3 repeated',
      '/types/4 control_character',
      '/types/5 repeated',
      '/types/6 repeated',
    ]);
    expect(checkTypes(Array(1000).fill(''), '/types')).toHaveLength(50);
  });
});

describe('subject', () => {
  test('is a non-empty string without control characters, or absent', () => {
    for (const value of [undefined, 'mynewfile.jpg', ' ', 'caf\u00e9 \u{1f600}']) {
      expect(checkSubject(value, '/subject')).toEqual([]);
    }
    expect(seen(checkSubject('', '/subject'))).toEqual(['/subject value_empty']);
    for (const value of controls) expect(seen(checkSubject(value, '/subject'))).toEqual(['/subject control_character']);
  });
});

describe('protocol', () => {
  test('is HTTP', () => {
    expect(checkProtocol('HTTP', '/protocol')).toEqual([]);
  });

  test('in lower case is refused with a hint', () => {
    for (const value of ['http', 'Http']) {
      expect(checkProtocol(value, '/protocol')).toEqual([
        { pointer: '/protocol', rule: 'protocol_unknown', detail: subscriptionTexts.protocolCase },
      ]);
    }
  });

  test.each(['AMQP', 'MQTT3', 'MQTT5', 'KAFKA', 'NATS'])('%s is known and not supported', (value) => {
    expect(seen(checkProtocol(value, '/protocol'))).toEqual(['/protocol protocol_not_supported']);
  });

  test.each(['', 'HTTPS', 'HTTP ', 'amqp', 'toString'])('%j is unknown', (value) => {
    expect(seen(checkProtocol(value, '/protocol'))).toEqual(['/protocol protocol_unknown']);
  });
});

describe('protocolsettings', () => {
  const at = '/protocolsettings';
  const header = (name: string, value = 'x') => seen(checkProtocolSettings({ headers: { [name]: value } }, at));

  test('may be absent, empty, or have headers and the method POST', () => {
    const headers = { 'X-Api-Version': '2', traceparent: '00-0af7-b7ad-01', "!#$%&'*+.^_`|~": 'a \tb', 'X-Empty': '' };
    for (const value of [undefined, {}, { headers: {} }, { method: 'POST' }, { headers, method: 'POST' }]) {
      expect(checkProtocolSettings(value, at)).toEqual([]);
    }
  });

  test.each(['structured', 'binary', 'batched', 'Binary', ''])('with the content mode %j', (contentmode) => {
    const isKnown = contentmode === 'structured' || contentmode === 'binary';
    expect(seen(checkProtocolSettings({ contentmode }, at))).toEqual(
      isKnown ? [] : [`${at}/contentmode value_not_allowed`],
    );
  });

  test.each(['GET', 'PUT', 'post', ''])('with the method %j are refused', (method) => {
    expect(seen(checkProtocolSettings({ method }, at))).toEqual([`${at}/method method_not_post`]);
  });

  test('with other members are refused', () => {
    expect(seen(checkProtocolSettings({ timeout: 5, 'a/b': 1 }, at))).toEqual([
      `${at}/timeout member_unknown`,
      `${at}/a~1b member_unknown`,
    ]);
  });

  test.each(
    (
      'Connection Keep-Alive Proxy-Authorization Proxy-Authenticate Proxy-Connection TE Trailer Transfer-Encoding Upgrade ' +
      'Host Content-Length Content-Type Authorization Cookie Expect WebHook-Request-Origin WebHook-Anything ce-id ce-x ' +
      'Content-Digest Signature Signature-Input Signature-Agent'
    ).split(' '),
  )('may not set the header %s in any case', (name) => {
    for (const written of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect(header(written)).toEqual([`${at}/headers/${written} header_reserved`]);
    }
  });

  test.each(['X-Host', 'Hostname', 'X-Authorization', 'Team', 'cex', 'WebHookId', 'Upgrade-Insecure-Requests'])(
    'may set the header %s, which only resembles a reserved one',
    (name) => {
      expect(header(name)).toEqual([]);
    },
  );

  test.each(['', 'a b', 'a:', 'a\r\nb', 'a\0', 'x-\u00e9', 'a,b', '(a)', ' Host', 'Host ', 'Host\t'])(
    'may not set a header with the name %j',
    (name) => {
      expect(header(name)).toEqual([`${at}/headers/${name} header_name_malformed`]);
    },
  );

  test.each([
    'a\r\nHost: b',
    'a\nb',
    'a\rb',
    'a\0b',
    'a\u007f',
    '\u001b[31m',
    'caf\u00e9',
    '\u010a',
    ' a',
    'a ',
    '\ta',
  ])('may not set a header with the value %j', (value) => {
    expect(header('X-A', value)).toEqual([`${at}/headers/X-A header_value_malformed`]);
  });

  test('may not set a header with a value that is longer than 4096 bytes', () => {
    expect(header('X-A', 'a'.repeat(4096))).toEqual([]);
    expect(header('X-A', 'a'.repeat(4097))).toEqual([`${at}/headers/X-A too_long`]);
  });

  test('may not set a header twice in different case, nor more than fifty headers', () => {
    expect(seen(checkProtocolSettings({ headers: { 'X-A': '1', 'x-a': '2' } }, at))).toEqual([
      `${at}/headers/x-a repeated`,
    ]);
    const headers = (length: number) => ({
      headers: Object.fromEntries(Array.from({ length }, (_, index) => [`x-${index}`, ''])),
    });
    expect(checkProtocolSettings(headers(50), at)).toEqual([]);
    expect(seen(checkProtocolSettings(headers(51), at))).toEqual([`${at}/headers too_many_headers`]);
  });

  test('may not use names that reach a prototype', () => {
    const value = {
      constructor: 1,
      headers: Object.fromEntries([
        ['prototype', 'a'],
        ['constructor', 'b'],
      ]),
    };
    expect(seen(checkProtocolSettings(value, at))).toEqual([
      `${at}/headers/prototype name_forbidden`,
      `${at}/headers/constructor name_forbidden`,
      `${at}/constructor member_unknown`,
    ]);
  });

  test('report all faults at once, up to fifty', () => {
    expect(header('Host', 'a\nb')).toEqual([
      `${at}/headers/Host header_reserved`,
      `${at}/headers/Host header_value_malformed`,
    ]);
    const headers = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`WebHook-${index}`, '\n']));
    expect(checkProtocolSettings({ headers }, at)).toHaveLength(50);
  });
});

describe('sinkcredential', () => {
  const at = '/sinkcredential';
  const plain = { credentialtype: 'PLAIN', identifier: 'assent', secret: 'pass phrase \u20ac' };
  const access = {
    credentialtype: 'ACCESSTOKEN',
    accesstoken: 'mF_9.B5f-4.1JqM',
    accesstokenexpiresutc: '2026-11-20T12:00:00Z',
    accesstokentype: 'Bearer',
  };
  const refresh = {
    ...access,
    credentialtype: 'REFRESHTOKEN',
    refreshtoken: 'tGzv3JOkF0XG5Qx2TlKWIA',
    refreshtokenendpoint: 'https://auth.example.com/token',
  };
  const read = (value: object | undefined) =>
    readSinkCredential(value as SinkCredential | undefined, at, (sink) =>
      /^https:/.test(sink) ? undefined : { rule: 'not_https', detail: 'The sink must be an https URL.' },
    );
  const rules = (value: object) => seen(read(value).faults);

  test('may be absent, one of the three types, or only a type, which keeps the stored credential', () => {
    expect(read(undefined)).toEqual({ faults: [], requested: { kind: 'absent' } });
    const { accesstokentype: _, ...bearer } = access;
    const told = { setat: 1, expiresat: null, fingerprint: 'a', previous: {} };
    for (const value of [plain, access, bearer, refresh]) {
      const requested = { kind: 'given', value, overlapSeconds: 60 };
      expect(read({ ...value, ...told, overlapseconds: 60 })).toEqual({ faults: [], requested });
      const { credentialtype } = value;
      expect(read({ credentialtype, ...told }).requested).toMatchObject({ kind: 'kept', type: credentialtype });
    }
  });

  test('must have all members of its type', () => {
    expect(rules({ credentialtype: 'PLAIN', identifier: 'a' })).toEqual([`${at}/secret required`]);
    expect(rules({ credentialtype: 'REFRESHTOKEN', accesstoken: 'a' })).toEqual([
      `${at}/accesstokenexpiresutc required`,
      `${at}/refreshtoken required`,
      `${at}/refreshtokenendpoint required`,
    ]);
  });

  test('has non-empty strings without control characters, and tokens that are valid in a header', () => {
    expect(rules({ ...plain, identifier: '', secret: 'a\nb' })).toEqual([
      `${at}/identifier value_empty`,
      `${at}/secret control_character`,
    ]);
    for (const accesstoken of ['a b', 'caf\u00e9', ' a']) {
      expect(rules({ ...access, accesstoken })).toEqual([`${at}/accesstoken token_malformed`]);
    }
  });

  test.each([
    '2026-11-20T12:00:00Z',
    '2026-11-20t12:00:00.123456z',
    '2024-02-29T23:59:59+00:00',
    '9999-12-31T23:59:59Z',
  ])('may expire at %s', (accesstokenexpiresutc) => {
    expect(read({ ...access, accesstokenexpiresutc }).faults).toEqual([]);
  });

  test.each([
    '2026-11-20',
    '2026-11-20T12:00:00',
    '2026-11-20T12:00:00+01:00',
    '2026-11-20 12:00:00Z',
    '2026-02-30T12:00:00Z',
    '2025-02-29T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T12:60:00Z',
    '+292277-01-01T00:00:00Z',
    '1795000000',
    '',
  ])('may not expire at %j', (accesstokenexpiresutc) => {
    expect(rules({ ...access, accesstokenexpiresutc })).toEqual([`${at}/accesstokenexpiresutc not_a_utc_instant`]);
  });

  test('has a refresh endpoint that follows the rules for sinks', () => {
    expect(rules({ ...refresh, refreshtokenendpoint: 'https://auth.example.com/token?a=b' })).toEqual([]);
    expect(rules({ ...refresh, refreshtokenendpoint: 'http://auth.example.com/' })).toEqual([
      `${at}/refreshtokenendpoint not_https`,
    ]);
  });

  test('does not appear in any detail', () => {
    const canary = 'canary\n';
    const value = { ...refresh, accesstoken: canary, refreshtoken: canary, refreshtokenendpoint: canary };
    const { faults } = read({ ...value, accesstokenexpiresutc: canary, accesstokentype: canary });
    expect(faults).toHaveLength(5);
    expect(JSON.stringify(faults)).not.toContain('canary');
  });
});

describe('config', () => {
  const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  const ofDepth = (depth: number) =>
    JSON.parse(`{"a":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`) as Record<string, unknown>;

  test('may be absent or have any JSON values under non-empty keys', () => {
    const value = { interval: 5, data: 'hello', none: null, on: true, list: [1, { '': 'inner keys are theirs' }] };
    for (const config of [undefined, {}, value, ofBytes(8192), ofDepth(32)]) {
      expect(checkConfig(config, '/config')).toEqual([]);
    }
  });

  test('has at most 8 KiB and 32 levels', () => {
    expect(seen(checkConfig(ofBytes(8193), '/config'))).toEqual(['/config too_long']);
    expect(seen(checkConfig({ a: '\u20ac'.repeat(2729) }, '/config'))).toEqual(['/config too_long']);
    expect(seen(checkConfig(ofDepth(33), '/config'))).toEqual([`/config/a${'/0'.repeat(32)} too_deep`]);
  });

  test('has no empty key and no key that reaches a prototype, at any depth', () => {
    const value = JSON.parse('{"":1,"__proto__":{"constructor":1},"a~/b":[{"prototype":2}]}') as Record<
      string,
      unknown
    >;
    expect(seen(checkConfig(value, '/config'))).toEqual([
      '/config/ name_empty',
      '/config/__proto__ name_forbidden',
      '/config/__proto__/constructor name_forbidden',
      '/config/a~0~1b/0/prototype name_forbidden',
    ]);
  });
});

describe('signingsecret', () => {
  const at = '/signingsecret';
  const base64Of = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
  const read = (value: Parameters<typeof readSigningSecret>[0]) => readSigningSecret(value, at);

  test('may be absent, given, made, or neither, which keeps the stored one', () => {
    expect(read(undefined)).toEqual({ faults: [], requested: { kind: 'absent' } });
    for (const bytes of [24, 32, 64]) {
      const secret = `whsec_${base64Of(bytes)}`;
      expect(read({ secret, setat: 1, overlapseconds: 60 })).toEqual({
        faults: [],
        requested: { kind: 'given', value: { secret }, overlapSeconds: 60, isMade: false },
      });
    }
    for (const told of [{}, { make: false }, { setat: 1, fingerprint: 'a', previous: {} }]) {
      expect(read(told)).toEqual({ faults: [], requested: { kind: 'kept', overlapSeconds: undefined } });
    }
    const [one, other] = [read({ make: true }), read({ make: true })].map(({ requested }) => requested);
    expect(one).toMatchObject({
      kind: 'given',
      value: { secret: expect.stringMatching(/^whsec_.{44}$/) },
      isMade: true,
    });
    expect(one).not.toEqual(other);
  });

  test.each([
    ['another prefix', `whsek_${base64Of(32)}`],
    ['no prefix', base64Of(32)],
    ['23 bytes', `whsec_${base64Of(23)}`],
    ['65 bytes', `whsec_${base64Of(65)}`],
    ['characters that are not of Base64', `whsec_${base64Of(32).slice(1)}!`],
    ['nothing', ''],
  ])('may not be or have %s, and no detail repeats it', (_what, secret) => {
    const { faults } = read({ secret });
    expect(seen(faults)).toEqual([`${at}/secret signing_secret_malformed`]);
    if (secret !== '') expect(JSON.stringify(faults)).not.toContain(secret);
  });

  test('is either given or made', () => {
    const faults = read({ secret: `whsec_${base64Of(24)}`, make: true }).faults;
    expect(seen(faults)).toEqual([`${at}/make value_not_allowed`]);
  });
});
