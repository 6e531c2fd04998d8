import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import type { MetricObject } from 'prom-client';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig, settings } from '../../src/registry/app/config.js';
import { verdicts } from '../../src/consent/verdicts.js';
import { loadContract } from '../../src/base/contract/contract.js';
import { Metrics } from '../../src/registry/probes/metrics.js';
import { commands } from '../../src/tools/cli/assent.js';
import type { Command } from '../../src/tools/cli/command.js';
import { readCallers } from '../../src/tools/egress/read-callers.js';
import { egressSettings } from '../../src/tools/cli/sender-settings.js';
import { sha256 } from '../support/egress.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
}
const rules: Rule[] = parse(read('docs/operate/alerts.yaml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);

interface Panel {
  id: number;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: Array<{ expr: string }>;
}
const dashboard = JSON.parse(read('docs/operate/grafana.json')) as { panels: Panel[] };
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

test('alert rules and the dashboard use only existing metrics and labels', () => {
  const { registry } = new Metrics({
    lagSeconds: async () => 0,
    inFlight: () => 0,
    indexSize: () => undefined,
    indexSecondsBehind: () => 0,
    feedReaders: () => ({}),
  });
  const own = registry.getMetricsAsArray() as unknown as Array<MetricObject & { labelNames?: string[] }>;
  const series = new Set([
    'up',
    ...own.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ]);
  const labels = new Set(['job', 'instance', 'le', ...own.flatMap(({ labelNames = [] }) => labelNames)]);
  const operations = loadContract().operations.map(({ id }) => id as string);
  const valuesOf: Record<string, string[]> = { operation: operations, verdict: Object.keys(verdicts) };
  for (const expr of [...rules.map((rule) => rule.expr), ...queries]) {
    const asked = expr.match(/\b(?:up|(?:assent|nodejs|process)_\w+)\b/g) ?? [];
    expect(asked).not.toEqual([]);
    expect([...series]).toEqual(expect.arrayContaining(asked));
    for (const [, list = ''] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
      expect([...labels]).toEqual(expect.arrayContaining(list.split(', ')));
    }
    for (const [, label = '', value = ''] of expr.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)) {
      expect([...labels]).toContain(label);
      if (label in valuesOf) expect(valuesOf[label]).toEqual(expect.arrayContaining(value.split('|')));
    }
  }
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
(hasPromtool ? test : test.skip)(
  'promtool accepts the alert rules and the queries of the dashboard, and the rules fire when they should (needs promtool)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-rules-'));
    const asRules = queries.map((expr, index) => ({
      record: `query_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const file = join(folder, 'dashboard.yaml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    const runs = [
      ['check', 'rules', join(root, 'docs/operate/alerts.yaml'), file],
      ['test', 'rules', join(root, 'test/support/alerts.yaml')],
    ].map((args) => spawnSync('promtool', args, { encoding: 'utf8' }));
    rmSync(folder, { recursive: true });
    for (const { status, stdout, stderr } of runs)
      expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  },
);

test('the monitoring page says what to do about each alert', () => {
  const rows = [...read('docs/operate/monitoring.md').matchAll(/^\| `(\w+)` /gm)].map(([, alert]) => alert);
  expect(rows).toEqual(rules.map(({ alert }) => alert));
});

test('the panels of the dashboard have unique ids and do not overlap', () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
});

interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  [member: string]: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

test('the Kubernetes manifest has existing settings, ports and probes, and a user that is not root', () => {
  const objects = parseAllDocuments(read('docs/operate/kubernetes.yaml')).map((each) => each.toJS() as Manifest);
  const of = (kind: string) => objects.find((object) => object.kind === kind)!;
  const pod = of('Deployment')['spec'].template;
  const [container] = pod.spec.containers;
  const variables = container.env as Array<{ name: string; value?: string }>;
  const secret: NodeJS.ProcessEnv = {
    DATABASE_URL: 'postgres://db.example/a',
    ASSENT_CREDENTIAL_KEYS: `a:${Buffer.alloc(32).toString('base64url')}`,
  };
  const own = Object.fromEntries(variables.map(({ name, value = secret[name] }) => [name, value]));
  const given = { NODE_ENV: 'production', ASSENT_HOST: '0.0.0.0', ...own };
  const config = readConfig(given);
  expect(settings.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(given)));
  expect(container.ports).toEqual([
    { name: 'api', containerPort: config.api.port },
    { name: 'operations', containerPort: config.operations.port },
  ]);
  expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'operations' });
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz/reads', port: 'operations' });
  expect(of('Service')['spec'].ports[0].targetPort).toBe('api');
  for (const selector of [
    of('Deployment')['spec'].selector.matchLabels,
    of('Service')['spec'].selector,
    of('PodDisruptionBudget')['spec'].selector.matchLabels,
    of('NetworkPolicy')['spec'].podSelector.matchLabels,
  ]) {
    expect(pod.metadata.labels).toMatchObject(selector);
  }
  const ports = of('NetworkPolicy')['spec'].egress.flatMap(
    (rule: { to?: unknown[]; ports: Array<{ port: number }> }) =>
      rule.to === undefined ? [] : rule.ports.map(({ port }) => port),
  );
  expect(ports).toEqual(config.outbound.ports);
  const pause = Number(container.lifecycle.preStop.exec.command[1]);
  expect(pod.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(pause * 1_000 + config.stopMs);
  expect(pod.spec).toMatchObject({ enableServiceLinks: false, securityContext: { runAsNonRoot: true } });
});

test('the image names its user by number, as runAsNonRoot requires, and contains the licence', () => {
  const last =
    read('Dockerfile')
      .split(/^FROM /m)
      .at(-1) ?? '';
  expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  expect(last).toMatch(/^COPY .*\bLICENSE\b/m);
  expect(read('.dockerignore')).toMatch(/^!LICENSE$/m);
});

describe.each(['assent', 'assent-egress'])('the systemd unit %s', (name) => {
  const unit = read(`docs/operate/${name}.service`);
  const valuesOf = (setting: string) =>
    [...unit.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  test('starts files that the build makes, with settings that exist, and waits longer than a stop takes', () => {
    for (const command of valuesOf('ExecStart')) {
      const [node, file = '', ...args] = command.split(' ');
      expect([node, existsSync(join(root, file))]).toEqual(['/usr/bin/node', true]);
      const options = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2));
      const known = args.length === 0 ? [] : Object.keys((commands[args[0]!] as Command).options);
      expect(known).toEqual(expect.arrayContaining(options));
    }
    const named = [...unit.matchAll(/\b(?:ASSENT_[A-Z_]+|EGRESS_[A-Z_]+|NODE_ENV)\b/g)].map(([each]) => each);
    expect([...settings.map((each) => each.name), ...egressSettings]).toEqual(expect.arrayContaining(named));
    expect(Number(valuesOf('TimeoutStopSec')[0]) * 1_000).toBeGreaterThan(readConfig({}).stopMs);
  });

  test('reads files of root as credentials, as its own user could not', () => {
    const ids = valuesOf('LoadCredential').map((value) => value.split(':')[0]);
    const files = valuesOf('Environment').filter((value) => value.includes('_FILE='));
    const known = ids.map((id) => `/run/credentials/${name}.service/${id}`);
    expect(known).toEqual(expect.arrayContaining(files.map((value) => value.split('=')[1])));
    expect(valuesOf('DynamicUser')).toEqual(['yes']);
    expect(files).toHaveLength(name === 'assent-egress' ? 1 : 0);
  });

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  (hasSystemd ? test : test.skip)('is accepted by systemd-analyze (needs systemd)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-unit-'));
    const file = join(folder, `${name}.service`);
    writeFileSync(file, unit.replaceAll('/usr/bin/node', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([0, '']);
  });
});

test('the page of the egress has every setting of its own, and callers that it accepts', () => {
  const page = read('docs/senders/egress.md');
  for (const name of egressSettings) expect(page).toContain(`\`${name}\``);
  const [, callers = ''] = /```json callers\n([^]*?)```/.exec(page) ?? [];
  const filled = callers.replace('SHA-256 of the secret, in hexadecimal', 'a'.repeat(64));
  const callersOf = readCallers(
    filled.replace(/"secretfile": "[^"]*\/(\w+)"/g, (_, name: string) => `"secret": "${sha256(name)}"`),
  );
  const names = callersOf.ok ? callersOf.entries.map(({ name }) => name) : callersOf.faults;
  expect(names).toEqual(['orders', 'crm', 'legacy', 'forge']);
});

const hasNginx = spawnSync('nginx', ['-v']).status === 0;
(hasNginx ? test : test.skip)('nginx accepts its configuration (needs nginx)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assent-nginx-'));
  const server = read('docs/operate/nginx.conf')
    .replaceAll('/var/log/nginx/', `${folder}/`)
    .replace(/^ *ssl_certificate.*$/gm, '')
    .replace('443 ssl', '8443');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `pid nginx.pid; events {} http { client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi; ${server} }`,
  );
  const { status, stderr } = spawnSync('nginx', ['-t', '-q', '-p', folder, '-e', 'stderr', '-c', 'nginx.conf'], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
});
