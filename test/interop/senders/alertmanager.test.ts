import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf, startEgressStand, type EgressStand } from '../../support/egress-stand.js';
import { install } from '../../support/foreign-tools.js';
import { freePort } from '../../support/postgres.mjs';
import { until } from '../../support/until.js';
import { run } from './broker.js';

/** Prometheus' Alertmanager speaks no CloudEvents. It has the receiver of docs/senders/brokers/clients.md, and nothing else. */
const installed = await install({
  name: 'Alertmanager',
  folder: fileURLToPath(new URL('alertmanager', import.meta.url)),
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

describeHere('Alertmanager', () => {
  const folder = 'folder' in installed ? installed.folder : '';
  const event = { source: 'urn:example:alertmanager', type: 'com.example.alert' };
  let egress: EgressStand;
  beforeAll(async () => {
    egress = await startEgressStand({ event });
  });
  afterAll(async () => egress?.stop());

  test('its alert is a valid event in binary mode, and every attempt after a refusal has the same id', async () => {
    const webhook = await egress.webhook('alerts');
    webhook.answers.push({ status: 403 }, { status: 429, headers: { 'Retry-After': '1' } }, { status: 503 });
    await writeFile(
      join(folder, 'alertmanager.yml'),
      `route: { receiver: webhook, group_wait: 0s, group_interval: 1s }\n${configurationOf('clients', 'yaml alertmanager', { url: webhook.url, secret: egress.secret })}`,
    );
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const manager = await run(
      ['./prometheus-alertmanager', '--config.file=alertmanager.yml', '--storage.path=data'].concat(
        `--web.listen-address=${address}`,
        '--cluster.listen-address=',
      ),
      { folder, ready: 'Listening on' },
    );
    try {
      const response = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify([{ labels: { alertname: 'DiskFull', instance: 'a' } }]),
      });
      expect(response.status).toBe(200);
      await until(() => webhook.received.length === 1);
      const { id, data, ...attributes } = webhook.received[0]!.event;
      expect(attributes).toMatchObject({ ...event, datacontenttype: 'application/json', time: expect.anything() });
      expect(data).toMatchObject({ status: 'firing', alerts: [{ labels: { alertname: 'DiskFull' } }] });
      const attempts = egress.registry.receiver.asked.filter(({ method }) => method === 'POST');
      expect(attempts.map(({ headers }) => headers['ce-id'])).toEqual([id, id, id, id]);
      // A request more than notifications, after the 503. After the 403 and the 429 it waited for the next interval.
      const metrics = await (await fetch(`http://${address}/metrics`)).text();
      const count = (name: string) =>
        Number(new RegExp(`^alertmanager_${name}{integration="webhook".*} (\\d+)$`, 'm').exec(metrics)?.[1]);
      expect(count('notification_requests_total') - count('notifications_total')).toBe(1);
      expect(count('notification_requests_failed_total') - count('notifications_failed_total')).toBe(1);
    } finally {
      await manager.stop();
    }
  });
});
