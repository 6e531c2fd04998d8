import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf } from '../../support/egress-stand.js';
import { freePort } from '../../support/postgres.mjs';
import { run, testBroker, type WebhookName } from './broker.js';

/** Dapr's sidecar with the component and the request of docs/senders/brokers/dapr.md, for each webhook. */
await testBroker({
  name: 'Dapr',
  folder: fileURLToPath(new URL('dapr', import.meta.url)),
  tool: ['go', 'version'],
  install: ['sh', 'build.sh'],
  env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  after503: 'not',
  async start({ folder, webhooks, secret }) {
    await mkdir(join(folder, 'resources'));
    for (const [name, { url }] of Object.entries(webhooks)) {
      const component = configurationOf('dapr', 'yaml component', { url, secret });
      const named = component.replace('name: webhook', `name: ${name}`);
      await writeFile(join(folder, 'resources', `${name}.yaml`), named);
    }
    const port = await freePort();
    const options = {
      'app-id': 'shop',
      'resources-path': 'resources',
      'dapr-http-port': port,
      'dapr-grpc-port': await freePort(),
      'dapr-internal-grpc-port': await freePort(),
      'dapr-listen-addresses': '127.0.0.1',
      'enable-metrics': false,
      'placement-host-address': '',
      'scheduler-host-address': '',
    };
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const dapr = await run(['./daprd', ...flags, '--disable-builtin-k8s-secret-store'], {
      folder,
      ready: 'dapr initialized. Status: Running',
    });
    const shown = configurationOf('dapr', 'json event', { url: '', secret });
    const statuses = new Map<WebhookName, string | null>();
    let sent = 0;
    return {
      async send(webhook) {
        sent += 1;
        const body = shown.replace('"id": "1"', `"id": "${sent}"`);
        const response = await fetch(`http://127.0.0.1:${port}/v1.0/bindings/${webhook}`, { method: 'POST', body });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
        statuses.set(webhook, response.headers.get('Metadata.Statuscode'));
      },
      hasRefused: (webhook) => statuses.get(webhook) === '403',
      stop: () => dapr.stop(),
    };
  },
});
