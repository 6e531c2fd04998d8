import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import supertest from 'supertest';
import { createWebhook } from '../../../src/kits/webhook/index.js';
import { isThere } from '../../registry/gateways/gateways.js';
import { runCommand } from '../../support/command.js';
import { newSigningKey, signed, type SigningKey } from '../../support/jwks-server.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createSigner, type Signer } from '../../support/signer.js';
import { until } from '../../support/until.js';

/** nginx as a bucket or a CDN that keeps documents compressed alone, and sends them so whatever a client accepts. */
const describeIf = isThere(['nginx', '-v']) ? describe : describe.skip;
const user = process.getuid?.() === 0 ? 'user root;' : '';
const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '));
const codings: Array<[string, (body: string) => Buffer]> = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
];

describeIf('a document that nginx compresses unasked', () => {
  let folder: string;
  let nginx: ChildProcess;
  let registry: Registry;
  let admin: Client;
  let places: { plain: string; secure: string };
  let key: SigningKey;
  let signer: Signer;

  const issuerOf = (name: string) => `https://${name}.issuer.example`;
  const settingsOf = (...names: string[]) =>
    JSON.stringify(
      names.map((name) => ({ issuer: issuerOf(name), audience: 'assent', jwks: `${places.plain}/${name}/issuer` })),
    );

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'assent-documents-'));
    [key, signer] = [await newSigningKey('first'), await createSigner()];
    const files = { issuer: { keys: [key.publicJwk] }, origin: { keys: [signer.public] } };
    const [plain, secure] = [await freePort(), await freePort()];
    places = { plain: `http://127.0.0.1:${plain}`, secure: `https://localhost:${secure}` };
    const names = [...codings.map(([name]) => name), 'zstd', 'bomb'];
    registry = await startRegistry({ sinkPorts: [secure], env: { ASSENT_ISSUERS: settingsOf(...names) } });
    admin = await registry.as('assent:admin');
    for (const directory of ['temp', ...names]) await mkdir(join(folder, directory));
    for (const [file, document] of Object.entries(files)) {
      const body = JSON.stringify(document);
      for (const [name, compress] of codings) {
        await writeFile(join(folder, name, name === 'gzip' ? `${file}.gz` : file), compress(body));
      }
      // No more than the name: nothing of it is read.
      await writeFile(join(folder, 'zstd', file), body);
      await writeFile(join(folder, 'bomb', `${file}.gz`), bomb);
    }
    const { cert, key: privateKey } = registry.receiver.certificate;
    await writeFile(join(folder, 'cert.pem'), cert);
    await writeFile(join(folder, 'key.pem'), privateKey);
    await writeFile(
      join(folder, 'nginx.conf'),
      `${user} daemon off; pid nginx.pid; error_log stderr warn; events {}
http {
  client_body_temp_path temp/body; proxy_temp_path temp/proxy; fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi; scgi_temp_path temp/scgi; access_log off;
  server {
    listen 127.0.0.1:${plain};
    listen 127.0.0.1:${secure} ssl;
    ssl_certificate cert.pem; ssl_certificate_key key.pem;
    root ${folder}; default_type application/jwk-set+json; gzip_static always;
    location /deflate { add_header Content-Encoding deflate; }
    location /br { add_header Content-Encoding br; }
    location /zstd { add_header Content-Encoding zstd; }
  }
}
`,
    );
    nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', 'nginx.conf'], { stdio: 'inherit' });
    await until(async () => (await fetch(`${places.plain}/zstd/issuer`).catch(() => undefined))?.ok === true);
  });
  afterAll(async () => {
    const ended = once(nginx, 'exit');
    nginx.kill();
    await ended;
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The response to a token of an issuer. */
  async function whoami(name: string) {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuerOf(name),
      aud: 'assent',
      tenant: 'gemeente',
      client_id: 'zaaksysteem',
      scope: 'assent:admin',
      iat: now,
    };
    const token = await signed(key, { ...claims, exp: now + 600 });
    return supertest(registry.url).get('/v1/whoami').set('Authorization', `Bearer ${token}`);
  }
  const doctor = async (name: string) => {
    const env = { ASSENT_DATA: folder, ASSENT_ISSUERS: settingsOf(name) };
    const { code, stdout } = await runCommand(['doctor'], { env });
    return [code, stdout.trimEnd().split('\n').at(-1)];
  };
  let count = 0;
  async function addSet(name: string) {
    const origin = `documents-${(count += 1)}.example.com`;
    await admin.post('/v1/origins').send({ name: origin, isdefault: false }).expect(201);
    return admin.post(`/v1/origins/${origin}/keys`).send({ jwksuri: `${places.secure}/${name}/origin` });
  }
  /** What a webhook that reads the keys there says to a signed handshake, and what it logs. */
  async function handshake(name: string) {
    const faults: string[] = [];
    const [url, origin] = ['https://webhook.example.com/events', 'eventemitter.example.com'];
    const webhook = createWebhook({
      origins: [origin],
      rate: '*',
      receive: () => undefined,
      onFault: (error) => faults.push((error as Error).message),
      verify: { url, keys: `${places.secure}/${name}/origin`, networks: ['127.0.0.0/8'], ca: registry.receiver.ca },
    });
    const headers = await signer.sign({ method: 'OPTIONS', url, headers: { 'WebHook-Request-Origin': origin } });
    const { status } = await webhook.fetch(new Request(url, { method: 'OPTIONS', headers }));
    return { status, faults };
  }
  const outage = (name: string) => registry.logs.find((line) => line.includes(`"issuer":"${issuerOf(name)}"`));

  test.each(codings.map(([name]) => name))(
    'is read like any other: %s, of an issuer, at a jwksuri, in a webhook and by doctor',
    async (name) => {
      expect((await whoami(name)).status).toBe(200);
      expect((await addSet(name)).body).toMatchObject({ kind: 'jwks', keys: [signer.public] });
      expect(await handshake(name)).toEqual({ status: 200, faults: [] });
      expect(await doctor(name)).toEqual([0, `ok    issuer        ${issuerOf(name)} has 1 key.`]);
    },
  );

  test('in a coding that Assent does not read is refused with the name of the coding', async () => {
    expect((await whoami('zstd')).body.code).toBe('keys_unavailable');
    expect(outage('zstd')).toContain('Content-Encoding: zstd');
    expect((await addSet('zstd')).body.faults[0].detail).toContain('content_encoding_zstd');
    expect(await handshake('zstd')).toEqual({
      status: 503,
      faults: [expect.stringContaining('Content-Encoding: zstd')],
    });
    expect(await doctor('zstd')).toEqual([1, expect.stringContaining('Content-Encoding: zstd')]);
  });

  test('that would unpack into more than a document may have is refused at that size', async () => {
    expect((await whoami('bomb')).body.code).toBe('keys_unavailable');
    expect(outage('bomb')).toContain('cannot be unpacked into 262144 bytes');
    expect((await addSet('bomb')).body.faults[0].detail).toContain('body_unusable');
    expect(await handshake('bomb')).toEqual({ status: 503, faults: [expect.stringContaining('cannot be unpacked')] });
    expect(await doctor('bomb')).toEqual([1, expect.stringContaining('cannot be unpacked into 262144 bytes')]);
  });
});
