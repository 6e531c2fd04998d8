import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProgram, type Program } from '../../support/process.js';
import { until } from '../../support/until.js';

let folder: string;
const programs: Program[] = [];
const startTry = (args: string[] = ['--port', '0'], env: Record<string, string> = {}) => {
  const all = ['try', '--data', folder, '--webhook-port', '0', ...args];
  const program = startProgram('tools/cli/assent.js', { env, args: all });
  programs.push(program);
  return program;
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-try-'));
});
afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL');
  await Promise.all(programs.splice(0).map(({ ended }) => ended));
  await rm(folder, { recursive: true, force: true });
});

const cli = fileURLToPath(new URL('../../../dist/tools/cli/assent.js', import.meta.url));

/** As a user in a second terminal. */
async function shell(commands: string): Promise<string> {
  const script = `. '${folder}/try/env'\nnpx() { shift; '${process.execPath}' '${cli}' "$@"; }\n${commands}`;
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { timeout: 120_000 });
  return stdout;
}

test('try matches and delivers an event, works from a second terminal, keeps its folder, and stops on SIGINT with code 0', async () => {
  const program = startTry();
  await until(() => program.child.exitCode !== null || program.stdout.includes('Then try:'));
  expect({ failed: program.stderr, output: program.stdout }).toEqual({
    failed: '',
    output: expect.stringMatching(/> OPTIONS \/events[^]* sinks: \[[^]*> POST \/events[^]*< HTTP\/1\.1 204/),
  });
  expect(program.stdout).not.toContain('undefined');
  expect((await stat(join(folder, 'try/env'))).mode & 0o777).toBe(0o600);
  const links = [...program.stdout.matchAll(/(admin|consumer):\n {2}(http:\S+\/console)#token=(\S+)/g)];
  expect(links.map(([, role]) => role)).toEqual(['admin', 'consumer']);
  for (const [, role, page = '', token = ''] of links) {
    expect((await fetch(page)).status).toBe(200);
    const headers = { Authorization: `Bearer ${decodeURIComponent(token)}` };
    expect((await fetch(new URL('v1/audit', page), { headers })).status).toBe(role === 'admin' ? 200 : 403);
  }

  const permission = await shell(
    'curl -sf "$API/permissions?origin=eventemitter.example.com&sink=$WEBHOOK/events" -H "Authorization: Bearer $SENDER"',
  );
  expect(JSON.parse(permission)).toMatchObject({ allowed: true, allowedrate: 100 });
  // The printed lines, as they are.
  const printed = program.stdout.slice(program.stdout.indexOf('Then try:')).match(/^ {2}curl(?:.*\\\n)*.*/gm) ?? [];
  expect(printed).toHaveLength(3);
  const [later, , suspended] = (await shell(printed.join("\nprintf '\\036'\n")))
    .split('\x1e')
    .map((text) => JSON.parse(text));
  expect([later.status, suspended.status]).toEqual(['pending', 'suspended']);
  const callback = await shell(`curl -sf -X POST "$(cat ${folder}/try/callback)"`);
  expect(JSON.parse(callback)).toMatchObject({ granted: true, allowedrate: 120 });
  await shell('curl -sf --cacert "$CA" "$WEBHOOK/events" -H "ce-specversion: 1.0" -d "from the second terminal"');
  await until(() => program.stdout.includes('> from the second terminal'));
  expect(await shell('curl -sf "$API/origins" -H "Authorization: Bearer $ADMIN"')).toContain(
    'eventemitter.example.com',
  );
  // The command line is signed in, and a webhook of one's own may have any port of this machine, but not of others.
  const register = (sink: string) => shell(`npx assent subscriptions create --sink ${sink} --wait 0 2>&1 || true`);
  expect(await register('https://localhost:1/hook')).toMatch(/^status +pending/m);
  expect(await register('https://a.example.com:4000/hook')).toContain('port_not_allowed: The port must be one of: 443');
  expect(await shell('npx assent subscriptions list --json')).toContain('/hook');
  expect(await shell('npx assent whoami --url http://127.0.0.1:1 2>&1 || true')).toMatch(/^There is no token/);
  const url = (await shell('echo "$API"')).trim();
  const token = startProgram('tools/cli/assent.js', {
    env: { ASSENT_DATA: folder },
    args: ['token', '--scope', 'assent:admin'],
  });
  expect(await token.ended).toBe(0);
  const origins = await fetch(`${url}/origins`, { headers: { Authorization: `Bearer ${token.stdout.trim()}` } });
  expect(origins.status).toBe(200);

  const second = startTry();
  expect(await second.ended).toBe(1);
  expect(second.stdout).toContain(`try is in use by process ${program.pid}.`);
  await stat(join(folder, 'try/env'));

  // npm sends it a second time.
  program.child.kill('SIGINT');
  program.child.kill('SIGINT');
  expect(await program.ended).toBe(0);
  expect(program.stderr).toBe('');
  await expect(fetch(url)).rejects.toThrow();
  await stat(join(folder, 'try/env'));
});

test('a consent from the request to its end, as three clients see it', async () => {
  const program = startTry();
  await until(() => program.child.exitCode !== null || program.stdout.includes('Then try:'));
  const names = ['API', 'WEBHOOK', 'ADMIN', 'CONSUMER', 'SENDER'] as const;
  const values = (await shell(names.map((name) => `echo "$${name}"`).join('\n'))).split('\n');
  const [api, webhook, ...tokens] = values as [string, string, string, string, string];
  const [admin, consumer, sender] = tokens;
  const ask = async (token: string, path: string, body?: object, type = 'application/json') => {
    const response = await fetch(`${api}/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': type },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const subscribe = (sink: string) => ask(consumer, 'subscriptions', { protocol: 'HTTP', sink });
  const origin = 'eventemitter.example.com';
  const permission = async (path: string) => {
    const { body } = await ask(
      sender,
      `permissions?${new URLSearchParams({ origin, sink: webhook + path }).toString()}`,
    );
    return body;
  };

  // The webhook that consented while `try` started.
  expect(await permission('/events')).toMatchObject({ allowed: true, allowedrate: 100 });
  expect(await permission('/unknown')).toMatchObject({ allowed: false, denial: 'no_grant' });
  // One decides later, by its callback.
  expect((await subscribe(`${webhook}/later`)).body.status).toBe('pending');
  const callback = (await shell(`cat ${folder}/try/callback`)).trim();
  const decide = (url: string) => fetch(url, { method: 'POST', headers: { 'WebHook-Allowed-Rate': '30' } });
  expect((await decide(callback.replace(/key=.*/, 'key=guessed'))).status).toBe(404);
  expect((await decide(callback)).status).toBe(200);
  expect(await permission('/later')).toMatchObject({ allowed: true, allowedrate: 30 });
  // One allows another origin only, and says what to change.
  expect((await subscribe(`${webhook}/closed`)).body).toMatchObject({
    status: 'refused',
    statusdetails: { code: 'origin_mismatch', advice: expect.stringContaining(origin) },
  });
  // An address that cannot be a webhook is never asked.
  expect((await subscribe('https://169.254.169.254/latest/meta-data')).status).toBe(400);
  const event = { specversion: '1.0', id: '2', source: 'urn:example:orders', type: 'com.example.order.created' };
  const { explanations } = (await ask(admin, 'match?explain=true', event, 'application/cloudevents+json')).body;
  const codes = explanations.map(({ sink, code }: Record<string, string>) => [new URL(sink as string).pathname, code]);
  expect(Object.fromEntries(codes)).toEqual({ '/events': 'matched', '/later': 'matched', '/closed': 'no_grant' });
  // An admin ends the first consent.
  const [grant] = (await ask(admin, `grants?${new URLSearchParams({ sink: `${webhook}/events` }).toString()}`)).body;
  expect((await ask(admin, `grants/${grant.id}/revoke`, { reason: 'The owner asked for it.' })).status).toBe(200);
  expect(await permission('/events')).toMatchObject({ allowed: false, denial: 'revoked' });
});

test('a step that goes wrong is named, and the exit code is 1', async () => {
  const program = startTry(['--port', '0'], { ASSENT_DENIED_NETWORKS: '127.0.0.0/8' });
  expect(await program.ended).toBe(1);
  expect(program.stdout).toContain('Step 2, "A consumer subscribes a webhook, which consents immediately"');
});

test('a port that is in use is named, with what to do', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  const all = [
    ['--port ', startTry(['--port', port])],
    ['--webhook-port ', startTry(['--port', '0', '--webhook-port', port])],
    ['ASSENT_PORT=', startTry([], { ASSENT_PORT: port, PORT: '1' })],
    ['PORT=', startTry([], { PORT: port })],
  ] as const;
  for (const [option, program] of all) {
    expect(await program.ended).toBe(1);
    expect(program.stdout).toContain(
      `Port ${port} is in use. Stop the program that uses it, or choose another port: ${option}`,
    );
  }
  taken.close();
});
