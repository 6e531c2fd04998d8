// What every benchmark is started with, and how it ends.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * Options of the command line, by the type of their default; `--json FILE` writes the result. `--smallest` takes the
 * other defaults, which show in seconds that the benchmark measures what it says.
 */
export function readOptions(usual, smallest = {}) {
  const options = Object.fromEntries(
    Object.entries(usual).map(([name, value]) => [name, { type: typeof value === 'boolean' ? 'boolean' : 'string' }]),
  );
  const { values } = parseArgs({ options: { ...options, json: { type: 'string' }, smallest: { type: 'boolean' } } });
  const settings = { ...usual, ...(values.smallest ? smallest : {}) };
  for (const [name, given] of Object.entries(values)) {
    settings[name] = typeof usual[name] === 'number' ? Number(given) : given;
    if (Number.isNaN(settings[name])) throw new Error(`--${name} is not a number: ${given}`);
  }
  return settings;
}

/** Writes the result to `json`. The process exits with 1 if a part of it failed or a figure of it is not a number. */
export function finish(result, { json } = {}) {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(result, undefined, 2)}\n`);
  const faults = faultsOf(result);
  for (const fault of faults) console.error(`FAILED: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

/** What is wrong with a result: nothing measured, a row that failed, or a figure that is not a number. */
export function faultsOf(result) {
  const faults = [];
  let figures = 0;
  const walk = (value, path) => {
    if (value === null || (typeof value === 'number' && !Number.isFinite(value))) faults.push(`${path} is ${value}`);
    else if (typeof value === 'number') figures += 1;
    else if (typeof value === 'object') {
      for (const [name, member] of Object.entries(value)) {
        if (name === 'fails') faults.push(`${path}: ${member}`);
        else walk(member, path === '' ? name : `${path}.${name}`);
      }
    }
  };
  walk(result, '');
  if (figures === 0) faults.push('nothing was measured');
  return faults;
}
