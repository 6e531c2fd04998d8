import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenReceivers } from './broken-receivers.js';
import { allowed, correct, startSmallReceiver, token, type SmallReceiver } from './small-receiver.js';

const assent = fileURLToPath(new URL('../../../../dist/tools/cli/assent.js', import.meta.url));
let folder: string;
let good: SmallReceiver;
let bad: SmallReceiver;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-conformance-'));
  good = await startSmallReceiver(correct, '');
  bad = await startSmallReceiver(brokenReceivers.R03.parts, '');
});
afterAll(async () => {
  await Promise.all([good.stop(), bad.stop(), rm(folder, { recursive: true })]);
});

async function conformance(...args: string[]) {
  const child = spawn(process.execPath, [assent, 'conformance', ...args], { cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

const receiver = (sink: string, ...args: string[]) =>
  conformance('receiver', '--sink', sink, '--origin', allowed, ...args);
const quick = ['--case', 'R01,R02,R03'];

test('exit codes: 0 if every MUST holds or is known to fail, 1 if one fails or a known one passes', async () => {
  const known = join(folder, 'known.txt');
  await writeFile(known, '# The proxy adds a unit.\nR03\n');
  const all = await Promise.all([
    receiver(good.url, ...quick),
    receiver(bad.url, ...quick),
    receiver(bad.url, ...quick, '--baseline', known),
    receiver(good.url, ...quick, '--baseline', known),
  ]);
  expect(all.map(({ code }) => code)).toEqual([0, 1, 0, 1]);
  expect(all[1].output).toContain('These MUSTs fail: R03.');
  expect(all[1].output).toContain('< WebHook-Allowed-Rate: 40/minute');
  expect(all[3].output).toContain('The baseline lists these, and they pass: R03.');
});

test('exit codes: 2 wrong use, 3 nothing could be evaluated, 4 a fault of the kit', async () => {
  const gone = await startSmallReceiver(correct, '');
  await gone.stop();
  const all = await Promise.all([
    receiver('http://webhook.example.com/'),
    receiver(good.url, '--manual'),
    receiver(good.url, '--case', 'S01'),
    receiver(gone.url, ...quick),
    receiver(good.url, ...quick, '--out', join(assent, 'no-folder')),
  ]);
  expect(all.map(({ code }) => code)).toEqual([2, 2, 2, 3, 4]);
  expect(all[0].output).toContain('only on this machine');
  expect(all[1].output).toContain('Unknown option: --manual.');
});

test('exit codes: 5 if no consent was seen, said in the first line, unless none is expected', async () => {
  const withoutHandshake = { status: 200, headers: { Allow: 'GET, HEAD, POST' } };
  const stock = await startSmallReceiver({ ...correct, way: 'never', withoutHandshake }, '');
  const run = (...more: string[]) => conformance('receiver', '--sink', stock.url, '--timeout', '1', ...more);
  const [plain, expected, refuted] = await Promise.all([
    run(),
    run('--expect', 'refusal'),
    receiver(good.url, '--expect', 'refusal', '--case', 'R01', '--timeout', '1'),
  ]);
  await stock.stop();
  expect([plain.code, expected.code, refuted.code]).toEqual([5, 0, 1]);
  expect(plain.output.split('\n')[0]).toMatch(/^No consent was seen.*--origin.*--expect refusal/);
  expect(plain.output).toMatch(/^\d+ passed, 0 failed, 1 with advice, \d+ not evaluable\.$/m);
  expect(expected.output).not.toContain('No consent was seen');
});

test('a whole run leaves reports in every format, without the token, and ends within a minute', async () => {
  const out = join(folder, 'reports');
  const startedAt = Date.now();
  const { code, output } = await receiver(
    `${good.url}?code=key-of-the-function`,
    '--deliver',
    '--token',
    token,
    '--timeout',
    '1',
    '--out',
    out,
  );
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(Date.now() - startedAt).toBeLessThan(60_000);
  const names = (await readdir(out)).sort();
  expect(names).toEqual(['junit.xml', 'report.html', 'report.json', 'report.md']);
  for (const name of names) {
    const text = await readFile(join(out, name), 'utf8');
    expect(text).toContain('R25');
    expect(text).not.toContain(token);
    expect(text).not.toContain('key-of-the-function');
  }
  const later = await conformance('report', join(out, 'report.json'), '--format', 'markdown');
  expect(later).toEqual({ code: 0, output: await readFile(join(out, 'report.md'), 'utf8') });
});
