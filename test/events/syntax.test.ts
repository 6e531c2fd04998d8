import { describe, expect, test } from '@jest/globals';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { isAttributeName, isAttributeText } from '../../src/events/attribute-text.js';
import { isJson, parseMediaType } from '../../src/base/formats/media-type.js';
import { readEvents } from '../../src/events/read-events.js';
import { isTimestamp } from '../../src/base/formats/timestamp.js';
import { isIpv6, parseIp, parseNetwork } from '../../src/base/formats/ip-address.js';
import { isUri, isUriReference, parseUriReference } from '../../src/base/formats/uri.js';
import { asHost, forbidden, inIpv6 } from '../support/hostile-addresses.js';
import { minimal, structured } from './message.js';

describe('a timestamp', () => {
  test.each([
    '2018-04-05T17:31:00Z',
    '2018-04-05t17:31:00z',
    '2018-04-05T17:31:00.1Z',
    `2018-04-05T17:31:00.${'1'.repeat(200)}Z`,
    '2018-04-05T17:31:00+23:59',
    '2018-04-05T17:31:00-00:00',
    '0000-01-01T00:00:00Z',
    '0000-02-29T00:00:00Z',
    '9999-12-31T23:59:59.999999999Z',
    '9999-12-31T23:59:59-23:59',
    '2024-02-29T00:00:00Z',
    '2000-02-29T00:00:00Z',
    '1990-12-31T23:59:60Z',
    '1990-12-31T15:59:60-08:00',
    '2017-01-01T00:59:60+01:00',
    '2015-06-30T23:59:60.5Z',
    '1937-01-01T12:00:27.87+00:20',
  ])('is read from %s', (text) => expect(isTimestamp(text)).toBe(true));

  test.each([
    '',
    '2018-04-05',
    '2018-04-05T17:31:00',
    '2018-04-05T17:31:00+01',
    '2018-04-05T23:59:61Z',
    '2018-04-05T23:59:60Z',
    '2018-12-31T22:59:60Z',
    '2018-12-31T23:59:60+01:00',
    '2017-01-02T00:59:60+01:00',
    '2016-12-30T23:59:60-23:59',
    '2018-04-31T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2018-W14-4T17:31:00Z',
    '２018-04-05T17:31:00Z',
  ])('is not read from %j', (text) => expect(isTimestamp(text)).toBe(false));
});

