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
