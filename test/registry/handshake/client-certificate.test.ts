import { createServer, type Server } from 'node:https';
import { generateKeyPairSync } from 'node:crypto';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { createAuthority, expired, type Authority, type KeyPair } from '../../support/certificates.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/** A private PKI, as those of governments: webhooks accept only clients with a certificate of it. */
let pki: Authority;
let clients: Authority;
let registry: Registry;
let admin: Client;
let stranger: Client;
let signer: Client;
const servers: Server[] = [];
const ports: Record<string, number> = {};
const shown: string[] = [];

beforeAll(async () => {
  pki = await createAuthority('Private PKI');
  clients = await pki.authorize('Clients of the private PKI');
  ports['TLSv1.2'] = await freePort();
  ports['TLSv1.3'] = await freePort();
  registry = await startRegistry({ sinkPorts: Object.values(ports), env: { ASSENT_HANDSHAKE_ATTEMPTS: '1' } });
  for (const [version, port] of Object.entries(ports)) {
    const settings = { ...registry.receiver.certificate, ca: pki.cert, requestCert: true, rejectUnauthorized: true };
    const versions = { minVersion: version as SecureVersion, maxVersion: version as SecureVersion };
    const server = createServer({ ...settings, ...versions }, (request, response) => {
      shown.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
      response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '9' }).end();
    });
    servers.push(server.listen(port, '127.0.0.1'));
  }
  admin = await registry.as(['assent:admin', 'assent:subscribe']);
  stranger = await registry.as('assent:admin', { tenant: 'other' });
  signer = await registry.as(['assent:deliver', 'assent:sign']);
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await registry.stop();
});

const bodyOf = ({ cert, key }: KeyPair) => ({ certificate: cert, privatekey: key });
const put = (origin: string, pair: KeyPair) => admin.put(`/v1/origins/${origin}/client-certificate`).send(bodyOf(pair));

async function makeOrigin(name: string) {
  await admin.post('/v1/origins').send({ name, callback: 'never' }).expect(201);
  return name;
}

async function ask(origin: string, version: string, path: string) {
  const sink = `https://localhost:${ports[version]}${path}`;
  const { body } = await admin.post('/v1/subscriptions').send({ sink, origin, protocol: 'HTTP' }).expect(201);
  const { body: handshakes } = await admin.get(`/v1/subscriptions/${body.id}/handshakes`).expect(200);
  const { verdict, message, evidence } = handshakes[0].attempts[0];
  return { verdict, message, evidence };
}

