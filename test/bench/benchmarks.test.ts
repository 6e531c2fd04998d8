import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultsOf } from './options.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('a benchmark fails', () => {
  test.each([
    ['if a row failed', { rows: [{ due: 100, ms: 36, fails: 'no such column' }] }, ['rows.0: no such column']],
    ['if a figure is not a number', { ms: 1, ratio: NaN, p99: Infinity }, ['ratio is NaN', 'p99 is Infinity']],
    ['if a figure is missing', { claim: { ratio: null, ms: 1 } }, ['claim.ratio is null']],
    ['if nothing was measured', { rows: [] }, ['nothing was measured']],
  ])('%s', (_, result, faults) => {
    expect(faultsOf(result)).toEqual(faults);
  });

  test('and does not if all figures are there', () => {
    expect(faultsOf({ size: 10, rows: [{ what: 'claim', ms: 0, isEven: true, least: undefined }] })).toEqual([]);
  });

  test('with exit code 1, which `npm run bench` passes on', () => {
    const script = `
      import { finish } from './test/bench/options.mjs';
      finish({ rows: [{ ms: 36, fails: 'no such column' }] });`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, 'FAILED: rows.0: no such column\n']);
    const all = spawnSync(process.execPath, ['test/bench/all.mjs', 'unknown'], { cwd: root, encoding: 'utf8' });
    expect([all.status, all.stdout]).toEqual([1, expect.stringContaining('FAILED: unknown')]);
  });
});

test('each benchmark has a smallest size and ends with a checked result', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const files = Object.entries(scripts).flatMap(([name, script]) =>
    name.startsWith('bench:') ? [/node (test\/bench\/\S+)$/.exec(script)?.[1] ?? script] : [],
  );
  expect(files.length).toBeGreaterThan(7);
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    expect([file, text.includes('readOptions('), text.includes('finish(')]).toEqual([file, true, true]);
  }
});
