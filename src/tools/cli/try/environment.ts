import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { request as httpsRequest } from 'node:https';
import { readFile } from 'node:fs/promises';
import { readConfig } from '../../../registry/app/config.js';
import { SetupError } from '../../../base/errors.js';
import { openDevelopmentIssuer } from '../../../registry/tokens/development-issuer.js';
import { createLog } from '../../../registry/http/log.js';
import type { Scope } from '../../../base/contract/principal.js';
import { createService } from '../../../registry/app/service.js';
import { type ReceiverSettings, startReceiver, type WireExchange } from './webhook.js';

const roles = {
  admin: { subscriber: 'admin', scopes: ['assent:admin'] },
  consumer: { subscriber: 'case-system', scopes: ['assent:subscribe'] },
  sender: { subscriber: 'mailroom', scopes: ['assent:deliver', 'assent:credentials'] },
  developer: { subscriber: 'developer', scopes: ['assent:admin', 'assent:subscribe', 'assent:deliver'] },
} satisfies Record<string, { subscriber: string; scopes: Scope[] }>;
export type Role = keyof typeof roles;

export interface HttpResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

/** A registry with an embedded database and a webhook, both on loopback. */
export interface TryEnvironment {
  url: string;
  operationsUrl: string;
  webhookUrl: string;
  caFile: string;
  callbackFile: string;
  /** What the webhook was asked and returned, in order. */
  exchanges: WireExchange[];
  token: (role: Role, lifetimeSeconds: number) => Promise<string>;
  /** Calls the registry. */
  ask(role: Role, method: string, path: string, body?: object, mediaType?: string): Promise<HttpResponse>;
  /** Posts to the webhook over HTTPS. Resolves to the status. */
  deliver(sink: string, headers: Record<string, string>, body: string): Promise<number>;
}

export interface SceneSettings {
  /** Exists already. */
  folder: string;
  /** Both are free. */
  ports: { api: number; webhook: number };
  /** More settings of the registry. */
  settings?: NodeJS.ProcessEnv;
  files?: ReceiverSettings['files'];
  /** Everything that the start creates is passed to it immediately, so that a start that fails leaves nothing behind. */
  atEnd: (stop: () => Promise<void>) => void;
  onExchange: (exchange: WireExchange) => void;
  /** Receives the warnings and errors of the registry as lines of JSON. */
  onComplaint: (line: string) => void;
}

export async function setScene(settings: SceneSettings, signal: AbortSignal): Promise<TryEnvironment> {
  const { folder, ports, atEnd, onExchange, onComplaint } = settings;
  const exchanges: WireExchange[] = [];
  const receiver = await startReceiver({
    port: ports.webhook,
    folder,
    files: settings.files,
    onExchange(exchange) {
      exchanges.push(exchange);
      onExchange(exchange);
    },
  });
  atEnd(() => receiver.stop());
  const config = readConfig({
    ASSENT_DATA: folder,
    ASSENT_PORT: String(ports.api),
    ASSENT_OPERATIONS_PORT: '0',
    ASSENT_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    ASSENT_SINK_PORTS: `443,${ports.webhook}`,
    ASSENT_SINK_CA_FILE: receiver.caFile,
    ...settings.settings,
  });
  const service = await createService({ config, log: createLog('warn', { write: onComplaint }) });
  atEnd(() => service.stop());
  const { url, operationsUrl } = await service.start();

  const issuer = await openDevelopmentIssuer(folder);
  const ca = await readFile(receiver.caFile);
  const token: TryEnvironment['token'] = (role, lifetimeSeconds) =>
    issuer.sign({ tenant: 'demo', ...roles[role], lifetimeSeconds });
  return {
    url,
    operationsUrl,
    webhookUrl: receiver.url,
    caFile: receiver.caFile,
    callbackFile: receiver.callbackFile,
    exchanges,
    token,
    async ask(role, method, path, body, mediaType = 'application/json') {
      const response = await fetch(url + path, {
        method,
        signal,
        headers: {
          Authorization: `Bearer ${await token(role, 60)}`,
          ...(body ? { 'Content-Type': mediaType } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    deliver: (sink, headers, body) =>
      new Promise((resolve, reject) => {
        httpsRequest(sink, { method: 'POST', ca, headers, signal }, (response) => {
          response.resume();
          response.once('end', () => resolve(response.statusCode ?? 0));
        })
          .once('error', reject)
          .end(body);
      }),
  };
}

/**
 * Resolves to the port, or to a free one for 0: below those that systems give to connections (Linux from 32768 on), one of
 * which could take it before the service opens it. Throws a SetupError that says what to do: `option` or a variable chose it.
 */
export async function freePort(wanted: number, option: string, tries = 20): Promise<number> {
  if (wanted === 0) {
    const port = freePort(randomInt(10_000, 32_000), option);
    return tries === 0 ? port : port.catch(() => freePort(0, option, tries - 1));
  }
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, '127.0.0.1', resolve)).catch(
    ({ code, message }: NodeJS.ErrnoException) => {
      const next = `${option}${option.startsWith('-') ? ' ' : '='}${wanted + 100}`;
      throw new SetupError(
        code === 'EADDRINUSE'
          ? `Port ${wanted} is in use. Stop the program that uses it, or choose another port: ${next}.`
          : `Port ${wanted}: ${message}. Choose another port with ${option}.`,
      );
    },
  );
  await new Promise((resolve) => server.close(resolve));
  return wanted;
}