describe.each(['TLSv1.2', 'TLSv1.3'])(
  'a webhook that accepts only certificates of a private PKI, in %s,',
  (version) => {
    const origin = `${version.toLowerCase().replace('.', '-')}.example.com`;

    test('is asked with that of the origin; without one, the verdict says that none is set', async () => {
      await makeOrigin(origin);
      expect(await ask(origin, version, '/none')).toEqual({
        verdict: 'client_certificate_required',
        message: expect.stringContaining('none is set for the origin'),
        evidence: expect.stringMatching(/^none set \(/),
      });
      const { body } = await put(origin, await clients.issueClient(origin)).expect(200);
      expect(await ask(origin, version, '/good')).toMatchObject({ verdict: 'granted_any_origin' });
      expect(shown.at(-1)).toBe(origin);
      expect((await admin.get(`/v1/origins/${origin}`).expect(200)).body.clientcertificate).toEqual(body);
    });

    test('and refuses one of another PKI, or one that has expired: the verdict names it', async () => {
      const foreign = await (await createAuthority('Another PKI')).issueClient(origin);
      const { body } = await put(origin, foreign).expect(200);
      const evidence = (state: string) => expect.stringContaining(`${body.fingerprint} ${state} (`);
      expect(await ask(origin, version, '/foreign')).toEqual({
        verdict: 'client_certificate_required',
        message: expect.stringContaining(
          `did not accept the client certificate of the origin (SHA-256 ${body.fingerprint})`,
        ),
        evidence: evidence('not accepted'),
      });
      await registry.sql(`update client_certificate set endsat = now() - interval '1 hour' where origin = $1`, origin);
      expect(await ask(origin, version, '/ended')).toEqual({
        verdict: 'client_certificate_required',
        message: expect.stringContaining('has expired'),
        evidence: evidence('ended'),
      });
    });
  },
);

test('a key never comes back but with the private keys of the origin, and is sealed', async () => {
  const origin = await makeOrigin('sealed.example.com');
  const pair = await clients.issueClient(origin);
  const { body } = await put(origin, pair).expect(200);
  expect(body).toEqual({
    fingerprint: expect.stringMatching(/^[0-9A-F:]{95}$/),
    subject: `CN=${origin}`,
    issuer: 'CN=Clients of the private PKI',
    startsat: expect.any(String),
    endsat: expect.any(String),
  });
  const secret = pair.key.split('\n')[1] as string;
  const { body: read } = await signer.get(`/v1/origins/${origin}/private-keys`).expect(200);
  expect(read.clientcertificate.privatekey).toContain(secret);
  expect(read.clientcertificate).toMatchObject({ certificate: pair.cert, endsat: body.endsat });
  const audits = (await admin.get(`/v1/audit`).expect(200)).body;
  const list = (await admin.get('/v1/origins').expect(200)).body;
  const [row] = await registry.sql<{ privatekey: string }>(
    'select privatekey from client_certificate where origin = $1',
    origin,
  );
  for (const text of [JSON.stringify([audits, list]), row?.privatekey, ...registry.logs])
    expect(text).not.toContain(secret);
  expect(JSON.stringify(audits)).toContain(body.fingerprint);

  await stranger.put(`/v1/origins/${origin}/client-certificate`).send(bodyOf(pair)).expect(404);
  await stranger.delete(`/v1/origins/${origin}/client-certificate`).expect(404);
  await signer.put(`/v1/origins/${origin}/client-certificate`).send(bodyOf(pair)).expect(403);
  expect((await admin.delete(`/v1/origins/${origin}/client-certificate`).expect(200)).body).toEqual(body);
  await admin.delete(`/v1/origins/${origin}/client-certificate`).expect(404);
  expect((await admin.get(`/v1/origins/${origin}`).expect(200)).body).not.toHaveProperty('clientcertificate');
});

test('a certificate that expires within 30 days is an alert for admins, and the metric counts down', async () => {
  const origin = await makeOrigin('expiring.example.com');
  const { body } = await put(origin, await clients.issueClient(origin)).expect(200);
  await registry.sql(`update client_certificate set endsat = now() + interval '31 days' where origin = $1`, origin);
  const alerts = async (of: Client) =>
    (await of.get('/v1/overview').expect(200)).body.alerts.filter(({ message }: { message: string }) =>
      message.includes(origin),
    );
  expect(await alerts(admin)).toEqual([]);
  await registry.sql(`update client_certificate set endsat = now() + interval '29 days' where origin = $1`, origin);
  expect(await alerts(admin)).toEqual([
    { code: 'client_certificate_expires', message: expect.stringContaining(body.fingerprint) },
  ]);
  expect(await alerts(stranger)).toEqual([]);
  expect(await alerts(await registry.as('assent:subscribe'))).toEqual([]);
  await registry.sql(`delete from client_certificate where origin <> $1`, origin);
  await registry.service.forget();
  const { text } = await supertest(registry.operationsUrl).get('/metrics');
  const [, seconds] = /^assent_client_certificate_expiry_seconds (\S+)$/m.exec(text) ?? [];
  expect(Number(seconds) / 86_400).toBeCloseTo(29, 1);
  expect(registry.logs.join('')).toContain('a client certificate expires soon');
});

test('what could not be shown to a webhook is refused, with its place and its reason', async () => {
  const origin = await makeOrigin('checked.example.com');
  const good = await clients.issueClient(origin);
  const other = await clients.issueClient('other');
  const { privateKey } = generateKeyPairSync('ed25519');
  const encrypted = privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString();
  const refused: Array<[string, string, KeyPair]> = [
    ['/certificate', 'certificate_malformed', { ...good, cert: 'none' }],
    ['/certificate', 'certificate_malformed', { ...good, cert: good.cert.replace(/MII/, 'MIX') }],
    ['/certificate', 'certificate_malformed', { ...good, cert: Array(11).fill(pki.cert).join('\n') }],
    ['/privatekey', 'certificate_key', { ...good, key: 'none' }],
    ['/privatekey', 'certificate_key', { ...good, key: encrypted }],
    ['/privatekey', 'certificate_key', { ...good, key: other.key }],
    ['/certificate', 'certificate_chain', { ...good, cert: `${good.cert}\n${other.cert}` }],
    ['/certificate', 'certificate_ended', await clients.issueClient(origin, expired)],
    ['/certificate', 'certificate_purpose', await clients.issue([origin])],
    ['/certificate', 'certificate_purpose', pki],
  ];
  for (const [pointer, rule, pair] of refused) {
    const { body } = await put(origin, pair).expect(400);
    expect(body.faults).toEqual([expect.objectContaining({ pointer, rule })]);
  }
});
