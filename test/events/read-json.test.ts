import { describe, expect, test } from '@jest/globals';
import { canonicalString } from '../../src/events/context-attributes.js';
import { readEventOf, readEvents } from '../../src/events/read-events.js';
import { batched, binary, eventOf, faultsOf, minimal, readOne, structured } from './message.js';

const text = (more: string) => `{"specversion":"1.0","id":"1","source":"/a","type":"t"${more}}`;

describe('a structured event', () => {
  test('keeps its attributes with their types, and only a summary of its data', () => {
    const event = eventOf(
      structured({
        ...minimal,
        count: 5,
        isopen: true,
        note: 'x€',
        gone: null,
        data: { a: 'é' },
        time: '2018-04-05T17:31:00Z',
      }),
    );
    expect(Object.fromEntries(event.attributes)).toEqual({
      ...minimal,
      count: 5,
      isopen: true,
      note: 'x€',
      time: '2018-04-05T17:31:00Z',
    });
    expect(event).toMatchObject({
      id: '1',
      source: 'urn:example:a',
      type: 'com.example.thing.created',
      mode: 'structured',
    });
    expect(event).toMatchObject({ hasData: true, dataBytes: 10, dataIsJson: true, dataForm: 'object', at: '' });
    expect(
      [...event.attributes].filter(([name]) => name !== 'source').map(([, value]) => canonicalString(value)),
    ).toEqual(expect.arrayContaining(['5', 'true', 'x€']));
  });

  test.each([
    ['', { hasData: false, dataBytes: 0, dataIsJson: false, dataForm: 'absent' }],
    [',"datacontenttype":"application/json"', { hasData: false, dataIsJson: true }],
    [',"data": null ', { hasData: true, dataBytes: 4, dataIsJson: true, dataForm: 'scalar' }],
    [',"data":" {\\"a\\":1} "', { dataForm: 'json_text', dataIsJson: true }],
    [',"data":"{a}"', { dataForm: 'text' }],
    [',"data":"\\u007b}"', { dataForm: 'json_text' }],
    [',"data":"\\u0031"', { dataForm: 'text' }],
    [',"data":[ 1 ]', { dataForm: 'array', dataBytes: 5 }],
    [
      ',"datacontenttype":"text/xml","data":"<a/>"',
      { dataForm: 'text', dataIsJson: false, datacontenttype: 'text/xml' },
    ],
    [',"data_base64":"YWE="', { hasData: true, dataBytes: 2, dataIsJson: false, dataForm: 'base64' }],
    [',"data_base64":"\\u0059WE="', { dataBytes: 2 }],
    [',"datacontenttype":"a/b+JSON","data_base64":"YWE="', { dataIsJson: true }],
    [',"data_base64":null,"data":1', { dataForm: 'scalar' }],
  ])('with %s has %j', (more, expected) => {
    expect(eventOf(structured(text(more)))).toMatchObject(expected);
    const inside = readEventOf(Buffer.from(`{"a":[{"event":{}}], "\\u0065vent": ${text(more)}}`), 'event');
    expect(inside).toMatchObject({ event: { ...expected, at: '/event' } });
  });

  test('keeps its size as received', () => {
    const body = ` ${text(' , "data" : "é" ')} `;
    expect(eventOf(structured(body)).bytes).toBe(Buffer.byteLength(body) - 2);
  });

  test.each([
    [',"id2":{}', '/id2 attribute_value'],
    [',"x":[1]', '/x attribute_value'],
    [',"x":1.0', '/x integer'],
    [',"x":1e2', '/x integer'],
    [',"x":2147483648', '/x integer'],
    [',"x":-2147483649', '/x integer'],
    [',"x":1,"x":1', '/x attribute_once'],
    [',"data":1,"data":2', '/data attribute_once'],
    [',"data_base64":null,"data_base64":"YQ=="', '/data_base64 attribute_once'],
    [',"\\u0069d":"2"', '/id attribute_once'],
    [',"data":1,"data_base64":"YQ=="', '/data_base64 data_exclusive'],
    [',"data_base64":"YQ==","data":null', '/data data_exclusive'],
    [',"data_base64":"YQ"', '/data_base64 data_base64'],
    [',"data_base64":{}', '/data_base64 data_base64'],
    [',"datacontenttype":"text/xml","data":{}', '/data data_string'],
    [',"data":null,"datacontenttype":"text/xml"', '/data data_string'],
    [',"time":"yesterday"', '/time time'],
    [',"subject":""', '/subject not_empty'],
    [',"dataschema":"/relative"', '/dataschema dataschema'],
    [',"datacontenttype":"xml"', '/datacontenttype datacontenttype'],
    [',"Foo":"x"', '/Foo attribute_name'],
    [',"a~/b":"x"', '/a~0~1b attribute_name'],
    [',"":"x"', '/ attribute_name'],
    [',"__proto__":"x"', '/__proto__ attribute_name'],
    [',"__proto__":{"id":"x"}', '/__proto__ attribute_name'],
    [',"x":"\\u0000"', '/x attribute_text'],
    [',"x":"\\ud800"', '/x attribute_text'],
    [',"x":"\u007f"', '/x attribute_text'],
  ])('with %s breaks %s', (more, expected) => expect(faultsOf(structured(text(more)))).toEqual([expected]));

  test.each([
    [',"x":-2147483648', -2147483648],
    [',"x":2147483647', 2147483647],
    [',"x":-0', 0],
    [',"x":"\\ud83d\\ude00"', '😀'],
    [',"x":""', ''],
    [',"x":false', false],
  ])('with %s keeps the value %j', (more, expected) => {
    expect(eventOf(structured(text(more))).attributes.get('x')).toBe(expected);
  });

  test('may have attributes named like members of JavaScript objects, and data with any, repeated and nested names', () => {
    const deep = '['.repeat(200) + ']'.repeat(200);
    const body = text(
      `,"constructor":"a","hasownproperty":"b","data":{"__proto__":1,"a":1,"a":2,"b":"\\ud800","c":${deep}}`,
    );
    expect(eventOf(structured(body)).attributes.get('constructor')).toBe('a');
  });

  test.each(['id', 'source', 'type', 'specversion'])(
    'without %s, or with null or an empty value, is not an event',
    (name) => {
      const { [name as 'id']: _, ...others } = minimal;
      expect(faultsOf(structured(others))).toEqual([`/${name} required`]);
      expect(faultsOf(structured({ ...others, [name]: null }))).toEqual([`/${name} required`]);
      expect(faultsOf(structured({ ...others, [name]: '' }))).toEqual([`/${name} not_empty`]);
      expect(faultsOf(structured({ ...others, [name]: 5 }))).toEqual([`/${name} attribute_type`]);
    },
  );

  test.each(['0.3', '1', '1.0.2', '1.1', '1.0 '])('of version %j is not an event', (specversion) => {
    expect(faultsOf(structured({ ...minimal, specversion }))).toEqual(['/specversion specversion']);
  });

  test('lists every fault with its sentence', () => {
    const read = readOne(structured({ id: '', type: 5, x: {}, time: 'x', data: 1, data_base64: '?' }));
    const faults = 'faults' in read ? read.faults : [];
    expect(faults.map(({ pointer, rule }) => `${pointer} ${rule}`)).toEqual([
      '/id cloudevents.not_empty',
      '/type cloudevents.attribute_type',
      '/x cloudevents.attribute_value',
      '/time cloudevents.time',
      '/data_base64 cloudevents.data_exclusive',
      '/data_base64 cloudevents.data_base64',
      '/source cloudevents.required',
      '/specversion cloudevents.required',
    ]);
    for (const { level, sentence } of faults)
      expect([level, sentence]).toEqual(['MUST', expect.stringMatching(/^[A-Z].*\.$/)]);
  });

  test.each(['[]', '"a"', '1', 'null', 'true'])('is not %s', (body) => {
    expect(faultsOf(structured(body))).toEqual([' event_object']);
  });

  test.each([
    '',
    ' ',
    '{',
    "{'a':1}",
    '{"a":NaN}',
    '{"a":"\\u123g"}',
    '{"a":"\n"}',
    '{"a":"\\',
    '{"data":[1,]}',
    '{} {}',
    '\u00a0{}',
    '// a\n{}',
  ])('cannot be read from %j', (body) => {
    expect(() => JSON.parse(body)).toThrow();
    expect(faultsOf(structured(body))).toEqual([' not_json']);
    expect(faultsOf(batched(`[${body}`))).toEqual([' not_json']);
  });

  test('is read if and only if JSON.parse reads its text', () => {
    const document = text(
      `,"data" : [-1.5e+3,2E-10 , 0,{},true,false,null,"\\u00e9\\n\\""],\r\n\t"x":{"a":{"b":1}} ,"y":[]`,
    );
    const wrong: string[] = [];
    const judge = (body: string) => {
      let isJson = true;
      try {
        JSON.parse(body);
      } catch {
        isJson = false;
      }
      if (faultsOf(structured(body)).includes(' not_json') === isJson) wrong.push(body);
    };
    judge(document);
    for (let at = 0; at <= document.length; at += 1) {
      for (const other of ['', ...'019:;/+-.eE"\\,[]{}ux \t\n\r\v\u001f\u0085']) {
        judge(document.slice(0, at) + other + document.slice(at + 1));
        judge(document.slice(0, at) + other + document.slice(at));
      }
    }
    expect(wrong).toEqual([]);
  });

  test('may begin with a byte order mark, and is UTF-8', () => {
    expect(eventOf(structured(`\ufeff${text('')}`)).id).toBe('1');
    const body = Buffer.concat([Buffer.from(text(',"x":"')), Buffer.from([0xc0, 0xa0])]);
    expect(faultsOf({ ...structured(''), body })).toEqual([' not_utf8']);
  });

  test('does not retain a large body', () => {
    const event = eventOf(structured({ ...minimal, note: 'é'.repeat(20), data: 'x'.repeat(100_000) }));
    expect(event.attributes.get('note')).toBe('é'.repeat(20));
    expect(event.attributes.get('type')).toBe(minimal.type);
  });
});

