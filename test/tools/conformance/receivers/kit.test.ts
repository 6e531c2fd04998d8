import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConformanceProfile } from '../../../../src/tools/conformance/case.js';
import { createWebhook, type WebhookSettings } from '../../../../src/kits/webhook/index.js';
import { makeSigningKey } from '../../../../src/tools/conformance/signing-key.js';
import { callbackAuthority, failuresOf, judgeReceiver } from '../../../support/judge-receiver.js';

const origin = 'sender.allowed.example';
const token = 'a-token-of-the-kit';

const [key, next, revoked] = await Promise.all([makeSigningKey(), makeSigningKey(), makeSigningKey()]);

/** The cases of the receiver's kit that hold, and those that fail. The origin signs, whether they verify it or not. */
async function judged(
  settings: Partial<WebhookSettings> | ((url: string) => Partial<WebhookSettings>),
  profile: ConformanceProfile = 'cloudevents',
) {
  const usual = { origins: { [origin]: 30 }, receive: async () => undefined, authenticate: token, profile };
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] === '/events') return void webhook.node(request, response);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  const webhook = createWebhook({ ...usual, ...(typeof settings === 'function' ? settings(sink) : settings) });
  try {
    const signing = typeof settings === 'function' ? { keys: [key, next], revokedKey: revoked } : {};
    const results = await judgeReceiver(sink, { origin, profile, burst: true, token, ...signing });
    return {
      failed: failuresOf(results),
      left: results.filter(({ outcome }) => outcome === 'not_evaluable').map(({ id }) => id),
    };
  } finally {
    webhook.close();
    server.closeAllConnections();
    server.close();
  }
}

test.each(['cloudevents', 'nl-gov'] as const)('the kit for receivers conforms, profile %s', async (profile) => {
  const keys = { keys: [key.public, next.public] };
  const signed = await judged((url) => ({ verify: { url, keys } }), profile);
  expect(signed).toEqual({ failed: [], left: ['R12', 'R18', 'R19', 'R21'] });
});

test('the kit for receivers conforms when the application decides later', async () => {
  let isAllowed = false;
  const { failed, left } = await judged({
    // A delivery is not asked about later: by then it has been decided.
    origins: (name) => (name === origin ? (isAllowed ? 30 : 'later') : false),
    callbacks: {
      development: true,
      ca: callbackAuthority.cert,
      onRequest: (request) => request.allow(30),
      onOutcome: () => void (isAllowed = true),
    },
  });
  expect(failed).toEqual([]);
  for (const id of ['R17', 'R18', 'R19', 'R20', 'R22', 'R25']) expect(left).not.toContain(id);
});
