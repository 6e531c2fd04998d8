import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { publicKeyOf } from '../../../src/signatures/keys.js';
import { prepareDelivery, prepareRequest, type SignatureForm } from '../../../src/signatures/request-signature.js';
import type { Installed } from '../../support/foreign-tools.js';

export interface Sent {
  id: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Base64; absent in a handshake. */
  body?: string;
  /** Thumbprints and public keys of the origin. */
  keys: Record<string, string>;
  /** The one that the webhook has at that time. */
  secret?: string;
}

/** A verifier of others that runs beside the senders: signatures expire after a minute. */
export class Verifier {
  readonly faults = new Map<string, string | undefined>();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor({ folder: cwd, env }: Installed, [command = '', ...args]: string[]) {
    this.#child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#ended = once(this.#child, 'close');
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const { id, fault } = JSON.parse(line);
      this.faults.set(id, fault ?? undefined);
    });
  }

  check(sent: Sent): void {
    this.#child.stdin!.write(`${JSON.stringify(sent)}\n`);
  }

  async end(): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }
}

const page = readFileSync(new URL('../../../docs/senders/signatures.md', import.meta.url), 'utf8');
/** Of its table of libraries: the form that each reads. */
export const rows = new Map(
  [...page.matchAll(/^\| ((?:npm|PyPI) .*?) +\| (.*?) +\|/gm)].map(([, name = '', form = '']) => [name, form]),
);

/** The form in which a library accepts a handshake and a delivery, as the documentation writes it. */
export async function formReadBy(tools: Installed, command: string[]): Promise<string> {
  const verifier = new Verifier(tools, command);
  const forms: SignatureForm[] = ['dictionary', 'string'];
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = (await publicKeyOf(publicKey.export({ format: 'jwk' })))!;
  const origin = 'eventemitter.example.com';
  const url = 'https://hooks.example.org/events?team=7';
  const body = Buffer.from('{"specversion":"1.0","id":"1","source":"/a","type":"a"}');
  for (const form of forms) {
    const now = Math.floor(Date.now() / 1_000);
    const settings = { keyid: key.kid, form, agent: { url: `https://${origin}`, type: 'directory' as const }, now };
    for (const method of ['OPTIONS', 'POST'] as const) {
      const headers = { 'webhook-request-origin': origin, 'content-type': 'application/cloudevents+json' };
      const request = { method, url, headers };
      const { base, fields } =
        method === 'POST' ? await prepareDelivery({ ...request, body }, settings) : prepareRequest(request, settings);
      const signed = Object.entries(fields(sign(null, base, privateKey))).map(([name, value]) => [
        name.toLowerCase(),
        value,
      ]);
      verifier.check({
        id: `${form} ${method}`,
        method,
        url,
        headers: { ...headers, ...Object.fromEntries(signed), host: new URL(url).host },
        keys: { [key.kid]: key.x },
        ...(method === 'POST' && { body: body.toString('base64') }),
      });
    }
  }
  await verifier.end();
  const reads = (form: string) => ['OPTIONS', 'POST'].map((method) => verifier.faults.get(`${form} ${method}`));
  // One method alone is a fault of this test.
  const read = forms.filter((form) => reads(form).some((fault) => fault === undefined));
  for (const form of read) if (reads(form).some((fault) => fault !== undefined)) throw new Error(reads(form).join());
  return read.map((form) => `\`${form}\``).join(', ') || 'neither';
}
