import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { certificateFaultOf, type CertificateFault } from '../../src/outbound/certificate-fault.js';
import { createReadDocument } from '../../src/outbound/read-document.js';
import { createSafeRequest, safeRequestDefaults, type OutboundRequest } from '../../src/outbound/safe-request.js';
import {
  createAuthority,
  createSelfSigned,
  expired,
  future,
  type Authority,
  type KeyPair,
} from '../support/certificates.js';
import { startDnsServer, type DnsServer } from '../support/dns-server.js';
import { asHost, forbidden, inIpv6 } from '../support/hostile-addresses.js';
import {
  drip,
  flood,
  startHostileServer,
  type HostileServer,
  type HostileSettings,
} from '../support/hostile-server.js';
import { until } from '../support/until.js';

const run = promisify(execFile);
const host = 'hooks.shop.example';
const consent = 'HTTP/1.1 200 OK\r\nWebHook-Allowed-Origin: *\r\nContent-Length: 0\r\n\r\n';

let authority: Authority;
let certificate: KeyPair;
let dns: DnsServer;
const running: HostileServer[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue([host, 'localhost', '127.0.0.1']);
  dns = await startDnsServer();
});
afterEach(async () => {
  dns.zone = {};
  dns.questions.length = 0;
  await Promise.all(running.splice(0).map((server) => server.stop()));
});
afterAll(() => dns.stop());

async function startTarget(answer?: (socket: Socket) => void, settings: HostileSettings = {}): Promise<HostileServer> {
  const server = await startHostileServer({ tls: certificate, ...(answer && { answer }), ...settings });
  running.push(server);
  dns.zone[host] ??= ['127.0.0.1'];
  return server;
}

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const whereIpv6 = hasIpv6 ? test : test.skip;

/** A certificate, and those of its issuers behind it; without the root if that is not the issuer. */
async function withIssuers(issuer: Promise<Authority>): Promise<KeyPair> {
  const { cert, issue } = await issuer;
  const leaf = await issue([host]);
  return { ...leaf, cert: `${leaf.cert}\n${cert}` };
}

/** No process listens here; at 127.0.0.1 other tests may use the port of a target. */
const refusing = '127.0.2.1';

const says = (text: string) => (socket: Socket) => void socket.write(text, 'latin1');

/** The client as an operator with a private network would open it: loopback is allowed, nothing else. */
function openTo(ports: number[], changes: Partial<Parameters<typeof createSafeRequest>[0]> = {}) {
  return createSafeRequest({
    ...safeRequestDefaults,
    allowedNetworks: ['127.0.0.0/8'],
    ports,
    dnsServers: [dns.address],
    ca: authority.cert,
    // None of what follows ends by it, unless it has one of its own.
    deadlineMs: 30_000,
    userAgent: 'Assent-test/1 (+mailto:admin@example.com)',
    ...changes,
  });
}

const options = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'OPTIONS',
  headers: {},
  ...more,
});

/** One request to a target that misbehaves after the request was read. */
async function askTarget(answer: ((socket: Socket) => void) | undefined, deadlineMs = 30_000) {
  const target = await startTarget(answer);
  const reply = await openTo([target.port], { deadlineMs })(options(`https://${host}:${target.port}/hook`));
  return { reply, target };
}

