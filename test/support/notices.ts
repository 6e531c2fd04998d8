import { startProgram } from './process.js';
import type { Client, Registry } from './registry.js';
import { until } from './until.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type NoticeEvent = any;

/** The origin of notices in tests. */
export const noticeOrigin = 'notices.example.org';

/** A webhook of a subscriber that is subscribed to notices. */
export interface NoticeWebhook {
  sink: string;
  subscription: string;
  /** Every request, with repetitions. */
  received: NoticeEvent[];
  /** The first arrivals of the events about a subscription, as `type code`. */
  about(subscription: string): string[];
  /** Resolves when there are this many events about a subscription, without repetitions. */
  until(subscription: string, count: number): Promise<string[]>;
}

/** `respond` may return another status than 204. */
export async function subscribeToNotices(
  registry: Registry,
  client: Client,
  path: string,
  more: object = {},
  respond: () => number | Promise<number> = () => 204,
): Promise<NoticeWebhook> {
  registry.receiver.consent(path, { rate: '*' });
  const sink = registry.receiver.sink(path);
  const { body } = await client
    .post('/v1/subscriptions')
    .set('Prefer', 'wait=10')
    .send({ sink, protocol: 'HTTP', origin: noticeOrigin, ...more })
    .expect(201);
  const received: NoticeEvent[] = [];
  registry.receiver.on(path, async (request, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(200, { 'WebHook-Allowed-Origin': noticeOrigin, 'WebHook-Allowed-Rate': '*' }).end();
      return;
    }
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const status = await respond();
    if (status === 204) received.push(JSON.parse(text));
    response.writeHead(status).end();
  });
  const about = (subscription: string) => {
    const own = received.filter(({ subject }) => subject === subscription);
    const first = own.filter(({ id }, place) => own.findIndex((each) => each.id === id) === place);
    return first.map(({ type, data }) => `${type} ${data.code}`);
  };
  return {
    sink,
    subscription: body.id,
    received,
    about,
    async until(subscription, count) {
      await until(async () => about(subscription).length >= count);
      return about(subscription);
    },
  };
}

/**
 * Runs `assent notify` with these settings until a change of the subscription is a notice at a webhook. Resolves to its exit
 * code.
 */
export async function notifyOnce(registry: Registry, client: Client, id: string, env: NodeJS.ProcessEnv) {
  const { ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE, ASSENT_DNS_SERVERS, ASSENT_DATA } = registry.env;
  const shared = { ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE, ASSENT_DNS_SERVERS, ASSENT_DATA };
  const notify = startProgram('tools/cli/assent.js', {
    args: ['notify', '--registry', registry.url, '--origin', noticeOrigin],
    env: { ...shared, ASSENT_ALLOWED_NETWORKS: '127.0.0.1/32', ASSENT_LOG_LEVEL: 'debug', ...env },
  });
  // Only a change that comes after its first snapshot causes a notice.
  await until(async () => {
    if (notify.child.exitCode !== null) throw new Error(`It ended: ${notify.stdout}${notify.stderr}`);
    for (const change of ['suspend', 'resume']) {
      await client.post(`/v1/subscriptions/${id}/${change}`).send({ reason: 'A test.' }).expect(200);
    }
    return notify.stdout.includes('notice delivered');
  });
  notify.child.kill('SIGTERM');
  return notify.ended;
}
