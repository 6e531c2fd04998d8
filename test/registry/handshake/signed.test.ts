import { createPublicKey, verify as verifyBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { httpbis } from 'http-message-signatures';
import { verify as verifyBot } from 'web-bot-auth';
import { verifierFromJWK } from 'web-bot-auth/crypto';
import type { PublicKey } from '../../../src/signatures/keys.js';
import { fieldsOf } from '../../../src/signatures/message-signature.js';
import { verifyRequest } from '../../../src/signatures/request-signature.js';
import type { Asked } from '../../support/receiver.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/** Each handshake is checked by three verifiers: our own, and two of others. */
let registry: Registry;
let admin: Client;
let subscriber: Client;

const dictionary = 'dictionary.example.com';
const origins = {
  [dictionary]: { requestedrate: 120 },
  'string.example.com': { requestedrate: 120, signatures: 'string' },
  'silent.example.com': { requestedrate: 120, signatures: 'off' },
  'short.example.com': { callback: 'never' },
};

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin');
  subscriber = await registry.as(['assent:subscribe', 'assent:admin']);
  for (const [name, policy] of Object.entries(origins)) {
    await admin
      .post('/v1/origins')
      .send({ name, ...policy })
      .expect(201);
  }
});
afterAll(() => registry.stop());

/** Registers a webhook that consents, and returns its handshake and what it received. */
async function ask(origin: string, path: string, more: object = {}) {
  registry.receiver.consent(path.split('?')[0] as string);
  const sent = registry.receiver.asked.length;
  const { body } = await subscriber
    .post('/v1/subscriptions')
    .send({ sink: registry.receiver.sink(path), origin, protocol: 'HTTP', ...more })
    .expect(201);
  const { body: handshakes } = await subscriber.get(`/v1/subscriptions/${body.id}/handshakes`).expect(200);
  return { subscription: body, handshake: handshakes[0], asked: registry.receiver.asked.slice(sent) };
}

const keysOf = async (origin: string) =>
  (await registry.sql<{ publickey: PublicKey }>('select publickey from origin_key where origin = $1', origin)).map(
    ({ publickey }) => publickey,
  );

type Received = Pick<Asked, 'method' | 'path' | 'host'> & { headers: Record<string, string> };
const received = ({ method, path, host, headers }: Asked): Received => ({
  method,
  path,
  host,
  headers: headers as Record<string, string>,
});

/** Which of the three verifiers accept it. */
async function acceptedBy(request: Received, keys: readonly PublicKey[]): Promise<string[]> {
  const { method, path, host, headers } = request;
  const url = `https://${host}${path}`;
  const keyOf = (id: unknown) => keys.find(({ kid }) => kid === id);
  const own = await verifyRequest(
    { method, url, fieldOf: fieldsOf(Object.entries(headers)) },
    { keyOf: (id) => Promise.resolve(keyOf(id)), body: undefined, now: Date.now() / 1_000 },
  );
  const general = await httpbis
    .verifyMessage(
      {
        keyLookup: ({ keyid }) => {
          const jwk = keyOf(keyid);
          if (jwk === undefined) return Promise.resolve(null);
          const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
          return Promise.resolve({
            id: jwk.kid,
            algs: ['ed25519'],
            verify: (data, signature) => Promise.resolve(verifyBytes(null, data, key, signature)),
          });
        },
        requiredFields: ['@method', '@authority', '@target-uri', 'webhook-request-origin'],
        requiredParams: ['created', 'expires', 'keyid', 'alg', 'nonce', 'tag'],
        maxAge: 60,
      },
      { method, url, headers },
    )
    .catch(() => false);
  const bot = await verifyBot({ method, url, headers }, async (data, signature, params) => {
    const jwk = keyOf(params.keyid);
    if (jwk === undefined) throw new Error('unknown key');
    return (await verifierFromJWK({ ...jwk }))(data, signature, params);
  }).then(
    () => true,
    () => false,
  );
  return [...(own.ok ? ['own'] : []), ...(general === true ? ['general'] : []), ...(bot ? ['bot'] : [])];
}

/** web-bot-auth 0.1 reads no member of a dictionary (`"signature-agent";key="sig1"`). */
const ofDictionaries = ['own', 'general'];

test.each([
  [dictionary, '/dictionary?a=1&b=%2F', 'sig1="https://assent.test/v1/directories/', ofDictionaries],
  ['string.example.com', '/string', '"https://string.example.com"', ['own', 'general', 'bot']],
  ['short.example.com', '/short', 'sig1="https://assent.test/v1/directories/', ofDictionaries],
])('a handshake of %s verifies, and no forgery of it does', async (origin, path, agent, verifiers) => {
  const { asked } = await ask(origin, path);
  const keys = await keysOf(origin);
  const request = received(asked[0] as Asked);
  expect(request.headers['signature-agent']).toContain(agent);
  expect(await acceptedBy(request, keys)).toEqual(verifiers);

  const { headers } = request;
  const callback = headers['webhook-request-callback'];
  const rate = headers['webhook-request-rate'];
  const forgeries: Array<Partial<Received>> = [
    { method: 'POST' },
    { path: `${path}x` },
    { host: `hooks.shop.test:${registry.receiver.port}` },
    { headers: { ...headers, 'webhook-request-origin': 'attacker.example.com' } },
    ...(rate === undefined ? [] : [{ headers: { ...headers, 'webhook-request-rate': `${rate}0` } }]),
    ...(callback === undefined
      ? []
      : [{ headers: { ...headers, 'webhook-request-callback': callback.replace('assent', 'attack') } }]),
    { headers: { ...headers, 'signature-agent': agent.replace('https://', 'https://x') } },
  ];
  for (const forgery of forgeries) expect(await acceptedBy({ ...request, ...forgery }, keys)).toEqual([]);
  expect(await acceptedBy(request, await keysOf('silent.example.com'))).toEqual([]);
});