describe('the Content-Type', () => {
  test.each([
    ['application/cloudevents+json', 'structured'],
    ['Application/CloudEvents+JSON; Charset="UTF-8"', 'structured'],
    ['application/cloudevents+json;foo=bar', 'structured'],
    ['application/cloudevents+json; charset=us-ascii', 'structured'],
    ['application/cloudevents-batch+json', 'batched'],
    ['application/cloudevents-batch+JSON;charset=utf8', 'batched'],
  ])('%s is the mode %s', (contentType, mode) => {
    const body = mode === 'batched' ? [minimal] : minimal;
    expect(readEvents(structured(body, contentType))).toMatchObject({ mode, events: [{ event: { id: '1' } }] });
  });

  test.each([
    ['application/cloudevents;a=","', 'format_not_supported'],
    ['application/cloudevents', 'format_not_supported'],
    ['application/cloudevents+avro', 'format_not_supported'],
    ['application/cloudevents+json2', 'format_not_supported'],
    ['application/cloudevents-batch', 'format_not_supported'],
    ['application/cloudevents-batch+xml', 'format_not_supported'],
    ['APPLICATION/CLOUDEVENTS+XML', 'format_not_supported'],
    ['application/cloudevents+json; charset=utf-16', 'charset_not_supported'],
    ['application/json', 'not_an_event'],
    ['text/plain', 'not_an_event'],
  ])('%s is refused: %s', (contentType, rule) => {
    const result = readEvents(structured(minimal, contentType));
    expect(result).toMatchObject({
      code: 'media_type_unsupported',
      faults: [{ rule, pointer: 'header/content-type' }],
    });
  });

  test('may be sent only once', () => {
    const headers = ['Content-Type', 'application/cloudevents+json', 'content-type', 'application/cloudevents+json'];
    expect(faultsOf({ headers, body: Buffer.from('{}') })).toEqual(['header/content-type content_type_repeated']);
  });

  test('is not confused with other headers of the same length', () => {
    const { headers, body } = structured(minimal);
    const more = ['X-Request-Id', 'text/plain'];
    expect(eventOf({ headers: [...more, ...headers, ...more], body }).id).toBe('1');
    const attributes = Object.fromEntries(Object.entries(minimal).map(([name, value]) => [`ce-${name}`, value]));
    const event = eventOf(binary({ 'X-Request-Id': 'a/b', ...attributes }));
    expect(event.datacontenttype).toBeUndefined();
  });
});

