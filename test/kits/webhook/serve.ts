import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  createWebhook,
  type CloudEvent,
  type ReceivedDelivery,
  type Webhook,
  type WebhookSettings,
} from '../../../src/kits/webhook/index.js';

export const origin = 'eventemitter.example.com';
export const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.made' };
export const structured = 'application/cloudevents+json';

export interface Served {
  webhook: Webhook;
  url: string;
  received: Array<{ events: CloudEvent[]; delivery: ReceivedDelivery }>;
  faults: unknown[];
  /** One request. A list of values is a header that comes several times. */
  ask(method: string, headers?: Record<string, string | string[]>, body?: string | Uint8Array): Promise<Reply>;
  /** A valid event, from the origin that is allowed. */
  deliver(headers?: Record<string, string | string[]>, body?: string | Uint8Array): Promise<Reply>;
  stop(): Promise<void>;
}

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: string;
}

/** A webhook on a real server; 120 requests per minute for one origin, unless the settings say otherwise. */
export async function serve(
  settings: Partial<WebhookSettings> = {},
  mount = (webhook: Webhook): RequestListener => webhook.node,
): Promise<Served> {
  const received: Served['received'] = [];
  const faults: unknown[] = [];
  const webhook = createWebhook({
    origins: { [origin]: 120 },
    receive: (events, delivery) => void received.push({ events, delivery }),
    onFault: (error) => faults.push(error),
    ...settings,
  });
  const server = createServer(mount(webhook)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  const ask: Served['ask'] = async (method, headers = {}, body) => {
    const asked = request(url, {
      method,
      agent: false,
      headers: { ...('Transfer-Encoding' in headers ? {} : { 'Content-Length': body?.length ?? 0 }), ...headers },
    });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const { statusCode = 0, headers: answered, rawHeaders } = response;
    return { status: statusCode, headers: answered, rawHeaders, body: await text(response) };
  };
  return {
    webhook,
    url,
    received,
    faults,
    ask,
    deliver: (headers = {}, body = JSON.stringify(event)) =>
      ask('POST', { 'WebHook-Request-Origin': origin, 'Content-Type': structured, ...headers }, body),
    async stop() {
      webhook.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
