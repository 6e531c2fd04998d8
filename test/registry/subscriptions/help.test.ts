import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { problems } from '../../../src/base/problems.js';
import { helpWithProblem, helpWithVerdict } from '../../../src/base/help.js';
import { languages } from '../../../src/base/texts/text.js';
import { withValues } from '../../../src/base/texts/verdicts.js';
import { advise, verdicts, type Verdict } from '../../../src/consent/verdicts.js';
import { statusDetailCodes } from '../../../src/consent/status.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

const guides = 'https://assent.test/guides/reference/';
let registry: Registry;
let tenant: Tenant;
beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

test('a status, a handshake, its attempts and a problem say where the guides of the registry explain their code', async () => {
  registry.receiver.on('/other', (_request, response) => {
    response.writeHead(200, { 'WebHook-Allowed-Origin': 'other.example.com', 'WebHook-Allowed-Rate': '1' }).end();
  });
  const subscription = await tenant.register(registry.receiver.sink('/other'));
  const help = `${guides}verdicts#origin_mismatch`;
  const advice = `Return WebHook-Allowed-Origin: ${tenant.origin}, or "*". Patterns, prefixes and lists are no consent.`;
  expect(subscription.statusdetails).toMatchObject({ help, advice });
  expect(subscription.statusdetails.next).toContain(`POST /subscriptions/${subscription.id}/handshakes`);
  const [handshake] = await tenant.handshakes(subscription.id);
  expect(handshake).toMatchObject({ help, advice, attempts: [{ help, advice }] });
  const { body } = await tenant.subscriber.get('/v1/subscriptions/unknown').expect(404);
  expect(body).toMatchObject({ code: 'subscription_not_found', help: `${guides}errors#subscription_not_found` });
});

test('advice has the values of the request, and no place for one', () => {
  const facts = { origin: 'eventemitter.example.com', requestedRate: 60 };
  for (const language of languages) {
    for (const verdict of Object.keys(verdicts) as Verdict[]) {
      for (const callbackOffered of [true, false]) {
        expect(advise(verdict, { ...facts, callbackOffered }, language) ?? '').not.toMatch(/[{}]/);
      }
    }
    expect(advise('no_consent_headers', facts, language)).toContain('WebHook-Allowed-Rate: 60 ');
  }
  expect(withValues({ en: '{origin} {rate}', nl: '' }, { origin: '$&' }).en).toBe('$& 120');
});

test.each([
  ['verdict and code of a status', helpWithVerdict, Object.keys({ ...verdicts, ...statusDetailCodes })],
  ['code of a problem', helpWithProblem, Object.keys(problems)],
] as const)('the help of each %s leads to a place in the guides of the registry', async (_what, helpWith, codes) => {
  const [path = ''] = helpWith('', '').split('#');
  const { text } = await tenant.subscriber.get(path).set('Accept', 'text/html').expect(200);
  const places = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `${path}#${id}`);
  expect(codes.map((code) => helpWith('', code)).filter((help) => !places.includes(help))).toEqual([]);
  expect(new Set(places).size).toBe(places.length);
});

test('the advice has the rate that the webhook was asked for, which can be that of the origin', async () => {
  const origin = `/v1/origins/${tenant.origin}`;
  await tenant.admin.patch(origin).type('application/merge-patch+json').send({ requestedrate: 500 }).expect(200);
  registry.receiver.on('/silent', (_request, response) => {
    response.writeHead(200).end();
  });
  const more = { callback: 'never' };
  const { id, statusdetails } = await tenant.register(registry.receiver.sink('/silent'), more);
  const [handshake] = await tenant.handshakes(id);
  expect(statusdetails.advice).toContain('WebHook-Allowed-Rate: 500');
  expect(handshake.advice).toBe(statusdetails.advice);
});