describe('a target that responds', () => {
  test('gets the given headers, Host, User-Agent and Connection: close, and nothing else', async () => {
    const target = await startTarget(says(consent));
    const headers = { 'WebHook-Request-Origin': 'events.example.com', 'WebHook-Request-Rate': '120' };
    await openTo([target.port])(options(`https://${host}:${target.port}/a%2Fb?x=1&y=`, { headers }));
    expect(target.requests).toEqual([
      `OPTIONS /a%2Fb?x=1&y= HTTP/1.1\r\nhost: ${host}:${target.port}\r\nconnection: close\r\n` +
        'User-Agent: Assent-test/1 (+mailto:admin@example.com)\r\n' +
        'WebHook-Request-Origin: events.example.com\r\nWebHook-Request-Rate: 120\r\n\r\n',
    ]);
  });

  test('is reported with its raw final headers in order, duplicates kept, without 1xx headers and trailers', async () => {
    const { reply } = await askTarget(
      says(
        'HTTP/1.1 103 Early Hints\r\nWebHook-Allowed-Origin: early.example\r\n\r\n' +
          'HTTP/1.1 204 No\r\nwebhook-allowed-ORIGIN: a.example\r\nX: \xe9\r\nWebHook-Allowed-Origin: b.example\r\n' +
          'Transfer-Encoding: chunked\r\n\r\n0\r\nWebHook-Allowed-Rate: 9\r\n\r\n',
      ),
    );
    expect(reply).toMatchObject({ kind: 'answered', status: 204, remoteAddress: '127.0.0.1' });
    expect(reply).toHaveProperty('headers', [
      ['webhook-allowed-ORIGIN', 'a.example'],
      ['X', '\xe9'],
      ['WebHook-Allowed-Origin', 'b.example'],
      ['Transfer-Encoding', 'chunked'],
    ]);
    expect(reply.timing).toEqual({
      lookupMs: expect.any(Number),
      connectMs: expect.any(Number),
      tlsMs: expect.any(Number),
      responseMs: expect.any(Number),
      totalMs: expect.any(Number),
    });
  });

  test.each([200, 204, 301, 404, 405, 410, 429, 500, 503, 599])('with status %d has responded', async (status) => {
    const { reply } = await askTarget(says(`HTTP/1.1 ${status} Any\r\nContent-Length: 0\r\n\r\n`));
    expect(reply).toMatchObject({ kind: 'answered', status });
  });

  test('is spoken to in TLS, with its name, in HTTP/1.1, and never in a resumed session', async () => {
    const target = await startTarget(says(consent), { tls: { ...certificate, ALPNProtocols: ['h2', 'http/1.1'] } });
    const ask = openTo([target.port]);
    await ask(options(`https://${host}:${target.port}/`));
    await ask(options(`https://${host}:${target.port}/`));
    expect(target.connections).toBe(2);
    const session = { servername: host, alpn: 'http/1.1', protocol: 'TLSv1.3', isResumed: false };
    expect(target.sessions).toEqual([session, session]);
  });

  test('may speak TLS 1.2 as well', async () => {
    const target = await startTarget(says(consent), { tls: { ...certificate, maxVersion: 'TLSv1.2' } });
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'answered' });
    expect(target.sessions).toMatchObject([{ protocol: 'TLSv1.2' }]);
  });

  test('with a redirect to a private address is not followed: the private server sees nothing', async () => {
    const inside = await startTarget(says(consent), { host: '127.0.0.2' });
    const target = await startTarget((socket) =>
      says(`HTTP/1.1 307 Go\r\nLocation: https://127.0.0.2:${inside.port}/\r\nContent-Length: 0\r\n\r\n`)(socket),
    );
    const ask = openTo([target.port, inside.port]);
    const reply = await ask(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'answered', status: 307 });
    expect([target.connections, inside.connections]).toEqual([1, 0]);
  });

  test('with an endless body is disconnected after its headers', async () => {
    const { reply, target } = await askTarget((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nWebHook-Allowed-Origin: *\r\n\r\n');
      flood(socket, 'x');
    });
    expect(reply).toMatchObject({ kind: 'answered', status: 200 });
    await target.deserted();
  });

  test('with a compressed body is not decompressed: a broken one does no harm', async () => {
    const { reply } = await askTarget(says('HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\n\r\nnot gzip'));
    expect(reply).toMatchObject({ kind: 'answered', status: 200 });
  });

  test('is reached although a proxy is configured in the environment, and the proxy sees nothing', async () => {
    const proxy = await startTarget(undefined, { tls: undefined as never });
    const before = { ...process.env };
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY']) {
      process.env[name] = `http://127.0.0.1:${proxy.port}`;
    }
    const { reply } = await askTarget(says(consent));
    process.env = before;
    expect([reply.kind, proxy.connections]).toEqual(['answered', 0]);
  });
});

