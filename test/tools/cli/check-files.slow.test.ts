import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkFiles } from '../../../src/tools/cli/check/check-files.js';

const program = fileURLToPath(new URL('../../../dist/tools/cli/assent.js', import.meta.url));
const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.thing.created' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-check-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

test('an event and a batch are told apart, whatever stands before them', async () => {
  const single = await write('event.json', `\ufeff\n${JSON.stringify(event)}`);
  const batch = await write(
    'batch.json',
    `\ufeff${' \n'.repeat(1_000)}${JSON.stringify([event, { ...event, id: '' }])}`,
  );
  const { lines, faults, warnings } = await checkFiles([single, batch], 'cloudevents');
  expect(lines).toEqual([
    `${single}: valid`,
    `${batch}: not valid`,
    expect.stringMatching(/^ {2}fault {4}\/1\/id {2}cloudevents.not_empty: /),
  ]);
  expect({ faults, warnings }).toEqual({ faults: 1, warnings: 0 });
});

test('a batch is held against what the profile says of batches', async () => {
  const batch = await write('large.json', JSON.stringify(Array(101).fill(event)));
  const { lines } = await checkFiles([batch], 'intg-std-015');
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}warning {2}\/ {2}intg-std-015.batch_count: /));
});

test('what stands in a file steers no terminal and writes no line of its own', async () => {
  const file = await write('names.json', JSON.stringify({ ...event, 'a\u001b[2J\nother.json: valid\u202e é': 1 }));
  const missing = join(folder, 'no\nfile');
  expect(await checkFiles([file, missing], 'cloudevents')).toMatchObject({
    lines: [
      `${file}: not valid`,
      expect.stringContaining(' /a\\u{1b}[2J\\u{a}other.json: valid\\u{202e} é  cloudevents.attribute_name: '),
    ],
    unreadable: [`${join(folder, 'no\\u{a}file')} cannot be read: ENOENT.`],
  });
});

test('there is no batch too large for it', async () => {
  const batch = await write('huge.json', JSON.stringify(Array(200_000).fill({ ...event, source: 'a' })));
  expect(await checkFiles([batch], 'cloudevents')).toMatchObject({ faults: 0, warnings: 200_000 });
});

test('the command exits with 0 for what is valid, 1 for what is not, and 2 for what it cannot read', async () => {
  const valid = await write('valid.json', JSON.stringify(event));
  const invalid = await write('invalid.json', '{}');
  const nothing = join(folder, 'nothing.json');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [program, 'events', 'check', ...args], { encoding: 'utf8' });
  expect(run(valid)).toMatchObject({ status: 0, stdout: `${valid}: valid\n`, stderr: '' });
  expect(run(valid, invalid)).toMatchObject({ status: 1, stdout: expect.stringContaining(`${invalid}: not valid\n`) });
  expect(run(valid, '--profile', 'belgif').status).toBe(1);
  expect(run(nothing, invalid, valid)).toMatchObject({
    status: 2,
    stdout: expect.stringMatching(/invalid\.json: not valid\n[^]*valid\.json: valid\n$/),
    stderr: `${nothing} cannot be read: ENOENT.\n`,
  });
  const piped = spawnSync(process.execPath, [program, 'events', 'check', '-'], { encoding: 'utf8', input: '[]' });
  expect(piped).toMatchObject({ status: 0, stdout: '-: valid\n' });
  for (const args of [[], [valid, '--profile', 'none'], [valid, '--strict']]) expect(run(...args).status).toBe(2);
});
