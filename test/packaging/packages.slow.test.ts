import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createToken } from '../../src/tools/cli/login/create-token.js';
import { compileLess } from '../support/compile-less.mjs';
import { freePort } from '../support/postgres.mjs';
import { startRegistry, type Registry } from '../support/registry.js';
import { createTenant, type Tenant } from '../support/tenant.js';
import { until } from '../support/until.js';

/** What `npm run pack` makes, each in a project of its own, as its users have it. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

interface Kit {
  name: string;
  /** Every package that is installed with it. */
  installed: string[];
  /** Runs the example of its README. */
  example(run: RunExample): Promise<void>;
}
/** Resolves with what it printed. */
type RunExample = (env: Record<string, string>) => Promise<string>;

const type = 'com.example.order.created';
/** For programs that reach the receiver of the registry. */
const local = () => ({
  NODE_EXTRA_CA_CERTS: registry.env['ASSENT_SINK_CA_FILE'] ?? '',
  GUARD: JSON.stringify({ allowedNetworks: ['127.0.0.0/8'], sinkPorts: [registry.receiver.port] }),
});
const tokenFor = (...scopes: Parameters<typeof createToken>[0]['scopes']) =>
  createToken({ tenant: 'gemeente', subscriber: 'zaaksysteem', scopes, minutes: 5 }, registry.env);

/** A webhook that consents and counts what it receives. */
function listen(path: string) {
  const webhook = { sink: registry.receiver.sink(path), received: 0 };
  registry.receiver.consent(path);
  const register = async () => {
    await tenant.register(webhook.sink, { types: [type] });
    registry.receiver.on(path, (_, response) => {
      webhook.received += 1;
      response.writeHead(204).end();
    });
    return webhook;
  };
  return register();
}

