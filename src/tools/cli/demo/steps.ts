import { styleText } from 'node:util';
import { printable } from '../printable.js';
import type { WireExchange } from './webhook.js';
import { sleep } from '../../../base/until.js';
import type { HttpResponse, DemoEnvironment } from './environment.js';

/** Writes a story in plain text. Every function writes whole lines. */
export interface Narrator {
  title(text: string): void;
  /** A name and its value, in columns. */
  fact(name: string, value: string): void;
  step(number: number, title: string): void;
  say(text: string): void;
  request(method: string, path: string, body?: unknown): void;
  response(status: number, body: unknown): void;
  /** As it went over the wire. */
  wire(exchange: WireExchange): void;
  kept(text: string): void;
  failed(text: string): void;
}

export interface NarratorSettings {
  write: (text: string) => void;
  coloured: boolean;
}

type Format = Parameters<typeof styleText>[0];

const width = 110;

export function createNarrator({ write, coloured }: NarratorSettings): Narrator {
  const paint = (format: Format, text: string) => (coloured ? styleText(format, text) : text);
  const line = (text = '') => write(`${text}\n`);
  /** On one line if it fits there, otherwise with a line for each member. */
  const json = (value: unknown, first: string) => {
    const short = JSON.stringify(value);
    if (short.length + first.length < width || typeof value !== 'object' || value === null) return short;
    const present = Object.entries(value).filter(([, each]) => each !== undefined);
    const members = present.map(([name, each]) => `${paint('dim', name)}: ${JSON.stringify(each)}`);
    return ['', ...members].join('\n         ').trimEnd();
  };
  return {
    title: (text) => line(`\n${paint('bold', text)}\n`),
    fact: (name, value) => line(`  ${paint('dim', name.padEnd(10))} ${value}`),
    step: (number, title) => line(`\n${paint('bold', `${String(number).padStart(2)}  ${title}`)}\n`),
    say: (text) => line(wrapped(text, width - 4).replace(/^/gm, '    ')),
    request: (method, path, body) => {
      const first = `    -> ${method} ${path}`;
      line(paint('cyan', first) + (body === undefined ? '' : ` ${json(body, first)}`.replace(/^ \n/, '\n')));
    },
    response: (status, body) => {
      const first = `    <- ${status}`;
      line(paint('cyan', first) + (body === undefined ? '' : ` ${json(body, first)}`.replace(/^ \n/, '\n')));
    },
    wire: ({ asked, body, answered }) => {
      line();
      for (const each of asked.split('\n')) line(`      ${paint('yellow', '>')} ${printable(each)}`);
      line(`      ${paint('yellow', '>')}`);
      if (body !== '') line(`      ${paint('yellow', '>')} ${printable(body)}`);
      for (const each of answered.split('\n')) line(`      ${paint('green', '<')} ${printable(each)}`);
      line();
    },
    kept: (text) => line(`    ${paint('green', 'ok')}  ${text}`),
    failed: (text) => line(`\n    ${paint('red', 'failed')}  ${text}\n`),
  };
}

function wrapped(text: string, columns: number): string {
  let used = 0;
  return text
    .split(' ')
    .map((word) => {
      const breaks = used > 0 && used + 1 + word.length > columns;
      const gap = used === 0 ? '' : breaks ? '\n' : ' ';
      used = breaks ? word.length : used + gap.length + word.length;
      return gap + word;
    })
    .join('');
}

export interface Act {
  title: string;
  /** Throws an Error for people if a check fails. */
  play(scene: DemoEnvironment, tell: Narrator, signal: AbortSignal): Promise<void>;
}

export const origin = 'eventemitter.example.com';
const type = 'com.example.order.created';
const event = {
  specversion: '1.0',
  id: '1',
  source: 'urn:example:orders',
  type,
  subject: 'orders/7',
  data: { total: 250 },
};
const json = 'application/cloudevents+json; charset=utf-8';

export interface SubscriptionBody {
  id: string;
  status: string;
  statusdetails: { code: string; message: string; advice?: string; next?: string; allowedrate?: number };
}

