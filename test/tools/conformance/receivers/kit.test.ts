import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConformanceProfile } from '../../../../src/tools/conformance/case.js';
import { createWebhook, type WebhookSettings } from '../../../../src/kits/webhook/index.js';
import { callbackAuthority, failuresOf, judgeReceiver } from '../../../support/judge-receiver.js';

const origin = 'sender.allowed.example';
const token = 'a-token-of-the-kit';

/** The cases of the receiver's kit that hold, and those that fail. */
async function judged(settings: Partial<WebhookSettings>, profile: ConformanceProfile = 'cloudevents') {
  const usual = { origins: { [origin]: 30 }, receive: async () => undefined, authenticate: token, profile };
  const webhook = createWebhook({ ...usual, ...settings });
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] === '/events') return void webhook.node(request, response);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const sink = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
    const results = await judgeReceiver(sink, { origin, profile, burst: true, token });
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
  expect(await judged({}, profile)).toEqual({ failed: [], left: ['R12', 'R18', 'R19', 'R21'] });
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
