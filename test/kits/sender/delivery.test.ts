import { expect, test } from '@jest/globals';
import { readEvents } from '../../../src/events/read-events.js';
import { deliveryOf } from '../../../src/kits/sender/index.js';

const origin = 'eventemitter.example.com';
const event = {
  specversion: '1.0',
  id: 'Euro € "100%" ',
  source: 'urn:example:a',
  type: 'com.example.a',
  subject: 'é/😀~!',
  count: -5,
  flag: false,
  absent: null,
};
const to = {
  sink: 'https://webhook.example.com/events',
  subscriptions: ['a'],
  allowedrate: 5,
  expiresat: '2026-11-30T12:00:00.000Z',
};
const inBinary = (more: object) => deliveryOf({ ...event, ...more }, origin, { ...to, contentmode: 'binary' });

test('a delivery is structured unless the match says otherwise, and carries origin, headers and token', () => {
  const protocolsettings = { headers: { 'X-Tenant': '7' }, contentmode: 'structured' };
  const sinkcredential = { credentialtype: 'ACCESSTOKEN' as const, accesstoken: 'a-token' };
  expect(deliveryOf(event, origin, { ...to, contentmode: 'structured', protocolsettings, sinkcredential })).toEqual({
    headers: {
      'X-Tenant': '7',
      'Content-Type': 'application/cloudevents+json; charset=utf-8',
      'WebHook-Request-Origin': origin,
      Authorization: 'Bearer a-token',
    },
    body: JSON.stringify(event),
  });
});

test.each([
  ['an access token', { credentialtype: 'ACCESSTOKEN', accesstoken: 'a-token' }, 'Bearer a-token'],
  [
    'a Bearer token',
    { credentialtype: 'ACCESSTOKEN', accesstoken: 'a-token', accesstokentype: 'Bearer' },
    'Bearer a-token',
  ],
  ['a token that can be refreshed', { credentialtype: 'REFRESHTOKEN', accesstoken: 'a-token' }, 'Bearer a-token'],
  ['a name and a secret', { credentialtype: 'PLAIN', identifier: 'me', secret: 'a:€' }, 'Basic bWU6YTrigqw='],
] as const)('%s comes as Authorization', (_, sinkcredential, authorization) => {
  const { headers } = deliveryOf(event, origin, { ...to, contentmode: 'structured', sinkcredential });
  expect(headers['Authorization']).toBe(authorization);
});

test.each([
  ['is not in the match', {}],
  [
    'is of a type without a header',
    { sinkcredential: { credentialtype: 'ACCESSTOKEN', accesstoken: 'a', accesstokentype: 'DPoP' } },
  ],
  ['has a name with a colon', { sinkcredential: { credentialtype: 'PLAIN', identifier: 'a:b', secret: 'c' } }],
] as const)('there is no delivery without the credential: it %s', (_, more) => {
  expect(() => deliveryOf(event, origin, { ...to, contentmode: 'structured', hascredential: true, ...more })).toThrow();
});

test('a delivery can be passed to fetch, also by its type', async () => {
  const bytes = inBinary({ data_base64: 'AAEC', datacontenttype: 'image/png' });
  const request = new Request(to.sink, { ...bytes, method: 'POST' } satisfies RequestInit);
  expect(Buffer.from(await request.arrayBuffer())).toEqual(Buffer.from([0, 1, 2]));
});

test('a structured delivery is read as the same event', () => {
  const { headers, body } = deliveryOf(event, origin, { ...to, contentmode: 'structured' });
  const read = readEvents({ headers: Object.entries(headers).flat(), body: Buffer.from(body as string) });
  expect(read).toMatchObject({ mode: 'structured', events: [{ event: { id: event.id } }] });
});