describe('a batch', () => {
  test('may be empty', () => {
    expect(readEvents(batched(' [ ] '))).toEqual({ mode: 'batched', bytes: 5, events: [] });
  });

  test('gives a result for each event in order; an invalid one does not affect the others', () => {
    const result = readEvents(batched([minimal, { ...minimal, source: 'a b' }, 5, [], { ...minimal, id: '5' }]));
    expect(result).toMatchObject({
      events: [
        { event: { at: '/0' } },
        { faults: [{ pointer: '/1/source', rule: 'cloudevents.source' }] },
        { faults: [{ pointer: '/2', rule: 'cloudevents.event_object' }] },
        { faults: [{ pointer: '/3', rule: 'cloudevents.event_object' }] },
        { event: { at: '/4', id: '5', mode: 'batched' } },
      ],
    });
  });

  test('with different versions is at fault where an event is not 1.0', () => {
    expect(faultsOf(batched([{ ...minimal, specversion: '0.3' }, minimal]))).toEqual([
      '/0/specversion specversion',
      '/0/specversion batch_specversion',
    ]);
    expect(faultsOf(batched([{ ...minimal, specversion: '0.3' }]))).toEqual(['/0/specversion specversion']);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`A${i}`, 1]));
    expect(faultsOf(batched([{ specversion: '0.3', ...many }, minimal]))).toHaveLength(50);
  });

  test.each(['{}', '5', 'null'])('is not %s', (body) => {
    expect(faultsOf(batched(body))).toEqual([' batch_not_array']);
  });

  test('has its own limits, and both report it as too large', () => {
    const events = Array.from({ length: 101 }, () => minimal);
    expect(readEvents(batched(events.slice(1)))).toHaveProperty('events.length', 100);
    expect(readEvents(batched(events))).toMatchObject({
      code: 'body_too_large',
      faults: [{ rule: 'too_many_events' }],
    });
    const limits = { bytes: 10, events: 100 };
    expect(readEvents(batched('[        ]'), limits)).toMatchObject({ events: [] });
    expect(readEvents(batched('[         ]'), limits)).toMatchObject({
      code: 'body_too_large',
      faults: [{ rule: 'body_too_large' }],
    });
  });
});

