import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { timeOf } from '../../../src/base/formats/timestamp.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
let operator: Client;
let sink: string;
let id: string;
beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  operator = await registry.as('assent:audit', { subscriber: 'toezicht' });
  registry.receiver.consent('/times');
  sink = registry.receiver.sink('/times');
  ({ id } = await tenant.register(sink));
});
afterAll(() => registry.stop());

/** The end of next year, as RFC 3339 lets it be written. A leap second has no other place, whatever its fraction. */
const year = new Date().getUTCFullYear() + 1;
const end = `${year}-12-31T23:59:59.999Z`;
const spellings = [
  end,
  `${year}-12-31T23:59:60Z`,
  `${year}-12-31T23:59:60.123456789012Z`,
  `${year}-12-31t23:59:59.999999999999z`,
  `${year + 1}-01-01T00:59:60+01:00`,
  `${year + 1}-01-01T23:58:59.999+23:59`,
  `${year}-12-31T00:00:60-23:59`,
  `${year}-12-31T23:59:60-00:00`,
];
const notTimes = [
  '',
  'yesterday',
  '1798761600',
  `${year}-06-01`,
  `${year}-06-01T12:00:00`,
  `${year}-06-01T12:00Z`,
  `${year}-06-01 12:00:00Z`,
  `${year}-06-01T12:00:60Z`,
  `${year}-06-01T24:00:00Z`,
  `${year}-02-30T12:00:00Z`,
  `${year}-06-01T12:00:00.Z`,
  `${year}-06-01T12:00:00,5Z`,
  `${year}-06-01T12:00:00+00`,
  `${year}-06-01T12:00:00+0000`,
  `+0${year}-06-01T12:00:00Z`,
];

interface Answer {
  status: number;
  body: { code?: string; faults?: Array<{ pointer: string; rule: string }> };
}

let count = 0;
/** Each takes a time, and returns what it was taken for, if anybody can see that. */
const doors: Array<[door: string, pointer: string, send: (at: string) => Promise<[Answer, string?]>]> = [
  [
    'the end of a subscription',
    '/expiresat',
    async (expiresat) => {
      const request = tenant.subscriber.patch(`/v1/subscriptions/${id}`).type('application/merge-patch+json');
      const answer = await request.send({ expiresat });
      return [answer, answer.body.expiresat];
    },
  ],
  [
    'the end of an agreement',
    '/expiresat',
    async (expiresat) => {
      const agreement = { sink: `https://a-${(count += 1)}.example.com/`, allowedrate: 5, agreement: 'A', expiresat };
      const answer = await tenant.admin.post('/v1/grants').send({ origin: tenant.origin, ...agreement });
      return [answer, answer.body.expiresat];
    },
  ],
  [
    'the end of a block',
    '/expiresat',
    async (expiresat) => {
      const block = { kind: 'host', value: `b-${(count += 1)}.example.com`, reason: 'Test.', expiresat };
      const answer = await tenant.admin.post('/v1/blocks').send(block);
      return [answer, answer.body.expiresat];
    },
  ],
  ...['createdsince', 'createduntil', 'expiressince', 'expiresuntil'].map((name) =>
    searching('/v1/subscriptions', name, () => tenant.admin),
  ),
  ...['expiressince', 'expiresuntil'].map((name) => searching('/v1/grants', name, () => tenant.admin)),
  ...['createdsince', 'createduntil'].map((name) => searching('/v1/handshakes', name, () => tenant.admin)),
  ...['since', 'until'].map((name) => searching('/v1/audit', name, () => operator)),
];

function searching(path: string, name: string, client: () => Client): (typeof doors)[number] {
  return [
    `${name} of ${path}`,
    `query/${name}`,
    async (at) => [
      await client()
        .get(path)
        .query({ [name]: at }),
    ],
  ];
}

test.each(doors)('%s means one instant in every spelling of RFC 3339, and nothing else is a time', async (...door) => {
  const [, pointer, send] = door;
  for (const text of spellings) {
    const [answer, taken = end] = await send(text);
    expect([text, answer.status < 300, taken]).toEqual([text, true, end]);
  }
  for (const text of notTimes) {
    const [{ status, body }] = await send(text);
    const fault = expect.objectContaining({ pointer, rule: text === '' ? expect.any(String) : 'format_wrong' });
    expect([text, status, body.faults]).toEqual([text, 400, [fault]]);
  }
});

test.each(doors)('%s in the years 0 and 9999 is out of range or a time, never an error', async (...door) => {
  const [, pointer, send] = door;
  const isSearch = pointer.startsWith('query/');
  for (const text of ['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59', '9999-12-31T23:59:60Z']) {
    const [{ status, body }] = await send(text);
    const isTaken = isSearch || status < 300;
    expect([text, Math.floor(status / 100)]).toEqual([text, isTaken ? 2 : 4]);
    if (!isTaken) expect(body.faults).toMatchObject([{ pointer, rule: 'time_out_of_range' }]);
  }
});

test('a span of statistics, and the end of a token, are read like every other time', async () => {
  const ask = (since: string, until: string) => tenant.admin.get('/v1/statistics').query({ step: 'day', since, until });
  const { body } = await ask('2016-12-31T23:59:60Z', '2017-01-02T00:59:59+01:00').expect(200);
  expect(body).toMatchObject({ since: '2016-12-31T00:00:00.000Z', until: '2017-01-02T00:00:00.000Z' });
  expect((await ask('2017-01-01T00:00:00', '2017-01-02T00:00:00Z').expect(400)).body.faults[0].pointer).toBe(
    'query/since',
  );

  for (const text of [`${year}-12-31T23:59:60Z`, `${year}-12-31t23:59:60.5z`, `${year}-12-31T23:59:60-00:00`]) {
    const sinkcredential = { credentialtype: 'ACCESSTOKEN', accesstoken: 'x', accesstokenexpiresutc: text };
    const patched = await tenant.subscriber
      .patch(`/v1/subscriptions/${id}`)
      .type('application/merge-patch+json')
      .send({ sinkcredential })
      .expect(200);
    expect(patched.body.sinkcredential.expiresat).toBe(end);
  }
});

test('a 410 from a leap second before the consent does not end it', async () => {
  const report = (at: string) =>
    tenant.sender.post('/v1/deliveries/outcomes').send([{ origin: tenant.origin, sink, statuscode: 410, at }]);
  for (const at of ['2016-12-31T23:59:60Z', '2016-12-31t23:59:60.5z', '0000-01-01T00:00:00Z']) {
    expect((await report(at)).body).toMatchObject([{ accepted: true }]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  }
  for (const at of notTimes) {
    expect((await report(at)).body).toMatchObject([{ accepted: false, faults: [{ pointer: '/0/at' }] }]);
  }
  expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
});

test('times keep their order around a leap second', () => {
  const order = ['59.998', '59.9999', '60', '60.999'].map((second) => timeOf(`2016-12-31T23:59:${second}Z`).getTime());
  const all = [...order, timeOf('2017-01-01T00:00:00Z').getTime()];
  expect(all).toEqual([...all].sort((one, other) => one - other));
  expect(all.at(-1)).toBeGreaterThan(all.at(-2) as number);
});
