import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startEgressStand, type EgressStand, type EgressWebhook } from '../../support/egress-stand.js';
import { install, type Tools } from '../../support/foreign-tools.js';
import { until } from '../../support/until.js';

/** A broker that runs, with the configuration of its page for each of the webhooks below. */
export interface Broker {
  /** Has it send one more event to this webhook. Resolves when the broker has taken it. */
  send(webhook: WebhookName): Promise<void>;
  /** Whether it keeps, or returned, what the egress refused with 403, as its page says. */
  hasRefused(webhook: WebhookName): boolean | Promise<boolean>;
  stop(): Promise<void>;
}

export type WebhookName = 'consent' | 'rate' | 'busy' | 'ended' | 'rebound' | 'redirecting';
export type Webhooks = Readonly<Record<WebhookName, EgressWebhook>>;

export interface BrokerSettings extends Tools {
  start(place: { folder: string; webhooks: Webhooks; secret: string; execute: Execute }): Promise<Broker>;
  /** After a 503: it sends the event again once `Retry-After` is over, at a time of its own, or not by itself. */
  after503: 'in time' | 'at its own time' | 'not';
}

type Execute = (command: string[]) => Promise<string>;

/** What holds for every broker in front of `assent egress`, however it treats what is refused. */
export async function testBroker({ start, after503, ...tools }: BrokerSettings): Promise<void> {
  const installed = await install(tools);
  if ('missing' in installed) {
    describe.skip(`${tools.name}: ${installed.missing}`, () => test('is not there', () => undefined));
    return;
  }
  describe(tools.name, () => {
    let egress: EgressStand;
    let webhooks: Webhooks;
    let broker: Broker;
    beforeAll(async () => {
      egress = await startEgressStand();
      webhooks = {
        consent: await egress.webhook('consent'),
        rate: await egress.webhook('rate', { rate: '20' }),
        busy: await egress.webhook('busy'),
        ended: await egress.webhook('ended'),
        rebound: await egress.webhook('rebound'),
        redirecting: await egress.webhook('redirecting'),
      };
      // The keys of the origin are there: without them, the kit sends unsigned after a while.
      await until(async () => (await webhooks.consent.send()).ok);
      webhooks.consent.received.length = 0;
      webhooks.consent.refused.length = 0;
      broker = await start({ ...installed, webhooks, secret: egress.secret });
    });
    afterAll(async () => {
      await broker?.stop();
      await egress?.stop();
      await installed.remove();
    });
    const requests = (name: WebhookName) =>
      egress.registry.receiver.asked.filter(({ method, path }) => method === 'POST' && path === `/${name}`).length;

    test('it delivers signed events with consent, and the outcomes are reported', async () => {
      const { consent } = webhooks;
      for (let count = 1; count <= 3; count += 1) await broker.send('consent');
      await until(() => consent.received.length === 3);
      expect([new Set(consent.received.map(({ event }) => event.id)).size, consent.refused]).toEqual([3, []]);
      // With the first one of all.
      await until(async () => (await consent.outcomes())['delivered'] === 4);
    });

    test(`what is over the rate does not reach the webhook${after503 === 'not' ? '' : ', until there is room'}`, async () => {
      for (let count = 1; count <= 4; count += 1) await broker.send('rate');
      await until(async () => (await egress.denials('rate_used_up')) >= 1);
      expect(requests('rate')).toBeLessThan(4);
      if (after503 !== 'not') await until(() => webhooks.rate.received.length === 4);
    });

    test(`after a 503 it tries again: ${after503}`, async () => {
      const { busy } = webhooks;
      busy.answers.push({ status: 503, headers: { 'Retry-After': '2' } });
      const from = performance.now();
      await broker.send('busy');
      await until(() => requests('busy') === 1);
      if (after503 === 'not') {
        await until(() => performance.now() - from > 2_500);
        await broker.send('busy');
      }
      await until(() => busy.received.length === 1);
      if (after503 === 'in time') expect(busy.received[0]!.at - from).toBeGreaterThanOrEqual(2_000);
    });

    test('it stops when the grant ends', async () => {
      const { ended } = webhooks;
      await ended.endGrant();
      const before = requests('ended');
      await broker.send('ended');
      await until(() => broker.hasRefused('ended'));
      expect([requests('ended'), ended.received]).toEqual([before, []]);
    });

    test('a name that leads to an internal address later, and a redirect to one, reach nothing there', async () => {
      const { rebound, redirecting } = webhooks;
      const inside = await rebound.rebind();
      try {
        await broker.send('rebound');
        await until(() => broker.hasRefused('rebound'));
        const { port } = egress.registry.receiver;
        redirecting.answers.push({ status: 307, headers: { Location: `http://127.0.0.2:${port}/` } });
        await broker.send('redirecting');
        await until(() => requests('redirecting') >= 1);
        // The broker had time to follow: it has delivered the next event.
        const delivered = webhooks.consent.received.length;
        await broker.send('consent');
        await until(() => webhooks.consent.received.length > delivered);
        expect([rebound.received, inside.connections()]).toEqual([[], 0]);
      } finally {
        await inside.stop();
      }
    });
  });
}

/** A program with what it has written so far. */
export interface Running {
  child: ChildProcess;
  output(): string;
  stop(): Promise<void>;
}

/** Resolves when it has written `ready`; rejects with its output if it ends before. */
export async function run(
  [command = '', ...args]: string[],
  { folder, env = {}, ready }: { folder: string; env?: Record<string, string>; ready?: string },
): Promise<Running> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
  await until(() => {
    if (ready === undefined || said.includes(ready)) return true;
    if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`);
    return false;
  });
  return {
    child,
    output: () => said,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A program of a module that the go.mod in the folder names. What is compiled here runs for seconds. */
export function goBuild(program: string): Pick<Tools, 'tool' | 'install' | 'env'> {
  return {
    tool: ['go', 'version'],
    install: ['go', 'build', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w', '-o', '.', program],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  };
}