const kits: Kit[] = [
  {
    name: 'sender',
    installed: [
      '@assent/sender',
      '@opentelemetry/api',
      'ipaddr.js',
      'openapi-fetch',
      'openapi-typescript-helpers',
      'structured-headers',
      'tldts',
      'tldts-core',
      'undici',
    ],
    async example(run) {
      const { sink } = await listen('/of-sender');
      const TOKEN = await tokenFor('assent:deliver', 'assent:credentials');
      expect(await run({ ...local(), REGISTRY: registry.url, TOKEN })).toContain(`${sink} delivered\n`);
    },
  },
  {
    name: 'guard',
    installed: ['@assent/guard', 'ipaddr.js', 'undici'],
    async example(run) {
      expect(await run({})).toBe('blocked sink_not_allowed\n');
      const webhook = await listen('/of-guard');
      expect(await run({ ...local(), HOOK: webhook.sink })).toBe('answered 204\n');
      expect(webhook.received).toBe(1);
    },
  },
  {
    name: 'webhook',
    installed: ['@assent/webhook', 'structured-headers'],
    async example(run) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/events`;
      const origin = { 'WebHook-Request-Origin': 'eventemitter.example.com' };
      const output = run({ PORT: String(port) });
      const ask = () => fetch(url, { method: 'OPTIONS', headers: origin }).catch(() => undefined);
      await until(async () => (await ask()) !== undefined);
      expect((await ask())?.headers.get('WebHook-Allowed-Rate')).toBe('100');
      const headers = { ...origin, 'Content-Type': 'application/cloudevents+json' };
      const body = JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:example:orders', type });
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
      endPrograms();
      expect(await output).toBe(`received ${type} 1\n`);
    },
  },
  {
    name: 'client',
    installed: ['@assent/client', 'openapi-fetch', 'openapi-typescript-helpers'],
    async example(run) {
      const { sink } = await listen('/of-client');
      expect(await run({ REGISTRY: registry.url, TOKEN: await tokenFor('assent:subscribe') })).toContain(
        `${sink} active\n`,
      );
    },
  },
];
const all = ['assent', ...kits.map(({ name }) => name)];
const nameOf = (name: string) => (name === 'assent' ? name : `@assent/${name}`);

let registry: Registry;
let tenant: Tenant;
/** Holds what was packed, in dist/packages, and a project for each package. */
let folder: string;
const project = (name: string) => join(folder, 'projects', name);
const tarball = (name: string) =>
  join(folder, 'dist', 'packages', `assent-${name === 'assent' ? '' : `${name}-`}${manifest.version}.tgz`);
const inPackage = (name: string) => join(project(name), 'node_modules', nameOf(name));
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
/** The first block of a README that is marked like this. */
const block = (path: string, info: string) =>
  new RegExp(`^\`\`\`${info}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readFileSync(path, 'utf8'))?.[1] ?? '';

/** Without what Jest needs. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:ASSENT_|(?:NODE_OPTIONS|NODE_ENV|DATABASE_URL)$)/.test(name)),
);
Object.assign(env, { npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false', NO_COLOR: '1' });

/** Resolves with its output; rejects with all of it if it fails. */
async function execute(cwd: string, [command = '', ...args]: string[], more: Record<string, string> = {}) {
  const settings = { cwd, env: { ...env, ...more }, maxBuffer: 16_777_216 };
  const { stdout } = await promisify(execFile)(command, args, settings).catch((error: Error & { stdout: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}

const running = new Set<ReturnType<typeof spawn>>();
/** A program that may go on until it is ended, in a process group of its own. Resolves with what it printed. */
async function follow(cwd: string, text: string, more: Record<string, string>, onOutput?: (output: string) => void) {
  const child = spawn('sh', ['-euc', text], { cwd, env: { ...env, ...more }, detached: true });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      onOutput?.(output);
    });
  }
  await once(child, 'close');
  running.delete(child);
  return output;
}
function endPrograms(): void {
  for (const { pid, exitCode, signalCode } of running) {
    if (exitCode === null && signalCode === null) process.kill(-(pid ?? 0), 'SIGTERM');
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-packages-'));
  registry = await startRegistry();
  tenant = await createTenant(registry);
  await execute(root, [process.execPath, '.config/pack.mjs', '--out', join(folder, 'dist', 'packages')]);
  await Promise.all(
    all.map(async (name) => {
      await mkdir(project(name), { recursive: true });
      await writeFile(join(project(name), 'package.json'), '{"private":true}');
      if (name === 'assent') await unpackServer();
      else await execute(project(name), ['npm', 'install', '--no-audit', '--no-fund', tarball(name)]);
    }),
  );
});

/** As npm installs it, with the packages of this project: only those that it depends on. release.heavy.test.ts installs it. */
async function unpackServer(): Promise<void> {
  const modules = join(project('assent'), 'node_modules');
  await mkdir(inPackage('assent'), { recursive: true });
  await execute(inPackage('assent'), ['tar', '-xzf', tarball('assent'), '--strip-components=1']);
  const { bin, dependencies } = readJson(inPackage('assent'), 'package.json');
  for (const each of Object.keys(dependencies)) {
    await mkdir(dirname(join(modules, each)), { recursive: true });
    await symlink(join(root, 'node_modules', each), join(modules, each));
  }
  await mkdir(join(modules, '.bin'));
  await symlink(join('..', 'assent', bin.assent), join(modules, '.bin', 'assent'));
}

afterAll(async () => {
  endPrograms();
  await until(() => running.size === 0);
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(all)('%s', (name) => {
  test('has no fault that publint or "Are the types wrong?" knows', async () => {
    await execute(root, ['node_modules/.bin/publint', 'run', '--strict', tarball(name)]);
    // The server has no types.
    if (name === 'assent') return;
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball(name))));
    expect(checked).toMatchObject({ packageName: nameOf(name), problems: [] });
  });

  test('says who makes it, where, and under which licence, so that it can be published with provenance', () => {
    const own = readJson(inPackage(name), 'package.json');
    expect(own).toMatchObject({
      name: nameOf(name),
      version: manifest.version,
      license: 'Apache-2.0',
      homepage: manifest.homepage,
      bugs: manifest.bugs,
      engines: manifest.engines,
      repository: manifest.repository,
      publishConfig: { provenance: true },
    });
    if (name !== 'assent') {
      expect(own.sideEffects).toBe(false);
      expect(existsSync(join(root, own.repository.directory))).toBe(true);
    }
    expect(own.private).toBeUndefined();
    expect(own.keywords.length).toBeGreaterThan(3);
    const files = readdirSync(inPackage(name));
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist', 'package.json']));
    expect(readFileSync(join(inPackage(name), 'README.md'), 'utf8')).toMatch(/^# @?[Aa]ssent/);
  });

  test('has source maps with the sources in them, and names no folder of this machine', () => {
    const paths = readdirSync(inPackage(name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const named = paths.filter((path) => [root, folder].some((place) => readFileSync(path, 'utf8').includes(place)));
    expect(named).toEqual([]);
    const scripts = paths.filter((path) => /\.c?js$/.test(path) && !path.includes('assets'));
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of scripts) {
      const { sources, sourcesContent } = readJson(`${path}.map`) as { sources: string[]; sourcesContent: string[] };
      // The package stands where the project does.
      const places = sources.map((source) => resolve(root, path.slice(inPackage(name).length + 1), '..', source));
      expect(sourcesContent).toEqual(places.map((place) => readFileSync(place, 'utf8')));
    }
  });
});

test('the server runs with the packages that it depends on', async () => {
  expect(readJson(inPackage('assent'), 'package.json').dependencies).toEqual(manifest.dependencies);
  expect(await execute(project('assent'), ['npx', 'assent', '--version'])).toBe(`${manifest.version}\n`);
  const command = block(join(inPackage('assent'), 'README.md'), 'bash run').trim();
  const less = { NODE_OPTIONS: compileLess };
  const output = await follow(project('assent'), `exec ${command} --port 0 --webhook-port 0`, less, (soFar) => {
    if (soFar.includes('Then try:')) endPrograms();
  });
  expect(output).toContain('Then try:');
});

describe.each(kits)('@assent/$name', ({ name, installed, example }) => {
  test('brings only what it needs', () => {
    const { packages } = readJson(project(name), 'node_modules', '.package-lock.json');
    expect(Object.keys(packages).map((path) => path.replace('node_modules/', ''))).toEqual(installed);
    const { dependencies } = readJson(inPackage(name), 'package.json');
    for (const [each, range] of Object.entries(dependencies)) {
      expect(range).toBe(manifest.dependencies[each] ?? manifest.devDependencies[each]);
    }
  });

  test('is the same for import and for require', async () => {
    const program = `
      import { createRequire } from 'node:module';
      const [imported, required] = [await import('@assent/${name}'), createRequire(import.meta.url)('@assent/${name}')];
      console.log(JSON.stringify([imported, required].map((each) => Object.keys(each).sort())));`;
    const [imported, required] = JSON.parse(
      await execute(project(name), [process.execPath, '--input-type=module', '--eval', program]),
    );
    expect(imported.length).toBeGreaterThan(0);
    expect(required).toEqual(imported);
  });

  test('runs the example of its README', async () => {
    await writeFile(join(project(name), 'example.mjs'), block(join(inPackage(name), 'README.md'), 'js run'));
    await example((more) => follow(project(name), `exec ${process.execPath} example.mjs`, more));
  });
});

test('edge runtimes get a webhook of web standards alone, with types that need none of Node', async () => {
  const at = project('webhook');
  const resolve = `console.log(import.meta.resolve('@assent/webhook').split('/').at(-1))`;
  const entryFor = (...conditions: string[]) =>
    execute(at, [
      process.execPath,
      ...conditions.map((each) => `--conditions=${each}`),
      '--input-type=module',
      '--eval',
      resolve,
    ]);
  for (const conditions of [
    ['workerd', 'worker', 'browser'],
    ['edge-light', 'worker', 'browser'],
    ['worker'],
    ['browser'],
  ]) {
    expect(await entryFor(...conditions)).toBe('web.js\n');
  }
  for (const conditions of [[], ['deno'], ['bun']]) expect(await entryFor(...conditions)).toBe('index.js\n');
  const code = readFileSync(join(inPackage('webhook'), 'dist', 'web.js'), 'utf8');
  const modules = new Set([...code.matchAll(/^import [^;]*from "([^"]+)"/gm)].map(([, module]) => module));
  expect([...modules]).toEqual(['structured-headers']);

  await write(
    'webhook',
    'worker.mts',
    `import { createWebhook, type CallbackSettings } from '@assent/webhook';
    export const work = (store: NonNullable<CallbackSettings['store']>) =>
      createWebhook({ origins: { 'a.example.com': 1 }, receive: () => undefined, callbacks: { store, hosts: ['a.example'] } });
    export default { fetch: work({ save() {}, remove() {}, list: () => [] }).fetch };`,
  );
  const options = { module: 'esnext', moduleResolution: 'bundler', customConditions: ['workerd'], target: 'es2023' };
  const compilerOptions = { ...options, lib: ['es2023', 'webworker'], strict: true, noEmit: true, types: [] };
  await writeFile(join(at, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['worker.mts'] }));
  await execute(at, [join(root, 'node_modules/.bin/tsc'), '-p', '.']);
});

test('TypeScript compiles programs with their types', async () => {
  const later = "export const status: import('@assent/client').Schemas['SubscriptionStatus'] = 'of_a_later_registry';";
  const files = await Promise.all([
    write('client', 'later.mts', later),
    ...kits.flatMap(({ name }) => [
      write(name, 'example.mts', block(join(inPackage(name), 'README.md'), 'js run')),
      write(name, 'required.cts', `import kit = require('@assent/${name}');\nexport const names = Object.keys(kit);`),
    ]),
  ]);
  const config = {
    compilerOptions: {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
    },
    files,
  };
  await writeFile(join(folder, 'projects', 'tsconfig.json'), JSON.stringify(config));
  await execute(join(folder, 'projects'), [join(root, 'node_modules/.bin/tsc'), '-p', '.']);
});

async function write(name: string, file: string, text: string): Promise<string> {
  await writeFile(join(project(name), file), text);
  return `${name}/${file}`;
}

test('the sender of the examples installs the kit and delivers, by the command of its README', async () => {
  const place = join(folder, 'docs', 'examples', 'typescript-sender');
  await cp(join(root, 'docs', 'examples'), join(place, '..'), {
    recursive: true,
    filter: (path) => !/node_modules|package-lock/.test(path),
  });
  // What only development needs is that of this repository.
  await mkdir(join(folder, 'node_modules'));
  for (const name of ['typescript', '@types', '.bin']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const { sink } = await listen('/of-example');
  const [packs, install, start = ''] = block(join(place, 'README.md'), 'bash start').split(/ && (?:\\\n)?/);
  expect([packs, install]).toEqual(['npm run --silent --prefix ../../.. pack -- sender', 'npm install --silent']);
  const here = start
    .replace('http://127.0.0.1:3000', registry.url)
    .replace('[8443,9443]', `[${registry.receiver.port}]`);
  await execute(place, ['npm', 'install', '--silent', '--omit=dev']);
  const more = { SENDER: await tokenFor('assent:deliver', 'assent:credentials'), CA: local().NODE_EXTRA_CA_CERTS };
  expect(await execute(place, ['sh', '-euc', here], more)).toContain(`${sink} delivered\n`);
});
