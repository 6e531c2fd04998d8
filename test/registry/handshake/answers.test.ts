import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Judgement } from '../../../src/consent/judgement.js';
import { verdicts } from '../../../src/consent/verdicts.js';
import { keyOf, offeredBy } from '../../support/offer.js';
import { reachRenewal } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** Compares the table of responses in the documentation with webhooks that return them. */
const page = readFileSync(new URL('../../../docs/reference/verdicts.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('\n## How Assent reads a response\n');
const rows = (section.split('\n##')[0] ?? '')
  .split('\n')
  .filter((line) => /^\|.*`/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, answer = '', verdict = '', registration = '', renewal = '']) => {
    return { answer, verdicts: [...verdict.matchAll(/`(\w+)`/g)].map(([, code = '']) => code), registration, renewal };
  });

const origin = 'eventemitter.example.com';
const allowed = (value: string | string[], rate?: string | string[]) => ({
  'WebHook-Allowed-Origin': value,
  ...(rate === undefined ? {} : { 'WebHook-Allowed-Rate': rate }),
});
type Behaviour = (response: ServerResponse) => unknown;
const answer =
  (status: number, headers: Record<string, string | string[]> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end();
/** Addresses that the name of the webhook resolves to from now on. */
const moved = (...addresses: string[]) => addresses;

/** For the first verdict of each row: what the webhook returns, in order, or what its name resolves to. */
const behaviours: Record<string, Behaviour[] | string[] | 'nowhere' | 'servfail'> = {
  granted: [answer(200, allowed(origin, '60')), answer(500, allowed(origin, '60'))],
  granted_any_origin: [answer(200, allowed('*', '60'))],
  origin_mismatch: [answer(200, allowed('other.example.com', '60')), answer(404, allowed('other.example.com'))],
  origin_repeated: [answer(200, allowed([origin, 'other.example.com'], '60'))],
  rate_missing: [answer(200, allowed(origin))],
  rate_malformed: [answer(200, allowed(origin, '60/min'))],
  rate_repeated: [answer(200, allowed(origin, ['60', '70']))],
  gone: [answer(410)],
  no_consent_headers: [answer(200), answer(400)],
  cors_answer: [answer(204, { 'Access-Control-Allow-Origin': '*' })],
  allow_only: [answer(200, { Allow: 'POST' })],
  authentication_required: [answer(401), answer(403)],
  not_found_at_target: [answer(404)],
  unsupported: [answer(405), answer(501)],
  request_origin_echoed: [answer(200, { 'WebHook-Request-Origin': origin })],
  origin_missing: [answer(200, { 'WebHook-Allowed-Rate': '60' })],
  bot_protection: [
    answer(403, { 'cf-mitigated': 'challenge' }),
    answer(202, { 'x-amzn-waf-action': 'challenge' }),
    answer(405, { 'x-amzn-waf-action': 'captcha', Allow: 'POST' }),
    answer(429, { 'X-Vercel-Mitigated': 'challenge' }),
    answer(503, { 'cf-mitigated': 'challenge', 'Access-Control-Allow-Origin': '*' }),
    answer(403, { 'X-DD-B': '1' }),
  ],
  client_certificate_required: [
    (response) => response.writeHead(400, { Server: 'nginx' }).end('<title>400 No required SSL certificate was sent'),
  ],
  http2_only: [answer(505), answer(426, { Upgrade: 'h2c', Connection: 'Upgrade' })],
  redirected: [answer(302, { Location: 'https://localhost/' }), answer(308)],
  throttled: [answer(429)],
  unavailable: [answer(503)],
  server_error: [answer(500), answer(502), answer(504), answer(522)],
  name_not_found: 'nowhere',
  address_not_allowed: moved('10.0.0.1'),
  name_lookup_failed: 'servfail',
  connection_refused: moved('127.0.0.2'),
  tls_failed: moved('127.0.0.3'),
  not_http: [(response) => response.socket?.end('nonsense\r\n\r\n')],
};

let registry: Registry;
let tenant: Tenant;
let plain: Server;

beforeAll(async () => {
  registry = await startRegistry({ start: false, env: { ASSENT_HANDSHAKE_RETRY_MS: '3600000' } });
  tenant = await createTenant(registry, { grantseconds: 36_000 });
  plain = createServer((socket) => void socket.on('error', () => undefined).end('no TLS here\r\n'));
  await new Promise<void>((resolve) => plain.listen(registry.receiver.port, '127.0.0.3', resolve));
});
afterAll(async () => {
  await registry.stop();
  plain.close();
});

let count = 0;
/** Webhooks that consent until they misbehave, each in one way that gets the verdict. */
function webhooksFor(verdict: string): Array<{ sink: string; misbehave: () => void }> {
  const behaviour = behaviours[verdict] ?? [];
  const ways =
    Array.isArray(behaviour) && typeof behaviour[0] === 'function' ? (behaviour as Behaviour[]) : [undefined];
  return ways.map((way) => {
    const host = `answers-${(count += 1)}.hooks.test`;
    const path = `/${host}`;
    registry.receiver.consent(path, { rate: '100' });
    return {
      sink: registry.receiver.sink(path, host),
      misbehave() {
        if (way !== undefined) registry.receiver.on(path, (_request, response) => way(response));
        else if (behaviour === 'servfail') registry.dns.zone[host] = 'servfail';
        else if (behaviour === 'nowhere') registry.dns.fallback = without(host, registry.dns.fallback);
        else registry.dns.zone[host] = behaviour as string[];
      },
    };
  });
}

function without(host: string, fallback: (name: string) => readonly string[] | undefined) {
  return (name: string) => (name === host ? undefined : fallback(name));
}

const stateAfter: Record<string, string> = {
  active: 'granted',
  refused: 'refused',
  retired: 'retired',
  waits: 'waiting',
  retried: 'due',
};

test('the table has every verdict on a response, once', () => {
  const ours: Array<Judgement['verdict']> = ['aborted', 'sink_not_allowed'];
  const ofProxy = Object.keys(verdicts).filter((verdict) => verdict.startsWith('proxy_'));
  const others = [
    ...[
      'callback_granted',
      'callback_expired',
      'refused_by_owner',
      'granted_by_policy',
      'revoked',
      'interrupted',
      'blocked',
      'held_by_budget',
      'secret_unavailable',
    ],
    ...['name_not_public', ...ours, ...ofProxy],
  ];
  const named = rows.flatMap((row) => row.verdicts);
  expect(named.slice().sort()).toEqual(
    Object.keys(verdicts)
      .filter((verdict) => !others.includes(verdict))
      .sort(),
  );
  expect(rows.map((row) => row.verdicts[0])).toEqual(Object.keys(behaviours));
});

test.each(rows)(
  '$answer: at registration $registration, at renewal $renewal',
  async ({ verdicts: [verdict = ''], ...row }) => {
    for (const { sink, misbehave } of webhooksFor(verdict)) {
      misbehave();
      const { id } = await tenant.register(sink);
      const [{ state, attempts }] = await tenant.handshakes(id, tenant.admin);
      expect([state, attempts.at(-1).verdict]).toEqual([stateAfter[row.registration], verdict]);
      await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
    }
    for (const { sink, misbehave } of webhooksFor(verdict)) {
      const { id } = await tenant.register(sink);
      const before = await tenant.grant(sink);
      misbehave();
      await reachRenewal(registry, sink);
      await registry.service.sweep();
      await registry.service.worker.drain();
      const [renewal] = await tenant.handshakes(id, tenant.admin);
      expect([renewal.trigger, renewal.verdict]).toEqual(['renewal', verdict]);
      const { state, expiresat } = await tenant.grant(sink);
      const { status, statusdetails } = await tenant.read(id);
      if (row.renewal === 'ends') expect([state, status === 'active']).toEqual(['ended', false]);
      else expect([state, status, expiresat > before.expiresat]).toEqual(['live', 'active', row.renewal === 'renewed']);
      if (row.renewal === 'kept') {
        expect(statusdetails.renewal).toMatchObject({ outcome: 'no_response', secondsleft: expect.any(Number) });
        expect(renewal).toMatchObject({ state: 'due', nextat: expect.any(String) });
      } else expect(statusdetails).not.toHaveProperty('renewal');
      await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
    }
  },
);

test('what made a verdict is for admins and the log; consumers see the verdict', async () => {
  const challenge = { 'cf-mitigated': 'challenge', 'Retry-After': '3000' };
  registry.receiver.on('/guarded', (_request, response) => answer(403, challenge)(response));
  const { id } = await tenant.register(registry.receiver.sink('/guarded', 'guarded.hooks.test'));
  const [seen] = await tenant.handshakes(id, tenant.admin);
  expect(seen.attempts[0]).toMatchObject({
    verdict: 'bot_protection',
    evidence: 'cf-mitigated: challenge',
    statuscode: 403,
  });
  expect(seen.attempts[0].response).toContainEqual({ name: 'cf-mitigated', value: 'challenge' });
  expect(Date.parse(seen.nextat)).toBeGreaterThan(Date.parse(seen.attempts[0].finishedat) + 2_900_000);
  const [read] = await tenant.handshakes(id, tenant.subscriber);
  expect(read.attempts[0]).toMatchObject({ verdict: 'bot_protection', response: [] });
  expect(JSON.stringify(read)).not.toMatch(/mitigated|"evidence"/);
  expect(registry.logs.find((line) => line.includes(seen.id))).toContain('"evidence":"cf-mitigated: challenge"');
});

test('everyone sees what is wrong with a certificate, and admins whose it is', async () => {
  const { id } = await tenant.register(registry.receiver.sink('/elsewhere', 'two.labels.hooks.test'), {}, 'wait=5');
  const message = 'The certificate of the webhook is for another host name.';
  const [seen] = await tenant.handshakes(id, tenant.admin);
  const evidence = expect.stringMatching(/^ERR_TLS_CERT_ALTNAME_INVALID \(subject .*, issuer CN=.*, valid from 20/);
  expect(seen.attempts[0]).toMatchObject({ verdict: 'certificate_invalid', message, evidence });
  const [read] = await tenant.handshakes(id, tenant.subscriber);
  expect(read.attempts[0]).toMatchObject({ verdict: 'certificate_invalid', message });
  expect(JSON.stringify(read)).not.toMatch(/issuer|valid from/);
  const { statusdetails } = await tenant.read(id);
  expect(statusdetails).toMatchObject({
    code: 'certificate_invalid',
    message,
    advice: expect.stringContaining('alternative'),
  });
});

test.each([
  ['withholds its consent', {}],
  ['consents', { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '120' }],
])('a webhook that echoes the request, and %s, does not disclose the callback key', async (title, headers) => {
  const path = `/reflecting-${title.length}`;
  let callback = '';
  registry.receiver.on(path, (request, response) => {
    const [offered] = offeredBy(request);
    if (offered === undefined) {
      response.writeHead(200).end();
      return;
    }
    callback = offered;
    const written = { 'WebHook-Request-Callback': callback, 'WebHook-Echo': `${'x'.repeat(1_000)}${keyOf(callback)}` };
    const folded = { 'webhook-folded': callback.toLowerCase() };
    response
      .writeHead(200, { ...written, ...folded, Location: `/?next=${encodeURIComponent(callback)}`, ...headers })
      .end();
  });
  const { id } = await tenant.register(registry.receiver.sink(path));
  const key = keyOf(callback);
  expect(key).toHaveLength(43);
  for (const client of [tenant.subscriber, tenant.admin]) {
    const [handshake] = await tenant.handshakes(id, client);
    expect(handshake.attempts[0].response).toContainEqual({
      name: 'WebHook-Request-Callback',
      value: callback.replace(key, '[secret]'),
    });
    expect(JSON.stringify(handshake).toLowerCase()).not.toContain(key.slice(0, 20).toLowerCase());
  }
  const attempts = await registry.sql('select * from attempt');
  expect(JSON.stringify(attempts)).not.toContain(key.slice(0, 20));
});
