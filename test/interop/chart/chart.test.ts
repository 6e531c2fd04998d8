import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readConfig } from '../../../src/registry/app/config.js';
import { root } from '../../docs/markdown.js';
import { runCommand } from '../../support/command.js';
import {
  chart,
  egress,
  examples,
  installHelm,
  inYaml,
  issuersOfCallers,
  schema,
  secretValues,
  sets,
  typesOf,
  type Resource,
  type Values,
  type Variable,
} from './rendering.js';

// Renders the chart with Helm 3 and Helm 4. What Kubernetes says about it is in kubernetes.heavy.test.ts.
const helm = await installHelm();
afterAll(async () => {
  if ('remove' in helm) await helm.remove();
});

if ('missing' in helm) test.skip(`not run: ${helm.missing}`, () => undefined);
else {
  let inAll: Array<ReturnType<typeof helm.render>> | undefined;
  const renderedSets = () => Promise.all((inAll ??= Object.keys(sets).map((set) => helm.render(set))));
  const program = helm.programs[0]?.program ?? '';

  test.each(helm.programs)(
    '$name finds no fault in the chart, and renders the manifest as it is',
    async ({ name, program }) => {
      expect(await helm.tools.execute([program, 'version'])).toContain(`v${name.at(-1)}.`);
      for (const set of Object.keys(sets)) {
        const output = await helm.tools.execute([program, 'lint', '--strict', chart, '--values', helm.fileOf(set)]);
        expect([set, output]).toEqual([set, expect.stringContaining('1 chart(s) linted, 0 chart(s) failed')]);
      }
      await helm.tools.execute([process.execPath, join(root, '.config/manifest.mjs'), '--check'], { HELM: program });
    },
  );

  test('Helm 3 and Helm 4 render the same, also from a package', async () => {
    await helm.tools.execute([program, 'package', chart, '--destination', helm.folder]);
    const { version } = parse(await readFile(join(chart, 'Chart.yaml'), 'utf8'));
    const sources = helm.programs.map(({ program: each }) => [each, chart] as const);
    for (const set of Object.keys(sets)) {
      const [first, ...others] = await Promise.all(
        [...sources, [program, join(helm.folder, `assent-${version}.tgz`)] as const].map(([each, source]) =>
          helm.render(set, each, source),
        ),
      );
      for (const other of others) expect(other.text).toBe(first?.text);
    }
  });

  test('the alert rules and the dashboard are those of the monitoring page', async () => {
    const { resources } = await helm.render('everything');
    const rules = resources.find(({ kind }) => kind === 'PrometheusRule')?.['spec'];
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
    const { resources } = await helm.render('everything');
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
    expect(JSON.parse(ofEgress['ASSENT_ISSUERS'] ?? '')).toEqual(issuersOfCallers);
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
      // Those of the registry's tokens.
      [{ ...sets['minimal'], egress: { enabled: true } }, /EGRESS_CALLERS/],
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
      const file = join(helm.folder, `wrong ${index}.yaml`);
      await writeFile(file, inYaml(values));
      const fault = await helm.tools.execute([program, 'template', 'assent', chart, '--values', file]).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
      expect([values, fault]).toEqual([values, expect.stringMatching(reason)]);
    }
  });

  test('migrations run before the processes, as the owner of the tables, and nowhere else', async () => {
    const { resources } = await helm.render('minimal');
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

  test('the Job of migrations runs where the registry does, with labels, annotations and variables of its own', async () => {
    const { resources } = await helm.render('everything');
    const [job] = resources.filter(({ kind }) => kind === 'Job') as [Resource];
    const { metadata, spec } = job['spec'].template;
    expect(metadata.annotations).toEqual({ 'sidecar.istio.io/inject': 'false' });
    expect(Object.keys(metadata.labels)).not.toContain('team');
    expect(spec).toMatchObject({ nodeSelector: { 'example.com/job': 'true' }, priorityClassName: 'high' });
    expect(Object.keys(spec.nodeSelector)).toHaveLength(1);
    expect(spec.containers[0].env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ssl/extra.pem' });
  });

  test('network policies let the pods of the release reach the registry, and every process reach issuers', async () => {
    const { resources } = await helm.render('everything');
    const pods = podsOf(resources).map(({ spec }) => spec.template.metadata.labels);
    const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy');
    const policy = policies.find(({ metadata }) => metadata.name === 'consent') as Resource;
    const [{ from }] = policy['spec'].ingress;
    const selected = from.flatMap((peer: Values) => peer['podSelector']?.matchLabels ?? []);
    expect([from.length, selected.length]).toEqual([2, 1]);
    for (const labels of pods) expect(isPartOf(selected[0], labels)).toBe(true);

    const alone = (await helm.render('egress only')).resources;
    const { spec } = alone.find(({ kind }) => kind === 'NetworkPolicy') as Resource;
    const [, outside] = spec.egress;
    expect(outside.ports.map(({ port }: { port: number }) => port)).toEqual([443, 9443]);
  });

  test('the egress sees the addresses of its callers, and has no issuers of the registry', async () => {
    const { resources } = await helm.render('egress only');
    const trafficOf = (among: Resource[]) =>
      among.find(({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-egress'))?.['spec'];
    expect(trafficOf(resources)).toMatchObject({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    expect(trafficOf((await helm.render('everything')).resources).externalTrafficPolicy).toBeUndefined();
    const variables = podsOf(resources)[0]?.['spec'].template.spec.containers[0].env;
    expect(variables.map(({ name }: Variable) => name)).not.toContain('ASSENT_ISSUERS');
  });

  function isPartOf(part: Record<string, string>, whole: Record<string, string>): boolean {
    return Object.entries(part).every(([name, value]) => whole[name] === value);
  }
}
