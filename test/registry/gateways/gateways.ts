import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { parsePage, readPage } from '../../docs/markdown.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Registry } from '../../support/registry.js';
import { startRelay, type Relay } from '../../support/relay.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

/** A real gateway with the configuration of docs/senders/gateways.md, in front of a real webhook. */
export interface Guarded {
  registry: Registry;
  tenant: Tenant;
  /** Where the webhook is reached, through the gateway. */
  url: string;
  /** The deliveries that the webhook received. */
  received: Received[];
  /** What the webhook answers to the handshake, per path. */
  rates: Map<string, string>;
  /** Between the gateway and the registry. */
  relay: Relay;
  deliver(path: string, headers?: Record<string, string | string[]>, body?: string): Promise<Delivered>;
  stop(): Promise<void>;
}

export interface Received {
  url: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  bytes: number;
}

/** The texts of a configuration with what stands for them here. */
export function replace(text: string, pairs: Array<[string, string]>): string {
  if (!pairs.some(([from]) => text.includes(from))) throw new Error('Nothing of the configuration was replaced.');
  return pairs.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

export interface Delivered {
  status: number;
  headers: IncomingMessage['headers'];
}

export interface Program {
  /** Its blocks in the page, by their language, and the files that they become. */
  files: Record<string, string>;
  /** The command, in a folder with its files, cert.pem, key.pem and webhook.pem, which has both. */
  command: string[];
  env?: Record<string, string>;
  /** What the page shows, and what stands for it here. */
  adapt(block: string, here: { port: number; registry: string; webhook: string }): string;
}

export const isThere = ([command = '', ...args]: string[]) => spawnSync(command, args).status === 0;

export function blockOf(info: string, page = 'docs/senders/gateways.md'): string {
  const found = parsePage(readPage(page)).fences.find((fence) => fence.info === info);
  if (found === undefined) throw new Error(`${page} has no block ${info}.`);
  return found.text;
}

export async function startGuarded({ files, command, env, adapt }: Program): Promise<Guarded> {
  const port = await freePort();
  const registry = await startRegistry({ sinkPorts: [port] });
  const tenant = await createTenant(registry);
  const relay = await startRelay(registry.url);
  const received: Received[] = [];
  const rates = new Map<string, string>();
  const webhook = createServer((asked, answer) => {
    const { url = '', headers, rawHeaders, method } = asked;
    if (method === 'OPTIONS') {
      const rate = rates.get(url);
      const allowed = { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': rate ?? '' };
      answer.writeHead(200, rate === undefined ? {} : allowed).end();
      return;
    }
    let bytes = 0;
    asked.on('data', (part: Buffer) => (bytes += part.length));
    asked.on('end', () => {
      received.push({ url, headers, rawHeaders, bytes });
      answer.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));

  const claims = { tenant: 'gemeente', subscriber: 'gateway', scopes: ['assent:deliver' as const], minutes: 60 };
  const token = await createToken(claims, registry.env);
  const folder = await mkdtemp(join(tmpdir(), 'assent-gateway-'));
  await mkdir(join(folder, 'temp'));
  const { cert, key } = registry.receiver.certificate;
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'webhook.pem'), `${cert}\n${key}`);
  const here = {
    port,
    registry: new URL(relay.url).host,
    webhook: `127.0.0.1:${(webhook.address() as AddressInfo).port}`,
  };
  const texts = Object.keys(files).map((info) => blockOf(info));
  if (!texts.join('').includes('Bearer TOKEN')) throw new Error('The configuration has no place for the token.');
  for (const [at, name] of Object.values(files).entries()) {
    await writeFile(join(folder, name), adapt((texts[at] ?? '').replaceAll('TOKEN', token), here));
  }
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, HOME: folder, ...env }, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));

  const url = `https://localhost:${port}`;
  const guarded: Guarded = {
    registry,
    tenant,
    url,
    received,
    rates,
    relay,
    deliver: (path, headers = {}, body = '{}') =>
      deliver(new URL(path, url), registry.receiver.ca, {
        headers: { 'WebHook-Request-Origin': tenant.origin, ...headers },
        body,
      }),
    async stop() {
      await endProcess(child);
      webhook.closeAllConnections();
      webhook.close();
      await relay.stop();
      await registry.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await until(async () => {
    if (child.exitCode !== null) throw new Error(output);
    return (await guarded.deliver('/ready').catch(() => undefined)) !== undefined;
  });
  received.length = 0;
  return guarded;
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

interface Sent {
  headers: Record<string, string | string[]>;
  body: string;
}

async function deliver(url: URL, ca: string, { headers, body }: Sent): Promise<Delivered> {
  const asked = request(url, { method: 'POST', headers, ca, agent: false });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return { status: answer.statusCode ?? 0, headers: answer.headers };
}