test('an attempt shows what was signed, and keeps the callback key to itself', async () => {
  const { handshake, asked } = await ask(dictionary, '/shown');
  const [attempt] = handshake.attempts;
  const [{ kid }] = (await keysOf(dictionary)) as [PublicKey];
  expect(attempt.signature).toEqual({
    keyid: kid,
    form: 'dictionary',
    signatureagent: expect.stringMatching(/^https:\/\/assent\.test\/v1\/directories\/[0-9a-f-]{36}$/),
    covered: [
      '@method',
      '@authority',
      '@target-uri',
      'webhook-request-origin',
      'webhook-request-callback',
      'webhook-request-rate',
      'signature-agent',
    ],
  });
  const sent = asked[0]?.headers;
  const recorded = Object.fromEntries(
    attempt.request.map(({ name, value }: { name: string; value: string }) => [name.toLowerCase(), value]),
  );
  for (const name of ['signature', 'signature-input', 'signature-agent']) expect(recorded[name]).toBe(sent?.[name]);
  expect(recorded['webhook-request-callback']).toMatch(/key=\[secret\]$/);
});

test('an origin whose signatures are off sends none of the headers', async () => {
  const { handshake, asked } = await ask('silent.example.com', '/silent');
  expect(Object.keys(asked[0]?.headers ?? {}).filter((name) => name.startsWith('signature'))).toEqual([]);
  expect(handshake.attempts[0]).not.toHaveProperty('signature');
});

test('each attempt is signed anew, and so is a dry run', async () => {
  const path = '/anew';
  let answers = 0;
  registry.receiver.consent(path);
  registry.receiver.on(path, (_request, response) => {
    answers += 1;
    // Without any header of the specification it is asked again at once, without a callback.
    response.writeHead(200, answers < 2 ? {} : { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '9' }).end();
  });
  const sink = registry.receiver.sink(path);
  const requests = () => registry.receiver.asked.filter((each) => each.path.startsWith(path));
  await subscriber.post('/v1/subscriptions').send({ sink, origin: dictionary, protocol: 'HTTP' }).expect(201);
  await registry.service.worker.drain();
  const { body } = await subscriber
    .post('/v1/subscriptions?dryrun=true&ask=true')
    .send({ sink: `${sink}?dry`, origin: dictionary, protocol: 'HTTP' });
  expect(body).toMatchObject({ attempt: { signature: { form: 'dictionary' } } });
  const keys = await keysOf(dictionary);
  for (const request of requests()) expect(await acceptedBy(received(request), keys)).toEqual(ofDictionaries);
  expect(new Set(requests().map(({ headers }) => headers['signature'])).size).toBe(requests().length);
  expect(requests().length).toBeGreaterThanOrEqual(3);
});

test('a handshake whose key was altered in the database is not sent, and the others are, which is logged once', async () => {
  const name = 'broken.example.com';
  await admin.post('/v1/origins').send({ name }).expect(201);
  await registry.sql(`update origin_key set privatekey = 'x' where origin = $1`, name);
  for (const path of ['/broken', '/broken/2']) {
    registry.receiver.consent(path);
    const request = { sink: registry.receiver.sink(path), origin: name, protocol: 'HTTP' };
    const { body } = await subscriber.post('/v1/subscriptions').set('Prefer', 'wait=1').send(request).expect(201);
    await registry.service.worker.drain();
    const { body: found } = await subscriber.get(`/v1/subscriptions/${body.id}`).expect(200);
    expect(found).toMatchObject({ status: 'pending', statusdetails: { code: 'secret_unavailable' } });
  }
  expect((await ask(dictionary, '/beside')).subscription).toMatchObject({ status: 'active' });
  expect(registry.receiver.asked.filter(({ path }) => path.startsWith('/broken'))).toEqual([]);
  expect(registry.logs.filter((line) => line.includes('no key decrypts this secret'))).toHaveLength(1);
});

test('a key that was revoked or has ended never signs', async () => {
  const name = 'rotated.example.com';
  await admin.post('/v1/origins').send({ name }).expect(201);
  const signedBy = async (path: string) => (await ask(name, path)).handshake.attempts[0].signature?.keyid;
  const [own] = (await keysOf(name)) as [PublicKey];
  expect(await signedBy('/rotated/1')).toBe(own.kid);
  await registry.sql(`update origin_key set revokedat = now() where origin = $1`, name);
  expect(await signedBy('/rotated/2')).toBeUndefined();
  await registry.sql(`update origin_key set revokedat = null, endsat = now() where origin = $1`, name);
  expect(await signedBy('/rotated/3')).toBeUndefined();
});
