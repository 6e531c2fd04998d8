import type { RejectedCallback } from '../../../consent/handshake.js';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { text } from 'node:stream/consumers';
import Negotiator from 'negotiator';
import { RegistryError } from '../../../base/errors.js';
import { callbackUnknown } from '../../../registry/handshake/callback-consent.js';
import { callbackRoutes, type CallbackRequest } from '../../../registry/handshake/routes.js';
import type { CallbackOutcome } from '../../../registry/handshake/callback.js';
import { languageOf } from '../../../base/formats/language.js';
import { languages } from '../../../base/texts/text.js';
import { problemOf } from '../../../base/problem.js';
import { rememberCallback, type RememberedHandshake } from './remember-callback.js';

/** A call of the callback URL, and what it got. */
export interface CallbackReceived {
  method: string;
  /** Names and values in turn. */
  rawHeaders: string[];
  body: string;
  status: number;
  /** Why it gave no consent. */
  rejected: RejectedCallback | undefined;
}

export interface CallbackListener {
  /** As `prepareAttempt` takes it. */
  publicUrl: string;
  received: readonly CallbackReceived[];
  /** The calls with the key of this hash count. */
  expect(keyHash: Uint8Array): void;
  outcome(): CallbackOutcome | undefined;
  /** Resolves at the decision of the webhook, or after this time. */
  decided: (ms: number) => Promise<void>;
  /** After the calls in progress have their response. */
  stop(): Promise<void>;
}

export interface CallbackListenerSettings extends RememberedHandshake {
  /** Where the webhook reaches it. */
  host: string;
  /** 0 for a free one. */
  port: number;
  /** Listens on loopback only. */
  isLocal: boolean;
}

const maxBody = 4_096;
/** What the build made for the pages of the registry. */
const assets = new URL('../../../../dist/pages/assets/', import.meta.url);
const assetTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The callback URL of one handshake, with the rules and pages of the registry, in memory. Rejects if the port is in use. */
export async function startCallbackListener(settings: CallbackListenerSettings): Promise<CallbackListener> {
  const { host, isLocal, id } = settings;
  const memory = rememberCallback(settings);
  const received: CallbackReceived[] = [];

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', rawHeaders } = request;
    const url = new URL(request.url ?? '', 'http://localhost');
    const [, asset] = /^\/assets\/([\w-]+\.\w+)$/.exec(url.pathname) ?? [];
    if (method === 'GET' && asset !== undefined) return sendAsset(response, asset);
    const language = languageOf(request.headers['accept-language']);
    const body = (await text(request)).slice(0, maxBody);
    const answer = async () => {
      const [, handshake = ''] = /^\/v1\/callbacks\/([^/]+)$/.exec(url.pathname) ?? [];
      if (handshake === '') throw callbackUnknown();
      const key = url.searchParams.get('key') ?? '';
      const { decideCallbackByGet, decideCallback } = callbackRoutes(memory.callbacks, publicUrl, {});
      return (method === 'GET' ? decideCallbackByGet : decideCallback)({
        path: { handshake },
        query: { key },
        header: request.headers as CallbackRequest['header'],
        body: formOf(request, body),
        preferred: (...types) => new Negotiator(request).mediaType(types) ?? false,
        language,
        requestId: id,
      });
    };
    const answered = method === 'GET' || method === 'POST' ? await answer().catch(valueOfError) : undefined;
    const status = answered instanceof RegistryError ? problemOf(answered, id).status : (answered?.status ?? 405);
    received.push({ method, rawHeaders, body, status, rejected: memory.rejectionOf(answered) });
    if (answered === undefined) return send(response, status, { Allow: 'GET, POST' }, '');
    if (answered instanceof RegistryError) {
      const problem = JSON.stringify(problemOf(answered, id, language));
      return send(response, status, { 'Content-Type': 'application/problem+json' }, problem);
    }
    const [type, content] =
      'html' in answered && answered.html !== undefined
        ? ['text/html; charset=utf-8', answered.html]
        : ['application/json', JSON.stringify('body' in answered ? answered.body : {})];
    return send(response, status, { 'Content-Type': type, Vary: 'Accept' }, content);
  }

  /** A call that is not answered yet may have decided already. */
  const inFlight = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = respond(request, response)
      .catch(() => void response.destroy())
      .finally(() => inFlight.delete(work));
    inFlight.add(work);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, ...(isLocal ? ['127.0.0.1'] : []), resolve);
  });
  const { port } = server.address() as AddressInfo;
  const publicUrl = `http://${host}:${port}`;
  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await Promise.all(inFlight);
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
  return {
    publicUrl,
    received,
    expect: memory.expect,
    outcome: memory.outcome,
    decided: (ms) => memory.decided(ms),
    stop: () => (stopped ??= stop()),
  };
}

/** What the page loads. It is no call of the callback URL. */
async function sendAsset(response: ServerResponse, name: string): Promise<void> {
  const content = await readFile(new URL(name, assets)).catch(() => undefined);
  const type = assetTypes[extname(name)];
  if (content === undefined || type === undefined) return send(response, 404, {}, '');
  return send(response, 200, { 'Content-Type': type }, content);
}

/** Resolves when the response is on its way, or can no longer be sent. */
async function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  content: string | Buffer,
) {
  const sent = new Promise((resolve) => response.once('close', resolve).once('finish', resolve));
  response.writeHead(status, headers).end(content);
  await sent;
}

const valueOfError = (error: unknown): RegistryError => {
  if (error instanceof RegistryError) return error;
  throw error;
};

function formOf({ headers }: IncomingMessage, body: string): CallbackRequest['body'] {
  if (!/^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')) return undefined;
  const form = new URLSearchParams(body);
  const [decision, rate] = [form.get('decision'), form.get('rate')];
  const language = languages.find((each) => each === form.get('language'));
  return {
    ...(decision === 'allow' || decision === 'refuse' ? { decision } : {}),
    ...(rate === null ? {} : { rate }),
    ...(language === undefined ? {} : { language }),
  };
}
