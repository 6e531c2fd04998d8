import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import type { MatchResult, PrivateKey, Sender, SenderSettings } from '../../../src/kits/sender/index.js';
import { createGuardedClient } from '../../../src/kits/guard/index.js';
import { publicKeyOf } from '../../../src/signatures/keys.js';
import { fieldsOf } from '../../../src/signatures/message-signature.js';
import { verifyRequest } from '../../../src/signatures/request-signature.js';
import { makeSecret, verifyMessage } from '../../../src/signatures/standard-webhooks.js';
import { createAuthority, type Authority } from '../../support/certificates.js';
import { freePort } from '../../support/postgres.mjs';
import type { Client, Registry } from '../../support/registry.js';
import type { Relay } from '../../support/relay.js';
import { startSenders, type Senders } from '../../support/senders.js';
import { until } from '../../support/until.js';

let registry: Registry;
let senders: Senders;
let relay: Relay;
let admin: Client;
/** A webhook that accepts only clients of this PKI, and the names that they showed. */
let pki: Authority;
let privateServer: Server;
let privatePort: number;
const shown: string[] = [];
/** Its token has assent:sign. It reaches the registry through the relay. */
let sender: Sender;

const tokenWith = (...more: Array<'assent:sign'>) =>
  createToken(
    {
      tenant: 'gemeente',
      subscriber: 'mailroom',
      scopes: ['assent:deliver', 'assent:credentials', ...more],
      minutes: 60,
    },
    registry.env,
  );
const guard = () => ({
  allowedNetworks: ['127.0.0.1/32'],
  sinkPorts: [registry.receiver.port, privatePort],
  sinkCa: registry.receiver.ca,
});
async function start(settings: Partial<SenderSettings> = {}): Promise<Sender> {
  const token = () => tokenWith('assent:sign');
  const started = await senders.start({ registry: relay.url, token, guard: guard(), ...settings });
  await senders.untilCurrent(started);
  return started;
}

beforeAll(async () => {
  privatePort = await freePort();
  senders = await startSenders({ sinkPorts: [privatePort] });
  ({ registry, relay } = senders);
  pki = await createAuthority('Private PKI');
  const settings = { ...registry.receiver.certificate, ca: pki.cert, requestCert: true };
  privateServer = createServer(settings, (request, response) => {
    shown.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
    request.resume();
    response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
  }).listen(privatePort, '127.0.0.1');
  ({ admin } = senders.tenant);
  sender = await start();
});
// After a failed test, too.
afterEach(() => relay.mend());
afterAll(async () => {
  privateServer.closeAllConnections();
  privateServer.close();
  await senders.stop();
});

interface Posted {
  url: string;
  /** Names and values, as they are on the wire. */
  headers: Array<[string, string]>;
  body: Buffer;
}

let count = 0;
/** A webhook that agreed to get events of an origin of its own; it answers 204 after these. */
async function newWebhook(policy: object = {}, more: object = {}, answers: number[] = []) {
  const name = `signed-${(count += 1)}`;
  const origin = `${name}.example.com`;
  await admin
    .post('/v1/origins')
    .send({ name: origin, ...policy })
    .expect(201);
  registry.receiver.consent(`/${name}`, { rate: '*' });
  const sink = registry.receiver.sink(`/${name}?of=${name}`);
  await senders.tenant.register(sink, { origin, types: [name], ...more });
  const posted: Posted[] = [];
  registry.receiver.on(`/${name}`, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = request.rawHeaders.flatMap((text, at, all): Array<[string, string]> =>
      at % 2 === 0 ? [[text, all[at + 1] ?? '']] : [],
    );
    posted.push({ url: sink, headers, body: Buffer.concat(parts) });
    response.writeHead(answers.shift() ?? 204).end();
  });
  const event = { specversion: '1.0', id: name, source: 'urn:example:a', type: name, data: { a: 'é' } };
  await senders.untilCurrent(sender);
  return { origin, sink, posted, event };
}

const privateKeys = async (origin: string): Promise<Array<{ id: string; keyid: string; jwk: PrivateKey }>> => {
  const signer = await registry.as(['assent:deliver', 'assent:sign'], { subscriber: 'mailroom' });
  return (await signer.get(`/v1/origins/${origin}/private-keys`).expect(200)).body.keys;
};
const patch = (origin: string, policy: object) =>
  admin.patch(`/v1/origins/${origin}`).type('application/merge-patch+json').send(JSON.stringify(policy)).expect(200);
