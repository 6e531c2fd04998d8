import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import {
  type Behaviour,
  startWebhook,
  type TestWebhook,
  type TestWebhookSettings,
  type WireExchange,
} from '../try/webhook.js';
import { explain, observed } from '../../../registry/handshake/explain.js';
import type { HeaderLine } from '../../../consent/handshake.js';
import { judge } from '../../../consent/judgement.js';
import { formatRate, parseRate, type Rate } from '../../../consent/rate.js';
import { byKeyid, type PublishedKey } from '../../../signatures/keys.js';
import { fieldsOf } from '../../../signatures/message-signature.js';
import {
  isAttribute,
  shownSignature,
  verifyRequest,
  type VerifySettings,
} from '../../../signatures/request-signature.js';
import { breachLines, judgeMessage } from './check-files.js';
import { exchangeLines, visible } from '../printable.js';

/**
 * Sends a request on to an application under development, and its response back, both with the headers that they came
 * with. The path of the request is appended to that of the URL. Returns 502 if there is no response,
 * and reports why.
 */
function forwardTo(target: URL, onFault: (reason: string) => void): Behaviour {
  const send = target.protocol === 'https:' ? requestSecure : requestPlain;
  const base = target.pathname.replace(/\/$/, '');
  return (request, response, body) => {
    const { method, url = '/', rawHeaders } = request;
    const path = base === '' || !/^\/(?:\?|$)/.test(url) ? base + url : base + url.slice(1);
    const outgoing = send(new URL(target.origin), { method, path, headers: rawHeaders });
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) return void response.destroy();
      const reason = `${target.origin} gave no response (${error.code ?? error.message}).`;
      onFault(reason);
      response.writeHead(502, { 'Content-Type': 'text/plain' }).end(`${reason}\n`);
    });
    outgoing.end(body);
  };
}

export interface ListenSettings extends Pick<TestWebhookSettings, 'port' | 'certificate'> {
  /** The application that responds; undefined responds here. */
  forward: URL | undefined;
  /** The only origin that may send; undefined allows each one that asks. */
  origin: string | undefined;
  rate: Rate;
  /** Of the origin; undefined checks no signature. */
  keys?: readonly PublishedKey[] | undefined;
  write: (lines: readonly string[]) => void;
}

/** Shows handshakes and events that arrive on loopback, with verdicts and faults. Rejects if the port is in use. */
export function listen(settings: ListenSettings): Promise<TestWebhook> {
  const { port, certificate, forward, origin, rate, keys, write } = settings;
  // One after the other, as they came.
  let shown = Promise.resolve();
  const show = async (exchange: WireExchange) => {
    const signature = await signatureLines(exchange, keys);
    write([...exchangeLines(exchange), '', ...meaningOf(exchange), ...signature, '']);
  };
  return startWebhook({
    port,
    certificate,
    paths: {},
    others: forward === undefined ? responding(origin, rate) : forwardTo(forward, (reason) => write([reason])),
    onExchange: (exchange) => void (shown = shown.then(() => show(exchange))),
  });
}

/** Consents, and accepts what is an event. */
function responding(allowed: string | undefined, rate: Rate): Behaviour {
  return (request, response, body) => {
    const { method, headers, rawHeaders } = request;
    if (method === 'OPTIONS') {
      const asking = headers['webhook-request-origin']?.toString().toLowerCase();
      const isAllowed = asking !== undefined && (allowed === undefined || asking === allowed);
      const consent = { 'WebHook-Allowed-Origin': asking ?? '', 'WebHook-Allowed-Rate': formatRate(rate) };
      return void response.writeHead(204, { Allow: 'POST, OPTIONS', ...(isAllowed ? consent : {}) }).end();
    }
    if (method !== 'POST') return void response.writeHead(405, { Allow: 'POST, OPTIONS' }).end();
    const { code, faults } = judgeMessage({ headers: rawHeaders, body }, 'cloudevents');
    const status = { body_too_large: 413, media_type_unsupported: 415 }[code ?? ''] ?? (faults.length > 0 ? 400 : 204);
    if (status === 204) return void response.writeHead(status).end();
    const text = breachLines({ faults, warnings: [] }).map((line) => `${line.trim()}\n`);
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text.join(''));
  };
}

