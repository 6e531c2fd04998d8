import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { conformanceSender } from '../../../../src/tools/cli/conformance/conformance-sender.js';
import { driveByCommand, driveByHand } from '../../../../src/tools/cli/conformance/drive-sender.js';
import type { CaseResult } from '../../../../src/tools/conformance/case.js';
import { senderCases } from '../../../../src/tools/conformance/cases.js';
import { maxInAnyMinute } from '../../../../src/tools/conformance/sender/exchange.js';
import { UsageError } from '../../../../src/base/errors.js';
import { until } from '../../../support/until.js';

const folder = await mkdtemp(join(tmpdir(), 'assent-test-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(values: Record<string, string | boolean>): Promise<CaseResult[]> {
  const cases = senderCases.filter(({ id }) => id === 'S08');
  const env = { PATH: process.env['PATH'], ASSENT_DATA: folder };
  const defaults = { listen: 'localhost:0', command: '', manual: false, jwks: '' };
  const started = { cases, profile: 'cloudevents', timeoutMs: 300_000, env } as const;
  const { outcome } = await conformanceSender(started, { ...defaults, ...values });
  return (await outcome).results;
}

test('a command runs once for each instance, without a shell, and its last line explains why nothing arrived', async () => {
  const script = 'console.log(process.argv.slice(1).join(" "), process.env.CONFORMANCE_CA_FILE)';
  const [result] = await run({
    command: `${process.execPath} -e '${script}' {url} "{events} events;$HOME" {instance}`,
  });
  const url = 'https://localhost:\\d+/S08/events\\?z=1&tenant=a%2Fb&z=2&empty=';
  const ended = (instance: number) =>
    `The command ended with exit code 0: ${url} 30 events;\\$HOME ${instance} ${folder}/conformance-localhost.pem`;
  expect(result?.outcome).toBe('not_evaluable');
  const either = new RegExp(`^No OPTIONS arrived at S08\\. (${ended(1)} ${ended(2)}|${ended(2)} ${ended(1)})$`);
  expect(result?.detail).toMatch(either);
});

test('when the run is over, commands end with everything that they have started', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.resume().on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const script = join(folder, 'hold.mjs');
  await writeFile(script, `import { connect } from 'node:net'; connect(${port}, '127.0.0.1').resume();`);

  const command = `sh -c '"$0" "$1" & wait' ${process.execPath} ${script} {url}`;
  const over = new AbortController();
  const webhook = { url: 'https://localhost:1/S08', case: 'S08', does: '', events: 30, instances: 2 };
  const assignments = [1, 2].map((instance) => ({ ...webhook, instance }));
  const ends = driveByCommand(command, '/ca.pem', { PATH: process.env['PATH'] })(assignments, over.signal);
  await until(() => sockets.length === 2);
  over.abort();
  // Neither was done.
  expect(await ends).toEqual(new Map());
  await until(() => sockets.every(({ destroyed }) => destroyed));
  server.close();
});

describe('wrong use', () => {
  test.each<[string, Record<string, string | boolean>]>([
    ['neither a command nor --manual', {}],
    ['both', { command: 'true {url}', manual: true }],
    ['a command without {url}', { command: 'true' }],
    ['a quote without its end', { command: `true '{url}` }],
    ['a program that is not there', { command: 'no-such-program {url}' }],
    ['an address that no sender can use', { command: 'true {url}', listen: '0.0.0.0:0' }],
    ['a place without a port', { command: 'true {url}', listen: 'localhost' }],
    ['keys that are not there', { command: 'true {url}', jwks: join(folder, 'no-such.json') }],
    ['an address of another machine', { command: 'true {url}', listen: '192.0.2.1:0' }],
  ])('%s', async (_, values) => {
    await expect(run(values)).rejects.toThrow(UsageError);
  });
});

test('--manual prints each webhook once and waits for Enter', async () => {
  const input = new PassThrough();
  let printed = '';
  const drive = driveByHand('/ca.pem', input, (text) => (printed += text));
  const webhook = { url: 'https://localhost:1/S08', case: 'S08', does: 'allows 6', events: 30, instances: 2 };
  const assignments = [1, 2].map((instance) => ({ ...webhook, instance }));
  const ends = drive(assignments, new AbortController().signal);
  input.write('\n');
  expect([...(await ends).keys()]).toEqual([webhook.url]);
  expect(printed.split(webhook.url)).toHaveLength(2);
  expect(printed).toContain('allows 6; 30 events from each of 2 instances at the same time');
});

test.each([
  [[0, 10, 20, 30, 40, 50, 60, 70], 0, 6],
  [[0, 59.5], 0, 1],
  [[58, 0, 1], 0, 3],
  [[], 0, 0],
  // Sent at 0, 30 and 60, and the kit stood still in the beginning.
  [[12, 30, 60], 0, 3],
  [[12, 30, 60], 12, 2],
])('requests at %j seconds, after a pause of %i, are at most %i in any minute', (seconds, pause, max) => {
  const exchange = { scheme: 'https', method: 'POST', target: '/', lines: [], body: Buffer.alloc(0) } as const;
  expect(
    maxInAnyMinute(
      seconds.map((second) => ({ ...exchange, at: second * 1_000 })),
      pause * 1_000,
    ),
  ).toBe(max);
});
