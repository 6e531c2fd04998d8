import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf, startEgressStand, type EgressStand, type EgressWebhook } from '../../support/egress-stand.js';
import { install } from '../../support/foreign-tools.js';
import { until } from '../../support/until.js';

/** syslog-ng, with the destination of docs/senders/brokers/syslog-ng.md and what is written to its standard input. */
const installed = await install({
  name: 'syslog-ng',
  folder: fileURLToPath(new URL('syslog-ng', import.meta.url)),
  tool: ['apt-get', '--version'],
  install: ['sh', 'install.sh'],
});
const describeHere =
  'missing' in installed
    ? (name: string, tests: () => void) => describe.skip(`${name}: ${installed.missing}`, tests)
    : describe;
afterAll(async () => {
  if ('remove' in installed) await installed.remove();
});

interface Shipper {
  write(message: string): void;
  stop(): Promise<void>;
}

describeHere('syslog-ng', () => {
  const folder = 'folder' in installed ? installed.folder : '';
  const running: Shipper[] = [];
  let egress: EgressStand;
  beforeAll(async () => {
    egress = await startEgressStand();
  });
  afterAll(async () => {
    for (const shipper of running) await shipper.stop();
    await egress.stop();
  });

  async function start(webhook: EgressWebhook): Promise<Shipper> {
    const name = new URL(webhook.sink).hostname;
    const place = (kind: string) => join(folder, `${name}-${kind}`);
    const shown = configurationOf('syslog-ng', 'text destination', { url: webhook.url, secret: egress.secret });
    const destination = shown.replace('time-reopen(10)', 'time-reopen(1)');
    expect(destination).not.toBe(shown);
    await writeFile(
      place('conf'),
      `@version: 3.35
options { use-uniqid(yes); stats-freq(0); };
source written { stdin(flags(no-parse)); };
${destination}
log { source(written); destination(webhook); flags(flow-control); };
`,
    );
    const args = [
      '--foreground',
      '--no-caps',
      '--stderr',
      '--cfgfile',
      place('conf'),
      '--persist-file',
      place('persist'),
    ];
    const child = spawn(
      join(folder, 'syslog-ng'),
      [...args, '--pidfile', place('pid'), '--control', place('control'), '--module-path', join(folder, 'modules')],
      { cwd: folder, env: { LD_LIBRARY_PATH: join(folder, 'libraries') }, stdio: ['pipe', 'ignore', 'pipe'] },
    );
    let said = '';
    child.stderr.on('data', (part: Buffer) => (said += part.toString()));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`syslog-ng ended: ${said}`);
      return said.includes('starting up');
    });
    const shipper: Shipper = {
      write: (message) => void child.stdin.write(`${message}\n`),
      async stop() {
        if (child.exitCode !== null) return;
        const over = once(child, 'exit');
        child.kill();
        await over;
      },
    };
    running.push(shipper);
    return shipper;
  }
  const messages = ({ received }: EgressWebhook) =>
    received.map(({ event }) => (event['data'] as { message: string }).message);

  test('each message is a signed event; one that fails is sent again, in its place', async () => {
    const webhook = await egress.webhook('shipped');
    webhook.answers.push({ status: 500 });
    const shipper = await start(webhook);
    for (const message of ['one', 'two', 'three']) shipper.write(message);
    await until(() => messages(webhook).length === 3);
    expect([messages(webhook), webhook.refused]).toEqual([['one', 'two', 'three'], []]);
    expect(new Set(webhook.received.map(({ event }) => event.id)).size).toBe(3);
    await until(async () => (await webhook.outcomes())['delivered'] === 3);
    expect(await webhook.outcomes()).toMatchObject({ delivered: 3, failed: 1 });
  });

  test('messages wait while there is no consent, in their order, and one that the webhook rejects is dropped', async () => {
    const webhook = await egress.webhook('waiting');
    const shipper = await start(webhook);
    await webhook.endGrant();
    const before = await egress.denials('revoked');
    for (const message of ['one', 'two', 'three']) shipper.write(message);
    await until(async () => (await egress.denials('revoked')) >= before + 2);
    expect(webhook.received).toEqual([]);
    webhook.answers.push({ status: 400 });
    await webhook.askAgain();
    await until(() => messages(webhook).length === 2);
    expect(messages(webhook)).toEqual(['two', 'three']);
  });
});
