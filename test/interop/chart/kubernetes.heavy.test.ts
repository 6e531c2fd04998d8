import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { install } from '../../support/foreign-tools.js';
import { chart, here, installHelm, inYaml, sets, type Resource } from './rendering.js';

// What Kubernetes says about the rendered chart, without a cluster: its schemas, those of Prometheus Operator, and what the
// API server does before it creates an object, compiled from its own source. That checks what a schema doesn't: names,
// selectors, ports, networks, and members that depend on each other.
const [, oldest = ''] = />=(\d+\.\d+)/.exec(parse(await readFile(join(chart, 'Chart.yaml'), 'utf8')).kubeVersion) ?? [];
const newest = '1.37';

const [helm, python, operator, go] = await Promise.all([
  installHelm(),
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
  install({
    name: 'the chart (schemas of Prometheus Operator)',
    folder: here('operator'),
    tool: ['npm', '--version'],
    install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
  }),
  install({
    name: 'the chart (the API server of Kubernetes)',
    folder: here('go'),
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOTOOLCHAIN: 'local' },
  }),
]);
const all = [helm, python, operator, go];
const missing = all.flatMap((tools) => ('missing' in tools ? [tools.missing] : []));
afterAll(async () => {
  for (const tools of all) if ('remove' in tools) await tools.remove();
});

if ('missing' in helm || 'missing' in python || 'missing' in operator || 'missing' in go)
  test.skip(`not run: ${missing.join('; ')}`, () => undefined);
else {
  const isCore = ({ apiVersion }: Resource) => !apiVersion.startsWith('monitoring.coreos.com/');

  test.each([oldest, newest])('what it renders fits Kubernetes %s', async (version) => {
    const all = (await Promise.all(Object.keys(sets).map((set) => helm.render(set)))).flatMap(
      ({ resources }) => resources,
    );
    const core = all.filter(isCore);
    const file = join(helm.folder, 'rendered.yaml');
    await writeFile(file, core.map((each) => inYaml(each)).join('---\n'));
    const command = ['python3', '-m', 'kubernetes_validate', '--strict', '--no-warn', '-k', version, file];
    const output = await python.execute(command);
    expect(output.match(/ passed for resource /g)).toHaveLength(core.length);
  });

  test('what it renders for Prometheus Operator fits its schemas', async () => {
    const own = (await helm.render('everything')).resources.filter((each) => !isCore(each));
    expect(own.map(({ kind }) => kind).sort()).toEqual(['PodMonitor', 'PodMonitor', 'PrometheusRule']);
    const imports = ['PodMonitor', 'PrometheusRule'].map(
      (kind) => `import { ${kind} } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/${kind}';`,
    );
    await writeFile(
      join(operator.folder, 'check.mjs'),
      `${imports.join('\n')}
      for (const each of JSON.parse(process.argv[2])) new { PodMonitor, PrometheusRule }[each.kind](each).validate();`,
    );
    const check = (objects: object[]) => operator.execute([process.execPath, 'check.mjs', JSON.stringify(objects)]);
    await check(own);
    const broken = own.map((each) => (each.kind === 'PodMonitor' ? { ...each, spec: { selector: 'all' } } : each));
    await expect(check(broken)).rejects.toThrow(/selector/);
  });

  await go.execute(['go', 'build', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w', '-o', 'create', '.']);
  const create = async (objects: object[]) => {
    const file = join(go.folder, 'objects.yaml');
    await writeFile(file, objects.map((each) => inYaml(each)).join('---\n'));
    return (await go.execute(['bash', '-c', './create < objects.yaml'])).trim().split('\n');
  };

  test.each(Object.keys(sets))(
    'the API server of Kubernetes would create every object of the values: %s',
    async (set) => {
      const { resources } = await helm.render(set);
      const core = resources.filter(isCore);
      expect(await create(core)).toEqual([`${core.length} accepted`]);
    },
  );

  test('and it would refuse what only looks right', async () => {
    const { resources } = await helm.render('minimal');
    const broken = resources
      .filter(({ kind }) => ['Deployment', 'NetworkPolicy', 'Job'].includes(kind))
      .map((each) => structuredClone(each));
    for (const { kind, spec } of broken) {
      if (kind === 'Deployment') spec.template.metadata.labels['app.kubernetes.io/name'] = 'other';
      if (kind === 'Job') spec.template.spec.restartPolicy = 'Always';
      if (kind === 'NetworkPolicy')
        spec.egress = [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['0.0.0.0/0'] } }] }];
    }
    const said = await create(broken);
    expect(said).toHaveLength(broken.length + 1);
    expect(said.at(-1)).toBe('0 accepted');
    expect(said.join('\n')).toMatch(/`selector` does not match template `labels`/);
    expect(said.join('\n')).toMatch(/strict subset of `cidr`/);
    expect(said.join('\n')).toMatch(/spec\.template\.spec\.restartPolicy/);
  });
}
