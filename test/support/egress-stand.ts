import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createWebhook, type Refused } from '../../src/kits/webhook/index.js';
import { createToken } from '../../src/tools/cli/login/create-token.js';
import { parsePage, readPage } from '../docs/markdown.js';
import { freePort } from './postgres.mjs';
import { startProgram } from './process.js';
import { startRegistry, type Registry } from './registry.js';
import { createTenant, type Tenant } from './tenant.js';
import { until } from './until.js';

/** `assent egress` in its own process, on a registry of its own, for senders of others in front of it. */
export interface EgressStand {
  registry: Registry;
  tenant: Tenant;
  url: string;
  operationsUrl: string;
  /** Of the caller that sends for the tenant's origin. */
  secret: string;
  /** What it wrote. */
  log(): string;
  /** How many requests it refused with this denial. */
  denials(denial: string): Promise<number>;
  /** A webhook at a name of its own, which agreed at this rate. */
  webhook(name: string, settings?: { rate?: string }): Promise<EgressWebhook>;
  stop(): Promise<void>;
}

export interface Arrived {
  event: { id: string; [attribute: string]: unknown };
  /** Of the monotonic clock, in milliseconds. */
  at: number;
}

export interface EgressWebhook {
  sink: string;
  /** The id of its subscription. */
  subscription: string;
  /** Where a sender posts to: the sink behind the address of the egress. */
  url: string;
  /** Events with a valid signature by a key of the origin. The kit of receivers refuses all others. */
  received: Arrived[];
  refused: Refused[];
  /** The next responses to deliveries, instead of 204. These deliveries are not received. */
  answers: Array<{ status: number; headers?: Record<string, string> }>;
  /** A delivery of its own through the egress. */
  send(id?: string): Promise<Response>;
  /** The deliveries that were reported, by outcome. */
  outcomes(): Promise<Record<string, number>>;
  /** An admin revokes the grant. Resolves when the egress knows. */
  endGrant(): Promise<void>;
  /** Resolves when the webhook was asked, and consents again. The egress may not know yet. */
  askAgain(): Promise<void>;
  /** Its name leads to an internal address from now on, before the egress has connected to it. */
  rebind(): Promise<Inside>;
}

/** What listens on an internal address. */
export interface Inside {
  url: string;
  /** That were made to it. */
  connections(): number;
  stop(): Promise<void>;
}

/** On the pages. */
const shownUrl = 'http://127.0.0.1:3080/https/webhook.example.com/events';
/** Another address of this machine, which the egress may not connect to. */
const internalAddress = '127.0.0.2';

interface StandSettings {
  env?: Record<string, string>;
  /** What each request of the caller becomes that is no event. */
  event?: { source: string; type: string; idheader?: string };
}

