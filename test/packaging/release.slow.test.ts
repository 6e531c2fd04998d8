import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the bill of materials in the image lists every package that it runs, with a licence, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assent-release-'));
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(root, file), join(folder, file));
  const stage =
    /^FROM \S+ AS dependencies\n(.*?)^FROM /ms.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '';
  const commands = [...stage.matchAll(/^RUN (.*)$/gm)].map(([, command]) => command);
  const { status, stderr } = spawnSync('sh', ['-c', commands.join(' && ')], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_config_prefer_offline: 'true' },
  });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
  const json = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const { components } = json('sbom.cdx.json') as { components: Array<{ purl: string; licenses?: unknown[] }> };
  const installed = Object.entries<{ name?: string; version: string }>(
    json('node_modules/.package-lock.json').packages,
  );
  rmSync(folder, { recursive: true });
  const purls = installed.map(([path, { name = path.split('node_modules/').at(-1)!, version }]) => {
    return `pkg:npm/${name.replace('@', '%40')}@${version}`;
  });
  expect(purls.length).toBeGreaterThan(50);
  expect([...new Set(components.map(({ purl }) => purl.replace(/\?.*/, '')))].sort()).toEqual(
    [...new Set(purls)].sort(),
  );
  expect(components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
});
