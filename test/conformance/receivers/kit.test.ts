import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../../src/conformance/authority.js';
import { receiverCases } from '../../../src/conformance/cases.js';
import type { ConformanceProfile } from '../../../src/conformance/case.js';
import { startCallbackHost } from '../../../src/conformance/receiver/callback-host.js';
import { runReceiver } from '../../../src/conformance/receiver/run-receiver.js';
import { createWebhook, type WebhookSettings } from '../../../src/webhook/index.js';

const origin = 'sender.allowed.example';
const token = 'a-token-of-the-kit';
const authority = await createAuthority('Conformance test', 1);
const certificate = await authority.issue(['127.0.0.1']);

/** The cases of the receiver's kit that hold, and those that fail. */
async function judged(settings: Partial<WebhookSettings>, profile: ConformanceProfile = 'cloudevents') {
  const usual = { origins: { [origin]: 30 }, receive: async () => undefined, authenticate: token, profile };
  const webhook = createWebhook({ ...usual, ...settings });
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] === '/events') return void webhook.node(request, response);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const callbacks = await startCallbackHost({ host: '127.0.0.1', port: 0, certificate });
  try {
    const results = await runReceiver({
      cases: receiverCases,
      sink: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
      origin,
      rate: 120,
      profile,
      deliver: true,
      burst: true,
      token,
      ca: undefined,
      timeoutMs: 60_000,
      callMs: 60_000,
      quietMs: 300,
      deadlineMs: Infinity,
      callbacks,
    });
    return {
      failed: results.filter(({ outcome }) => outcome === 'failed').map(({ id, detail }) => `${id} ${detail}`),
      left: results.filter(({ outcome }) => outcome === 'not_evaluable').map(({ id }) => id),
    };
  } finally {
    webhook.close();
    server.closeAllConnections();
    server.close();
    await callbacks.stop();
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
      ca: authority.cert,
      onRequest: (request) => request.allow(30),
      onOutcome: () => void (isAllowed = true),
    },
  });
  expect(failed).toEqual([]);
  for (const id of ['R17', 'R18', 'R19', 'R20', 'R22', 'R25']) expect(left).not.toContain(id);
});
