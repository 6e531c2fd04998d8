import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { makeSecret } from '../../../src/signatures/standard-webhooks.js';
import { install, type Installed } from '../../support/foreign-tools.js';
import { startSenders, type Senders } from '../../support/senders.js';
import { until } from '../../support/until.js';
import { formReadBy, rows, Verifier, type Sent } from './verifier.js';

/**
 * Handshakes and deliveries over three rotations of key and secret, and forgeries of them, to libraries of others. The bar
 * is 10,000 deliveries: SIGNED_DELIVERIES=10000.
 */
const deliveries = Number(process.env['SIGNED_DELIVERIES'] ?? 300);
const folder = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const pip = 'python3 -m pip install --quiet --no-compile --no-deps --target packages -r requirements.txt';
const languages = await Promise.all([
  install({ name: 'Node', folder: folder('node'), tool: ['npm', '--version'], install: ['npm', 'ci', '--silent'] }),
  install({
    name: 'Python',
    folder: folder('python'),
    tool: ['python3', '-m', 'pip', '--version'],
    install: pip.split(' '),
    env: { PYTHONPATH: 'packages' },
  }),
]);
const commands: Record<string, string[]> = { Node: ['node', 'verify.mjs'], Python: ['python3', 'verify.py'] };

const libraries: Record<string, [language: number, command: string[]]> = {
  'npm `http-message-signatures` 1.0': [0, commands['Node']!],
  'npm `web-bot-auth` 0.1': [0, ['node', 'web-bot-auth.mjs']],
  'PyPI `http-message-signatures` 3.0': [1, commands['Python']!],
};

let senders: Senders;
beforeAll(async () => {
  senders = await startSenders();
});
afterAll(async () => {
  await senders.stop();
  await Promise.all(languages.flatMap((each) => ('missing' in each ? [] : each.remove())));
});