/** From nothing to the first delivery. Real traffic, and each sentence in `kept` was checked. */
export const firstActs: readonly Act[] = [
  {
    title: 'An admin registers the origin',
    async play(scene, tell) {
      const body = { name: origin, isdefault: true, requestedrate: 120 };
      tell.request('POST', '/v1/origins', body);
      const response = await scene.ask('admin', 'POST', '/v1/origins', body);
      tell.response(response.status, undefined);
      keep(tell, response.status === 201, 'The origin is registered. Handshakes for it request 120 per minute.');
    },
  },
  {
    title: 'A consumer subscribes a webhook, which consents immediately',
    async play(scene, tell) {
      const sink = `${scene.webhookUrl}/events`;
      const subscription = await subscribe(scene, tell, { types: [type], sink });
      tell.say('Before that response, the registry asked the webhook. This went over the wire:');
      const exchange = scene.exchanges.at(-1);
      if (exchange) tell.wire(exchange);
      keep(tell, scene.exchanges.length === 1 && exchange?.method === 'OPTIONS', 'The webhook was asked once.');
      keep(
        tell,
        exchange?.asked.includes(`\nWebHook-Request-Origin: ${origin}\n`) === true,
        'The request names the origin.',
      );
      keep(tell, subscription.status === 'active', 'The subscription is active after one request.');
      keep(tell, subscription.statusdetails.allowedrate === 100, 'Its rate is the one that the webhook allowed.');
    },
  },
  {
    title: 'The registry stored the grant',
    async play(scene, tell) {
      const [grant] = await grantsOf(scene, tell, `${scene.webhookUrl}/events`);
      keep(tell, grant?.['state'] === 'live' && grant['basis'] === 'response', 'It is live, based on the response.');
    },
  },
  {
    title: 'A sender asks who gets an event',
    async play(scene, tell) {
      tell.request('POST', '/v1/match', event);
      const { status, body } = await scene.ask('sender', 'POST', '/v1/match', event, json);
      const { sinks } = body as { sinks: Array<Record<string, unknown>> };
      tell.response(status, { sinks });
      const [matched] = sinks;
      keep(
        tell,
        sinks.length === 1 && matched?.['sink'] === `${scene.webhookUrl}/events` && matched['allowedrate'] === 100,
        'The event matches the subscription, and the sender may send 100 requests per minute.',
      );
    },
  },
  {
    title: 'The sender delivers it',
    async play(scene, tell) {
      const sink = `${scene.webhookUrl}/events`;
      tell.say('The sender posts it to the webhook. The registry takes no part in this:');
      const headers = { 'Content-Type': json, 'WebHook-Request-Origin': origin };
      const status = await scene.deliver(sink, headers, JSON.stringify(event));
      const exchange = scene.exchanges.at(-1);
      if (exchange) tell.wire(exchange);
      keep(tell, status === 204 && exchange?.method === 'POST', 'The webhook accepted the event with 204.');
    },
  },
];

/** Everything else that can happen to a consent. */
const moreActs: readonly Act[] = [
  {
    title: 'A sender asks whether it may send',
    async play(scene, tell) {
      const { body } = await askPermission(scene, tell, `${scene.webhookUrl}/events`);
      keep(tell, body['allowed'] === true && body['allowedrate'] === 100, 'It may, 100 requests per minute.');
      const other = await askPermission(scene, tell, `${scene.webhookUrl}/unknown`);
      keep(tell, other.body['denial'] === 'no_grant', 'It may not send to a webhook that never consented.');
    },
  },
  {
    title: 'Another webhook decides later, with the callback',
    async play(scene, tell, signal) {
      const subscription = await subscribe(scene, tell, { sink: `${scene.webhookUrl}/later` });
      const exchange = scene.exchanges.findLast(({ callback }) => callback !== undefined);
      if (exchange) tell.wire(exchange);
      tell.say('The registry asks once more without the callback, and gets the same response.');
      keep(tell, subscription.status === 'pending', 'A 200 without WebHook headers is no consent: it is pending.');
      const url = exchange?.callback ?? '';
      tell.say('The webhook owner calls the URL in WebHook-Request-Callback, and allows a lower rate.');
      tell.request('POST', `${url.replace(/key=.*/, 'key=...')}  WebHook-Allowed-Rate: 30`);
      const { status } = await callBack(url, signal, { 'WebHook-Allowed-Rate': '30' });
      tell.response(status, undefined);
      keep(tell, status === 200, 'The registry accepts the callback.');
      const now = await follow(scene, subscription.id, ({ status }) => status === 'active', signal);
      keep(tell, now.statusdetails.allowedrate === 30, 'The subscription is active with 30 requests per minute.');
      const guessed = await callBack(url.replace(/key=.*/, 'key=guessed'), signal);
      keep(tell, guessed.status === 404, 'A guessed key gets 404.');
    },
  },
  {
    title: 'A webhook allows another origin only',
    async play(scene, tell) {
      const { status, statusdetails } = await subscribe(scene, tell, { sink: `${scene.webhookUrl}/closed` });
      const exchange = scene.exchanges.at(-1);
      if (exchange) tell.wire(exchange);
      keep(tell, status === 'refused' && statusdetails.code === 'origin_mismatch', 'It is refused, with the reason.');
      keep(tell, statusdetails.advice !== undefined, 'The consumer reads what the webhook owner can change.');
    },
  },
  {
    title: 'Who gets an event, and why one webhook does not',
    async play(scene, tell) {
      tell.request('POST', '/v1/match?explain=true', event);
      const { body, status } = await scene.ask('admin', 'POST', '/v1/match?explain=true', event, json);
      const { explanations = [] } = body as { explanations?: Array<{ sink: string; code: string }> };
      const codes = Object.fromEntries(explanations.map(({ sink, code }) => [new URL(sink).pathname, code]));
      tell.response(status, codes);
      keep(tell, codes['/events'] === 'matched' && codes['/later'] === 'matched', 'Both that consented get it.');
      keep(tell, codes['/closed'] === 'no_grant', 'The third subscription matches too, but its webhook refused.');
    },
  },
  {
    title: 'A host does not respond, and an address is not allowed',
    async play(scene, tell, signal) {
      const subscription = await subscribe(scene, tell, { sink: `${scene.webhookUrl}/down` });
      keep(tell, subscription.status === 'pending', 'The host closed the connection. The registry retries.');
      const last = await follow(scene, subscription.id, (now) => now.status !== 'pending', signal);
      tell.response(200, brief(last));
      keep(tell, last.status === 'unreachable', 'After the last attempt it is unreachable, which is no refusal.');

      const body = { protocol: 'HTTP', sink: 'https://169.254.169.254/latest/meta-data' };
      tell.request('POST', '/v1/subscriptions', body);
      const response = await scene.ask('consumer', 'POST', '/v1/subscriptions', body);
      const { code, faults } = response.body as { code: string; faults: unknown };
      tell.response(response.status, { code, faults });
      keep(
        tell,
        response.status === 400,
        'The registry rejects an address that cannot be a webhook. It stores and sends nothing.',
      );
    },
  },
  {
    title: 'An admin revokes the first grant',
    async play(scene, tell) {
      const sink = `${scene.webhookUrl}/events`;
      const [grant] = await grantsOf(scene, tell, sink);
      const path = `/v1/grants/${String(grant?.['id'])}/revoke`;
      const body = { reason: 'The webhook owner asked for it.' };
      tell.request('POST', path, body);
      const response = await scene.ask('admin', 'POST', path, body);
      tell.response(response.status, undefined);
      keep(tell, response.status === 200, 'The grant is revoked.');
      const after = await askPermission(scene, tell, sink);
      keep(tell, after.body['denial'] === 'revoked', 'From now on, the sender may not send there.');
    },
  },
];

