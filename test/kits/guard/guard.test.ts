import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Socket } from 'node:net';
import { createGuardedClient, type GuardedClient, type GuardSettings } from '../../../src/kits/guard/index.js';
import { createAuthority, type Authority, type KeyPair } from '../../support/certificates.js';
import { startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { asHost, forbidden, inIpv6 } from '../../support/hostile-addresses.js';
import { flood, startHostileServer, type HostileServer, type HostileSettings } from '../../support/hostile-server.js';
import { until } from '../../support/until.js';

const host = 'hooks.shop.example';
let authority: Authority;
let certificate: KeyPair;
let dns: DnsServer;
const running: Array<{ stop(): unknown }> = [];

beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue([host, 'localhost', '127.0.0.1']);
  dns = await startDnsServer();
});
afterEach(async () => {
  dns.zone = {};
  dns.questions.length = 0;
  await Promise.all(running.splice(0).map((each) => each.stop()));
});
afterAll(() => dns.stop());

/** Responds to every request on a connection with `answer` for its number, until that returns undefined. */
async function startWebhook(answer: (number: number) => string | undefined, settings: HostileSettings = {}) {
  let number = 0;
  const next = (socket: Socket) => {
    const text = answer((number += 1));
    if (text !== undefined) socket.write(text);
  };
  return startTarget({
    answer: (socket) => {
      next(socket);
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('\r\n\r\n')) next(socket);
      });
    },
    ...settings,
  });
}

async function startTarget(settings: HostileSettings): Promise<HostileServer> {
  const server = await startHostileServer({ tls: certificate, ...settings });
  running.push(server);
  dns.zone[host] ??= ['127.0.0.1'];
  return server;
}

function openTo(port: number, settings: GuardSettings = {}): GuardedClient {
  const client = createGuardedClient({
    allowedNetworks: ['127.0.0.1/32'],
    sinkPorts: [port],
    dnsServers: [dns.address],
    sinkCa: authority.cert,
    ...settings,
  });
  running.push({ stop: () => client.close() });
  return client;
}

const to = (port: number, name = host) => ({
  url: `https://${name}:${port}/hook?a=1`,
  headers: { 'Content-Type': 'text/plain' },
  body: 'event',
});
const accepted = 'HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok';

describe('a kept connection', () => {
  test('sends the next request to the checked address, even if the name has moved', async () => {
    const webhook = await startWebhook(() => accepted);
    const inside = await startTarget({ host: '127.0.0.2', port: webhook.port });
    const client = openTo(webhook.port);
    expect(await client.post(to(webhook.port))).toMatchObject({ kind: 'answered', status: 202 });
    dns.zone[host] = ['127.0.0.2'];
    expect(await client.post(to(webhook.port))).toMatchObject({ status: 202, remoteAddress: '127.0.0.1' });
    expect(dns.questions.sort()).toEqual([`A ${host}`, `AAAA ${host}`]);
    expect([webhook.connections, inside.connections]).toEqual([1, 0]);
    expect(webhook.requests[0]).toBe(
      `POST /hook?a=1 HTTP/1.1\r\nhost: ${host}:${webhook.port}\r\nconnection: keep-alive\r\n` +
        'User-Agent: Assent-sender\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nevent',
    );
  });

  test('is kept although the webhook continues unasked before each response', async () => {
    const continued = 'HTTP/1.1 100 Continue\r\n\r\n';
    const webhook = await startWebhook((number) => continued.repeat(number) + accepted);
    const client = openTo(webhook.port);
    for (const times of [1, 2, 3])
      expect([times, await client.post(to(webhook.port))]).toMatchObject([times, { status: 202 }]);
    expect(webhook.connections).toBe(1);
  });

  test('is closed when it is idle, and the name is resolved and checked again', async () => {
    const webhook = await startWebhook(() => accepted);
    const inside = await startTarget({ host: '127.0.0.2', port: webhook.port });
    const client = openTo(webhook.port, { keepAliveMs: 50 });
    await client.post(to(webhook.port));
    await webhook.deserted();
    dns.zone[host] = ['127.0.0.2'];
    const reply = await client.post(to(webhook.port));
    expect(reply).toMatchObject({ kind: 'blocked', code: 'address_not_allowed' });
    expect([webhook.connections, inside.connections]).toEqual([1, 0]);
  });

  test('that the webhook closed is replaced, and the request is sent once', async () => {
    const webhook = await startTarget({ answer: (socket) => void socket.end(accepted) });
    const client = openTo(webhook.port);
    for (const sent of [1, 2, 3]) {
      expect(await client.post(to(webhook.port))).toMatchObject({ status: 202 });
      expect(webhook.requests).toHaveLength(sent);
    }
  });

  test('that breaks after the request was sent fails it: the request is not repeated', async () => {
    let served = 0;
    const webhook = await startTarget({
      answer: (socket) => {
        served += 1;
        socket.write(accepted);
        socket.on('data', () => {
          served += 1;
          socket.destroy();
        });
      },
    });
    const client = openTo(webhook.port);
    expect(await client.post(to(webhook.port))).toMatchObject({ status: 202 });
    expect(await client.post(to(webhook.port))).toMatchObject({ kind: 'unanswered', code: 'connection_closed' });
    expect([webhook.connections, served]).toEqual([1, 2]);
  });

  test('is never shared between client certificates, nor with requests that show none', async () => {
    const pki = await createAuthority('Private PKI');
    const shown: string[] = [];
    const webhook = await startWebhook(() => accepted, {
      tls: { ...certificate, ca: pki.cert, requestCert: true, rejectUnauthorized: false },
      onSession: (socket) => shown.push(String(socket.getPeerCertificate().subject?.CN)),
    });
    const client = openTo(webhook.port);
    const certificates = await Promise.all(
      ['one', 'other'].map(async (name) => {
        const { cert, key } = await pki.issueClient(name);
        return { certificate: cert, privateKey: key };
      }),
    );
    for (const clientCertificate of [undefined, ...certificates, undefined, ...certificates]) {
      expect(await client.post({ ...to(webhook.port), clientCertificate })).toMatchObject({ status: 202 });
    }
    expect(shown).toEqual(['undefined', 'one', 'other']);
  });

  test('is closed with the client', async () => {
    const webhook = await startWebhook(() => accepted);
    const client = openTo(webhook.port);
    await client.post(to(webhook.port));
    client.close();
    await webhook.deserted();
  });
});

