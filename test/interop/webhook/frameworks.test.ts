import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { createSender, type Sender } from '../../../src/kits/sender/index.js';
import { languages } from '../receivers/languages.js';
import { install, type Installed } from '../../support/foreign-tools.js';
import { failuresOf, judgeReceiver } from '../../support/judge-receiver.js';
import { linkKits } from '../../support/link-kits.js';
import { freePort } from '../../support/postgres.mjs';
import { startProgram } from '../../support/process.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { startTlsFront, type TlsFront } from '../../support/tls-front.js';
import { until } from '../../support/until.js';

/** The programs of docs/consumers/kit.md in the frameworks that test/interop/receivers pins, with a registry and its sender. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/consumers/kit.md'), 'utf8');
const blocks = new Map(
  [...page.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [name, code]),
);
const node = languages.find(({ name }) => name === 'Node.js')!;
const tools = await install({ ...node, folder: join(root, 'test', 'interop', 'receivers', node.folder) });

let registry: Registry;
let tenant: Tenant;
let front: TlsFront;
let sender: Sender;
const running: ChildProcess[] = [];

beforeAll(async () => {
  if ('missing' in tools) return;
  front = await startTlsFront('*.hooks.test');
  registry = await startRegistry({ reachable: true, env: front.env });
  tenant = await createTenant(registry);
  const { ASSENT_DNS_SERVERS: dns = '' } = registry.env;
  sender = await createSender({
    registry: registry.url,
    token: () =>
      createToken(
        { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver'], minutes: 60 },
        registry.env,
      ),
    guard: {
      allowedNetworks: ['127.0.0.0/8'],
      dnsServers: dns.split(','),
      sinkPorts: front.env.ASSENT_SINK_PORTS.split(',').map(Number),
      sinkCa: readFileSync(front.env.ASSENT_SINK_CA_FILE, 'utf8'),
    },
  });
  await sender.ready();
  await linkKits(tools.folder);
});
afterAll(async () => {
  if ('missing' in tools) return;
  for (const child of running) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await sender.close();
  await registry.stop();
  await front.stop();
  await tools.remove();
});

interface Program {
  url: string;
  /** `path` of the same server. */
  at(path: string): string;
  output: string;
}

async function start(block: string, change: (code: string) => string = (code) => code): Promise<Program> {
  const { folder, env } = tools as Installed;
  const name = `${block}-${running.length}`;
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'webhook.js'), blocks.get('webhook.js') ?? '');
  await writeFile(join(folder, name, 'server.js'), change(blocks.get(block) ?? ''));
  const port = await freePort();
  const child = spawn(process.execPath, ['kit.mjs', name], { cwd: folder, env: { ...env, PORT: String(port) } });
  running.push(child);
  const program = {
    url: `http://127.0.0.1:${port}/events`,
    at: (path: string) => `http://127.0.0.1:${port}${path}`,
    output: '',
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (program.output += text));
  }
  await until(async () => {
    if (child.exitCode !== null) throw new Error(program.output);
    return fetch(program.url, { method: 'OPTIONS' }).then(
      () => true,
      () => false,
    );
  });
  return program;
}

const event = (type: string, more: object = {}) => ({
  specversion: '1.0',
  id: '1',
  source: 'urn:example:a',
  type,
  ...more,
});

const frameworks: Array<{ name: string; block: string; change?: (code: string) => string }> = [
  { name: 'Node.js http', block: 'kit-node' },
  { name: 'Express 5', block: 'kit-express' },
  { name: 'Express 4', block: 'kit-express', change: (code) => code.replace("'express'", "'express4'") },
  { name: 'Fastify', block: 'kit-fastify' },
  { name: 'Hono', block: 'kit-hono' },
  { name: 'Koa', block: 'kit-koa' },
  { name: 'a route of Next', block: 'kit-next' },
];

('missing' in tools ? describe.skip : describe)('the kit', () => {
  test.each(frameworks)('in $name consents, and receives what a sender delivers', async ({ name, block, change }) => {
    const program = await start(block, change);
    const host = name.toLowerCase().replace(/\W+/g, '-');
    const type = `com.example.${host}`;
    const post = (headers: Record<string, string>, body: string) =>
      fetch(program.url, { method: 'POST', headers: { 'WebHook-Request-Origin': tenant.origin, ...headers }, body });

    const sink = front.sink(`${host}.hooks.test`, program.url);
    const protocolsettings = { contentmode: 'binary' };
    const { id } = await tenant.register(sink, { types: [type], protocolsettings });
    expect(await tenant.read(id)).toMatchObject({
      status: 'active',
      statusdetails: { reason: 'granted', allowedrate: 120 },
    });
    const sent = event(type, { data: { to: host } });
    await until(() => sender.match(sent).sinks.length === 1);
    expect(await sender.deliver(sent, sender.match(sent))).toMatchObject([{ sink, outcome: 'delivered', status: 204 }]);
    await until(() => program.output.includes(`${type} 1 { to: '${host}' }`));

    const batch = JSON.stringify([event(type, { id: '2' }), event(type, { id: '3', data: 'text' })]);
    expect((await post({ 'Content-Type': 'application/cloudevents-batch+json' }, batch)).status).toBe(204);
    await until(() => program.output.includes(`${type} 3 text`));
    const wrong = await post({ 'Content-Type': 'application/cloudevents+json' }, '{"specversion":"1.0","id":""}');
    expect(wrong.status).toBe(400);
    expect(wrong.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(JSON.stringify(await wrong.json())).toContain('"pointer":"/id"');
    expect((await post({ 'Content-Type': 'application/json' }, '{}')).status).toBe(415);
    const large = 'x'.repeat(1_048_577);
    expect((await post({ 'Content-Type': 'application/cloudevents+json' }, large)).status).toBe(413);

    const stranger = { 'WebHook-Request-Origin': `${tenant.origin}.attacker.test` };
    const denied = await fetch(program.url, { method: 'OPTIONS', headers: stranger });
    expect(denied.headers.get('webhook-allowed-origin')).toBeNull();
    expect((await post(stranger, '{}')).status).toBe(403);
    // Next has routes for the methods of the file alone.
    if (block !== 'kit-next') expect((await fetch(program.url)).status).toBe(405);
    const preflight = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' };
    const answered = await fetch(program.url, { method: 'OPTIONS', headers: preflight });
    expect([...answered.headers.keys()].filter((header) => header.startsWith('webhook-'))).toEqual([]);
  });

  test.each(frameworks)('in $name satisfies `assent check` and the conformance kit', async ({ block, change }) => {
    const { url } = await start(block, change);
    const program = startProgram('tools/cli/assent.js', { env: {}, args: ['check', url] });
    expect([await program.ended, program.stdout]).toEqual([0, expect.stringContaining('Consent (granted, 120 ')]);
    expect(failuresOf(await judgeReceiver(url, {}))).toEqual([]);
  });

  test('decides later: the registry grants the rate when the callback is called', async () => {
    const program = await start('kit-later');
    const sink = front.sink('later.hooks.test', program.url);
    const { id, status } = await tenant.register(sink, {}, 'respond-async');
    expect(status).toBe('pending');
    await until(async () => {
      await fetch(program.at('/allow'));
      return (await tenant.read(id)).status === 'active';
    });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 60 });
    await until(() => program.output.includes(`${tenant.origin} confirmed`));
  });
});
