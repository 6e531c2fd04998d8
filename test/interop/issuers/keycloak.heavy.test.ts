import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parsePage, readPage } from '../../docs/markdown.js';
import { runCommand } from '../../support/command.js';
import { sha256, startEgress } from '../../support/egress.js';
import { install, type Installed, type Missing } from '../../support/foreign-tools.js';
import { noticeOrigin, notifyOnce, subscribeToNotices } from '../../support/notices.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { run, type Running } from '../senders/broker.js';

/** Keycloak, set up as docs/operate/tokens.md says, and the settings that this page gives for it. */
const page = readPage('docs/operate/tokens.md');
const settings = parsePage(page).fences.find(({ text }) => text.includes('keycloak.example.com'))?.text ?? '';
const version = '26.2.5';
const secret = 'the-secret-of-the-shop';
const scopes = ['assent:deliver', 'assent:credentials', 'assent:sign'];

let keycloak: Installed | Missing;
let server: Running;
let url: string;
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  keycloak = await install({
    name: 'Keycloak',
    folder: fileURLToPath(new URL('.', import.meta.url)),
    tool: ['mvn', '--version'],
    install: [
      ...'mvn -q -B -Dmaven.repo.local=repository dependency:unpack -DoutputDirectory=.'.split(' '),
      `-Dartifact=org.keycloak:keycloak-quarkus-dist:${version}:zip`,
    ],
  });
  if ('missing' in keycloak) return;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const program = join(keycloak.folder, `keycloak-${version}/bin/kc.sh`);
  server = await run(['sh', program, 'start-dev', '--http-host=127.0.0.1', `--http-port=${port}`], {
    folder: keycloak.folder,
    env: { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin' },
  });
  // It builds itself first, which takes a busy machine minutes.
  while (!server.output().includes('Listening on:')) {
    if (server.child.exitCode !== null) throw new Error(server.output());
    await sleep(100);
  }
  await setUp();
  const issuers = settings.replaceAll('https://keycloak.example.com', url);
  registry = await startRegistry({ env: { ASSENT_ISSUERS: issuers, ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(registry);
  await tenant.admin.post('/v1/origins').send({ name: noticeOrigin }).expect(201);
});
afterAll(async () => {
  await registry?.stop();
  await server?.stop();
  if ('remove' in keycloak) await keycloak.remove();
});

/** What the page says under "There", and a client with a service account for each program. */
async function setUp(): Promise<void> {
  const login = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' };
  const endpoint = `${url}/realms/master/protocol/openid-connect/token`;
  const granted = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(login) });
  const { access_token: token } = (await granted.json()) as { access_token: string };
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? response.headers.get('Location')?.split('/').at(-1) : JSON.parse(text);
  };
  await ask('POST', '', { realm: 'gemeente', enabled: true });
  const assent = await ask('POST', '/gemeente/clients', { clientId: 'assent' });
  for (const name of scopes) await ask('POST', `/gemeente/clients/${assent}/roles`, { name });
  const roles = await ask('GET', `/gemeente/clients/${assent}/roles`);
  for (const clientId of ['assent-egress', 'assent-notify']) {
    const program = { clientId, secret, serviceAccountsEnabled: true, standardFlowEnabled: false };
    const id = await ask('POST', '/gemeente/clients', program);
    const { id: user } = await ask('GET', `/gemeente/clients/${id}/service-account-user`);
    await ask('POST', `/gemeente/users/${user}/role-mappings/clients/${assent}`, roles);
  }
}

const tokenOf = (prefix: 'EGRESS' | 'NOTIFY') => ({
  [`${prefix}_TOKEN_URL`]: `${url}/realms/gemeente/protocol/openid-connect/token`,
  [`${prefix}_CLIENT_ID`]: `assent-${prefix.toLowerCase()}`,
  [`${prefix}_CLIENT_SECRET`]: secret,
});

test('with the settings of the page and no other, egress delivers and notify sends notices', async () => {
  if ('missing' in keycloak) return console.warn(`Skipped: ${keycloak.missing}`);
  const [, recipe = ''] = /^### Keycloak$([^]*?)^### /m.exec(page) ?? [];
  expect(recipe).toContain('`EGRESS_TOKEN_SCOPE` and `NOTIFY_TOKEN_SCOPE`: set, and empty.');
  registry.receiver.consent('/events', { rate: '*' });
  const sink = registry.receiver.sink('/events');
  const { id } = await tenant.register(sink);
  registry.receiver.on('/events', (_request, response) => response.writeHead(204).end());
  await subscribeToNotices(registry, tenant.subscriber, '/notices');
  expect(await notifyOnce(registry, tenant.subscriber, id, { ...tokenOf('NOTIFY'), NOTIFY_TOKEN_SCOPE: '' })).toBe(0);

  const callers = [{ name: 'shop', origins: [tenant.origin], secret: sha256(secret) }];
  const egress = await startEgress(registry, { callers, env: { ...tokenOf('EGRESS'), EGRESS_TOKEN_SCOPE: '' } });
  const posted = await egress.postUntil(({ denial }) => denial === undefined, sink, { secret });
  expect(posted).toMatchObject({ status: 204, code: 'delivered' });
  expect(await egress.stop()).toBe(0);
});

test('doctor says what Keycloak says to a scope that it does not know, and takes what it gives beside a token', async () => {
  if ('missing' in keycloak) return console.warn(`Skipped: ${keycloak.missing}`);
  const doctor = async (env: NodeJS.ProcessEnv) => (await runCommand(['doctor'], { env })).stdout;
  const env = tokenOf('EGRESS');
  expect(await doctor(env)).toMatch(
    /^FAIL +egress token +The token endpoint returned 400 invalid_scope: Invalid scopes: /m,
  );
  expect(await doctor({ ...env, EGRESS_CLIENT_SECRET: 'wrong' })).toMatch(/^FAIL +egress token +.* returned 401 /m);
  // An ID token comes with it, which is for no one here.
  expect(await doctor({ ...env, EGRESS_TOKEN_SCOPE: 'openid' })).toMatch(/^ok +egress token /m);
});