describe('an event inside of another document', () => {
  const read = (document: string) => readEventOf(Buffer.from(document), 'event');
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  test('is found at any place in it', () => {
    const expected = { event: { id: '1', at: '/event', bytes: text('').length, mode: 'structured' } };
    const beside = ` "a" : [ ${deep(300)}, {"event":{}}, "}" ] `;
    for (const members of [`"event":${text('')}`, `${beside},"\\u0065vent" : ${text('')} ,${beside}`]) {
      expect(read(`\ufeff { ${members} }`)).toMatchObject(expected);
    }
  });

  test.each([
    ['5', '/event event_object'],
    ['null', '/event event_object'],
    [text(',"x":[],"y":1.0'), '/event/x attribute_value', '/event/y integer'],
    [text(',"x":1,"x":1'), '/event/x attribute_once'],
    [text(',"x":"\\u0000"'), '/event/x attribute_text'],
    [text(',"data":{},"data_base64":"YQ=="'), '/event/data_base64 data_exclusive'],
    [text(',"data_base64":"Y","data":1'), '/event/data_base64 data_base64', '/event/data data_exclusive'],
    [text(`,"data":${deep(256)}`), '/event too_deep'],
    [text(`,"data":${'{"a":'.repeat(255)}{}${'}'.repeat(255)}`), '/event too_deep'],
    [text(`,"data":${'{"a":'.repeat(254)}{}${'}'.repeat(254)}`)],
    [text(`,"data":[${deep(254)},"\\u0000\\ud83d",{"a":1,"a":1,"constructor":1}]`)],
  ])('is read by the same rules, with pointers into it', (event, ...faults) => {
    const told = read(`{"event":${event}}`);
    const found = 'faults' in told ? told.faults.map((f) => `${f.pointer} ${f.rule.replace('cloudevents.', '')}`) : [];
    expect(found).toEqual(faults);
  });
});
