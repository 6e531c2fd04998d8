import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { install } from '../../support/foreign-tools.js';
import { here, installHelm, inYaml, sets } from './rendering.js';

// Without a cluster: what the API server of Kubernetes does before it creates an object, compiled from its own source. It
// checks what a schema doesn't: names, selectors, ports, networks, and members that depend on each other.
const [helm, go] = await Promise.all([
  installHelm(),
  install({
    name: 'the chart (the API server of Kubernetes)',
    folder: here('go'),
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOTOOLCHAIN: 'local' },
  }),
]);
const missing = [helm, go].flatMap((tools) => ('missing' in tools ? [tools.missing] : []));
afterAll(async () => {
  for (const tools of [helm, go]) if ('remove' in tools) await tools.remove();
});

if ('missing' in helm || 'missing' in go) test.skip(`not run: ${missing.join('; ')}`, () => undefined);
else {
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
      const core = resources.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'));
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