describe('a response', () => {
  test('with a redirect to the inside is not followed', async () => {
    const inside = await startTarget({ host: '127.0.0.2' });
    const go = `HTTP/1.1 307 Go\r\nLocation: https://127.0.0.2:${inside.port}/\r\nContent-Length: 0\r\n\r\n`;
    const webhook = await startWebhook(() => go);
    const reply = await openTo(webhook.port, { allowedNetworks: ['127.0.0.0/8'] }).post(to(webhook.port));
    expect(reply).toMatchObject({ kind: 'answered', status: 307 });
    expect(inside.connections).toBe(0);
  });

  test('counts although its body is endless, and the connection is closed', async () => {
    const webhook = await startTarget({
      answer: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        flood(socket, 'x');
      },
    });
    expect(await openTo(webhook.port).post(to(webhook.port))).toMatchObject({ status: 200 });
    await webhook.deserted();
  });

  test('counts although its body stalls, at the deadline', async () => {
    const webhook = await startWebhook(() => 'HTTP/1.1 503 Later\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\nx');
    const reply = await openTo(webhook.port, { deadlineMs: 300 }).post(to(webhook.port));
    expect(reply).toMatchObject({ kind: 'answered', status: 503 });
    expect(reply).toHaveProperty('headers', expect.arrayContaining([['Retry-After', '7']]));
    await webhook.deserted();
  });

  test('that never arrives ends at the deadline, on a kept connection too', async () => {
    const webhook = await startWebhook((number) => (number === 1 ? accepted : undefined));
    const client = openTo(webhook.port, { deadlineMs: 300 });
    await client.post(to(webhook.port));
    expect(await client.post(to(webhook.port))).toMatchObject({ kind: 'unanswered', code: 'deadline_exceeded' });
    await webhook.deserted();
  });

  test('is not waited for once the caller gives up', async () => {
    const webhook = await startTarget({});
    const caller = new AbortController();
    const reply = openTo(webhook.port).post({ ...to(webhook.port), signal: caller.signal });
    await until(() => webhook.requests.length > 0);
    caller.abort();
    expect(await reply).toMatchObject({ kind: 'unanswered', code: 'aborted' });
    await webhook.deserted();
  });
});

test('a certificate for another name gets no event', async () => {
  const webhook = await startTarget({ tls: await authority.issue(['other.example']) });
  const reply = await openTo(webhook.port).post(to(webhook.port));
  const detail = expect.stringMatching(
    /ERR_TLS_CERT_ALTNAME_INVALID \(.*issuer CN=.*valid from 20.*for other\.example\)/,
  );
  expect(reply).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid', detail });
  expect(webhook.requests).toEqual([]);
});

test('private addresses are not reached, in any notation and by any name', async () => {
  const inside = await startTarget({ tls: certificate });
  const client = openTo(inside.port, { allowedNetworks: [] });
  const answers = forbidden.flatMap((address) => [address, ...inIpv6(address)]);
  dns.zone = Object.fromEntries(answers.map((answer, index) => [`n${index}.example`, [answer]]));
  dns.zone['mixed.example'] = ['93.184.216.34', '127.0.0.1'];
  const hosts = [...forbidden.flatMap(asHost), ...Object.keys(dns.zone), 'localhost', 'db.internal'];
  const reached: string[] = [];
  for (const name of hosts) {
    const reply = await client.post(to(inside.port, name));
    if (reply.kind !== 'blocked') reached.push(name);
  }
  expect(hosts.length).toBeGreaterThan(500);
  expect(reached).toEqual([]);
  expect(inside.connections).toBe(0);
});