test('a timestamp with one changed character is judged by the grammar', () => {
  const time = '([01]\\d|2[0-3]):[0-5]\\d';
  const grammar = new RegExp(
    `^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T${time}:[0-5]\\d(\\.\\d+)?(Z|[+-]${time})$`,
    'i',
  );
  const wrong: string[] = [];
  for (const text of ['2018-04-05T17:31:00Z', '2018-10-05t10:20:30.5-10:20']) {
    for (let at = 0; at <= text.length; at += 1) {
      for (const other of ['', ...'/0123456789:;-+.,TtZz _\u0660']) {
        for (const changed of [
          text.slice(0, at) + other + text.slice(at),
          text.slice(0, at) + other + text.slice(at + 1),
        ]) {
          if (isTimestamp(changed) !== grammar.test(changed)) wrong.push(changed);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
});

describe('a URI reference', () => {
  test.each([
    ['https://github.com/cloudevents', true],
    ['mailto:cncf-wg-serverless@lists.cncf.io', true],
    ['urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', true],
    ['http://a', true],
    ['HTTP://EXAMPLE.com:80/%7Efoo?q=/?#f/?', true],
    ['http://user:pa:ss@[2001:db8::1]:443/', true],
    ['http://[v1.fe:80]/', true],
    ['http://[V1F.fe:80]/', true],
    ['http://[::ffff:192.0.2.1]', true],
    ['file:///etc', true],
    ['a:', true],
    ['urn:nld:gemeente-Bergen%20%28L%29.burgerzakensysteem', true],
    ['http://a:', true],
    ['http://gemeenteX/api', true],
    ['//orders.example.com/checkout', false],
    ['/cloudevents/spec/pull/123', false],
    ['1-555-123-4567', false],
    ['', false],
    ['?q', false],
    ['#f', false],
    ['.', false],
    ['a/b:c', false],
    ['./a:b', false],
    ['//', false],
  ])('is read from %s (with a scheme: %s)', (text, hasScheme) => {
    expect([isUriReference(text), isUri(text)]).toEqual([true, hasScheme]);
  });

  test.each([
    'a b',
    'http://a b',
    '1a:b',
    ':a',
    '-:b',
    'a_b:c',
    'é',
    'http://é/',
    'http://a/%',
    'http://a/%2',
    'http://a/%zz',
    'http://a/<b>',
    'http://a/"b"',
    'http://a/b|c',
    'http://a/b\\c',
    'http://a/{b}',
    'http://a/^',
    'http://a/`',
    'http://a/[b]',
    'http://a/?[b]',
    'http://a/#b#c',
    'http://a:b/',
    'http://a:1:2/',
    'http://[::1',
    'http://::1]/',
    'http://[::1]x/',
    'http://[1::2::3]/',
    'http://[fe80::1%25eth0]/',
    'http://[v1.]/',
    'http://[v1.ab/',
    'http://[v1.a%41]/',
    'http://[vx.a]/',
    'http://[]/',
    'http://u@v@w/',
    'http://u%4:1@w/',
    'a\u0000',
    'a\n',
  ])('is not read from %j', (text) => expect(isUriReference(text)).toBe(false));

  // A pattern that tries every way to split them would not end; the operator can allow messages of 16 MiB.
  test.each([
    ['a', ''],
    ['%41', ''],
    ['/', ''],
    ['a+', ''],
    ['a:', '//'],
    ['a%41:', '//'],
    ['1:a@', '//'],
    [':', '//['],
    ['v1.', '//['],
    ['?#', 'a'],
  ])('is not read from 16 MiB of %j and a blank', (text, start) => {
    expect(isUriReference(`${start}${text.repeat(2 ** 24 / text.length)} `)).toBe(false);
  });

  test('is split as in RFC 3986, appendix B', () => {
    expect(parseUriReference('HTTP://u@h:1/p/q?r=/?#s?')).toEqual({
      scheme: 'http',
      authority: { userinfo: 'u', host: 'h', port: '1' },
      path: '/p/q',
      query: 'r=/?',
      fragment: 's?',
    });
    expect(parseUriReference('//[::1]:/')?.authority).toEqual({ userinfo: undefined, host: '[::1]', port: '' });
    expect(parseUriReference('a/b#c')).toMatchObject({ path: 'a/b', query: undefined, fragment: 'c' });
    expect(parseUriReference('')).toEqual({
      scheme: undefined,
      authority: undefined,
      path: '',
      query: undefined,
      fragment: undefined,
    });
  });
});

describe('Base64', () => {
  /** How many bytes an event has of it; undefined when it is refused. */
  const bytesOf = (text: string) => {
    const read = readEvents(structured({ ...minimal, data_base64: text }));
    const [event] = 'events' in read ? read.events : [];
    return event && 'event' in event ? event.event.dataBytes : undefined;
  };

  test.each([
    ['', 0],
    ['YQ==', 1],
    ['YWE=', 2],
    ['YWFh', 3],
    ['+/+/', 3],
    ['YWFwIG5vb3QgbWllcw==', 13],
  ])('%j stands for %i bytes', (text, bytes) => expect(bytesOf(text)).toBe(bytes));

  test.each([
    'YQ',
    'YQ=',
    'Y===',
    '====',
    '=',
    'YQ==YQ==',
    'YWE=YWE=',
    'Y=Q=',
    'YR==',
    'YWF=',
    '-_-_',
    'YW Fh',
    'YWFh\n',
    'YWF\u0141',
    '... base64 encoded string ...',
  ])('%j is not Base64', (text) => expect(bytesOf(text)).toBeUndefined());

  test('the output of encoders is read back with its size', () => {
    for (let size = 0; size < 300; size += 1) {
      expect(bytesOf(Buffer.alloc(size, size).toString('base64'))).toBe(size);
    }
  });
});

describe('a media type', () => {
  test.each([
    ['text/xml', 'text', 'xml', undefined],
    ['TEXT/Plain; CharSet=UTF-8', 'text', 'plain', 'utf-8'],
    ['application/json;charset="utf-8"', 'application', 'json', 'utf-8'],
    ['multipart/form-data; boundary="a;b \\"c\\""', 'multipart', 'form-data', undefined],
    ['application/vnd.apache.thrift.binary', 'application', 'vnd.apache.thrift.binary', undefined],
    ['a/b ; c=d ; charset=x', 'a', 'b', 'x'],
    ['a/b;', 'a', 'b', undefined],
  ])('is read from %s', (text, type, subtype, charset) => {
    expect(parseMediaType(text)).toEqual({ type, subtype, charset });
  });

  test.each([
    '',
    'json',
    '/json',
    'text/',
    'a/b c',
    'a/b/c',
    'a b/c',
    'a/b; c',
    'a/b; c=',
    'a/b; c="d',
    'a/b, c/d',
    'é/a',
    'a/b; c="é"',
  ])('is not read from %j', (text) => expect(parseMediaType(text)).toBeUndefined());

  test.each([
    ['application/json', true],
    ['text/JSON; charset=utf-8', true],
    ['application/vnd.api+json', true],
    ['application/geo+json-seq', false],
    ['application/xml', false],
    ['json/x', false],
  ])('%s is JSON: %s', (text, expected) => {
    const mediaType = parseMediaType(text);
    expect(mediaType && isJson(mediaType)).toBe(expected);
  });
});

describe('the text of an attribute', () => {
  test.each(['', 'plain', 'é€😀', '\u00a0', '\ud800\udead', '\u{10fffd}', '\ufffd', '\ufdcf', '\ufdf0'])(
    'may be %j',
    (text) => expect(isAttributeText(text)).toBe(true),
  );

  test.each([
    '\0',
    '\t',
    '\n',
    '\u001f',
    '\u007f',
    '\u0080',
    '\u009f',
    '\ud800',
    'a\udead',
    '\udead\ud800',
    '\ud800a',
    '\ufdd0',
    '\ufdef',
    '\ufffe',
    '\uffff',
    '\u{1fffe}',
    '\u{1ffff}',
    '\u{10ffff}',
  ])('may not be %j', (text) => expect(isAttributeText(text)).toBe(false));
});

test.each([
  ['a', true],
  ['0a', true],
  ['constructor', true],
  ['', false],
  ['aB', false],
  ['a-b', false],
  ['a_b', false],
  ['`', false],
  ['{', false],
  ['/', false],
  [':', false],
  ['é', false],
  ['__proto__', false],
])('the name %j of an attribute is well-formed: %s', (name, expected) => expect(isAttributeName(name)).toBe(expected));

describe('an IP address', () => {
  const forms = ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8', '1:2:3:4:5:6:1.2.3.4', '']
    .concat(['1.2.3.4', '255.255.255.255', '::ffff:1.2.3.4', 'abcd:EF01::', '1::8', '2001:db8::a:0:0:1'])
    .concat(forbidden.flatMap((address) => [...inIpv6(address), ...asHost(address)]));

  test('is what Node takes for one, with any one character changed', () => {
    const wrong: string[] = [];
    for (const form of forms) {
      for (let at = 0; at <= form.length; at += 1) {
        for (const other of ['', ':', '.', '0', '9', 'f', 'g', '::', '25', ' ']) {
          for (const text of [
            form.slice(0, at) + other + form.slice(at),
            form.slice(0, at) + other + form.slice(at + 1),
          ]) {
            // A zone is not a part of the address.
            if (text.includes('%')) continue;
            const family = isIP(text);
            if ((parseIp(text)?.family ?? 0) !== family || isIpv6(text) !== (family === 6)) wrong.push(text);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('is in the networks that Node says', () => {
    // Each is read once.
    const addresses = forms
      .filter((form) => isIP(form) !== 0 && !/^::ffff:/i.test(form))
      .map((address) => {
        const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
        return { address, family, ofNode: new SocketAddress({ address, family }), own: parseIp(address)! } as const;
      });
    for (const { address: base, family } of addresses) {
      const others = addresses.filter((other) => other.family === family);
      for (const prefix of [0, 1, 7, 8, 9, 31, 32, ...(family === 'ipv6' ? [33, 64, 127, 128] : [])]) {
        const list = new BlockList();
        list.addSubnet(base, prefix, family);
        const includes = parseNetwork(`${base}/${prefix}`);
        expect(others.filter(({ ofNode, own }) => list.check(ofNode) !== includes?.(own))).toEqual([]);
      }
    }
    const none = ['10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '::/129', 'a/8', '10.0.0.0/8/8', '10.0.0/8', '/8'];
    expect(none.filter((text) => parseNetwork(text) !== undefined)).toEqual([]);
  });
});