async function verify(origin: string, { url, headers, body }: Posted, known?: Awaited<ReturnType<typeof privateKeys>>) {
  const keys = known ?? (await privateKeys(origin));
  const keyOf = (keyid: string) => publicKeyOf(keys.find((key) => key.keyid === keyid)?.jwk);
  return verifyRequest({ method: 'POST', url, fieldOf: fieldsOf(headers) }, { keyOf, body, now: Date.now() / 1_000 });
}
const namesOf = ({ headers }: Posted) => headers.map(([name]) => name.toLowerCase());
const keyOf = (posted: Posted) => /;keyid="([^"]+)"/.exec(valueOf(posted, 'signature-input'))?.[1];
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
const makeKey = async (origin: string, body: object): Promise<{ id: string; keyid: string }> =>
  (await admin.post(`/v1/origins/${origin}/keys`).send(body).expect(201)).body;
const isSigned = (posted: Posted) => namesOf(posted).includes('signature');
const valueOf = ({ headers }: Posted, name: string) =>
  headers.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1] ?? '';
const deliver = (by: Sender, event: object, origin: string) => by.deliver(event, by.match(event, { origin }));
const delivered = [{ outcome: 'delivered' }];
const deliverOnce = (by: Sender, event: object, origin: string) =>
  by.deliver(event, by.match(event, { origin }), { attempts: 1 });
const withheld = [{ outcome: 'withheld', code: 'secret_unavailable', attempts: 0 }];
const faultsOf = (origin: string) => senders.faults.map(String).filter((text) => text.includes(origin));

test.each([
  ['structured', 'dictionary'],
  ['binary', 'string'],
])('each request of a delivery is signed anew over what is on the wire (%s, %s)', async (contentmode, signatures) => {
  const protocolsettings = { contentmode, headers: { 'X-Team': 'orders' } };
  const { origin, posted, event } = await newWebhook({ signatures }, { protocolsettings }, [500]);
  expect(await deliver(sender, event, origin)).toMatchObject([{ outcome: 'delivered', attempts: 2 }]);
  const verified = await Promise.all(posted.map((each) => verify(origin, each)));
  expect(verified).toMatchObject([{ ok: true }, { ok: true }]);
  const nonces = verified.map((each) => each.ok && each.signature.nonce);
  expect(new Set(nonces).size).toBe(2);
  const [first] = posted as [Posted];
  expect(valueOf(first, 'signature-agent').startsWith('sig1=')).toBe(signatures === 'dictionary');
  const body = Buffer.from(String(first.body).replace('é', 'e'));
  expect(await verify(origin, { ...first, body })).toMatchObject({ fault: 'digest_mismatch' });
  const headers = first.headers.map(([name, value]): [string, string] =>
    name === 'WebHook-Request-Origin' ? [name, 'other.example.com'] : [name, value],
  );
  expect(await verify(origin, { ...first, headers })).toMatchObject({ fault: 'signature_invalid' });
});

test('deliveries of an origin without signatures, and by a sender that turned them off, are not signed', async () => {
  const off = await newWebhook({ signatures: 'off' });
  expect(await deliver(sender, off.event, off.origin)).toMatchObject(delivered);
  const { origin, posted, event } = await newWebhook();
  const silent = await start({ signing: false });
  expect(await deliver(silent, event, origin)).toMatchObject(delivered);
  expect([...off.posted, ...posted].map(isSigned)).toEqual([false, false]);
  await patch(off.origin, { signatures: 'dictionary' });
  await senders.untilCurrent(sender);
  await deliver(sender, off.event, off.origin);
  expect(await verify(off.origin, off.posted[1]!)).toMatchObject({ ok: true });
});

test('a token without assent:sign sends unsigned, which is no fault', async () => {
  const { origin, posted, event } = await newWebhook();
  const plain = await start({ token: () => tokenWith() });
  for (const _ of [1, 2]) expect(await deliver(plain, event, origin)).toMatchObject(delivered);
  expect(posted.map(isSigned)).toEqual([false, false]);
  expect(faultsOf(origin)).toEqual([]);
});

