import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createAuthority } from '../../conformance/authority.js';
import { openKeyFile } from '../../../base/files/key-file.js';
import { exchangeLines, printable } from '../printable.js';
import { consenting, hangingUp, startWebhook, withholding, type WireExchange } from './webhook.js';

export interface ReceiverSettings {
  port: number;
  folder: string;
  /** Names in the folder. With `cert` and `key`, other programs can use the certificate of the receiver. */
  files?: { ca: string; callback: string; cert?: string; key?: string } | undefined;
  onExchange: (exchange: WireExchange) => void;
}

export interface Receiver {
  url: string;
  caFile: string;
  callbackFile: string;
  stop(): Promise<void>;
}

const identity = z.object({ ca: z.string(), cert: z.string(), key: z.string() });
const tenYears = 3_650;

const paths = {
  '/events': consenting('100'),
  '/later': withholding,
  '/closed': consenting('60', 'somebody-else.example.com'),
  '/down': hangingUp,
};

/**
 * A webhook to try the registry with. Its certificate is made once, with an authority that signs nothing else. The
 * folder gets the certificate of that authority, and the last callback URL.
 */
export async function startReceiver({ port, folder, files, onExchange }: ReceiverSettings): Promise<Receiver> {
  const { ca, ...certificate } = await openIdentity(folder);
  const caFile = join(folder, files?.ca ?? 'receiver-ca.pem');
  await writeFile(caFile, ca);
  if (files?.cert) await writeFile(join(folder, files.cert), certificate.cert);
  if (files?.key) await writeFile(join(folder, files.key), certificate.key, { mode: 0o600 });
  const callbackFile = join(folder, files?.callback ?? 'receiver-callback');
  const webhook = await startWebhook({
    port,
    certificate,
    paths,
    onExchange: (exchange) => {
      if (isWithheld(exchange)) writeFileSync(callbackFile, `${exchange.callback}\n`, { mode: 0o600 });
      onExchange(exchange);
    },
  });
  return { url: `https://localhost:${webhook.port}`, caFile, callbackFile, stop: webhook.stop };
}

/** The certificate for webhooks on this machine, and its authority. */
export function openIdentity(folder: string) {
  return openKeyFile(join(folder, 'receiver.json'), createIdentity, (content) => identity.parse(content));
}

/** What each path of the receiver does. */
export function describePaths(url: string, callbackFile: string): string {
  return [
    `  ${url}/events   allows every origin that asks, 100 requests per minute`,
    `  ${url}/later    responds without consent; the last callback URL is in ${callbackFile}`,
    `  ${url}/closed   allows another origin only`,
    `  ${url}/down     closes the connection`,
    '',
  ].join('\n');
}

async function createIdentity() {
  const authority = await createAuthority('Assent receiver on this machine', tenYears);
  return { ca: authority.cert, ...(await authority.issue(['localhost', '127.0.0.1'])) };
}

function isWithheld(exchange: WireExchange): exchange is WireExchange & { callback: string } {
  return exchange.callback !== undefined && exchange.path === '/later';
}

/** An exchange for people. */
export function report(exchange: WireExchange): string {
  return [
    ...exchangeLines(exchange),
    '',
    ...(isWithheld(exchange)
      ? ['To give consent, POST to this URL, or open it in a browser:', printable(exchange.callback), '']
      : []),
    '',
  ].join('\n');
}
