import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Journal, type JournalSettings } from '../../../src/base/files/journal.js';

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-journal-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newPath = () => join(folder, `${(files += 1)}.jsonl`);
const linesIn = async (path: string) => (await readFile(path, 'utf8')).split('\n').slice(0, -1);

function open(path: string, more: Partial<JournalSettings> = {}): Promise<Journal> {
  return Journal.open({
    path,
    inUse: (owner) => new Error(`in use by ${owner}`),
    compact: () => Promise.reject(new Error('No compaction is wanted.')),
    onFault: (error) => expect(error).toBeUndefined(),
    ...more,
  });
}

async function read(journal: Journal): Promise<unknown[]> {
  const found: unknown[] = [];
  await journal.read((line) => (found.push(line), 'whole'));
  return found;
}

/** A program with the journal at `path`. Its own file is `dist/`. */
const program = (path: string, text: string) => `
  import { Journal } from '${new URL('../../../dist/base/files/journal.js', import.meta.url).href}';
  const settings = { path: ${JSON.stringify(path)}, inUse: (owner) => new Error('in use by ' + owner), onFault: console.error };
  ${text}`;

test('wherever a file is torn, the lines before are read, and the next line comes right after them', async () => {
  const path = newPath();
  const lines = ['{"n":1}', '"zwölf"', '{"n":[3]}'];
  const whole = Buffer.from(`${lines.join('\n')}\n`);
  for (let size = 0; size <= whole.length; size += 1) {
    await writeFile(path, whole);
    await truncate(path, size);
    const journal = await open(path);
    const kept = whole.subarray(0, size).toString().split('\n').slice(0, -1);
    expect(await read(journal)).toEqual(kept.map((line) => JSON.parse(line) as unknown));
    await journal.append(['"next"']);
    await journal.close();
    expect(await linesIn(path)).toEqual([...kept, '"next"']);
  }
});

test('what the reader does not accept as an end is dropped with what is torn', async () => {
  const path = newPath();
  await writeFile(path, '"entry"\n"end"\n"entry"\n"entry"\nnot JSON\n"end"\n');
  const journal = await open(path);
  await journal.read((line) => (line === 'end' ? 'whole' : 'open'));
  await journal.append(['"next"']);
  await journal.close();
  expect(await linesIn(path)).toEqual(['"entry"', '"end"', '"next"']);
});

test('an append that the disk takes in part leaves nothing, those waiting for it neither, and later ones are whole', async () => {
  const path = newPath();
  const text = `
    const journal = await Journal.open(settings);
    const line = (name, length) => JSON.stringify(name.padEnd(length));
    await journal.append([line('first', 50_000)]);
    const failing = journal.append([line('in part', 50_000)]);
    // Now it is being written.
    await undefined;
    const results = await Promise.allSettled([failing, journal.append([line('waiting', 10)])]);
    await journal.append([line('later', 10)], { synced: true });
    await journal.close();
    console.log(JSON.stringify(results.map(({ status, reason }) => [status, reason?.code])));`;
  // No file may be longer than 64 KiB.
  const command = `trap '' XFSZ; ulimit -f 128; exec "$0" --input-type=module --eval "$1"`;
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, program(path, text)]);
  expect(JSON.parse(stdout)).toEqual([
    ['rejected', 'EFBIG'],
    ['rejected', 'EFBIG'],
  ]);
  expect((await linesIn(path)).map((line) => (JSON.parse(line) as string).trim())).toEqual(['first', 'later']);
});

test('after the disk failed to store lines, what is needed is written to a new file', async () => {
  const path = newPath();
  // It takes everything and cannot be synced.
  await symlink('/dev/null', path);
  const journal = await open(path, { compact: (write) => write(['"kept"']) });
  await expect(journal.append(['"lost"'], { synced: true })).rejects.toThrow('EINVAL');
  await journal.append(['"next"'], { synced: true });
  await journal.close();
  expect(await linesIn(path)).toEqual(['"kept"', '"next"']);
});

test('over kills, during compactions as well, no line is lost that was reported as stored', async () => {
  const path = newPath();
  const text = `
    const kept = [];
    const compact = (write) => write(kept.map(String));
    const journal = await Journal.open({ ...settings, compact, compactAbove: 200 });
    await journal.read((number) => (kept.push(number), 'whole'));
    for (let number = (kept.at(-1) ?? 0) + 1; ; number += 1) {
      const onWritten = () => { kept.push(number); kept.splice(0, kept.length - 10); };
      await journal.append([String(number)], { synced: true, onWritten });
      process.stdout.write(number + '\\n');
    }`;
  let last = 0;
  for (let kill = 0; kill < 6; kill += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program(path, text)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let reported = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      reported += part;
      if (reported.split('\n').length > 100 + 13 * kill) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const numbers = reported.split('\n').slice(0, -1).map(Number);
    expect(numbers[0]).toBeGreaterThan(last);
    last = numbers.at(-1) ?? 0;
    const journal = await open(path);
    const found = (await read(journal)) as number[];
    await journal.close();
    expect(found.at(-1)).toBeGreaterThanOrEqual(last);
    const first = found[0] as number;
    expect(found).toEqual(found.map((_, place) => first + place));
    // The last one may not have been reported, and be one of the ten that are kept.
    last = found.at(-1) as number;
    expect(first).toBeLessThanOrEqual(Math.max(1, last - 9));
  }
});

test('a compaction has what was appended before it, and the file stays below twice what is kept', async () => {
  const path = newPath();
  const counts = new Map<string, number>();
  const compact: JournalSettings['compact'] = (write) => write([...counts].map((entry) => JSON.stringify(entry)));
  const journal = await open(path, { compact, compactAbove: 500 });
  for (let turn = 1; turn <= 200; turn += 1) {
    const entry: [string, number] = [`key${turn % 7}`, turn];
    await journal.append([JSON.stringify(entry)], { onWritten: () => void counts.set(...entry) });
    expect((await stat(path)).size).toBeLessThan(550);
  }
  await journal.close();
  const again = await open(path);
  expect(new Map((await read(again)) as Array<[string, number]>)).toEqual(counts);
  await again.close();
});

test('a compaction that fails is reported, leaves nothing beside the file, and the file goes on', async () => {
  const path = newPath();
  const faults: unknown[] = [];
  const journal = await open(path, { compactAbove: 10, onFault: (error) => void faults.push(error) });
  for (const line of ['"first line"', '"second"', '"third"']) await journal.append([line]);
  await journal.close();
  // Each time that it has doubled.
  expect(faults.map(String)).toEqual(Array(2).fill('Error: No compaction is wanted.'));
  expect(await linesIn(path)).toEqual(['"first line"', '"second"', '"third"']);
  expect((await readdir(folder)).filter((name) => name.startsWith(basename(path)))).toEqual([basename(path)]);
});

test('a new content replaces the file at once', async () => {
  const path = newPath();
  const journal = await open(path);
  await journal.append(['"old"']);
  const draft = await journal.begin();
  await draft.write(['"new"']);
  expect(await linesIn(path)).toEqual(['"old"']);
  await journal.replace(draft);
  await journal.append(['"next"']);
  await journal.close();
  expect(await linesIn(path)).toEqual(['"new"', '"next"']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a file belongs to one process, until that closes it', async () => {
  const path = newPath();
  const journal = await open(path);
  const other = promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    program(path, 'await Journal.open(settings);'),
  ]);
  await expect(other).rejects.toThrow(`in use by ${process.pid}`);
  await journal.close();
  await (await open(path)).close();
});