export const story: readonly Act[] = [...firstActs, ...moreActs];

function keep(tell: Narrator, isSo: boolean, sentence: string): void {
  if (!isSo) throw new Error(`This is not true: ${sentence}`);
  tell.kept(sentence);
}

async function subscribe(scene: DemoEnvironment, tell: Narrator, definition: object): Promise<SubscriptionBody> {
  const body = { protocol: 'HTTP', ...definition };
  tell.request('POST', '/v1/subscriptions', body);
  const response = await scene.ask('consumer', 'POST', '/v1/subscriptions', body);
  const subscription = response.body as SubscriptionBody;
  tell.response(response.status, response.status === 201 ? brief(subscription) : response.body);
  if (response.status !== 201) throw new Error(`The registry returned ${response.status} for the subscription.`);
  return subscription;
}

function brief({ status, statusdetails }: SubscriptionBody) {
  const { code, message, advice, next } = statusdetails;
  return { status, code, message, advice, next };
}

/** Polls the subscription until the signal fires. */
async function follow(
  scene: DemoEnvironment,
  id: string,
  until: (now: SubscriptionBody) => boolean,
  signal: AbortSignal,
) {
  for (;;) {
    const { body } = await scene.ask('consumer', 'GET', `/v1/subscriptions/${id}`);
    if (until(body as SubscriptionBody)) return body as SubscriptionBody;
    await sleep(100, signal);
    signal.throwIfAborted();
  }
}

function callBack(url: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', headers, signal });
}

async function askPermission(scene: DemoEnvironment, tell: Narrator, sink: string) {
  const query = new URLSearchParams({ origin, sink });
  tell.request('GET', `/v1/permissions?origin=${origin}&sink=${sink}`);
  const response = await scene.ask('sender', 'GET', `/v1/permissions?${query.toString()}`);
  const { origin: _origin, sink: _sink, ...shown } = response.body as Record<string, unknown>;
  tell.response(response.status, shown);
  return response as HttpResponse & { body: Record<string, unknown> };
}

async function grantsOf(scene: DemoEnvironment, tell: Narrator, sink: string): Promise<Array<Record<string, unknown>>> {
  tell.request('GET', `/v1/grants?sink=${sink}`);
  const response = await scene.ask('admin', 'GET', `/v1/grants?sink=${encodeURIComponent(sink)}`);
  const grants = response.body as Array<Record<string, unknown>>;
  const shown = ['state', 'basis', 'allowedorigin', 'allowedrate', 'requestedrate', 'expiresat'] as const;
  tell.response(response.status, Object.fromEntries(shown.map((name) => [name, grants[0]?.[name]])));
  return grants;
}
