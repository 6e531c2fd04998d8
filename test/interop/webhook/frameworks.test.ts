import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
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
import { bundle, commandOf, writeWorker } from './runtimes.js';

/**
 * The programs of docs/consumers/kit.md in the frameworks that test/interop/receivers pins and in the runtimes that
 * test/interop/runtimes pins, with a registry and its sender.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/consumers/kit.md'), 'utf8');
const blocks = new Map(
  [...page.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [name, code]),
);
const node = languages.find(({ name }) => name === 'Node.js')!;
const tools = await install({ ...node, folder: join(root, 'test', 'interop', 'receivers', node.folder) });
const others = await install({
  ...node,
  name: 'Cloudflare Workers, Deno and Bun',
  folder: join(root, 'test', 'interop', 'runtimes'),
});

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
  if ('missing' in others) return;
  // The package itself: which file a runtime takes is written in it.
  const packed = join(others.folder, 'packed');
  await others.execute([process.execPath, join(root, '.config', 'pack.mjs'), 'webhook', '--out', packed]);
  const modules = join(others.folder, 'node_modules');
  await cp(join(packed, 'webhook'), join(modules, '@assent', 'webhook'), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(packed, 'webhook', 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true });
  }
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
  if (!('missing' in others)) await others.remove();
});

interface Program {
  url: string;
  /** `path` of the same server. */
  at(path: string): string;
  output: string;
}

interface Subject {
  name: string;
  /** Of the documentation. */
  block: string;
  change?: (code: string) => string;
  /** In another runtime: its command, after it wrote what it needs. */
  runtime?: undefined | ((folder: string, name: string, port: number) => Promise<string[]> | string[]);
}

/** Writes its files. */
async function write(folder: string, { block, change = (code) => code }: Subject, files = blocks): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'webhook.js'), files.get('webhook.js') ?? '');
  await writeFile(join(folder, 'server.js'), change(files.get(block) ?? ''));
}

