import { createServer, type IncomingMessage } from 'node:http';
import { request as callUrl } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readSignatures, type FieldOf } from '../../../../src/signatures/message-signature.js';
import { verifyRequest } from '../../../../src/signatures/request-signature.js';
import { makeSigningKey, type SigningKey } from '../../../../src/tools/conformance/signing-key.js';

export const allowed = 'sender.allowed.example';
/** The keys that its origin publishes, and one that it no longer does. */
export const signers: readonly SigningKey[] = await Promise.all([makeSigningKey(), makeSigningKey()]);
export const revoked = await makeSigningKey();
export const token = 'a-token-of-the-receiver';
const perMinute = 40;

/** A signed event, at the URL of the receiver. */
export interface Signed {
  url: string;
  fieldOf: FieldOf;
  body: Uint8Array;
  /** Fingerprints of what was accepted. */
  accepted: Set<string>;
}

/** Looks at what a signature says, and for all keys of the list. */
export async function isSigned(
  { url, fieldOf, body, accepted }: Signed,
  { keys = signers, now = Date.now() / 1_000, checksBody = true, remembers = true, anyKey = false } = {},
): Promise<boolean> {
  const [read] = anyKey ? readSignatures(fieldOf) : [];
  const verified = await verifyRequest(
    { method: 'POST', url, fieldOf },
    {
      keyOf: async (keyid) => keys.find((key) => key.public.kid === keyid)?.public,
      body: checksBody ? body : () => Promise.resolve(undefined as never),
      now,
    },
  );
  if (!verified.ok) return read !== undefined && verified.fault === 'key_unknown';
  const [fingerprint = ''] = verified.signature.fingerprints;
  const isNew = !accepted.has(fingerprint);
  accepted.add(fingerprint);
  return isNew || !remembers;
}

type Lines = Record<string, string>;
export interface Reply {
  status: number;
  headers?: Lines;
  body?: string;
}
/** A request, with its header names in lower case. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** Requests of the handshake that are in progress, this one included. */
  atOnce: number;
}

/** What a receiver does. A broken one differs in one of these. */
export interface Parts {
  /** Consents in its response, by the callback, or by the callback if one is offered; `never`: without a handshake. */
  way: 'now' | 'later' | 'either' | 'never';
  allows(origin: string, asked: Asked): boolean;
  isHere(path: string): boolean;
  allow: Lines;
  /** To a request without WebHook-Request-Origin, or with a preflight of CORS in it. */
  preflight(asked: Asked): Reply | undefined;
  rate(asked: Asked): string | undefined;
  allowedOrigin(origin: string, asked: Asked): Lines;
  withoutHandshake: Reply;
  /** Turns of the event loop before it responds to OPTIONS. */
  pauseTurns: number;
  /** Of a denied origin; resolves before the response is sent. */
  whenDenied(callback: string, call: Call): Promise<unknown>;
  /** `respond` sends the response to OPTIONS. */
  decideLater(callback: string, call: Call, respond: () => void): Promise<unknown>;
  isAuthorized(asked: Asked): boolean;
  /** Whether a sender with this origin may deliver. */
  maySend(origin: string): boolean;
  /** Whether it reads events that come like this. */
  reads(type: string, asked: Asked): boolean;
  /** Whether it accepts these events: one, unless they come in a batch. */
  takes(events: readonly Event[], body: Buffer): boolean;
  unknownType: Reply;
  accepted: Reply;
  aboveRate: Reply;
  isSigned(signed: Signed): Promise<boolean>;
  /** Before everything else. */
  delivery(): Reply | undefined;
  /** Whether it closes the connection instead. Requests, each on a connection of its own, are counted from 1. */
  drops(request: number, headers: IncomingMessage['headers']): boolean;
}

/** Its members; in binary mode the headers that begin with ce-, as they are. */
export type Event = Record<string, unknown>;

type Call = (url: string, headers?: Lines, method?: string) => Promise<unknown>;

