import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { createServer, request as httpsRequest } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../config.js';
import { openDevelopmentIssuer } from '../http/development-issuer.js';
import { createLog } from '../http/log.js';
import type { Scope } from '../http/principal.js';
import { createService } from '../service.js';
import {
  consenting,
  createAuthority,
  startWebhook,
  withholding,
  type Certificate,
  type WireExchange,
} from './webhook.js';

export interface ApiResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Everything that the demo plays on: a registry, a webhook, a host that hangs up, all on free ports of loopback. */
export interface Scene {
  folder: string;
  url: string;
  publicUrl: string;
  webhookUrl: string;
  silentUrl: string;
  /** What the webhook was asked and answered, in order. */
  exchanges: WireExchange[];
  ask(who: Exclude<Scope, 'assent:credentials'>, method: string, path: string, body?: object): Promise<ApiResponse>;
  /** Calls a URL as the webhook does, trusting the authority of the scene. Resolves to the status. */
  callBack(url: string, headers: Record<string, string>): Promise<number>;
  /** Warnings and errors that the registry logged. */
  complaints: string[];
}

/** Hands everything that it starts to `atEnd` at once, so that nothing outlives a start that fails half-way. */
export async function setScene(
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
  atEnd: (stop: () => Promise<void>) => void,
): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-demo-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const authority = await createAuthority('Assent demo', 2);
  const certificate = await authority.issue(['localhost', '127.0.0.1']);
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, authority.cert);

  const exchanges: WireExchange[] = [];
  const webhook = await startWebhook({
    port: 0,
    certificate,
    paths: {
      '/events': consenting('100'),
      '/later': withholding,
      '/other': consenting('100', 'eventgrid.azure.net'),
    },
    onExchange: (exchange) => void exchanges.push(exchange),
  });
  atEnd(() => webhook.stop());
  const silent = await listenOnFreePort(createTcpServer((socket) => socket.destroy()));
  atEnd(() => stopListening(silent));
  let target = '';
  const front = await listenOnFreePort(createFront(certificate, () => target));
  atEnd(() => stopListening(front));
  const publicUrl = `https://127.0.0.1:${portOf(front)}`;

  const config = readConfig({
    ASSENT_DATA: folder,
    ASSENT_PORT: '0',
    ASSENT_OPERATIONS_PORT: '0',
    ASSENT_PUBLIC_URL: publicUrl,
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    // What the operator of this machine denies stays denied.
    ASSENT_DENIED_NETWORKS: environment['ASSENT_DENIED_NETWORKS'],
    ASSENT_SINK_PORTS: `${webhook.port},${portOf(silent)}`,
    ASSENT_SINK_CA_FILE: caFile,
    ASSENT_HANDSHAKE_ATTEMPTS: '2',
    ASSENT_HANDSHAKE_RETRY_MS: '200',
    ASSENT_POLL_MS: '100',
  });
  const complaints: string[] = [];
  const log = createLog('warn', { write: (line) => void complaints.push(line) });
  const service = await createService({ config, log });
  atEnd(() => service.stop());
  const { url } = await service.start();
  target = url;

  const issuer = await openDevelopmentIssuer(folder);
  return {
    folder,
    url,
    publicUrl,
    webhookUrl: `https://localhost:${webhook.port}`,
    silentUrl: `https://localhost:${portOf(silent)}`,
    exchanges,
    complaints,
    async ask(who, method, path, body) {
      const names = { 'assent:admin': 'admin', 'assent:subscribe': 'case-system', 'assent:deliver': 'mailroom' };
      const token = await issuer.sign({ tenant: 'demo', subscriber: names[who], scopes: [who], lifetimeSeconds: 60 });
      const response = await fetch(url + path, {
        method,
        signal,
        headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    callBack: (address, headers) =>
      new Promise((resolve, reject) => {
        httpsRequest(address, { method: 'POST', ca: authority.cert, headers, signal }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .once('error', reject)
          .end();
      }),
  };
}

/** What a reverse proxy does for a registry: callbacks come in by HTTPS. */
function createFront(certificate: Certificate, target: () => string): Server {
  return createServer({ ...certificate }, (request, response) => {
    const { method, headers, url = '/' } = request;
    const onward = httpRequest(target() + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once('error', () => response.writeHead(502).end());
    request.pipe(onward);
  });
}

function listenOnFreePort(server: Server): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
