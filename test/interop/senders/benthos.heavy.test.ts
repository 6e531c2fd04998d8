import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf } from '../../support/egress-stand.js';
import { freePort } from '../../support/postgres.mjs';
import { goBuild, run, testBroker } from './broker.js';

/** Benthos with the output of docs/senders/brokers/benthos.md, in a stream for each webhook. */
await testBroker({
  name: 'Benthos',
  folder: fileURLToPath(new URL('benthos', import.meta.url)),
  ...goBuild('github.com/redpanda-data/benthos/v4/cmd/benthos'),
  after503: 'at its own time',
  async start({ folder, webhooks, secret }) {
    const address = `127.0.0.1:${await freePort()}`;
    await writeFile(join(folder, 'root.yaml'), `http: { address: '${address}' }\n`);
    await mkdir(join(folder, 'streams'));
    for (const [name, { url }] of Object.entries(webhooks)) {
      const output = configurationOf('benthos', 'yaml output', { url, secret }).replace('refused', `refused-${name}`);
      // Responds at once, so that a test can send more while an event waits.
      const input = 'input: { http_server: { path: /events } }\nbuffer: { memory: {} }\n';
      await writeFile(join(folder, 'streams', `${name}.yaml`), input + output);
    }
    const command = ['./benthos', 'streams', '--no-api', '-o', 'root.yaml', 'streams'];
    const benthos = await run(command, { folder, ready: 'Listening for HTTP requests' });
    let sent = 0;
    return {
      async send(webhook) {
        sent += 1;
        const event = { specversion: '1.0', id: `event-${sent}`, source: 'urn:example:shop', type: 'com.example.sold' };
        const url = `http://${address}/${webhook}/events`;
        const { ok } = await fetch(url, { method: 'POST', body: JSON.stringify(event) });
        if (!ok) throw new Error(benthos.output());
      },
      hasRefused: (webhook) =>
        readFile(join(folder, `refused-${webhook}.jsonl`), 'utf8').then(
          (lines) => lines.includes('com.example.sold'),
          () => false,
        ),
      stop: () => benthos.stop(),
    };
  },
});