export const correct: Parts = {
  way: 'now',
  allows: (origin) => origin === allowed,
  isHere: (path) => path === '/events',
  allow: { Allow: 'POST, OPTIONS' },
  preflight: ({ headers }) =>
    headers['webhook-request-origin'] === undefined
      ? { status: 204, headers: { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Methods': 'POST' } }
      : undefined,
  rate: () => String(perMinute),
  allowedOrigin: (origin) => ({ 'WebHook-Allowed-Origin': origin }),
  withoutHandshake: { status: 405, headers: { Allow: 'POST' } },
  pauseTurns: 0,
  whenDenied: async () => undefined,
  async decideLater(callback, call, respond) {
    respond();
    await call(callback, { 'WebHook-Allowed-Rate': String(perMinute), 'WebHook-Allowed-Origin': allowed });
  },
  isAuthorized: ({ headers, query }) =>
    headers.authorization === `Bearer ${token}` || query.get('access_token') === token,
  maySend: (origin) => origin === allowed,
  reads: (type, { headers }) =>
    /^application\/cloudevents(-batch)?\+json *(;|$)/i.test(type) || headers['ce-id'] !== undefined,
  takes: () => true,
  unknownType: { status: 415 },
  accepted: { status: 204 },
  aboveRate: { status: 429, headers: { 'Retry-After': '30' } },
  isSigned: (signed) => isSigned(signed),
  delivery: () => undefined,
  drops: () => false,
};

export interface SmallReceiver {
  url: string;
  requests(): number;
  stop(): Promise<void>;
}

/** `ca` is the authority that it trusts when it calls. */
export async function startSmallReceiver(parts: Parts, ca: string): Promise<SmallReceiver> {
  let requests = 0;
  let atOnce = 0;
  let events = 0;
  const call: Call = (url, headers = {}, method = 'POST') =>
    new Promise((resolve) => {
      const calling = callUrl(url, { method, headers: { ...headers, 'Content-Length': 0 }, ca, agent: false });
      calling.on('error', resolve).once('response', (response) => resolve(response.resume()));
      calling.end();
    });

  async function handshake(asked: Asked, respond: (reply: Reply) => void): Promise<void> {
    const early = parts.preflight(asked);
    if (early !== undefined) return respond(early);
    if (parts.way === 'never') return respond(parts.withoutHandshake);
    if (!parts.isHere(asked.path)) return respond({ status: 404 });
    const origin = String(asked.headers['webhook-request-origin']);
    const callback = asked.headers['webhook-request-callback']?.toString();
    const silent = { status: 200, headers: parts.allow };
    if (!parts.allows(origin, asked)) {
      if (callback !== undefined) await parts.whenDenied(callback, call);
      return respond(silent);
    }
    if (callback !== undefined && parts.way !== 'now') {
      return void (await parts.decideLater(callback, call, () => respond(silent)));
    }
    if (parts.way === 'later') return respond(silent);
    const rate = parts.rate(asked);
    const consent = { ...parts.allowedOrigin(origin, asked), ...(rate && { 'WebHook-Allowed-Rate': rate }) };
    respond({ status: 200, headers: { ...parts.allow, ...consent } });
  }

  const accepted = new Set<string>();
  async function deliver(asked: Asked, signed: Omit<Signed, 'accepted'>): Promise<Reply> {
    const early = parts.delivery();
    if (early !== undefined) return early;
    if (asked.path !== '/events') return { status: 404 };
    if (!parts.isAuthorized(asked)) return { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } };
    if (!parts.maySend(String(asked.headers['webhook-request-origin']))) return { status: 403 };
    if (!(await parts.isSigned({ ...signed, accepted }))) return { status: 401 };
    if (!parts.reads(asked.headers['content-type'] ?? '', asked)) return parts.unknownType;
    const body = Buffer.from(signed.body);
    if (!parts.takes(eventsIn(asked.headers, body), body)) return { status: 400 };
    events += 1;
    return events > perMinute ? parts.aboveRate : parts.accepted;
  }

  const server = createServer((request, response) => {
    requests += 1;
    const { method = '', url = '', headers } = request;
    if (parts.drops(requests, headers)) return void request.socket.destroy();
    const { pathname: path, searchParams: query } = new URL(url, 'http://receiver');
    const respond = ({ status, headers = {}, body = '' }: Reply) =>
      void response
        .writeHead(status, { ...headers, ...(status !== 204 && { 'Content-Length': body.length }) })
        .end(body);
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        if (method === 'POST') {
          const fieldOf = (name: string) => headers[name]?.toString();
          const signed = { url: `http://${headers.host}${url}`, fieldOf, body: Buffer.concat(chunks) };
          return void deliver({ method, path, query, headers, atOnce }, signed).then(respond);
        }
        atOnce += 1;
        const asked = { method, path, query, headers, atOnce };
        const pausing = parts.pauseTurns > 0 ? turns(parts.pauseTurns) : undefined;
        void handshake(asked, (reply) => {
          const finish = () => {
            atOnce -= 1;
            respond(reply);
          };
          if (pausing === undefined) finish();
          else void pausing.then(finish);
        });
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    requests: () => requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function eventsIn(headers: IncomingMessage['headers'], body: Buffer): Event[] {
  if (/^application\/cloudevents/i.test(headers['content-type'] ?? '')) return [JSON.parse(body.toString())].flat();
  const attributes = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
  return [
    {
      ...Object.fromEntries(attributes.map(([name, value]) => [name.slice('ce-'.length), value])),
      ...(body.length > 0 && { data: body }),
    },
  ];
}

/** Turns of the event loop, which the kit shares. Unlike a time, they let all that is under way arrive first. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}