describe('a target that misbehaves', () => {
  test.each<[string, string, ((socket: Socket) => void) | undefined]>([
    ['never answers', 'deadline_exceeded', undefined],
    [
      'sends one byte at a time',
      'deadline_exceeded',
      (socket) => {
        const bytes = consent.split('').values();
        drip(socket, 100, () => socket.write(bytes.next().value ?? ''));
      },
    ],
    [
      'sends a 1xx answer again and again, slowly',
      'deadline_exceeded',
      (socket) => drip(socket, 400, () => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')),
    ],
    [
      'sends 1xx answers without end',
      'too_many_informational',
      (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    ],
    [
      'sends headers without end',
      'headers_too_large',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        flood(socket, 'X-Filler: abcdefgh\r\n');
      },
    ],
    [
      'sends one header without end',
      'headers_too_large',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX-Filler: ');
        flood(socket, 'abcdefgh');
      },
    ],
    [
      'pads a header without end',
      'headers_too_large',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX-Filler:');
        flood(socket, ' ');
      },
    ],
    [
      'gives reasons without end',
      'headers_too_large',
      (socket) => {
        socket.write('HTTP/1.1 200 ');
        flood(socket, 'because ');
      },
    ],
    ['closes before it answers', 'connection_closed', (socket) => socket.end()],
    ['resets before it answers', 'connection_closed', (socket) => socket.destroy()],
    ['closes within the headers', 'connection_closed', (socket) => socket.end('HTTP/1.1 200 OK\r\nX: y\r\n')],
    ['closes after a 1xx answer', 'connection_closed', (socket) => socket.end('HTTP/1.1 103 Early\r\n\r\n')],
    ['speaks another protocol', 'not_http', says('* OK IMAP4rev1 ready\r\n')],
    ['speaks HTTP/2 unasked', 'not_http', says('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
    ['continues and says no more', 'deadline_exceeded', says('HTTP/1.1 100 Continue\r\n\r\n')],
    ['closes after it continued', 'connection_closed', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
    ['continues without end', 'too_many_informational', (socket) => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n')],
    [
      'continues with headers without end',
      'headers_too_large',
      (socket) => {
        socket.write('HTTP/1.1 100 Continue\r\n');
        flood(socket, 'X-Filler: abcdefgh\r\n');
      },
    ],
    ['continues with a body', 'not_http', says('HTTP/1.1 100 Go\r\nContent-Length: 5\r\n\r\nhello' + consent)],
    ['continues with lines that end in LF', 'not_http', says('HTTP/1.1 100 Continue\n\n' + consent)],
    ['continues with a broken header', 'not_http', says('HTTP/1.1 100 Go\r\nno header\r\n\r\n' + consent)],
    ['continues with status 1000', 'not_http', says('HTTP/1.1 1000 Continue\r\n\r\n' + consent)],
    ['continues in RTSP', 'not_http', says('RTSP/1.0 100 Continue\r\n\r\n' + consent)],
    ['continues and answers in RTSP', 'not_http', says(`HTTP/1.1 100 Go\r\n\r\nRTSP/1.0${consent.slice(8)}`)],
    [
      'continues to switch protocols',
      'not_http',
      says('HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    ],
    ['switches protocols', 'not_http', says('HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')],
    ['answers with status 999', 'not_http', says('HTTP/1.1 999 Any\r\nContent-Length: 0\r\n\r\n')],
    ['answers with status 600', 'not_http', says('HTTP/1.1 600 Any\r\nContent-Length: 0\r\n\r\n')],
    ['answers with status 000', 'not_http', says('HTTP/1.1 000 Any\r\nContent-Length: 0\r\n\r\n')],
    ['answers with status 099', 'not_http', says('HTTP/1.1 099 Any\r\nContent-Length: 0\r\n\r\n')],
    ['answers in HTTP/2.0', 'not_http', says(consent.replace('HTTP/1.1', 'HTTP/2.0'))],
    ['answers in HTTP/0.9', 'not_http', says(consent.replace('HTTP/1.1', 'HTTP/0.9'))],
    ['answers in RTSP', 'not_http', says(consent.replace('HTTP/1.1', 'RTSP/1.0'))],
    [
      'answers in RTSP after a 1xx answer',
      'not_http',
      says(`HTTP/1.1 103 Early\r\nA: b\r\n\r\nRTSP/1.0${consent.slice(8)}`),
    ],
    ['answers with a broken header', 'not_http', says('HTTP/1.1 200 OK\r\nno header at all\r\n\r\n')],
  ])('and %s ends as %s, and its connection is closed', async (_, code, answer) => {
    const slow = code === 'deadline_exceeded';
    const { reply, target } = await askTarget(answer, slow ? 2_000 : 30_000);
    expect(reply).toMatchObject({ kind: 'unanswered', code, remoteAddress: '127.0.0.1' });
    expect(target.requests).toHaveLength(1);
    if (slow) expect(reply.timing.totalMs).toBeGreaterThan(1_990);
    await target.deserted();
  });

  test.each(['100 Continue', '102 Processing', '103 Early Hints'])(
    'with exactly as many responses of %s as allowed counts',
    async (status) => {
      const { reply } = await askTarget(says(`HTTP/1.1 ${status}\r\n\r\n`.repeat(8) + consent));
      expect(reply).toMatchObject({ kind: 'answered', status: 200 });
    },
  );

  const continued = 'HTTP/1.1 100 Continue\r\nWebHook-Allowed-Origin: no.example\r\n\r\n';
  const inTwo = (text: string, at: number) => (socket: Socket) => {
    socket.write(text.slice(0, at));
    setImmediate(() => socket.write(text.slice(at)));
  };
  test('that continues unasked counts, wherever a packet ends, and only its final headers are read', async () => {
    const text = `${continued}HTTP/1.1 100 \r\n\r\n${consent}`;
    // Within both status lines, and within the ends of both heads.
    const places = Array.from(text, (_, at) => at).filter((at) => at > 0 && (at < 14 || at > continued.length - 5));
    const left = [...places];
    const target = await startTarget((socket) => inTwo(text, left.pop() ?? 0)(socket));
    const ask = openTo([target.port]);
    const replies = await Promise.all(places.map(() => ask(options(`https://${host}:${target.port}/`))));
    const headers = [['WebHook-Allowed-Origin', '*'], expect.anything()];
    expect(replies).toEqual(places.map(() => expect.objectContaining({ status: 200, headers })));
  });

  test.each([
    ['one byte at a time', 'HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 100 Go\r\n\r\n'],
    ['between other informational ones', 'HTTP/1.1 102 P\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\n\r\n'],
  ])('that continues unasked, %s, counts', async (_, heads) => {
    const bytes = (heads + consent).split('').values();
    const { reply } = await askTarget((socket) => drip(socket, 2, () => socket.write(bytes.next().value ?? '')));
    expect(reply).toMatchObject({ kind: 'answered', status: 200 });
  });

  test('that continues in its headers, in its body or behind its response changes none of them', async () => {
    const again = 'HTTP/1.1 100 Continue\r\n\r\n';
    const body = `${again}HTTP/1.1 200 OK\r\nWebHook-Allowed-Origin: no.example\r\n\r\n`;
    const target = await startTarget(
      says(
        `${again}HTTP/1.1 200 OK\r\nX: HTTP/1.1 100 Continue\r\nContent-Length: ${body.length}\r\n\r\n${body}${again}`,
      ),
    );
    const reply = await openTo([target.port])(
      options(`https://${host}:${target.port}/`, { method: 'GET', maxReadBytes: 1_000 }),
    );
    expect(reply).toMatchObject({ status: 200, headers: [['X', 'HTTP/1.1 100 Continue'], expect.anything()] });
    expect(String('body' in reply && reply.body)).toBe(body);
  });

  test.each<[string, string, ((socket: Socket) => void) | undefined]>([
    ['plain HTTP', 'tls_failed', says(consent)],
    ['nothing', 'deadline_exceeded', undefined],
    ['a hang-up', 'connection_closed', (socket) => socket.end()],
  ])('and answers the TLS handshake with %s ends as %s', async (_, code, answer) => {
    const target = await startTarget(answer, { tls: undefined as never });
    const ask = openTo([target.port], { deadlineMs: code === 'deadline_exceeded' ? 2_000 : 30_000 });
    expect(await ask(options(`https://${host}:${target.port}/`))).toMatchObject({ kind: 'unanswered', code });
    await target.deserted();
  });

  test('and speaks TLS 1.1 only gets no request', async () => {
    const old = { ...certificate, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const target = await startTarget(says(consent), { tls: old });
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'tls_failed' });
    expect(target.requests).toEqual([]);
  });

  test('with a closed port is reported as connection_refused', async () => {
    dns.zone[host] = [refusing];
    const reply = await openTo([9])(options(`https://${host}:9/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'connection_refused', remoteAddress: refusing });
  });
});

describe('a target that speaks TLS, but not with us,', () => {
  const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
  const goAway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  const mutual = { requestCert: true, rejectUnauthorized: true };
  const rsaOnly = { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const;
  test.each<[string, string, TlsOptions, Buffer, RegExp]>([
    [
      'wants a certificate in TLS 1.2',
      'client_certificate_required',
      { ...mutual, maxVersion: 'TLSv1.2' },
      goAway,
      /HANDSHAKE_FAILURE$/,
    ],
    [
      'wants a certificate in TLS 1.3',
      'client_certificate_required',
      { ...mutual, minVersion: 'TLSv1.3' },
      goAway,
      /CERTIFICATE_REQUIRED$/,
    ],
    ['has no cipher in common', 'tls_failed', rsaOnly, goAway, /HANDSHAKE_FAILURE$/],
    ['offers only h2 in ALPN', 'http2_only', { ALPNProtocols: ['h2'] }, goAway, /NO_APPLICATION_PROTOCOL$/],
    ['responds with settings of HTTP/2', 'http2_only', {}, settings, /^HTTP2_FRAME$/],
    ['responds by closing HTTP/2', 'http2_only', {}, goAway, /^HTTP2_FRAME$/],
  ])('because it %s, is %s, with its evidence', async (_, code, tls, frame, evidence) => {
    const target = await startTarget((socket) => void socket.write(frame), {
      tls: { ...certificate, ca: authority.cert, ...tls },
    });
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code, evidence: expect.stringMatching(evidence) });
    await target.deserted();
  });

  test.each([
    ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ['TLS 1.3', { minVersion: 'TLSv1.3' }],
  ] as const)('unless it is shown a certificate of its own authority that has not ended, in %s', async (_, version) => {
    const pki = await createAuthority('Private PKI');
    const below = await pki.authorize('Clients of the private PKI');
    const target = await startTarget(says(consent), { tls: { ...certificate, ca: pki.cert, ...mutual, ...version } });
    const ask = openTo([target.port]);
    const askWith = ({ cert, key }: KeyPair) =>
      ask(options(`https://${host}:${target.port}/`, { clientCertificate: { certificate: cert, privateKey: key } }));
    const good = await below.issueClient('registry');
    expect(await askWith(good)).toMatchObject({ kind: 'answered', status: 200 });
    const refused = { kind: 'unanswered', code: 'client_certificate_required' };
    expect(await askWith(await authority.issueClient('registry'))).toMatchObject(refused);
    expect(await askWith(await below.issueClient('registry', expired))).toMatchObject(refused);
    expect(await ask(options(`https://${host}:${target.port}/`))).toMatchObject(refused);
    expect(await askWith({ ...good, key: certificate.key })).toMatchObject({ kind: 'unanswered', code: 'tls_failed' });
    expect(target.requests).toHaveLength(1);
  });

  test('because it sends the settings of HTTP/2 before it reads, is http2_only', async () => {
    const server = createSecureServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] });
    server.on('unknownProtocol', (socket: Socket) => void socket.write(settings));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    running.push({ stop: async () => void server.close() } as HostileServer);
    dns.zone[host] = ['127.0.0.1'];
    const { port } = server.address() as AddressInfo;
    expect(await openTo([port])(options(`https://${host}:${port}/`))).toMatchObject({ code: 'http2_only' });
  });
});

describe('a certificate', () => {
  test.each<[string, CertificateFault, () => Promise<KeyPair>]>([
    ['for another name', 'otherName', () => authority.issue(['other.example'])],
    ['that has expired', 'expired', () => authority.issue([host], expired)],
    ['that is not valid yet', 'notYetValid', () => authority.issue([host], future)],
    ['of an unknown authority, alone', 'incomplete', async () => (await createAuthority('Nobody')).issue([host])],
    ['of an unknown authority, with its root', 'unknownIssuer', () => withIssuers(createAuthority('Nobody'))],
    [
      'of an unknown authority, without its root',
      'unknownIssuer',
      async () => withIssuers((await createAuthority('Nobody')).authorize('Below nobody')),
    ],
    ['of an authority below, alone', 'incomplete', async () => (await authority.authorize('Below')).issue([host])],
    ['signed by itself, for the right name', 'selfSigned', () => createSelfSigned(host)],
    ['that names the host as its common name only', 'otherName', () => authority.issue([host], undefined, [])],
    ['for the address instead of the name', 'otherName', () => authority.issue(['127.0.0.1'])],
  ])('%s is refused as %s, and the target never sees the request', async (_, fault, issue) => {
    const target = await startTarget(says(consent), { tls: await issue() });
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid' });
    const evidence = 'evidence' in reply ? reply.evidence : '';
    expect(certificateFaultOf(evidence)).toBe(fault);
    expect(evidence).toMatch(
      /^[A-Z_]+ \(subject CN=.*, issuer CN=.*, valid from 20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d, for .+\)$/,
    );
    expect(target.requests).toEqual([]);
  });

  test('cannot write into a log', async () => {
    const name = `a\u202eb\u2028c\u001b[2Jd${'e'.repeat(300)}`;
    const target = await startTarget(says(consent), { tls: await createAuthority(name) });
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`));
    const evidence = String('evidence' in reply && reply.evidence);
    expect(evidence).toContain('issuer CN=');
    expect(evidence).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(evidence.length).toBeLessThan(800);
  });

  test('of the additional authority counts only where that authority is configured', async () => {
    const target = await startTarget(says(consent));
    const reply = await openTo([target.port], { ca: undefined })(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid' });
  });

  test('is checked even if the environment disables the check in Node', async () => {
    const tls = await (await createAuthority('Nobody')).issue(['127.0.0.1']);
    const target = await startTarget(says(consent), { tls });
    const module = new URL('../../dist/outbound/safe-request.js', import.meta.url);
    const program = `
      import { createSafeRequest, safeRequestDefaults } from '${module.href}';
      const rules = { allowedNetworks: ['127.0.0.0/8'], ports: [${target.port}], userAgent: 'Assent-test' };
      const url = 'https://127.0.0.1:${target.port}/';
      const ask = createSafeRequest({ ...safeRequestDefaults, ...rules });
      console.log(JSON.stringify(await ask({ url, method: 'OPTIONS', headers: {} })));`;
    const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { env });
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid' });
    expect(target.requests).toEqual([]);
  });

  test('for an allowed address must name that address', async () => {
    const named = await startTarget(says(consent), { tls: await authority.issue(['127.0.0.1']) });
    const unnamed = await startTarget(says(consent), { tls: await authority.issue(['127.0.0.2', host]) });
    const ask = openTo([named.port, unnamed.port]);
    expect(await ask(options(`https://127.0.0.1:${named.port}/`))).toMatchObject({ kind: 'answered' });
    expect(named.sessions).toMatchObject([{ servername: false }]);
    const reply = await ask(options(`https://127.0.0.1:${unnamed.port}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid' });
    expect(dns.questions).toEqual([]);
  });
});

describe('a name', () => {
  test('with one public and one private address is refused whole: the private server sees nothing', async () => {
    const inside = await startTarget(says(consent));
    for (const addresses of [
      ['93.184.216.34', '127.0.0.1'],
      ['127.0.0.1', '93.184.216.34'],
      ['127.0.0.1', '2606:4700::1111'],
    ]) {
      dns.zone[host] = addresses;
      const ask = openTo([inside.port], { allowedNetworks: [] });
      const reply = await ask(options(`https://${host}:${inside.port}/`, { admit: async () => 1 }));
      expect(reply).toMatchObject({ kind: 'blocked', code: 'address_not_allowed' });
      expect(reply).toMatchObject({ detail: expect.stringContaining('loopback') });
    }
    expect(inside.connections).toBe(0);
  });

  test('with an allowed and a forbidden loopback address is refused whole, neither is dialled', async () => {
    const allowed = await startTarget(says(consent));
    const forbidden = await startTarget(says(consent), { host: '127.0.0.2', port: allowed.port });
    const ask = openTo([allowed.port], { allowedNetworks: ['127.0.0.1/32'] });
    dns.zone[host] = ['127.0.0.1', '127.0.0.2'];
    expect(await ask(options(`https://${host}:${allowed.port}/`))).toMatchObject({ kind: 'blocked' });
    dns.zone[host] = ['127.0.0.1', '::1'];
    expect(await ask(options(`https://${host}:${allowed.port}/`))).toMatchObject({ kind: 'blocked' });
    expect([allowed.connections, forbidden.connections]).toEqual([0, 0]);
  });

  test('whose address changes between two requests is checked again, and looked up only once per request', async () => {
    const allowed = await startTarget(says(consent));
    const forbidden = await startTarget(says(consent), { host: '127.0.0.2', port: allowed.port });
    const ask = openTo([allowed.port], { allowedNetworks: ['127.0.0.1/32'] });
    expect(await ask(options(`https://${host}:${allowed.port}/`))).toMatchObject({ kind: 'answered' });
    expect(dns.questions.sort()).toEqual([`A ${host}`, `AAAA ${host}`]);
    dns.zone[host] = ['127.0.0.2'];
    expect(await ask(options(`https://${host}:${allowed.port}/`))).toMatchObject({ kind: 'blocked' });
    expect([allowed.connections, forbidden.connections]).toEqual([1, 0]);
  });

  test('that changes to a private address during the budget check is dialled at the checked address', async () => {
    const checked = await startTarget(says(consent));
    const other = await startTarget(says(consent), { host: '127.0.0.2', port: checked.port });
    const admit = async () => void (dns.zone[host] = ['127.0.0.2']);
    const reply = await openTo([checked.port])(options(`https://${host}:${checked.port}/`, { admit: admit }));
    expect(reply).toMatchObject({ kind: 'answered', remoteAddress: '127.0.0.1' });
    expect([checked.connections, other.connections]).toEqual([1, 0]);
  });

  test.each(['db.internal', 'printer.local', 'orders.shop.svc', 'hooks.test', 'hooks.onion'])(
    '%s is refused before a name server hears of it',
    async (name) => {
      dns.zone[name] = ['93.184.216.34'];
      const reply = await openTo([443], { allowedNetworks: [] })(options(`https://${name}/`));
      expect(reply).toMatchObject({ kind: 'blocked', code: 'sink_not_allowed' });
      expect(dns.questions).toEqual([]);
    },
  );

  test('localhost is 127.0.0.1 without a query, and refused unless loopback is allowed', async () => {
    const target = await startTarget(says(consent));
    dns.zone['localhost'] = ['127.0.0.2'];
    const url = `https://localhost:${target.port}/`;
    expect(await openTo([target.port])(options(url))).toMatchObject({ kind: 'answered', remoteAddress: '127.0.0.1' });
    const closed = await openTo([target.port], { allowedNetworks: [] })(options(url));
    expect(closed).toMatchObject({ kind: 'blocked', code: 'sink_not_allowed' });
    const denied = await openTo([target.port], { deniedNetworks: ['127.0.0.1'] })(options(url));
    expect(denied).toMatchObject({ kind: 'blocked' });
    expect([target.connections, dns.questions.length]).toEqual([1, 0]);
  });

  test.each<[string, string, string]>([
    ['does not exist', 'name_not_found', 'missing.example'],
    ['exists without addresses', 'name_not_found', 'empty.example'],
    ['breaks its name server', 'name_lookup_failed', 'broken.example'],
    ['is never answered', 'name_lookup_failed', 'silent.example'],
  ])('that %s ends as %s', async (_, code, name) => {
    dns.zone = { 'empty.example': [], 'broken.example': 'servfail', 'silent.example': 'silent' };
    // A name server that is slow with its response, as on a busy machine, is asked once more.
    const deadlineMs = name === 'silent.example' ? 10_000 : 30_000;
    const reply = await openTo([443], { deadlineMs })(options(`https://${name}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code });
    expect(reply).not.toHaveProperty('remoteAddress');
    expect(dns.questions).toEqual(expect.arrayContaining([`A ${name}`, `AAAA ${name}`]));
  });

  test('with several addresses is tried on the next one if the first refuses; the network is admitted once', async () => {
    const target = await startTarget(says(consent), { host: '127.0.2.2' });
    dns.zone[host] = [refusing, '127.0.2.2'];
    const networks: string[] = [];
    const admit = async (network: string) => (networks.push(network), undefined);
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`, { admit }));
    expect(reply).toMatchObject({ kind: 'answered', remoteAddress: '127.0.2.2' });
    expect(networks).toEqual(['127.0.2.0/24']);
  });

  test('with several addresses has the whole deadline for its response, not only its share for the connection', async () => {
    const later = (socket: Socket) => void setTimeout(() => socket.write(consent), 5_200);
    const target = await startTarget(later, { host: '127.0.2.2' });
    dns.zone[host] = ['127.0.2.2', refusing];
    const reply = await openTo([target.port], { deadlineMs: 10_000 })(options(`https://${host}:${target.port}/hook`));
    expect(reply).toMatchObject({ kind: 'answered', remoteAddress: '127.0.2.2' });
  });

  test('is not tried in a second network that the budget refuses', async () => {
    const target = await startTarget(says(consent), { host: '127.0.3.1' });
    dns.zone[host] = [refusing, '127.0.3.1'];
    const admit = async (network: string) => (network === '127.0.2.0/24' ? undefined : 5000);
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`, { admit }));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'connection_refused', remoteAddress: refusing });
    expect(target.connections).toBe(0);
  });

  whereIpv6('is reached by IPv6 if it has nothing else or IPv4 refuses, also as an allowed address', async () => {
    const pair = await authority.issue([host, '::1']);
    const target = await startTarget(says(consent), { host: '::1', tls: pair });
    const ask = openTo([target.port], { allowedNetworks: ['127.0.0.0/8', '::1'] });
    for (const addresses of [['::1'], [refusing, '::1']]) {
      dns.zone[host] = addresses;
      const reply = await ask(options(`https://${host}:${target.port}/`));
      expect(reply).toMatchObject({ kind: 'answered', remoteAddress: '::1' });
    }
    expect(await ask(options(`https://[::1]:${target.port}/`))).toMatchObject({ kind: 'answered' });
    expect(target.requests[2]).toContain(`host: [::1]:${target.port}\r\n`);
  });

  whereIpv6('is an IPv6 address only where the certificate is for it', async () => {
    for (const names of [['::2'], ['127.0.0.1'], [host]]) {
      const target = await startTarget(says(consent), { host: '::1', tls: await authority.issue(names) });
      const ask = openTo([target.port], { allowedNetworks: ['::1'] });
      const reply = await ask(options(`https://[::1]:${target.port}/`));
      expect(reply).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid' });
    }
  });

  test('with many addresses is not scanned: at most two are dialled', async () => {
    const target = await startTarget(says(consent), { host: '127.0.2.9' });
    dns.zone[host] = Array.from({ length: 9 }, (_, index) => `127.0.2.${index + 1}`);
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'connection_refused' });
    expect(target.connections).toBe(0);
  });

  test('with DNS64 addresses and its own is reached by its own; with DNS64 addresses only it is refused', async () => {
    const target = await startTarget(says(consent));
    dns.zone[host] = ['127.0.0.1', '64:ff9b::7f00:1'];
    const ask = openTo([target.port]);
    expect(await ask(options(`https://${host}:${target.port}/`))).toMatchObject({ remoteAddress: '127.0.0.1' });
    dns.zone[host] = ['64:ff9b::7f00:1'];
    expect(await ask(options(`https://${host}:${target.port}/`))).toMatchObject({ kind: 'blocked' });
  });
});

describe('the caller', () => {
  test('gets the time to wait if the budget refuses, with nothing dialled', async () => {
    const target = await startTarget(says(consent));
    const admit = async (network: string) => (network === '127.0.0.0/24' ? 5000 : undefined);
    const reply = await openTo([target.port])(options(`https://${host}:${target.port}/`, { admit }));
    expect(reply).toMatchObject({ kind: 'held', retryAfterMs: 5000 });
    expect(target.connections).toBe(0);
  });

  test('may abort while a target stalls: the reply returns at once and the connection is closed', async () => {
    const target = await startTarget();
    const caller = new AbortController();
    const reply = openTo([target.port], { deadlineMs: 60_000 })(
      options(`https://${host}:${target.port}/`, { signal: caller.signal }),
    );
    await target.reached;
    caller.abort();
    expect(await reply).toMatchObject({ kind: 'unanswered', code: 'aborted' });
    await target.deserted();
  });

  test('that aborted before the call causes no query and no connection', async () => {
    const target = await startTarget(says(consent));
    const ask = openTo([target.port]);
    const reply = await ask(options(`https://${host}:${target.port}/`, { signal: AbortSignal.abort() }));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'aborted' });
    // The name server handles queries in order, so an earlier one would be visible now.
    await ask(options(`https://later.example:${target.port}/`));
    expect(dns.questions.filter((question) => !question.endsWith(' later.example'))).toEqual([]);
    expect(target.connections).toBe(0);
  });

  test('that aborts during the budget check causes no connection', async () => {
    const target = await startTarget(says(consent));
    const caller = new AbortController();
    const admitted = { later: () => {} };
    const admit = () =>
      new Promise<undefined>((resolve) => {
        admitted.later = () => resolve(undefined);
        caller.abort();
      });
    const url = `https://${host}:${target.port}/`;
    const reply = await openTo([target.port])(options(url, { signal: caller.signal, admit }));
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'aborted' });
    admitted.later();
    await openTo([target.port])(options(url));
    expect(target.connections).toBe(1);
  });

  test('gets a rejection for headers that cannot be sent and for a budget that fails', async () => {
    const target = await startTarget(says(consent));
    const url = `https://${host}:${target.port}/`;
    const ask = openTo([target.port]);
    await expect(ask(options(url, { headers: { 'X-Evil': 'a\r\nB: c' } }))).rejects.toThrow(/header/);
    const admit = () => Promise.reject(new Error('budget is down'));
    await expect(ask(options(url, { admit }))).rejects.toThrow('budget is down');
    expect(target.requests).toEqual([]);
  });
});

