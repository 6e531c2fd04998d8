import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../config.js';
import { openKeyFile } from '../storage/key-file.js';
import { printable } from './narrate.js';
import {
  consenting,
  createAuthority,
  startWebhook,
  withholding,
  type Behaviour,
  type Webhook,
  type WireExchange,
} from './webhook.js';

export interface ReceiverSettings {
  port: number;
  env: NodeJS.ProcessEnv;
  write: (text: string) => void;
}

const identity = z.object({ ca: z.string(), cert: z.string(), key: z.string() });
const tenYears = 3_650;

/** Knows who sends, and it is somebody else. */
const closed: Behaviour = consenting('60', 'somebody-else.example.com');

/**
 * A webhook to try the registry with. It consents on /events, keeps its answer back on /later, and allows another
 * sender on /closed; it prints what it is asked and what it answers. Its certificate is made once, together with an
 * authority that signs nothing else and whose public part is `receiver-ca.pem` in the data folder.
 */
export async function startReceiver({ port, env, write }: ReceiverSettings): Promise<Webhook> {
  const { dataFolder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
  const { ca, ...certificate } = await openKeyFile(join(dataFolder, 'receiver.json'), createIdentity, (content) =>
    identity.parse(content),
  );
  const caFile = join(dataFolder, 'receiver-ca.pem');
  await writeFile(caFile, ca);
  const callbackFile = join(dataFolder, 'receiver-callback');
  const webhook = await startWebhook({
    port,
    certificate,
    paths: { '/events': consenting('100'), '/later': withholding, '/closed': closed },
    onExchange: (exchange) => {
      write(report(exchange));
      if (isWithheld(exchange)) writeFileSync(callbackFile, exchange.callback, { mode: 0o600 });
    },
  });
  const url = `https://localhost:${webhook.port}`;
  write(
    [
      `The receiver listens on ${url}; its certificate authority is ${caFile}`,
      `  ${url}/events   allows everybody who asks, 100 requests a minute`,
      `  ${url}/later    answers without consent, and prints the callback URL (the last one is kept in ${callbackFile})`,
      `  ${url}/closed   allows somebody else only`,
      '',
      '',
    ].join('\n'),
  );
  return webhook;
}

async function createIdentity() {
  const authority = await createAuthority('Assent receiver on this machine', tenYears);
  return { ca: authority.cert, ...(await authority.issue(['localhost', '127.0.0.1'])) };
}

function isWithheld(exchange: WireExchange): exchange is WireExchange & { callback: string } {
  return exchange.callback !== undefined && exchange.path === '/later';
}

function report(exchange: WireExchange): string {
  const lines = (head: string, mark: string) => head.split('\n').map((line) => `${mark} ${printable(line)}`);
  return [
    ...lines(exchange.asked, '>'),
    '>',
    ...lines(exchange.answered, '<'),
    '',
    ...(isWithheld(exchange)
      ? [
          'To give permission, post to this URL, or open it in a browser and decide there:',
          printable(exchange.callback),
          '',
        ]
      : []),
    '',
  ].join('\n');
}
