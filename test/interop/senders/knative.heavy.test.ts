import { fileURLToPath } from 'node:url';
import { configurationOf } from '../../support/egress-stand.js';
import { goBuild, run, testBroker, type Running, type WebhookName } from './broker.js';

/** In the page, behind the secret. */
const shown = '127.0.0.1:3080/https/webhook.example.com/events';

/** The source `heartbeats` of Knative Eventing, which sends one event each time, to the sink of docs/senders/brokers/knative.md. */
await testBroker({
  name: 'Knative',
  folder: fileURLToPath(new URL('knative', import.meta.url)),
  ...goBuild('knative.dev/eventing/cmd/heartbeats'),
  after503: 'at its own time',
  async start({ folder, webhooks, secret }) {
    const started: Array<{ webhook: WebhookName; source: Running }> = [];
    return {
      async send(webhook) {
        const sink = configurationOf('knative', 'yaml sink', { url: '', secret });
        const address = sink
          .replace(/^.*uri: |\s+$/gs, '')
          .replace(shown, webhooks[webhook].url.slice('http://'.length));
        const env = { K_SINK: address, POD_NAME: 'one', POD_NAMESPACE: 'test', ONE_SHOT: 'true' };
        started.push({ webhook, source: await run(['./heartbeats'], { folder, env }) });
      },
      hasRefused: (webhook) =>
        started.some(
          (each) => each.webhook === webhook && each.source.output().includes('failed to send cloudevent: 403'),
        ),
      async stop() {
        for (const { source } of started) await source.stop();
      },
    };
  },
});
