import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf, startEgressStand, type EgressStand, type EgressWebhook } from '../../support/egress-stand.js';
import { install } from '../../support/foreign-tools.js';
import { freePort } from '../../support/postgres.mjs';
import { until } from '../../support/until.js';

/** Node-RED with the flow of docs/senders/brokers/node-red.md, whose own http request node delivers through `assent egress`. */
const installed = await install({
  name: 'Node-RED',
  folder: fileURLToPath(new URL('node-red', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm ci --silent --no-audit --no-fund --ignore-scripts --omit=optional'.split(' '),
});
const describeHere =
  'missing' in installed
    ? (name: string, tests: () => void) => describe.skip(`${name}: ${installed.missing}`, tests)
    : describe;

let egress: EgressStand;
afterAll(async () => {
  if ('remove' in installed) await installed.remove();
});

/** Node-RED in a folder of its own, with one flow. */
interface Flow {
  /** Resolves when the flow has taken it. */
  order(number: number): Promise<void>;
  /** The statuses with which deliveries ended for good, as its debug node wrote them. */
  ended(): number[];
  stop(): Promise<void>;
}

describeHere('Node-RED', () => {
  const folder = 'folder' in installed ? installed.folder : '';
  const running: Flow[] = [];
  beforeAll(async () => {
    egress = await startEgressStand();
  });
  afterAll(async () => {
    for (const flow of running) await flow.stop();
    await egress.stop();
  });

  async function startFlow(webhook: EgressWebhook): Promise<Flow> {
    const [port, name] = [await freePort(), new URL(webhook.sink).hostname];
    const place = (file: string) => join(folder, `${name}-${file}`);
    const to = { url: webhook.url, secret: egress.secret };
    await writeFile(place('flows.json'), configurationOf('node-red', 'json flow', to));
    await writeFile(place('flows_cred.json'), configurationOf('node-red', 'json credentials', to));
    const settings = {
      uiPort: port,
      uiHost: '127.0.0.1',
      httpAdminRoot: false,
      credentialSecret: false,
      flowFile: `${name}-flows.json`,
    };
    await writeFile(place('settings.js'), `module.exports = ${JSON.stringify(settings)};`);
    const args = ['node_modules/node-red/red.js', '--userDir', '.', '--settings', `${name}-settings.js`];
    const child: ChildProcess = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => (said += part.toString()));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`Node-RED ended: ${said}`);
      return said.includes('Started flows');
    });
    const flow: Flow = {
      async order(number) {
        const url = `http://127.0.0.1:${port}/orders`;
        const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer of-somebody-else' };
        const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ number }) });
        expect(status).toBe(202);
      },
      ended: () => [...said.matchAll(/\[debug:ended\] (\d+)/g)].map(([, status]) => Number(status)),
      async stop() {
        if (child.exitCode !== null) return;
        const over = once(child, 'exit');
        child.kill();
        await over;
      },
    };
    running.push(flow);
    return flow;
  }
  const numbers = ({ received }: EgressWebhook) =>
    received.map(({ event }) => (event['data'] as { number: number }).number);

  test('an unchanged flow delivers signed events with consent, and its outcomes are reported', async () => {
    const webhook = await egress.webhook('consent');
    const flow = await startFlow(webhook);
    for (let number = 1; number <= 5; number += 1) await flow.order(number);
    await until(() => flow.ended().length === 5);
    expect([numbers(webhook).sort(), webhook.refused, flow.ended()]).toEqual([[1, 2, 3, 4, 5], [], Array(5).fill(204)]);
    await until(async () => (await webhook.outcomes())['delivered'] === 5);
  });

  test('what is over the rate waits in the flow, and does not reach the webhook', async () => {
    const webhook = await egress.webhook('rate', { rate: '1' });
    const flow = await startFlow(webhook);
    for (let number = 1; number <= 3; number += 1) await flow.order(number);
    await until(async () => flow.ended().length === 1 && (await egress.denials('rate_used_up')) >= 2);
    expect(flow.ended()).toEqual([204]);
    expect(
      egress.registry.receiver.asked.filter(({ method, path }) => method === 'POST' && path === '/rate').length,
    ).toBe(1);
  });

  test('a webhook that asks for time gets it, and then the event', async () => {
    const webhook = await egress.webhook('busy');
    webhook.answers.push({ status: 503, headers: { 'Retry-After': '2' } });
    const flow = await startFlow(webhook);
    const from = performance.now();
    await flow.order(1);
    await until(() => flow.ended().length === 1);
    expect(webhook.received[0]!.at - from).toBeGreaterThanOrEqual(2_000);
    expect(flow.ended()).toEqual([204]);
  });

  test('it stops when the grant ends', async () => {
    const webhook = await egress.webhook('ended');
    const flow = await startFlow(webhook);
    await webhook.endGrant();
    await flow.order(1);
    await until(() => flow.ended().length === 1);
    expect([flow.ended(), webhook.received]).toEqual([[403], []]);
  });

  test('a webhook that is gone ends the grant', async () => {
    const webhook = await egress.webhook('gone');
    webhook.answers.push({ status: 410 });
    const flow = await startFlow(webhook);
    await flow.order(1);
    await until(() => flow.ended().length === 1);
    await until(async () => (await webhook.send()).status === 403);
    await flow.order(2);
    await until(() => flow.ended().length === 2);
    expect([flow.ended(), webhook.received]).toEqual([[410, 403], []]);
  });

  test('a name that leads to an internal address later, and a redirect to one, reach nothing there', async () => {
    const [rebound, redirecting] = [await egress.webhook('rebound'), await egress.webhook('redirecting')];
    const inside = await rebound.rebind();
    try {
      const flow = await startFlow(rebound);
      await flow.order(1);
      await until(() => flow.ended().length === 1);
      redirecting.answers.push({ status: 307, headers: { Location: inside.url, 'Retry-After': '1' } });
      const redirected = await startFlow(redirecting);
      await redirected.order(1);
      await until(() => redirected.ended().length === 1);
      expect([flow.ended(), inside.connections()]).toEqual([[403], 0]);
      // No success: it was sent again.
      expect([redirected.ended(), numbers(redirecting)]).toEqual([[204], [1]]);
    } finally {
      await inside.stop();
    }
  });
});
