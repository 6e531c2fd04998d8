import { describe, expect, test } from '@jest/globals';
import { decodeHeaderValue } from '../../src/events/read-binary.js';
import { binary, eventOf, faultsOf } from './message.js';

const headers = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/a', 'ce-type': 't' };

describe('an event in binary mode', () => {
  test('has its attributes in headers and its data in the body', () => {
    const event = eventOf(
      binary(
        {
          Host: 'x',
          'CF-Ray': '7',
          'Xe-A': '7',
          'CE-SpecVersion': '1.0',
          'ce-ID': '1',
          'ce-source': '/a',
          'ce-type': 't',
          'ce-count': '5',
          'Content-Type': 'text/JSON',
        },
        '{}',
      ),
    );
    expect(Object.fromEntries(event.attributes)).toEqual({
      specversion: '1.0',
      id: '1',
      source: '/a',
      type: 't',
      count: '5',
      datacontenttype: 'text/JSON',
    });
    expect(event).toMatchObject({ mode: 'binary', hasData: true, dataBytes: 2, dataIsJson: true, dataForm: 'body' });
    // Name, colon, space, value, and the end of the line.
    expect(event.bytes).toBe(2 + 21 + 10 + 15 + 12 + 13 + 25);
  });

  test('may lack data and Content-Type; then nothing is known about the data', () => {
    expect(eventOf(binary(headers))).toMatchObject({ hasData: false, dataIsJson: false, datacontenttype: undefined });
    expect(eventOf(binary(headers, 'x'))).toMatchObject({ hasData: true, dataIsJson: false });
  });

  test.each([
    [{ 'ce-datacontenttype': 'text/plain' }, 'header/ce-datacontenttype header_datacontenttype'],
    [{ 'ce-x': '%C0%A0' }, 'header/ce-x header_encoding'],
    [{ 'ce-x': 'caf\u00e9' }, 'header/ce-x header_encoding'],
    [{ 'ce-x': 'a%0Ab' }, 'header/ce-x attribute_text'],
    [{ 'ce-data': 'x' }, 'header/ce-data attribute_reserved'],
    [{ 'ce-data_base64': 'x' }, 'header/ce-data_base64 attribute_name'],
    [{ 'ce-foo-bar': 'x' }, 'header/ce-foo-bar attribute_name'],
    [{ 'ce-': 'x' }, 'header/ce- attribute_name'],
    [{ 'ce-subject': '' }, 'header/ce-subject not_empty'],
    [{ 'CE-id': '2' }, 'header/ce-id attribute_once'],
    [{ 'CE-ID': '%zz' }, 'header/ce-id attribute_once'],
    [{ 'Content-Type': 'json' }, 'header/content-type datacontenttype'],
  ])('with %j breaks %s', (more, expected) => {
    expect(faultsOf(binary({ ...headers, ...more }))).toEqual([expected]);
  });

  test('names what is missing', () => {
    expect(faultsOf(binary({ 'ce-id': '1' }))).toEqual([
      'header/ce-source required',
      'header/ce-type required',
      'header/ce-specversion required',
    ]);
    expect(faultsOf(binary({ Host: 'x' }))).toEqual(['header/content-type not_an_event']);
  });

  test('has a claim check if its JSON body has those members', () => {
    const body = '{"claimCheckUri":"https://a/b","claimCheckContentType":"x"}';
    const type = { 'content-type': 'application/json' };
    const expected = { hasUri: true, hasContentType: false };
    expect(eventOf(binary({ ...headers, ...type }, body)).claimCheck).toEqual(expected);
    const escaped = body.replaceAll('claim', '\\u0063laim');
    expect(eventOf(binary({ ...headers, ...type }, escaped)).claimCheck).toEqual(expected);
    expect(eventOf(binary({ ...headers, ...type }, body.slice(0, -1))).claimCheck).toBeUndefined();
    expect(eventOf(binary({ ...headers, ...type }, `{"a":${body}}`)).claimCheck).toBeUndefined();
    expect(eventOf(binary(headers, body)).claimCheck).toBeUndefined();
    const broken = Buffer.from(body.replace('b"', '\u00ff"'), 'latin1');
    expect(eventOf({ ...binary({ ...headers, ...type }), body: broken }).claimCheck).toBeUndefined();
  });
});

describe('the value of a header', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['a b', 'a b'],
    ['Euro%20%E2%82%AC%20%F0%9F%98%80', 'Euro € 😀'],
    ['%e2%82%ac', '€'],
    ['%41%2d', 'A-'],
    ['%2541', '%41'],
    ['"a b"', 'a b'],
    ['"a\\"b\\\\"', 'a"b\\'],
    ['"%20"', ' '],
    ['x"y z"w', 'xy zw'],
    ['a\\b', 'a\\b'],
    ['a\\b"c"', 'a\\bc'],
    ['%22', '"'],
    ['(a)', '(a)'],
  ])('%j is decoded to %j', (value, expected) => expect(decodeHeaderValue(value)).toBe(expected));

  test.each([
    '%',
    '%4',
    '%zz',
    '%C0%A0',
    '%ED%A0%80',
    '%F4%90%80%80',
    '%E2%82',
    '%80',
    '"a',
    '"a\\"',
    '"a\\',
    'é',
    '\t',
    'a\u007f',
  ])('%j cannot be', (value) => expect(decodeHeaderValue(value)).toBeUndefined());
});