test('a key of its own signs for the origins that list it, and the registry is not asked for keys', async () => {
  const { origin, posted, event } = await newWebhook();
  const other = await newWebhook();
  const [key] = await privateKeys(origin);
  const agent = { url: 'https://keys.example.com/set', type: 'jwks_uri' as const };
  const own = await start({ token: () => tokenWith(), signing: { key: key!.jwk, agent } });
  expect(await deliver(own, event, origin)).toMatchObject(delivered);
  expect(await verify(origin, posted[0]!)).toMatchObject({ ok: true, signature: { keyid: key!.keyid, agent } });
  // The registry lists another key there, so this one proves nothing.
  for (const _ of [1, 2]) expect(await deliverOnce(own, other.event, other.origin)).toMatchObject(withheld);
  expect(other.posted).toEqual([]);
  expect(faultsOf(other.origin)).toHaveLength(1);
  const read = await registry.sql(`select 1 from audit where action = 'origin.keys_read'`);
  const asked = await start({ signing: { key: async (name) => (name === origin ? key!.jwk : undefined) } });
  await deliver(asked, event, origin);
  // The host says that this sender has none there.
  expect(await deliver(asked, other.event, other.origin)).toMatchObject(delivered);
  expect(other.posted.map(isSigned)).toEqual([false]);
  expect(await registry.sql(`select 1 from audit where action = 'origin.keys_read'`)).toHaveLength(read.length);
  expect(await verify(origin, posted[1]!)).toMatchObject({ ok: true });
});

test('while the registry is unreachable, known keys sign on; without keys, a delivery is withheld until they are here', async () => {
  const [known, unknown, off] = [await newWebhook(), await newWebhook(), await newWebhook({ signatures: 'off' })];
  await deliver(sender, known.event, known.origin);
  relay.cut();
  for (const { event, origin } of [known, off]) {
    expect(await deliver(sender, event, origin)).toMatchObject(delivered);
  }
  expect(await verify(known.origin, known.posted[1]!)).toMatchObject({ ok: true });
  for (const _ of [1, 2]) expect(await deliverOnce(sender, unknown.event, unknown.origin)).toMatchObject(withheld);
  const [to] = sender.match(unknown.event, { origin: unknown.origin }).sinks;
  const signing = sender.signedDeliveryOf(unknown.event, unknown.origin, to!);
  await expect(signing).rejects.toMatchObject({ code: 'secret_unavailable' });
  expect(unknown.posted).toEqual([]);
  expect(faultsOf(`keys of ${unknown.origin}`)).toHaveLength(1);
  // One that may wait goes on by itself.
  const waiting = deliver(sender, unknown.event, unknown.origin);
  relay.mend();
  expect(await waiting).toMatchObject([{ outcome: 'delivered', attempts: 1 }]);
  expect(await verify(unknown.origin, unknown.posted[0]!)).toMatchObject({ ok: true });
});

test('a registry that takes longer than two seconds for the keys gets no delivery sent unsigned', async () => {
  const { origin, posted, event } = await newWebhook();
  const slow = await start();
  relay.loseAnswers();
  expect(await deliverOnce(slow, event, origin)).toMatchObject(withheld);
  relay.mend();
  expect(await deliver(slow, event, origin)).toMatchObject(delivered);
  expect(posted.map(isSigned)).toEqual([true]);
});

test('each signing secret of a match signs (Standard Webhooks), with one id for all requests of an event to a sink', async () => {
  const { origin, sink, posted, event } = await newWebhook({}, {}, [500]);
  const { sinks } = sender.match(event, { origin });
  const signingsecrets = [makeSecret(), makeSecret()];
  const matchOf = (more: object): Pick<MatchResult, 'origin' | 'sinks'> => ({
    origin,
    sinks: [{ ...sinks[0]!, hassigningsecret: true, signingsecrets, ...more }],
  });
  const future = new Date(Date.now() + 60_000).toISOString();
  expect(await sender.deliver(event, matchOf({ signingoverlapuntil: future }))).toMatchObject(delivered);
  const isSecretOf = async (secret: string, { headers, body }: Posted) =>
    (await verifyMessage(fieldsOf(headers), body, [secret], Date.now() / 1_000)).ok;
  for (const each of posted) {
    for (const secret of signingsecrets) expect(await isSecretOf(secret, each)).toBe(true);
    expect(await isSecretOf(makeSecret(), each)).toBe(false);
    expect(await verify(origin, each)).toMatchObject({ ok: true });
  }
  await sender.deliver({ ...event, id: 'another.id' }, matchOf({ signingoverlapuntil: '2026-01-01T00:00:00Z' }));
  const past = posted[2]!;
  expect(await Promise.all(signingsecrets.map((secret) => isSecretOf(secret, past)))).toEqual([true, false]);
  const ids = posted.map((each) => valueOf(each, 'webhook-id'));
  expect(ids).toEqual([ids[0], ids[0], expect.not.stringMatching(ids[0]!)]);
  expect(ids.join('')).not.toContain('.');
  // Without its secrets, the webhook gets nothing, and the host is informed once.
  const without = { origin, sinks: [{ ...sinks[0]!, hassigningsecret: true as const }] };
  for (const _ of [1, 2]) {
    expect(await sender.deliver(event, without)).toMatchObject([{ sink, outcome: 'withheld', attempts: 0 }]);
  }
  expect(posted).toHaveLength(3);
  expect(senders.faults.map(String).filter((text) => text.includes(sink))).toHaveLength(1);
});