describe('a document', () => {
  const largest = 65_536;
  const withLength = (body: string, length = body.length) =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`;

  test.each<[string, string, (socket: Socket) => void, object]>([
    ['of 64 KiB is read', 'a', says(withLength('x'.repeat(largest))), { ok: true, body: Buffer.alloc(largest, 'x') }],
    [
      'in chunks, and after informational responses, is read',
      'b',
      says(
        'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n' +
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      ),
      { ok: true, body: Buffer.from('{}') },
    ],
    ['of one byte more is not', 'c', says(withLength('x'.repeat(largest + 1))), { ok: false, code: 'body_unusable' }],
    [
      'that is cut off is not',
      'd',
      (socket) => void socket.end(withLength('{}', 9)),
      { ok: false, code: 'body_unusable' },
    ],
    [
      'that never ends is not, and is disconnected',
      'e',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        flood(socket, 'x');
      },
      { ok: false, code: 'body_unusable' },
    ],
    [
      'behind a redirect is not',
      'f',
      says('HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n'),
      { ok: false, code: 'status_not_200', status: 302 },
    ],
  ])('%s', async (_, path, answer, expected) => {
    const target = await startTarget(answer);
    const read = createReadDocument(openTo([target.port]), async () => undefined);
    expect(await read(`https://${host}:${target.port}/${path}`, 'application/json')).toMatchObject(expected);
    expect(target.requests[0]).toMatch(new RegExp(`^GET /${path} HTTP/1.1\r\n[^]*Accept: application/json\r\n`));
    await target.deserted();
  });

  test('is read over https only, from no address that is not public, and within the budget of the network', async () => {
    const target = await startTarget(says(withLength('{}')));
    const dialled: string[] = [];
    const admit = async (network: string) => dialled.push(network);
    const read = createReadDocument(openTo([target.port], { allowedNetworks: [] }), admit);
    const literals = forbidden.flatMap((address) => asHost(address).map((name) => `https://${name}:${target.port}/`));
    const urls = [...literals, `https://${host}:${target.port}/`, `http://${host}:${target.port}/`];
    const results = await Promise.all(urls.map((url) => read(url, 'application/json')));
    expect(results.filter((result) => result.ok || !result.code.endsWith('_not_allowed'))).toEqual([]);
    expect([dialled, target.connections]).toEqual([[], 0]);
    const held = createReadDocument(openTo([target.port]), async () => 1_000);
    expect(await held(`https://${host}:${target.port}/`, '*/*')).toEqual({ ok: false, code: 'held_by_budget' });
    expect(target.connections).toBe(0);
  });
});

