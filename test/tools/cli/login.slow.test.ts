import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentialsPath } from '../../../src/tools/cli/login/credentials-file.js';
import { runCommand, startCommand, type RunningCommand } from '../../support/command.js';
import { openIssuer, type TestIssuer } from '../../support/issuer.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { until } from '../../support/until.js';

/** Against a real issuer, with the device flow. */
let issuer: TestIssuer;
let registry: Registry;
let env: NodeJS.ProcessEnv;
let folder: string;

beforeAll(async () => {
  issuer = await openIssuer();
  const { url, audience, client: consoleclient } = issuer;
  const configured = {
    issuer: url,
    audience,
    jwks: `${url}/jwks`,
    algorithms: ['ES256'],
    consoleclient,
    consolescope: 'openid assent:admin assent:subscribe',
  };
  registry = await startRegistry({ env: { ASSENT_ISSUERS: JSON.stringify([configured]) } });
  folder = await mkdtemp(join(tmpdir(), 'assent-login-'));
  env = { XDG_CONFIG_HOME: folder, ASSENT_URL: `${registry.url}/v1` };
  await issuer.start({ redirectUri: `${registry.url}/console`, hasRefreshTokens: true, tokenSeconds: 3_600 });
});
afterAll(async () => {
  await registry?.stop();
  await issuer?.stop();
  await rm(folder, { recursive: true });
});

/** As a person does in a browser: enters the code, confirms it, signs in, and consents or refuses. */
async function confirm(command: RunningCommand, decision: 'allow' | 'abort'): Promise<void> {
  await until(() => command.stderr.includes('or open '));
  const cookies = new Map<string, string>();
  const visit = async (url: string, body?: URLSearchParams): Promise<{ url: string; page: string }> => {
    const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie },
      ...(body && { method: 'POST', body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const place = response.headers.get('Location');
    return place === null ? { url, page: await response.text() } : visit(new URL(place, url).href);
  };
  const submit = async ({ url, page }: { url: string; page: string }, typed: Record<string, string> = {}) => {
    const action = /<form[^>]* action="([^"]*)"/.exec(page)?.[1] ?? '';
    const fields = [...page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
      /name="([^"]*)"/.exec(input)?.[1] ?? '',
      /value="([^"]*)"/.exec(input)?.[1] ?? '',
    ]);
    return visit(new URL(action, url).href, new URLSearchParams({ ...Object.fromEntries(fields), ...typed }));
  };
  const direct = /or open (\S+)/.exec(command.stderr)?.[1] ?? '';
  let page = await visit(direct);
  // The page submits the code by itself.
  if (!page.page.includes('name="confirm"')) page = await submit(page);
  if (decision === 'abort') return void (await submit(page, { abort: 'yes' }));
  page = await submit(page, { confirm: 'yes' });
  page = await submit(page, { login: 'beheer', password: 'any' });
  await submit(page);
}

const stored = async () => JSON.parse(await readFile(credentialsPath(env), 'utf8')).registries[registry.url];

test('a code that a person confirms becomes a token that only the user can read, and it is renewed', async () => {
  const command = startCommand(['login'], { env });
  await confirm(command, 'allow');
  expect([await command.ended, command.stdout]).toEqual([
    0,
    `Signed in to ${registry.url} as beheer, with ${issuer.client}, of gemeente.\n`,
  ]);
  expect((await stat(credentialsPath(env))).mode & 0o777).toBe(0o600);
  expect(command.stdout + command.stderr).not.toContain((await stored()).token);

  // The registry of the last login is the usual one.
  const listed = await runCommand(['origins', 'list'], { env: { XDG_CONFIG_HOME: folder } });
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  const { stdout: me } = await runCommand(['whoami', '--json'], { env: { XDG_CONFIG_HOME: folder } });
  expect(JSON.parse(me)).toMatchObject({ tenant: 'gemeente', client: issuer.client, person: 'beheer' });
  const elsewhere = await runCommand(['whoami', '--url', 'https://other.example'], { env });
  expect([elsewhere.code, elsewhere.stdout]).toEqual([1, '']);

  const { token, refreshtoken } = await stored();
  const file = JSON.parse(await readFile(credentialsPath(env), 'utf8'));
  file.registries[registry.url].expiresat = Date.now() + 1_000;
  await writeFile(credentialsPath(env), JSON.stringify(file));
  expect((await runCommand(['origins', 'list'], { env })).code).toBe(0);
  expect(issuer.grants.at(-1)).toBe('refresh_token');
  expect((await stored()).token).not.toBe(token);
  expect((await stat(credentialsPath(env))).mode & 0o777).toBe(0o600);
  expect(refreshtoken).toMatch(/./);
});

test('logging out forgets the token and revokes it at the issuer', async () => {
  const { refreshtoken } = await stored();
  const out = await runCommand(['logout'], { env });
  expect([out.code, out.stdout]).toEqual([0, `Signed out of ${registry.url}.\n`]);
  expect(await stored()).toBeUndefined();
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: issuer.client,
    refresh_token: refreshtoken,
  });
  expect((await fetch(`${issuer.url}/token`, { method: 'POST', body })).status).toBe(400);
  expect((await runCommand(['logout'], { env })).stdout).toContain('There is no login');
});

test('a person who refuses, and an issuer that is not there, sign nobody in', async () => {
  const command = startCommand(['login', '--issuer', issuer.url, '--client-id', issuer.client], { env });
  await confirm(command, 'abort');
  expect([await command.ended, command.stdout]).toEqual([1, '']);
  expect(command.stderr).toContain('The sign-in was refused.');
  const lost = await runCommand(['login', '--issuer', 'http://127.0.0.1:1', '--client-id', 'a'], { env });
  expect([lost.code, lost.stderr.includes('cannot be read')]).toEqual([1, true]);
  const unknown = await runCommand(['login', '--issuer', 'https://unknown.example'], { env });
  expect(unknown.code).toBe(2);
  expect(await stored()).toBeUndefined();
});
