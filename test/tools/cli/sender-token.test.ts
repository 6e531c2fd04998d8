import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCommand } from '../../support/command.js';
import { sha256, startEgress, type EgressStart } from '../../support/egress.js';
import { openIssuer, type TestIssuer } from '../../support/issuer.js';
import { noticeOrigin, notifyOnce, subscribeToNotices } from '../../support/notices.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

// Tokens of `assent egress` and `assent notify` from real issuers. They grant roles and know no scope of ours, as Keycloak
// does; one of them wants to be asked for the audience, and the secret in the body.

const secret = 'the-secret-of-the-shop';
const clientSecret = 'a secret: with + and %';
const roles = ['assent:deliver', 'assent:credentials', 'assent:sign'];
const programs = [
  { id: 'assent-egress', secret: clientSecret, roles },
  { id: 'assent-notify', secret: clientSecret, roles },
];
let issuer: TestIssuer;
let strict: TestIssuer;
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  [issuer, strict] = [await openIssuer(), await openIssuer()];
  await issuer.start({ programs });
  const issuers = [issuer, strict].map(({ url, audience }) => ({
    issuer: url,
    audience,
    jwks: `${url}/jwks`,
    algorithms: ['ES256'],
    scopeclaims: ['roles'],
  }));
  registry = await startRegistry({
    env: { ASSENT_FEED_HEARTBEAT_SECONDS: '1', ASSENT_ISSUERS: JSON.stringify(issuers) },
  });
  tenant = await createTenant(registry);
  await tenant.admin.post('/v1/origins').send({ name: noticeOrigin }).expect(201);
});
afterAll(async () => {
  await registry.stop();
  await Promise.all([issuer.stop(), strict.stop()]);
});

const tokenOf = (prefix: 'EGRESS' | 'NOTIFY', { url }: TestIssuer, more: Record<string, string> = {}) => ({
  [`${prefix}_TOKEN_URL`]: `${url}/token`,
  [`${prefix}_CLIENT_ID`]: `assent-${prefix.toLowerCase()}`,
  [`${prefix}_CLIENT_SECRET`]: clientSecret,
  ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`${prefix}_${name}`, value])),
});
const egressWith = (start: EgressStart) =>
  startEgress(registry, { callers: [{ name: 'shop', origins: [tenant.origin], secret: sha256(secret) }], ...start });

/** The sink of a subscription, with its id. */
async function register(name: string): Promise<{ id: string; sink: string }> {
  const sink = registry.receiver.sink(`/${name}`);
  registry.receiver.consent(`/${name}`, { rate: '*' });
  return { id: (await tenant.register(sink)).id, sink };
}

test('egress delivers with roles of an issuer that refuses our scopes, if its setting asks for none', async () => {
  const egress = await egressWith({ env: tokenOf('EGRESS', issuer, { TOKEN_SCOPE: '' }) });
  const { sink } = await register('roles');
  registry.receiver.on('/roles', (_request, response) => response.writeHead(204).end());
  expect(await egress.postUntil(({ status }) => status !== 403, sink, { secret })).toMatchObject({ code: 'delivered' });
  expect(await (await fetch(`${egress.operationsUrl}/readyz`)).json()).toMatchObject({ checks: { token: 'ok' } });
  expect(await egress.stop()).toBe(0);
});

test('notify sends notices with roles of an issuer that refuses our scopes, if its setting asks for none', async () => {
  await subscribeToNotices(registry, tenant.subscriber, '/notices');
  const { id } = await register('watched');
  const env = tokenOf('NOTIFY', issuer, { TOKEN_SCOPE: '' });
  expect(await notifyOnce(registry, tenant.subscriber, id, env)).toBe(0);
});

test('without a token, the log, /readyz, each caller and doctor say so, with the words of the issuer where they belong', async () => {
  const said = 'The token endpoint returned 400 invalid_scope: requested scope is not allowed';
  const env = tokenOf('EGRESS', issuer);
  const egress = await egressWith({ env, isWaiting: true });
  await until(() => egress.stdout.includes(said));
  const readyz = await fetch(`${egress.operationsUrl}/readyz`);
  expect([readyz.status, await readyz.json()]).toEqual([
    503,
    { status: 'not ready', checks: { process: 'ok', token: said, index: 'loading', registry: 'unknown' } },
  ]);
  const refused = await egress.post('https://webhook.example.com/', { secret });
  expect(refused).toMatchObject({ status: 503, code: 'token_unavailable', headers: { 'retry-after': '5' } });
  expect(refused.body.toString()).not.toContain('invalid_scope');
  expect(egress.stdout).not.toContain(clientSecret);
  expect(await egress.stop()).toBe(0);

  const line = `FAIL  egress token  ${said}`;
  expect(await runCommand(['doctor'], { env })).toMatchObject({ code: 1, stdout: expect.stringContaining(line) });
  const good = { ...tokenOf('NOTIFY', issuer, { TOKEN_SCOPE: '' }) };
  const { stdout } = await runCommand(['doctor'], { env: good });
  expect(stdout).toContain(`ok    notify token  ${issuer.url}/token gave one.`);
});

test('an issuer that is late, wants to be asked for the audience, and wants the secret in the body', async () => {
  const env = tokenOf('EGRESS', strict, { TOKEN_SCOPE: '', TOKEN_AUDIENCE: strict.audience });
  const egress = await egressWith({ env, isWaiting: true });
  await until(() => egress.stdout.includes('The token endpoint returned 503.'));
  await strict.start({
    programs: programs.map((each) => ({ ...each, method: 'client_secret_post' as const })),
    needsResource: true,
  });
  await until(async () => (await fetch(`${egress.operationsUrl}/readyz`)).ok);
  const { sink } = await register('audience');
  registry.receiver.on('/audience', (_request, response) => response.writeHead(204).end());
  expect(await egress.postUntil(({ status }) => status !== 403, sink, { secret })).toMatchObject({ code: 'delivered' });
  expect(await egress.stop()).toBe(0);
});

test('notify names each fault of its settings, and leaves what Kubernetes and systemd set alone', async () => {
  const notify = async (env: NodeJS.ProcessEnv) =>
    (await runCommand(['notify', '--origin', noticeOrigin, '--registry', 'https://assent.example.org'], { env }))
      .stderr;
  const faults = await notify({
    NODE_ENV: 'production',
    ASSENT_SINK_PORTS: 'all',
    NOTIFY_TOKEN_URL: 'issuer.example.com',
    NOTIFY_TOKEN_SCOPES: 'assent:deliver',
    NOTIFY_REGISTRY_CA_FILE: '/nothing/here',
    NOTIFY_SERVICE_HOST: '10.0.0.1',
    NOTIFY_SOCKET: '/run/systemd/notify',
  });
  for (const part of [
    'ASSENT_SINK_PORTS (0) must be',
    'NOTIFY_TOKEN_SCOPES is not a setting',
    'NOTIFY_TOKEN_URL must be an http or https URL',
    'NOTIFY_TOKEN_URL needs NOTIFY_CLIENT_ID and NOTIFY_CLIENT_SECRET',
    'NOTIFY_REGISTRY_CA_FILE cannot be read',
  ]) {
    expect(faults).toContain(part);
  }
  expect(faults).not.toMatch(/NOTIFY_S/);
  expect(await notify({ NODE_ENV: 'production' })).toContain('NOTIFY_TOKEN_FILE is required in production');
});