/** What a registry or a receiver makes of it. */
function meaningOf(exchange: WireExchange): string[] {
  const request = parseHead(exchange.asked);
  if (exchange.method === 'OPTIONS') return verdictLines(exchange, request.headers);
  return exchange.method === 'POST' ? eventLines(exchange, request.headers) : [];
}

/** Whether the request is signed, and by a key of the origin. */
async function signatureLines(
  { asked, method, path, content }: WireExchange,
  keys: readonly PublishedKey[] | undefined,
): Promise<string[]> {
  const fieldOf = fieldsOf(parseHead(asked).headers);
  const signed = shownSignature(fieldOf);
  if (keys === undefined) {
    return signed === undefined ? [] : [visible(`Signed by ${signed.keyid}. To check it, name the keys with --keys.`)];
  }
  const settings: VerifySettings = {
    keyOf: async (keyid) => byKeyid(keys).get(keyid),
    body: method === 'POST' ? content : undefined,
    mustCover: parseHead(asked)
      .headers.map(([name]) => name.toLowerCase())
      .filter(isAttribute),
    now: Date.now() / 1_000,
  };
  // A tunnel may have taken TLS off.
  const [secure, plain] = await Promise.all(
    ['https', 'http'].map((scheme) =>
      verifyRequest({ method, url: `${scheme}://${fieldOf('host') ?? ''}${path}`, fieldOf }, settings),
    ),
  );
  const verified = plain?.ok ? plain : secure!;
  return [
    verified.ok
      ? `Signature: valid, by ${verified.signature.keyid}.`
      : visible(`Signature: ${verified.fault}. ${verified.detail}`),
  ];
}

function verdictLines({ answered, path }: WireExchange, request: readonly HeaderLine[]): string[] {
  const asked = (name: string) => request.find(([each]) => each.toLowerCase() === name)?.[1];
  const origin = asked('webhook-request-origin');
  if (origin === undefined) return ['No handshake: the request has no WebHook-Request-Origin.'];
  const rate = parseRate(asked('webhook-request-rate') ?? '');
  const { status, headers } = parseHead(answered);
  const { verdict } = judge(
    { origin, requestedRate: typeof rate === 'number' ? rate : undefined, defaultRate: 60, judgement: 'strict' },
    { kind: 'answered', status, headers, remoteAddress: '', timing: { totalMs: 0 } },
  );
  const callbackOffered = asked('webhook-request-callback') !== undefined;
  const facts = {
    ...observed({ origin, sink: new URL(path, 'https://localhost').href }, headers),
    callbackOffered,
    status,
  };
  const { message, advice } = explain(verdict, facts, 'en');
  return [`Handshake: ${verdict}. ${message}`, ...(advice === undefined ? [] : [`What to change: ${advice}`])];
}

function eventLines({ content }: WireExchange, headers: readonly HeaderLine[]): string[] {
  const { mode, events, ...breaches } = judgeMessage({ headers: headers.flat(), body: content }, 'cloudevents');
  const named = events.map((read) => {
    const attributes = 'event' in read ? read.event.attributes : read.parts?.attributes;
    const shown = ['type', 'source', 'subject', 'id'].flatMap((name) => {
      const value = attributes?.get(name);
      return value === undefined ? [] : [`${name} ${String(value)}`];
    });
    return visible(`Event (${mode}): ${shown.join(', ') || 'without attributes'}`);
  });
  return [...(mode === undefined ? ['Not an event:'] : named), ...breachLines(breaches)];
}

/** A status line or request line, and headers, as they came. */
function parseHead(head: string): { status: number; headers: HeaderLine[] } {
  const [first = '', ...lines] = head.split('\n');
  const headers = lines.map((line): HeaderLine => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0), headers };
}
