import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram, type Program } from '../../support/process.js';

/** The programs before they open a database, and those that need none. */
let folder: string;
const programs: Program[] = [];

/** Remembered, so that a failed test leaves nothing running. */
function remembered(program: Program): Program {
  programs.push(program);
  return program;
}
const run = (file: string, env: Record<string, string>, ...args: string[]) =>
  remembered(startProgram(file, { env, args }));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-commands-'));
});
afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL');
  await Promise.all(programs.splice(0).map(({ ended }) => ended));
});
afterAll(() => rm(folder, { recursive: true }));

test('configuration faults end it with code 1, all of them listed, before anything is opened', async () => {
  const faults = { ASSENT_PORT: 'eighty', ASSENT_COLOUR: 'blue', ASSENT_POLL_MS: '0' };
  const program = run('main.js', { ...faults, ASSENT_DATA: join(folder, 'new') });
  expect(await program.ended).toBe(1);
  expect(program.stderr).toMatch(/3 fault\(s\)/);
  for (const name of Object.keys(faults)) expect(program.stderr).toContain(`  ${name} `);
  expect(program.stderr).not.toContain('    at ');
  expect(await readdir(folder)).not.toContain('new');
});

test('the registry takes no arguments: any starts nothing, and those that it knows are answered', async () => {
  const asked = [['--help'], ['-h'], ['--version'], ['--port', '4000'], ['migrate']];
  const data = { ASSENT_DATA: join(folder, 'none') };
  const ran = await Promise.all(
    asked.map(async (args) => {
      const program = run('main.js', data, ...args);
      return [args[0], await program.ended, program.stdout.split('\n')[0], program.stderr.split('\n')[0]];
    }),
  );
  expect(ran).toEqual([
    ['--help', 0, 'Usage: node dist/main.js', ''],
    ['-h', 0, 'Usage: node dist/main.js', ''],
    ['--version', 0, expect.stringMatching(/^\d+\.\d+\.\d+$/), ''],
    ['--port', 2, '', 'Unknown argument: --port'],
    ['migrate', 2, '', 'Unknown argument: migrate'],
  ]);
  expect(await readdir(folder)).not.toContain('none');
});

test('an unreachable database ends it with code 1, without revealing the password', async () => {
  const program = run('main.js', { ASSENT_DATA: folder, DATABASE_URL: 'postgres://assent:canary@127.0.0.1:1/assent' });
  expect(await program.ended).toBe(1);
  expect(program.stderr).toBe('DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1\n');
  expect(program.stderr + program.stdout).not.toContain('canary');
});

test('an impossible data folder ends it with code 1, and is named', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const program = run('main.js', { ASSENT_DATA: file });
  expect(await program.ended).toBe(1);
  expect(program.stderr).toMatch(/^ASSENT_DATA: cannot open the database in .*ENOTDIR[^\n]*\n$/);
  if (!existsSync('/proc/self')) return;
  const nowhere = run('main.js', { ASSENT_DATA: '/proc/assent' });
  expect(await nowhere.ended).toBe(1);
  expect(nowhere.stderr).toMatch(/^ASSENT_DATA: cannot open the database in .*ENOENT[^\n]*\n$/);
});

test('no token is created for an unknown scope, and invalid command lines have their own exit code', async () => {
  for (const args of [
    ['token', '--scope', 'assent:everything'],
    ['token'],
    ['token', '--colour', 'red'],
    ['token', '--scope', 'assent:admin', '--tenant', ''],
    ['token', '--scope', 'assent:admin', 'more'],
    ['try', '--scope', 'assent:admin'],
    ['receiver', '--port', 'https'],
    ['try', '--webhook-port', '70000'],
    ['tokne'],
    [],
  ]) {
    const program = run('tools/cli/assent.js', { ASSENT_DATA: folder }, ...args);
    expect([args, await program.ended, program.stdout]).toEqual([args, 2, '']);
    expect(program.stderr).not.toBe('');
  }
});

test('the program prints its help and that of a command, and the version can be printed', async () => {
  const said = async (...args: string[]) => {
    const program = run('tools/cli/assent.js', {}, ...args);
    expect([args, await program.ended, program.stderr]).toEqual([args, 0, '']);
    return program.stdout;
  };
  const whole = await said('--help');
  expect([await said('-h'), await said('help')]).toEqual([whole, whole]);
  const own = await said('check', '--help');
  expect(own).toMatch(/^Usage: assent check URL /);
  expect([await said('check', '-h'), await said('help', 'check')]).toEqual([own, own]);
  for (const line of whole.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  expect(await said('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('a reader that exits early, as `head` does, causes no error message, but a full disk does', async () => {
  const events = join(folder, 'events.json');
  await writeFile(events, JSON.stringify(Array.from({ length: 5_000 }, () => ({ specversion: '1.0' }))));
  const read = run('tools/cli/assent.js', {}, 'events', 'check', events);
  read.child.stdout?.once('data', () => read.child.stdout?.destroy());
  expect([await read.ended, read.stderr]).toEqual([1, '']);
  if (!existsSync('/dev/full')) return;
  const full = await open('/dev/full', 'w');
  const args = ['token', '--scope', 'assent:admin'];
  const lost = remembered(startProgram('tools/cli/assent.js', { env: { ASSENT_DATA: folder }, args, stdout: full.fd }));
  await full.close();
  expect(await lost.ended).toBe(1);
  expect(lost.stderr).toMatch(/^The output cannot be written: ENOSPC[^\n]*\n$/);
});

test('in production no tokens are created unless that is enabled', async () => {
  const production = {
    NODE_ENV: 'production',
    ASSENT_DATA: folder,
    ASSENT_EMBEDDED_DATABASE: 'true',
    ASSENT_CREDENTIAL_KEYS: `a:${Buffer.alloc(32).toString('base64url')}`,
    ASSENT_ISSUERS: JSON.stringify([{ issuer: 'https://a.example', audience: 'b', jwks: 'https://a.example/jwks' }]),
  };
  const args = ['token', '--scope', 'assent:admin'];
  const refused = run('tools/cli/assent.js', production, ...args);
  expect([await refused.ended, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('Get a token from your issuer');
  // A shell in which commands for a registry were set up.
  const more = { ASSENT_DEVELOPMENT_ISSUER: 'true', ASSENT_URL: 'https://a.example', ASSENT_TOKEN: 'a' };
  const made = run('tools/cli/assent.js', { ...production, ...more }, ...args);
  expect(await made.ended).toBe(0);
  expect(made.stdout).toMatch(/^eyJ\S+\n$/);
});
