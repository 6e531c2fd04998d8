import { styleText } from 'node:util';
import { printable } from '../printable.js';
import type { WireExchange } from './webhook.js';
import type { TryEnvironment } from './environment.js';

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
  play(scene: TryEnvironment, tell: Narrator): Promise<void>;
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

function keep(tell: Narrator, isSo: boolean, sentence: string): void {
  if (!isSo) throw new Error(`This is not true: ${sentence}`);
  tell.kept(sentence);
}

async function subscribe(scene: TryEnvironment, tell: Narrator, definition: object): Promise<SubscriptionBody> {
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

async function grantsOf(scene: TryEnvironment, tell: Narrator, sink: string): Promise<Array<Record<string, unknown>>> {
  tell.request('GET', `/v1/grants?sink=${sink}`);
  const response = await scene.ask('admin', 'GET', `/v1/grants?sink=${encodeURIComponent(sink)}`);
  const grants = response.body as Array<Record<string, unknown>>;
  const shown = ['state', 'basis', 'allowedorigin', 'allowedrate', 'requestedrate', 'expiresat'] as const;
  tell.response(response.status, Object.fromEntries(shown.map((name) => [name, grants[0]?.[name]])));
  return grants;
}