test('by default nothing but public addresses is reached', async () => {
  const target = await startTarget(says(consent));
  const ask = createSafeRequest({
    ...safeRequestDefaults,
    ports: [target.port],
    dnsServers: [dns.address],
    ca: authority.cert,
    userAgent: 'Assent-test/1',
  });
  const replies = await Promise.all(
    [host, 'localhost', '127.0.0.1', '[::1]'].map((name) => ask(options(`https://${name}:${target.port}/`))),
  );
  expect(replies.map((reply) => reply.kind)).toEqual(['blocked', 'blocked', 'blocked', 'blocked']);
  expect(target.connections).toBe(0);
});

describe('fuzz: private addresses in every disguise', () => {
  test('as a literal in a URL reach nothing', async () => {
    const listening = await startTarget(says(consent));
    const ask = openTo([443, listening.port], { allowedNetworks: [] });
    const dialled: string[] = [];
    const urls = forbidden.flatMap((address) => asHost(address).map((name) => `https://${name}:${listening.port}/`));
    expect(urls.length).toBeGreaterThan(280);
    const replies = await Promise.all(
      // The budget is a trip-wire: an allowed address would be recorded here and not dialled.
      urls.map((url) => ask(options(url, { admit: async (network) => dialled.push(network) }))),
    );
    expect(urls.filter((_, index) => replies[index]?.kind !== 'blocked')).toEqual([]);
    expect([dialled, dns.questions, listening.connections]).toEqual([[], [], 0]);
  });

  test('in the response of a name server reach nothing', async () => {
    const listening = await startTarget(says(consent));
    const ask = openTo([listening.port], { allowedNetworks: [] });
    const dialled: string[] = [];
    const answers = forbidden.flatMap((address) => [address, ...inIpv6(address)]);
    dns.zone = Object.fromEntries(answers.map((answer, index) => [`n${index}.example`, [answer]]));
    const reached: string[] = [];
    for (const [index, answer] of answers.entries()) {
      const url = `https://n${index}.example:${listening.port}/`;
      const reply = await ask(options(url, { admit: async (network) => dialled.push(network) }));
      if (reply.kind !== 'blocked' || reply.code !== 'address_not_allowed') reached.push(answer);
    }
    expect(reached).toEqual([]);
    expect([dialled, listening.connections]).toEqual([[], 0]);
  });

  test('as a literal with loopback allowed reach only the canonical notation', async () => {
    const listening = await startTarget(says(consent));
    const ask = openTo([listening.port]);
    const reached: string[] = [];
    for (const name of asHost('127.0.0.1')) {
      const reply = await ask(options(`https://${name}:${listening.port}/`));
      if (reply.kind !== 'blocked') reached.push(name);
    }
    expect(reached).toEqual(['127.0.0.1']);
    expect(listening.connections).toBe(1);
  });
});