test('a binary delivery is read as the same event', () => {
  const { headers, body } = inBinary({ datacontenttype: 'application/json', data: { a: 1 } });
  const lines = Object.entries(headers).flat();
  const read = readEvents({ headers: lines, body: Buffer.from(body as string) });
  if (!('events' in read) || !read.events[0] || !('event' in read.events[0])) throw new Error(JSON.stringify(read));
  expect(read.mode).toBe('binary');
  const { attributes } = read.events[0].event;
  const { absent: _, ...present } = event;
  for (const [name, value] of Object.entries(present))
    expect([name, attributes.text(name)]).toEqual([name, String(value)]);
  expect(attributes.has('absent')).toBe(false);
  expect(attributes.datacontenttype).toBe('application/json');
});

test.each(['application/cloudevents+json', 'Application/CloudEvents-Batch+JSON; charset=utf-8'])(
  'an event with data of type %s is never delivered in binary mode, where the data would be read as the event',
  (datacontenttype) => {
    const carrier = { ...event, datacontenttype, data: { ...event, id: 'carried' } };
    const { headers, body } = deliveryOf(carrier, origin, { ...to, contentmode: 'binary' });
    expect([headers['Content-Type'], body]).toEqual([
      'application/cloudevents+json; charset=utf-8',
      JSON.stringify(carrier),
    ]);
  },
);

test('a time that is still a Date is the same in both content modes', () => {
  const time = new Date('2026-11-22T12:00:00.000Z');
  const { body } = deliveryOf({ ...event, time }, origin, { ...to, contentmode: 'structured' });
  expect(JSON.parse(body as string)).toMatchObject({ time: '2026-11-22T12:00:00.000Z' });
  expect(inBinary({ time, data: 1 }).headers).toMatchObject({ 'ce-time': '2026-11-22T12:00:00.000Z' });
});

test('text in a charset other than UTF-8 is delivered in structured mode, and bytes in it unchanged', () => {
  const datacontenttype = 'text/plain; charset=ISO-8859-1';
  const text = inBinary({ data: 'é', datacontenttype });
  expect(text.headers['Content-Type']).toBe('application/cloudevents+json; charset=utf-8');
  expect(JSON.parse(text.body as string)).toMatchObject({ data: 'é', datacontenttype });
  for (const charset of ['UTF-8', '"utf-8"', 'US-ASCII']) {
    expect(inBinary({ data: 'e', datacontenttype: `text/plain; charset=${charset}` }).body).toBe('e');
  }
  expect(inBinary({ data_base64: '6Q==', datacontenttype })).toMatchObject({
    headers: { 'Content-Type': datacontenttype },
    body: Buffer.from([0xe9]),
  });
});

test.each([
  ['null', { data: null }, 'application/json', 'null'],
  ['JSON without a type', { data: 'text' }, 'application/json', '"text"'],
  ['JSON of a kind', { data: 'text', datacontenttype: 'application/a+json' }, 'application/a+json', '"text"'],
  ['text', { data: 'text', datacontenttype: 'text/plain' }, 'text/plain', 'text'],
  ['bytes', { data_base64: 'AAEC', datacontenttype: 'image/png' }, 'image/png', Buffer.from([0, 1, 2])],
])('the body in binary mode is the data: %s', (_, data, contentType, body) => {
  const delivery = inBinary(data);
  expect([delivery.headers['Content-Type'], delivery.body]).toEqual([contentType, body]);
  expect(Object.keys(delivery.headers).filter((name) => name.includes('data'))).toEqual([]);
});

test.each([
  ['no data', {}],
  ['no data, but a type', { datacontenttype: 'application/json' }],
  ['null in place of bytes', { data_base64: null, datacontenttype: 'image/png' }],
  ['empty text', { data: '', datacontenttype: 'text/plain' }],
  ['no bytes at all', { data_base64: '', datacontenttype: 'image/png' }],
  ['bytes without a type', { data_base64: 'AAEC' }],
])(
  'a delivery needs a body and a media type, so an event without one is delivered in structured mode: %s',
  (_, data) => {
    const { headers, body } = inBinary(data);
    expect(headers).toEqual({
      'Content-Type': 'application/cloudevents+json; charset=utf-8',
      'WebHook-Request-Origin': origin,
    });
    expect(JSON.parse(body as string)).toEqual({ ...event, ...data });
  },
);
