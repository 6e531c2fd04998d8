import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Evidence } from '../case.js';
import { hideSecrets } from '../hide-secrets.js';
import type { Certificate } from '../authority.js';
import { linesOfHead, listenOn, type Listener } from '../listen.js';

/** What a webhook returns. */
export interface Reply {
  status: number;
  headers: Readonly<Record<string, string>>;
}

/** A request that arrived at the kit. Times are in milliseconds by the monotonic clock. */
export interface Exchange {
  at: number;
  scheme: 'https' | 'http';
  method: string;
  /** Path and query, as sent. */
  target: string;
  /** The header lines, as sent. */
  lines: ReadonlyArray<readonly [name: string, value: string]>;
  /** At most the first 64 KiB. */
  body: Buffer;
  /** Undefined while the kit holds it back. */
  reply?: Reply;
  answeredAt?: number;
}

/** A call of the callback URL that the sender offered. */
export interface SentCallback {
  at: number;
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Undefined without a response. */
  status?: number;
  /** Why there was none. */
  failure?: string;
}

/** A connection may take this long to carry a request. An earlier request can still arrive. */
export const transitMs = 1_000;
const minuteMs = 60_000;

/** The values of each line of this name, in lower case. */
export function linesOf(exchange: Exchange, name: string): string[] {
  return exchange.lines.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value.trim());
}

export const isAsking = ({ method }: Exchange): boolean => method === 'OPTIONS';

/** Whatever changes something: a sender may use the wrong method. */
export const isDelivery = ({ method }: Exchange): boolean => !['OPTIONS', 'GET', 'HEAD'].includes(method);

/**
 * The highest number of requests in any minute. What arrives late or early by `transitMs`, and by the longest time for
 * which the kit stood still (`stallMs`), does not count.
 */
export function maxInAnyMinute(exchanges: readonly Exchange[], stallMs = 0): number {
  const times = exchanges.map(({ at }) => at).sort((a, b) => a - b);
  let first = 0;
  let max = 0;
  times.forEach((time, last) => {
    while (time - (times[first] ?? time) >= minuteMs - transitMs - stallMs) first += 1;
    max = Math.max(max, last - first + 1);
  });
  return max;
}

/**
 * Requests that were sent after the sender had read the first response with this status. If it was waiting for that
 * response, these are all that came later. Otherwise they are those that repeat an event of before, and those that a
 * connection cannot have carried for so long.
 */
export function sentAfter(status: number, exchanges: readonly Exchange[], wasWaiting: boolean): Exchange[] {
  const answeredAt = exchanges.find(({ reply }) => reply?.status === status)?.answeredAt;
  if (answeredAt === undefined) return [];
  const eventOf = (exchange: Exchange) => `${linesOf(exchange, 'ce-id').join()} ${exchange.body.toString()}`;
  const before = new Set(exchanges.filter(({ at }) => at <= answeredAt).map(eventOf));
  const isLate = (exchange: Exchange) =>
    wasWaiting || before.has(eventOf(exchange)) || exchange.at > answeredAt + transitMs;
  return exchanges.filter((exchange) => exchange.at > answeredAt && isLate(exchange));
}

/** For reports: keys and credentials are hidden. */
export function evidenceOf(exchange: Exchange): Evidence {
  const { method, target, lines, reply } = exchange;
  const asked = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  const keys = linesOf(exchange, 'webhook-request-callback').map(keyOf);
  return { asked: hideSecrets(asked.join('\n'), keys), answered: reply && headOf(reply.status, reply.headers) };
}

export function evidenceOfCall({ method, url, headers, status }: SentCallback): Evidence {
  const host = URL.canParse(url) ? new URL(url).host : '';
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return {
    asked: hideSecrets([`${method} /${keyOf(url)} HTTP/1.1`, ...lines].join('\n'), [keyOf(url)]),
    answered: status === undefined ? undefined : headOf(status, {}),
  };
}

/** Everything after the host may be the key of a callback URL. */
const keyOf = (url: string): string => /^[a-z]+:\/\/[^/?]*\/?(.*)$/i.exec(url)?.[1] ?? url;

function headOf(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n');
}

interface HostSettings {
  /** The name in the URLs. For `localhost` it listens on 127.0.0.1, for an address there, else on every interface. */
  host: string;
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
  /** Records the request when its head arrives. `reply` is asked for when the body is here, too. */
  onRequest: (exchange: Exchange) => { reply: () => Promise<Reply> };
}

export const longestBody = 65_536;

/**
 * One server for all webhooks. It speaks https, and on the same port http: a delivery without TLS is a finding, too.
 * Throws a UsageError if it cannot listen there.
 */
export async function startHost({ host, port, certificate, onRequest }: HostSettings): Promise<Listener> {
  const listener = (scheme: Exchange['scheme']) => (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '' } = request;
    const at = performance.now();
    const exchange: Exchange = { at, scheme, method, target, lines: linesOfHead(request), body: Buffer.alloc(0) };
    const { reply } = onRequest(exchange);
    request.on('data', (bytes: Buffer) => {
      exchange.body = Buffer.concat([exchange.body, bytes.subarray(0, longestBody - exchange.body.length)]);
    });
    request.once('end', () => {
      const answer = async () => {
        const { status, headers } = await reply();
        Object.assign(exchange, { reply: { status, headers } });
        // Before the first byte leaves: what arrives later may already be a reaction.
        exchange.answeredAt = performance.now();
        response.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'Content-Length': '0' }) }).end();
      };
      answer().catch(() => response.destroy());
    });
  };
  const address = host === 'localhost' ? '127.0.0.1' : /^[\d.]+$/.test(host) ? host : undefined;
  return listenOn({ host, address, port, certificate, onRequest: listener });
}
