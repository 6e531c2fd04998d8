import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What `npm run floors` reports for these files: the rule, and the files that break it. */
async function reported(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-floors-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const options = ['--config', join(root, '.config/floors.mjs'), '--output-type', 'json', 'src'];
    const run = promisify(execFile)(process.execPath, [program, ...options], { cwd: folder });
    const { stdout } = await run.catch((failed: { stdout: string }) => failed);
    const { summary } = JSON.parse(stdout) as {
      summary: { violations: Array<{ rule: { name: string }; from: string; to: string }> };
    };
    return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).sort();
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('lint finds circles of values and of types, imports upwards, an SDK, and folders without a floor, and nothing else', async () => {
  const faults = await reported({
    'src/base/value.ts': `import { other } from './other.js'; export const value = () => other;`,
    'src/base/other.ts': `import { value } from './value.js'; export const other = () => value;`,
    'src/base/shape.ts': `import type { Size } from './size.js'; export type Shape = { size: Size };`,
    'src/base/size.ts': `import type { Shape } from './shape.js'; export type Size = { of: Shape };`,
    'src/consent/rate.ts': `import { event } from '../events/event.js'; export const rate = event;`,
    'src/events/event.ts': `import { size } from '../base/sizes.js'; export const event = size;`,
    'src/base/sizes.ts': `export const size = 1;`,
    'src/registry/http/page.ts': `export type { Grant } from '../grants/grant.js';`,
    'src/registry/grants/grant.ts': `export interface Grant { id: string }`,
    'src/kits/client/send.ts': `import { event } from '../../events/event.js'; export const send = event;`,
    'src/console/main.tsx': `export const load = () => import('../tools/cli/assent.js');`,
    'src/tools/cli/assent.ts': `import { size } from '../../base/sizes.js'; export const assent = size;`,
    'src/base/tracing.ts': `import '@opentelemetry/api'; import '@opentelemetry/sdk-node'; export const traced = 1;`,
    'src/base/times.ts': `import '@opentelemetry/api'; export const times = 1;`,
    'src/attic/box.ts': `import { size } from '../base/sizes.js'; export const box = size;`,
  });
  expect(faults).toEqual([
    'a circle: src/base/other.ts -> src/base/value.ts',
    'a circle: src/base/shape.ts -> src/base/size.ts',
    'a folder without a floor in src: src/attic/box.ts -> src/base/sizes.ts',
    'no SDK of OpenTelemetry, which is the choice of the operator: src/base/tracing.ts -> @opentelemetry/sdk-node',
    'only src/base/tracing.ts imports OpenTelemetry: src/base/times.ts -> @opentelemetry/api',
    'src/consent imports only from floors below it: src/consent/rate.ts -> src/events/event.ts',
    'src/console imports nothing more of src/: src/console/main.tsx -> src/tools/cli/assent.ts',
    'src/console imports only from floors below it: src/console/main.tsx -> src/tools/cli/assent.ts',
    'src/kits/client imports nothing more of src/: src/kits/client/send.ts -> src/events/event.ts',
    'src/registry/http imports only from floors below it: src/registry/http/page.ts -> src/registry/grants/grant.ts',
  ]);
});

test('what is installed with Assent has the API of OpenTelemetry, and no SDK', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const installed = Object.entries(packages).flatMap(([path, { dev }]) => (dev ? [] : [path]));
  const found = installed.filter((path) => /opentelemetry/.test(path));
  expect(found).toEqual(['node_modules/@opentelemetry/api']);
});
