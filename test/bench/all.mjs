// Runs benchmarks one after the other: those that are named, or all but `bloat`, which takes an hour.
//
//   npm run bench -- [NAME ...] [--without NAME ...] [--smallest]
//
// Exits with 1 if one of them does, or writes no result. `--smallest` runs all of them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { faultsOf } from './options.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const files = new Map(
  Object.entries(scripts)
    .filter(([name]) => name.startsWith('bench:'))
    .map(([name, script]) => [name.slice('bench:'.length), /node (test\/bench\/\S+)/.exec(script)[1]]),
);
const { values, positionals } = parseArgs({
  options: { smallest: { type: 'boolean' }, without: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});
const without = [...values.without, ...(values.smallest ? [] : ['bloat'])];
const usual = [...files.keys()].filter((name) => !without.includes(name));
const folder = mkdtempSync(join(tmpdir(), 'assent-bench-results-'));
const failed = [];
for (const name of positionals.length > 0 ? positionals : usual) {
  const startedAt = performance.now();
  const json = join(folder, `${name}.json`);
  const args = [files.get(name) ?? name, '--json', json, ...(values.smallest ? ['--smallest'] : [])];
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const faults = status === 0 ? faultsOfFile(json) : [`exit ${status}`];
  console.log(faults.length === 0 ? `-- ok after ${seconds} s` : `-- FAILED after ${seconds} s: ${faults.join('; ')}`);
  if (faults.length > 0) failed.push(name);
}
rmSync(folder, { recursive: true });
if (failed.length > 0) {
  console.log(`FAILED: ${failed.join(', ')}`);
  process.exitCode = 1;
}

function faultsOfFile(json) {
  try {
    return faultsOf(JSON.parse(readFileSync(json, 'utf8')));
  } catch (error) {
    return [error.message];
  }
}