test('keys are rotated while events are delivered: each delivery is signed, and with the key of that time', async () => {
  const { origin, posted, event } = await newWebhook();
  const results: string[] = [];
  let isOver = false;
  const delivering = (async () => {
    while (!isOver) {
      results.push(...(await deliver(sender, event, origin)).map(({ outcome }) => outcome));
      await sleep(10);
    }
  })();
  const expected = [(await privateKeys(origin))[0]!.keyid];
  await until(() => posted.length > 0);
  for (const _ of [1, 2, 3]) {
    const { keyid } = await makeKey(origin, { startsat: inSeconds(1), overlapseconds: 600 });
    expected.push(keyid);
    await until(() => keyOf(posted.at(-1)!) === keyid);
  }
  isOver = true;
  await delivering;
  expect(new Set(results)).toEqual(new Set(['delivered']));
  const keys = await privateKeys(origin);
  const verified = await Promise.all(posted.map((each) => verify(origin, each, keys)));
  expect(verified.filter(({ ok }) => !ok)).toEqual([]);
  expect(posted.map(keyOf).filter((keyid, place, all) => keyid !== all[place - 1])).toEqual(expected);
});

test('a revoked key signs nothing once the feed reports it, and without another key deliveries go unsigned', async () => {
  const { origin, posted, event } = await newWebhook();
  const [first] = await privateKeys(origin);
  const second = await makeKey(origin, { startsat: inSeconds(-1) });
  await senders.untilCurrent(sender);
  await deliver(sender, event, origin);
  for (const id of [second.id, first!.id]) {
    await admin.post(`/v1/origins/${origin}/keys/${id}/revoke`).expect(200);
    await senders.untilCurrent(sender);
    for (const _ of [1, 2]) expect(await deliver(sender, event, origin)).toMatchObject(delivered);
  }
  expect(posted.map(keyOf)).toEqual([second.keyid, first!.keyid, first!.keyid, undefined, undefined]);
  expect(faultsOf(origin)).toHaveLength(1);
});

test('webhooks that accept only clients of a private PKI get the certificate of the origin, or that of the settings', async () => {
  const origin = 'private.example.com';
  await admin.post('/v1/origins').send({ name: origin, callback: 'never' }).expect(201);
  const [{ cert: certificate, key: privatekey }, other] = [
    await pki.issueClient(origin),
    await pki.issueClient('other'),
  ];
  await admin.put(`/v1/origins/${origin}/client-certificate`).send({ certificate, privatekey }).expect(200);
  const sink = `https://localhost:${privatePort}/private`;
  await senders.tenant.register(sink, { origin, types: ['private'] });
  shown.length = 0;
  await senders.untilCurrent(sender);
  const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'private' };
  expect(await deliver(sender, event, origin)).toMatchObject(delivered);
  const clientCertificate = { certificate: other.cert, privateKey: other.key };
  const own = await start({ token: () => tokenWith(), clientCertificate });
  expect(await deliver(own, event, origin)).toMatchObject(delivered);
  await admin.delete(`/v1/origins/${origin}/client-certificate`).expect(200);
  await senders.untilCurrent(sender);
  await until(async () => {
    const [to] = sender.match(event, { origin }).sinks;
    return !('clientCertificate' in (await sender.signedDeliveryOf(event, origin, to!)));
  });
  expect(shown).toEqual([origin, 'other']);
});

test('who sends with another client gets the same signatures', async () => {
  const { origin, posted, event } = await newWebhook();
  const [to] = sender.match(event, { origin }).sinks;
  const client = createGuardedClient(guard());
  expect(await client.post(await sender.signedDeliveryOf(event, origin.toUpperCase(), to!))).toMatchObject({
    status: 204,
  });
  client.close();
  expect(await verify(origin, posted[0]!)).toMatchObject({ ok: true });
  await expect(sender.signedDeliveryOf(event, origin, { ...to!, hassigningsecret: true })).rejects.toThrow(/secret/);
});
