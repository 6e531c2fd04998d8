import { afterAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import { createToken } from '../../../../src/tools/cli/login/create-token.js';
import { openIdentity } from '../../../../src/tools/cli/conformance/side.js';
import type { Certificate } from '../../../../src/tools/conformance/authority.js';
import type { Report } from '../../../../src/tools/conformance/case.js';
import { senderCases } from '../../../../src/tools/conformance/cases.js';
import { createWebhooks } from '../../../../src/tools/conformance/sender/webhooks.js';
import type { Sender } from '../../../../src/kits/sender/index.js';
import { compileLess } from '../../../support/compile-less.mjs';
import { freePort } from '../../../support/postgres.mjs';
import { startProgram } from '../../../support/process.js';
import { startSenders, type Senders } from '../../../support/senders.js';

/** Between two looks at a subscription. */
const lookMs = 100;
const folder = await mkdtemp(join(tmpdir(), 'assent-test-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The registry returns 503 while the machine is too busy. */
async function patiently(ask: () => PromiseLike<Response>) {
  for (;;) {
    const { status, body } = await ask();
    if (status < 300) return body as { id: string; status: string };
    if (status !== 503) throw new Error(`The registry returned ${status}: ${JSON.stringify(body)}`);
    await sleep(lookMs);
  }
}

/** Assent as a sender that runs already: a registry with two instances of the kit, and an address for commands. */
async function startAssent(port: number, { caFile, ...certificate }: Certificate & { caFile: string }) {
  const senders: Senders = await startSenders(
    {
      reachable: true,
      env: { ASSENT_SINK_CA_FILE: caFile, ASSENT_SINK_PORTS: String(port) },
    },
    { requestedrate: 12 },
  );
  const { registry, tenant } = senders;
  const guard = {
    allowedNetworks: ['127.0.0.0/8'],
    sinkPorts: [port],
    sinkCa: await readFile(caFile, 'utf8'),
    dnsServers: [registry.dns.address],
  };
  const scopes = ['assent:deliver' as const, 'assent:sign' as const];
  const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 60 };
  const token = () => createToken(who, registry.env);
  const instances = await Promise.all([senders.start({ guard, token }), senders.start({ guard, token })]);
  const over = new AbortController();

  /** Webhooks whose commands would wait for minutes: no callback comes, or a low rate leaves events over. */
  const endless = new Set(['S04', 'S08', 'S09', 'S10-post']);
  const used = new Set<string>();

  /** Ends those as soon as the others are done. */
  function note(name: string): void {
    used.add(name);
    if (createWebhooks().every((each) => used.has(each.name) || each.name === 'S04' || each.events === 0)) over.abort();
  }

  async function use(url: string, name: string, events: number, sender: Sender): Promise<string> {
    const type = `com.example.${name}`;
    const wanted = { sink: url, protocol: 'HTTP', types: [type] };
    const subscriptions = '/v1/subscriptions';
    let { id, status } = await patiently(() => tenant.subscriber.post(subscriptions).send(wanted));
    while (status === 'pending' && !over.signal.aborted) {
      await sleep(lookMs);
      ({ id, status } = await patiently(() => tenant.subscriber.get(`${subscriptions}/${id}`)));
    }
    const none = { specversion: '1.0', id: 'none', source: 'urn:example:kit', type };
    while (status === 'active' && sender.match(none).sinks.length === 0) await sender.ready(0);
    for (let index = 0; status === 'active' && index < events && !over.signal.aborted; index += 1) {
      const event = { specversion: '1.0', id: `${id}-${index}`, source: 'urn:example:kit', type, data: index };
      await sender.deliver(event, sender.match(event), { signal: over.signal }).catch((error: Error) => {
        if (!over.signal.aborted) throw error;
      });
      if (endless.has(name)) note(name);
    }
    return `The subscription was ${status}.`;
  }

  const server = createServer((request, response) => {
    const answer = async () => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const { url, events, instance } = JSON.parse(body);
      const name = new URL(url).pathname.split('/')[1] ?? '';
      try {
        response.end(await use(url, name, Number(events), instances[Number(instance) - 1] as Sender));
      } finally {
        note(name);
      }
    };
    answer().catch((error: Error) => response.writeHead(500).end(error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { directory } = (await tenant.admin.get(`/v1/origins/${tenant.origin}`).expect(200)).body;
  const keys = await (await fetch(`${registry.url}/v1/directories/${directory}`)).text();
  const directories = createTlsServer(certificate, (_, response) => void response.end(keys));
  await new Promise<void>((resolve) => directories.listen(0, '127.0.0.1', resolve));
  return {
    /** Where the JSON Web Key Set of its origin is. */
    jwks: `https://localhost:${(directories.address() as AddressInfo).port}/keys`,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      over.abort();
      for (const each of [server, directories]) {
        each.close();
        each.closeAllConnections();
      }
      await senders.stop();
    },
  };
}

test('Assent passes every case for senders', async () => {
  const port = await freePort();
  const identity = await openIdentity(folder, 'localhost');
  const assent = await startAssent(port, identity);
  const script = new URL('use-webhook.mjs', import.meta.url).pathname;
  const command = `${process.execPath} '${compileLess}' ${script} ${assent.url} {url} {events} {instance}`;
  const options = {
    command,
    jwks: assent.jwks,
    listen: `localhost:${port}`,
    profile: 'nl-gov',
    timeout: '300',
    out: folder,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const kit = startProgram('tools/cli/assent.js', {
    args: ['conformance', 'sender', ...args],
    env: { ASSENT_DATA: folder, NODE_EXTRA_CA_CERTS: identity.caFile },
  });
  const code = await kit.ended;
  await assent.stop();
  const { results } = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')) as Report;
  expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect(results).toHaveLength(senderCases.length);
  expect({ code, stderr: kit.stderr }).toEqual({ code: 0, stderr: '' });
});