(process.platform === 'linux' ? describe : describe.skip)('file descriptors', () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;

  test.each<[string, HostileSettings]>([
    ['in the TLS handshake', { tls: undefined as never }],
    ['after the request', {}],
  ])('are all given back by 50 targets that stall %s', async (_, settings) => {
    const target = await startTarget(undefined, settings);
    // Long enough for fifty at a time, with the targets in the same process.
    const ask = openTo([target.port], { deadlineMs: 2000 });
    const url = `https://${host}:${target.port}/`;
    await ask(options('https://missing.example:' + target.port + '/'));
    const before = descriptors();
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask(options(url))));
    // On a slow machine, some do not even get an answer from their name server.
    for (const reply of replies)
      expect(['deadline_exceeded', 'name_lookup_failed']).toContain('code' in reply && reply.code);
    // A slow machine does not connect all of them.
    expect(target.connections).toBeGreaterThan(0);
    await target.deserted();
    // A socket gives its descriptor back in a turn of the event loop of its own.
    await until(() => descriptors() <= before);
  });

  test('are all released after 50 names without a response', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `silent${index}.example`);
    dns.zone = Object.fromEntries(names.map((name) => [name, 'silent']));
    const ask = openTo([443], { deadlineMs: 300 });
    await ask(options('https://missing.example/'));
    const before = descriptors();
    const replies = await Promise.all(names.map((name) => ask(options(`https://${name}/`))));
    expect(replies.every((reply) => reply.kind === 'unanswered')).toBe(true);
    // A socket gives its descriptor back in a turn of the event loop of its own.
    await until(() => descriptors() <= before);
  });
});
