import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../src/cli/create-token.js';
import { startRegistry, type Registry } from '../support/registry.js';
import { createTenant, type Tenant } from '../support/tenant.js';

/** The senders of docs/senders/http.md, which need no kit and no package. */
const examples = fileURLToPath(new URL('../../docs/senders/examples/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'assent-languages-'));
const built = join(folder, 'sender');

const languages = [
  { name: 'Python', program: 'python3', version: ['--version'], run: ['python3', join(examples, 'sender.py')] },
  { name: 'Go', program: 'go', version: ['version'], run: [built] },
].map((language) => ({ ...language, isThere: spawnSync(language.program, language.version).status === 0 }));

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  if (languages[1]?.isThere) {
    const env = { ...process.env, CGO_ENABLED: '0', GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '' };
    execFileSync('go', ['build', '-o', built, join(examples, 'sender.go')], { env });
  }
});
afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

for (const { name, program, isThere, run } of languages) {
  (isThere ? describe : describe.skip)(`the sender in ${name}${isThere ? '' : `: ${program} is not installed`}`, () => {
    interface Posted {
      headers: IncomingHttpHeaders;
      body: string;
    }

    async function newWebhook(type: string, more: object = {}, answers: Array<[number, object?]> = []) {
      const path = `/${name}-${type}`;
      const posted: Posted[] = [];
      registry.receiver.consent(path, { rate: '*' });
      const sink = registry.receiver.sink(path);
      const { id } = await tenant.register(sink, { types: [`${name}.${type}`], ...more });
      registry.receiver.on(path, async (request, response) => {
        let body = '';
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
        posted.push({ headers: request.headers, body });
        const [status, headers] = answers.shift() ?? [204];
        response.writeHead(status, { ...headers }).end();
      });
      return { id: id as string, sink, posted };
    }

    const eventOf = (type: string, more: object = {}) => ({
      specversion: '1.0',
      id: '1',
      source: 'urn:example:a',
      type: `${name}.${type}`,
      ...more,
    });

    async function send(events: object[], env: Record<string, string> = {}) {
      const scopes = ['assent:deliver' as const, 'assent:credentials' as const];
      const [command = '', ...args] = run;
      const child = spawn(command, args, {
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          REGISTRY: registry.url,
          TOKEN: await createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 5 }, registry.env),
          SSL_CERT_FILE: registry.env['ASSENT_SINK_CA_FILE'],
          ALLOWED_NETWORKS: '127.0.0.0/8',
          ...env,
        },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.stdin.end(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      const [code] = (await once(child, 'close')) as [number];
      expect(code).toBe(0);
      return output.trim().split('\n');
    }

    test('delivers in the content mode and with the credential of the match, waits for holds, and reports', async () => {
      const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret€' };
      const plain = await newWebhook('structured', { sinkcredential });
      const protocolsettings = { contentmode: 'binary', headers: { 'X-Team': 'orders' } };
      const binary = await newWebhook('binary', { protocolsettings });
      const tired = await newWebhook('tired', {}, [[429, { 'Retry-After': '1' }]]);
      const gone = await newWebhook('gone', {}, [[410]]);
      const event = eventOf('structured', { data: { a: 'é' } });
      const lines = await send([
        event,
        eventOf('binary', { subject: 'é "1%"', data: { a: 'é' } }),
        eventOf('binary', { data: 'text', datacontenttype: 'text/plain; charset=ISO-8859-1' }),
        eventOf('tired'),
        eventOf('gone'),
      ]);
      expect(lines).toEqual([
        `${plain.sink} delivered`,
        `${binary.sink} delivered`,
        `${binary.sink} delivered`,
        `${tired.sink} delivered`,
        `${gone.sink} refused with 410`,
      ]);
      const structured = 'application/cloudevents+json; charset=utf-8';
      expect(plain.posted[0]?.headers).toMatchObject({
        'content-type': structured,
        'webhook-request-origin': tenant.origin,
        authorization: `Basic ${Buffer.from('me:a-secret€').toString('base64')}`,
      });
      expect(JSON.parse(plain.posted[0]?.body ?? '')).toEqual(event);
      expect(binary.posted[0]?.headers).toMatchObject({
        'content-type': 'application/json',
        'ce-subject': '%C3%A9%20%221%25%22',
        'ce-type': `${name}.binary`,
        'x-team': 'orders',
      });
      expect(JSON.parse(binary.posted[0]?.body ?? '')).toEqual({ a: 'é' });
      expect(binary.posted[1]?.headers['content-type']).toBe(structured);
      expect(tired.posted).toHaveLength(2);
      const countsOf = async (id: string) =>
        (await tenant.admin.get(`/v1/subscriptions/${id}/deliveries`).expect(200)).body.counts;
      expect(await countsOf(tired.id)).toEqual({ delivered: 1, throttled: 1 });
      expect(await countsOf(gone.id)).toEqual({ gone: 1 });
    });

    test('does not reach into its own network, and sends nothing without the credential', async () => {
      const inside = await newWebhook('inside');
      expect((await send([eventOf('inside')], { ALLOWED_NETWORKS: '' })).join()).toMatch(/blocked/);
      const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret' };
      const secret = await newWebhook('secret', { sinkcredential });
      const scopes = ['assent:deliver' as const];
      const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 5 };
      const TOKEN = await createToken(who, registry.env);
      expect((await send([eventOf('secret')], { TOKEN })).join()).toMatch(/withheld/);
      expect([inside.posted, secret.posted]).toEqual([[], []]);
    });
  });
}