export async function startEgressStand({ env = {}, event }: StandSettings = {}): Promise<EgressStand> {
  const registry = await startRegistry({ env: { ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  const tenant = await createTenant(registry);
  const { origin, admin } = tenant;
  const [port, operationsPort] = [await freePort(), await freePort()];
  const [url, operationsUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${operationsPort}`];
  const secret = randomBytes(24).toString('base64url');
  const tokenFile = join(registry.env['ASSENT_DATA'] ?? '', 'egress-token');
  const scopes = ['assent:deliver', 'assent:credentials', 'assent:sign'] as const;
  const who = { tenant: 'gemeente', subscriber: 'egress', scopes: [...scopes], minutes: 60 };
  await writeFile(tokenFile, await createToken(who, registry.env));
  const { ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE, ASSENT_DNS_SERVERS } = registry.env;
  const program = startProgram('tools/cli/assent.js', {
    args: [
      'egress',
      '--registry',
      registry.url,
      '--listen',
      new URL(url).host,
      '--operations',
      new URL(operationsUrl).host,
    ],
    env: {
      ASSENT_SINK_PORTS,
      ASSENT_SINK_CA_FILE,
      ASSENT_DNS_SERVERS,
      ASSENT_ALLOWED_NETWORKS: '127.0.0.1/32',
      EGRESS_TOKEN_FILE: tokenFile,
      EGRESS_CALLERS: JSON.stringify([
        { name: 'sender', origins: [origin], secret: createHash('sha256').update(secret).digest('hex'), event },
      ]),
      ...env,
    },
  });
  const log = () => program.stdout + program.stderr;
  await until(async () => {
    if (program.child.exitCode !== null) throw new Error(`The egress ended: ${log()}`);
    return await fetch(`${operationsUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });

  const keys = (await admin.get(`/v1/origins/${origin}/keys`).expect(200)).body.map(
    ({ publickey }: { publickey: object }) => publickey,
  );

  async function webhook(name: string, { rate = '*' } = {}): Promise<EgressWebhook> {
    const path = `/${name}`;
    const host = `${name}.hooks.test`;
    const sink = registry.receiver.sink(path, host);
    const received: Arrived[] = [];
    const refused: Refused[] = [];
    const answers: EgressWebhook['answers'] = [];
    const kit = createWebhook({
      origins: { [origin]: rate === '*' ? '*' : Number(rate) },
      verify: { url: sink, keys: { keys }, onRefused: (each) => void refused.push(each) },
      receive: (events) => void received.push(...events.map((event) => ({ event, at: performance.now() }))),
    });
    registry.receiver.on(path, (request, response) => {
      const answer = request.method === 'POST' ? answers.shift() : undefined;
      if (answer === undefined) return kit.node(request, response);
      request.resume();
      response.writeHead(answer.status, answer.headers).end();
    });
    const { id: subscription } = await tenant.register(sink);
    const forwarded = `${url}/https/${new URL(sink).host}${path}`;
    const send = (id = 'probe') =>
      fetch(forwarded, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/cloudevents+json' },
        body: JSON.stringify({ specversion: '1.0', id, source: 'urn:example:egress', type: 'com.example.probe' }),
      });
    return {
      sink,
      subscription,
      url: forwarded,
      received,
      refused,
      answers,
      send,
      outcomes: async () =>
        (await tenant.subscriber.get(`/v1/subscriptions/${subscription}/deliveries`).expect(200)).body.counts,
      async endGrant() {
        await tenant.revoke(sink);
        await until(async () => (await send()).status === 403);
        received.length = 0;
      },
      async askAgain() {
        await admin.post(`/v1/subscriptions/${subscription}/handshakes`).set('Prefer', 'wait=10').expect(201);
      },
      async rebind() {
        let count = 0;
        const server = createServer().on('connection', (socket) => {
          count += 1;
          socket.destroy();
        });
        await once(server.listen(registry.receiver.port, internalAddress), 'listening');
        registry.dns.zone[host] = [internalAddress];
        return {
          url: `http://${internalAddress}:${registry.receiver.port}/`,
          connections: () => count,
          async stop() {
            delete registry.dns.zone[host];
            await new Promise((resolve) => server.close(resolve));
          },
        };
      },
    };
  }

  return {
    registry,
    tenant,
    url,
    operationsUrl,
    secret,
    log,
    async denials(denial) {
      const text = await (await fetch(`${operationsUrl}/metrics`)).text();
      return Number(new RegExp(`^assent_egress_denials_total{denial="${denial}"} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
    },
    webhook,
    async stop() {
      program.child.kill();
      await program.ended;
      await registry.stop();
    },
  };
}

/**
 * A block of a page in docs/senders/brokers/, with what stands here for the webhook's address behind the egress and for the
 * secret of the caller.
 */
export function configurationOf(page: string, info: string, to: { url: string; secret: string }): string {
  const { fences } = parsePage(readPage(`docs/senders/brokers/${page}.md`));
  const block = fences.find((fence) => fence.info === info);
  if (block === undefined) throw new Error(`${page}.md has no block ${info}.`);
  return block.text.replaceAll(shownUrl, to.url).replaceAll('CALLER_SECRET', to.secret);
}