const missing = languages.flatMap((each) => ('missing' in each ? `${each.name}: ${each.missing}` : []));
const title = `libraries in two languages accept each signed request over three rotations of key and secret, and no forgery`;
(missing.length === 0 ? test : test.skip)(
  missing.length === 0 ? title : `not run: ${missing.join('; ')}`,
  async () => {
    const { registry, tenant } = senders;
    const { origin, admin, subscriber } = tenant;
    const verifiers = Object.values(commands).map((command, at) => new Verifier(languages[at] as Installed, command));
    const keys: Sent['keys'] = {};
    const learnKeys = async () => {
      for (const { publickey } of (await admin.get(`/v1/origins/${origin}/keys`).expect(200)).body) {
        keys[publickey.kid] = publickey.x;
      }
    };
    await learnKeys();
    let secret = makeSecret();
    let genuine = 0;
    const forged = new Set<string>();
    const check = (sent: Sent) => verifiers.forEach((each) => each.check(sent));
    const handshakes: string[] = [];

    const take = async (request: IncomingMessage) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const { method = '', url: path, headers } = request;
      const sent: Sent = {
        id: String((genuine += 1)),
        method,
        url: `https://${headers.host}${path}`,
        headers: headers as Record<string, string>,
        keys: { ...keys },
        ...(method === 'POST' && { body: body.toString('base64'), secret }),
      };
      check(sent);
      if (method === 'OPTIONS') handshakes.push(sent.id);
      if (genuine % Math.ceil(deliveries / 20) !== 1) return;
      const stranger = 'A'.repeat(43);
      const other = { ...sent.headers, 'webhook-request-origin': 'attacker.example.com' };
      const forgeries: Array<Partial<Sent>> = [
        { url: `${sent.url}x` },
        { method: method === 'POST' ? 'PUT' : 'GET' },
        { headers: other },
        { keys: Object.fromEntries(Object.keys(keys).map((keyid) => [keyid, stranger])) },
        { keys: {} },
        ...(method === 'POST' ? [{ body: Buffer.from(`${body} `).toString('base64') }, { secret: makeSecret() }] : []),
      ];
      forgeries.forEach((forgery, at) => {
        const id = `${sent.id} forged ${at}`;
        forged.add(id);
        check({ ...sent, ...forgery, id });
      });
    };
    const path = '/signed?a=1&b=%2F';
    registry.receiver.on('/signed', async (request, response) => {
      await take(request);
      const { 'webhook-request-origin': asking = '' } = request.headers;
      const consent = { 'WebHook-Allowed-Origin': String(asking), 'WebHook-Allowed-Rate': '*' };
      response.writeHead(request.method === 'OPTIONS' ? 200 : 204, consent).end();
    });
    const scopes = ['assent:deliver' as const, 'assent:credentials' as const, 'assent:sign' as const];
    const token = () => createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 60 }, registry.env);
    const { port, ca } = registry.receiver;
    const guard = { allowedNetworks: ['127.0.0.1/32'], sinkPorts: [port], sinkCa: ca };
    const sender = await senders.start({ token, guard });
    const types = ['com.example.signed'];
    const { id } = await tenant.register(registry.receiver.sink(path), { types, signingsecret: { secret } });
    await senders.untilCurrent(sender);

    let sent = 0;
    const outcomes = new Map<string, number>();
    /** Of each of the loops below. */
    const rounds = Array.from({ length: 8 }, () => 0);
    let completed = 0;
    const deliver = async (_: unknown, loop: number) => {
      while (sent < deliveries) {
        const data = { text: 'é'.repeat(sent % 50), number: sent };
        const event = { specversion: '1.0', id: `event.${(sent += 1)}`, source: 'urn:example:a', type: types[0], data };
        const results = await sender.deliver(event, await sender.matchWithCredentials(event));
        for (const { outcome } of results) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        rounds[loop] = (rounds[loop] ?? 0) + 1;
        completed += 1;
        // Not faster than the verifiers: their signatures expire.
        await until(() => verifiers.every(({ faults }) => faults.size > genuine + forged.size - 500));
      }
    };
    const delivering = Promise.all(rounds.map(deliver));
    for (const rotation of [1, 2, 3]) {
      await until(() => sent >= (deliveries * rotation) / 4);
      const startsat = new Date(Date.now() + 1_000).toISOString();
      // Receivers learn of a key before it signs.
      await admin.post(`/v1/origins/${origin}/keys`).send({ startsat, overlapseconds: 600 }).expect(201);
      await learnKeys();
      const next = makeSecret();
      await subscriber
        .patch(`/v1/subscriptions/${id}`)
        .type('application/merge-patch+json')
        .send(JSON.stringify({ signingsecret: { secret: next, overlapseconds: 600 } }))
        .expect(200);
      await senders.untilCurrent(sender);
      // What was matched before may still be on its way.
      const before = [...rounds];
      await until(() => completed === deliveries || rounds.every((round, at) => round > (before[at] ?? 0)));
      secret = next;
      await subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    }
    await delivering;
    await until(() => handshakes.length > 1);
    await Promise.all(verifiers.map((each) => each.end()));
    expect(Object.fromEntries(outcomes)).toEqual({ delivered: deliveries });
    for (const { faults } of verifiers) {
      expect([...faults].filter(([each, fault]) => !forged.has(each) && fault !== undefined)).toEqual([]);
      expect([...forged].filter((each) => faults.get(each) === undefined)).toEqual([]);
      expect(faults.size).toBe(genuine + forged.size);
    }
    const figures = { genuine, handshakes: handshakes.length, forged: forged.size, keys: Object.keys(keys).length };
    if (deliveries > 1_000) console.log(figures);
  },
  600_000,
);

test.each(Object.entries(libraries))(
  '%s reads the forms of Signature-Agent that the documentation says',
  async (name, [language, command]) => {
    const tools = languages[language]!;
    if ('missing' in tools) return;
    expect(await formReadBy(tools, command)).toBe(rows.get(name));
  },
);