async function start(subject: Subject, files = blocks): Promise<Program> {
  const { block, runtime } = subject;
  const { folder, env } = (runtime ? others : tools) as Installed;
  const name = `${block}-${running.length}`;
  await write(join(folder, name), subject, files);
  const port = await freePort();
  const [command = '', ...args] = (await runtime?.(folder, name, port)) ?? [process.execPath, 'kit.mjs', name];
  const child = spawn(command, args, { cwd: folder, env: { ...env, PORT: String(port), PROGRAM: name } });
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

async function checkOf(url: string): Promise<[exit: number | string, output: string]> {
  const program = startProgram('tools/cli/assent.js', { env: {}, args: ['check', url] });
  return [await program.ended, program.stdout];
}

const event = (type: string, more: object = {}) => ({
  specversion: '1.0',
  id: '1',
  source: 'urn:example:a',
  type,
  ...more,
});

const frameworks: Subject[] = [
  { name: 'Node.js http', block: 'kit-node' },
  { name: 'Express 5', block: 'kit-express' },
  { name: 'Express 4', block: 'kit-express', change: (code) => code.replace("'express'", "'express4'") },
  { name: 'Fastify', block: 'kit-fastify' },
  { name: 'Hono', block: 'kit-hono' },
  { name: 'Koa', block: 'kit-koa' },
  { name: 'a route of Next', block: 'kit-next' },
];

/** A program of the documentation, whose last line becomes the function that a cloud calls. */
const handler = (imports: string, value: string, last = /^.*app\.listen\(.*$/m) => {
  return (code: string) => `${imports};\n${code.replace(last, `export const handler = ${value};`)}`;
};
const withServerless = (app: string, last?: RegExp) =>
  handler("import serverless from 'serverless-http'", `serverless(${app})`, last);
const express = (name: string) => handler(`import serverlessExpress from '${name}'`, 'serverlessExpress({ app })');
const onFastify = handler("import awsLambdaFastify from '@fastify/aws-lambda'", 'awsLambdaFastify(app)');
const onHono = handler("import { handle } from 'hono/aws-lambda'", 'handle(app)', /^serve\(.*$/m);
const google = () =>
  "import { http } from '@google-cloud/functions-framework';\nimport { webhook } from './webhook.js';\nhttp('events', webhook.node);";

const functions: Array<Subject & { clouds: string[] }> = [
  { name: 'serverless-http', block: 'kit-lambda' },
  { name: 'serverless-http with Express', block: 'kit-express', change: withServerless('app') },
  { name: 'serverless-http with Fastify', block: 'kit-fastify', change: withServerless('app') },
  {
    name: 'serverless-http with Koa',
    block: 'kit-koa',
    change: withServerless('new Koa().use(router.routes())', /^new Koa.*$/m),
  },
  { name: '@codegenie/serverless-express', block: 'kit-express', change: express('@codegenie/serverless-express') },
  { name: '@vendia/serverless-express', block: 'kit-express', change: express('@vendia/serverless-express') },
  { name: '@fastify/aws-lambda', block: 'kit-fastify', change: onFastify },
  { name: 'hono/aws-lambda', block: 'kit-hono', change: onHono },
  { name: 'Azure Functions, without their host', block: 'kit-azure', clouds: ['azure'] },
  { name: '@google-cloud/functions-framework', block: 'kit-express', change: google, clouds: ['google'] },
].map((each) => ({ clouds: ['lambda 1.0', 'lambda 2.0'], ...each }));

const deno = (folder: string) => [commandOf(folder, '@deno', 'deno'), 'run', '--no-prompt', '--allow-all', '--quiet'];
const bun = (folder: string) => [commandOf(folder, '@oven', 'bin/bun'), 'run', '--no-install'];
const workers = (...flags: string[]): Subject['runtime'] => {
  return async (folder, name, port) => [
    commandOf(folder, '@cloudflare', 'bin/workerd'),
    'serve',
    await writeWorker(join(folder, name), port, flags),
  ];
};
const vercel: Subject['runtime'] = async (folder, name, port) => [
  process.execPath,
  join(folder, 'node_modules/edge-runtime/dist/cli/index.js'),
  await bundle(join(folder, name), 'edge.mjs', 'iife', 'edge-light'),
  ...['--listen', '--port', String(port)],
];
const runtimes: Subject[] =
  'missing' in others
    ? []
    : [
        { name: 'Cloudflare Workers', block: 'kit-worker', runtime: workers() },
        { name: 'Workers with nodejs_compat', block: 'kit-worker', runtime: workers('nodejs_compat') },
        { name: 'the edge runtime of Vercel', block: 'kit-worker', runtime: vercel },
        { name: 'Deno', block: 'webhook.js', runtime: (folder) => [...deno(folder), 'serve-fetch.mjs'] },
        { name: 'Bun', block: 'webhook.js', runtime: (folder) => [...bun(folder), 'serve-fetch.mjs'] },
      ];

/** The programs, except that they print the bytes of a request, and data in one way whatever the runtime. */
const printing = new Map(
  [...blocks].map(([block, code]) => [
    block,
    code
      .replace(
        'receive(events) {',
        "receive(events, { rawBody }) {\n console.log('raw', new TextDecoder().decode(rawBody));",
      )
      .replace('event.data)', 'JSON.stringify(event.data))'),
  ]),
);

('missing' in tools ? describe.skip : describe)('the kit', () => {
  test.each([...frameworks, ...runtimes])(
    'in $name consents, receives what a sender delivers, and satisfies `assent check` and the conformance kit',
    async (subject) => {
      const { name, block } = subject;
      const program = await start(subject, printing);
      const judged = judgeReceiver(program.url, {});
      const checked = checkOf(program.url);
      const host = name.toLowerCase().replace(/\W+/g, '-');
      const type = `com.example.${host}`;
      const post = (headers: Record<string, string>, body: string) =>
        fetch(program.url, { method: 'POST', headers: { 'WebHook-Request-Origin': tenant.origin, ...headers }, body });

      const sink = front.sink(`${host}.hooks.test`, program.url);
      const protocolsettings = { contentmode: 'binary' };
      const { id } = await tenant.register(sink, { types: [type], protocolsettings });
      expect(await tenant.read(id)).toMatchObject({
        status: 'active',
        statusdetails: { code: 'granted', allowedrate: 120 },
      });
      const sent = event(type, { data: { to: host } });
      await until(() => sender.match(sent).sinks.length === 1);
      expect(await sender.deliver(sent, sender.match(sent))).toMatchObject([
        { sink, outcome: 'delivered', statusCode: 204 },
      ]);
      await until(() => program.output.includes(`${type} 1 {"to":"${host}"}`));

      const batch = JSON.stringify([event(type, { id: '2' }), event(type, { id: '3', data: 'text' })]);
      expect((await post({ 'Content-Type': 'application/cloudevents-batch+json' }, batch)).status).toBe(204);
      await until(() => program.output.includes(`${type} 3 "text"`));
      expect(program.output).toContain(`raw ${batch}`);
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

      expect(await checked).toEqual([0, expect.stringContaining('Consent (granted, 120 ')]);
      expect(failuresOf(await judged)).toEqual([]);
    },
  );

  test('as a function in Lambda, Azure and Google Cloud gets each byte, and satisfies the conformance kit', async () => {
    const { folder, env } = tools as Installed;
    const cloudOf: Record<string, string> = {};
    for (const subject of functions) {
      for (const cloud of subject.clouds) {
        const name = `${subject.name}, ${cloud}`.replace(/\W+/g, '-');
        await write(join(folder, name), subject, printing);
        cloudOf[name] = cloud;
      }
    }
    const child = spawn(process.execPath, ['functions.mjs', JSON.stringify(cloudOf)], { cwd: folder, env });
    running.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    await until(() => {
      if (child.exitCode !== null) throw new Error(output);
      return output.includes('{"');
    });
    const addresses = /^\{".*\}$/m.exec(output)![0];
    const judge = async ([name, url]: [string, string]) => {
      const headers = {
        'Content-Type': 'application/cloudevents+json',
        'WebHook-Request-Origin': 'eventemitter.example.com',
      };
      const sent = JSON.stringify(event(name, { data: 'é😀' }));
      await fetch(`${url}?a=1`, { method: 'POST', headers, body: sent });
      return [name, [...failuresOf(await judgeReceiver(url, {})), ...(output.includes(`raw ${sent}`) ? [] : [sent])]];
    };
    const judged = await Promise.all(Object.entries<string>(JSON.parse(addresses)).map(judge));
    expect(Object.fromEntries(judged)).toEqual(Object.fromEntries(Object.keys(cloudOf).map((name) => [name, []])));
  });

  const later: Subject[] = [
    { name: 'Node.js', block: 'kit-later' },
    ...runtimes.slice(3).map(({ name, runtime }) => ({
      name,
      block: 'kit-later',
      runtime: async (folder: string, program: string) => {
        const command = (await runtime!(folder, program, 0)).slice(0, -1);
        return [...command, `${program}/server.js`];
      },
    })),
  ];
  test.each(later)(
    'decides later in $name: the registry grants the rate when the callback is called',
    async (subject) => {
      const program = await start(subject);
      const sink = front.sink(`later-${subject.name.toLowerCase().replace('.', '-')}.hooks.test`, program.url);
      const { id, status } = await tenant.register(sink, {}, 'respond-async');
      expect(status).toBe('pending');
      await until(async () => {
        await fetch(program.at('/allow'));
        // From memory, a moment after the database has it.
        return (await tenant.permission(sink)).allowed;
      });
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 60 });
      expect((await tenant.read(id)).status).toBe('active');
      await until(() => program.output.includes(`${tenant.origin} confirmed`));
    },
  );
});

('missing' in tools || 'missing' in others ? describe.skip : describe)('the kit in another runtime', () => {
  test.each([[[]], [['nodejs_compat']]])(
    'decides later in Workers, and a timer repeats what failed (%p)',
    async (flags) => {
      const program = await start({
        name: 'Workers',
        block: 'kit-worker-later',
        // The registry of the test has no certificate.
        change: (code) => code.replace('hosts: [env.REGISTRY]', 'development: true'),
        runtime: workers(...flags),
      });
      const sink = front.sink(`worker-${flags.length}.hooks.test`, program.url);
      const { id, status } = await tenant.register(sink, {}, 'respond-async');
      expect(status).toBe('pending');
      await until(async () => {
        await fetch(program.at('/allow'));
        // From memory, a moment after the database has it.
        return (await tenant.permission(sink)).allowed;
      });
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 60 });
      expect((await tenant.read(id)).status).toBe('active');
      await until(async () => (await (await fetch(program.at('/tick'))).text()) === '{"keys":[]}');

      let calls = 0;
      const port = await freePort();
      const server = createServer((request, response) => {
        calls += 1;
        response.writeHead(calls === 1 ? 503 : 204).end(request.method);
      }).listen(port, '127.0.0.1');
      const headers = {
        'WebHook-Request-Origin': 'new.example.com',
        'WebHook-Request-Callback': `http://127.0.0.1:${port}/`,
      };
      await fetch(program.url, { method: 'OPTIONS', headers });
      await fetch(program.at('/allow'));
      await until(async () => (await (await fetch(program.at('/tick'))).text()) === '{"keys":[]}');
      expect(calls).toBe(2);
      server.close();
    },
  );

  test.each(['Node.js', 'Deno', 'Bun'])('in %s connects to no address that is not public', async (name) => {
    const { folder, execute } = others as Installed;
    const command = name === 'Deno' ? deno(folder) : name === 'Bun' ? bun(folder) : [process.execPath];
    expect(await execute([...command, 'guard.mjs'])).toContain('rejected, 0 connections');
  });
});
