import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type ConnectionOptions } from 'node:tls';

/**
 * Requests that nobody consented to, in forms that programs read in different ways. There are grants for `/granted` of the
 * webhook behind the gateway, and for `/secret` of another host, which is the webhook of the attacker. A webhook behind a
 * gateway must receive none of them.
 */
export interface Aim {
  /** Host and port of the webhook behind the gateway, and of the one with a grant for `/secret`. */
  own: string;
  other: string;
  /** The origin with the grants. */
  origin: string;
  ca: string;
  port: number;
}

/** Milliseconds without a response: a gateway under load needs one, too. */
const patienceMs = 4_000;

interface Form {
  /** The bytes; undefined lines are left out. */
  bytes: string;
  servername?: string;
}

/** The mark is a header by which the webhook knows which form arrived. */
export const markName = 'x-form';

const nobody = 'stranger.example.com';

/** Each form, by what is forged. */
export function forms({ own, other, origin }: Aim): Array<[string, Form]> {
  const all: Array<[string, Form]> = [];
  const host = own.split(':')[0] ?? '';
  const otherPort = other.split(':')[1] ?? '';
  const mark = () => `X-Form: ${all.length}`;
  const write = (first: string, lines: string[], body = '{}') =>
    [first, ...lines, mark(), 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body].join(
      '\r\n',
    );
  const from = `WebHook-Request-Origin: ${origin}`;
  const add = (name: string, bytes: string, servername?: string) =>
    all.push([name, { bytes, ...(servername !== undefined && { servername }) }]);
  /** A POST to the path that the other host has a grant for. */
  const secret = (name: string, lines: string[], target = '/secret', version = '1.1') =>
    add(name, write(`POST ${target} HTTP/${version}`, [...lines, from]));
  /** A POST in the name of the origin, to something beside the path with the grant. */
  const near = (target: string) =>
    add(`the target ${target}`, write(`POST ${target} HTTP/1.1`, [`Host: ${own}`, from]));
  /** A POST to the path with the grant, in the name of another origin. */
  const named = (name: string, lines: string[], target = '/granted') =>
    add(name, write(`POST ${target} HTTP/1.1`, [`Host: ${own}`, ...lines]));

  secret('Host', [`Host: ${other}`]);
  secret('Host in capitals', [`Host: ${other.toUpperCase()}`]);
  secret('Host with a trailing dot', [`Host: ${host}.:${otherPort}`]);
  secret('Host without a port', [`Host: ${host}`]);
  secret('Host with the port of https', [`Host: ${host}:443`]);
  secret('Host with a leading zero in the port', [`Host: ${host}:0${otherPort}`]);
  secret('Host of an address', [`Host: 127.0.0.1:${otherPort}`]);
  secret('an empty Host', ['Host:']);
  secret('no Host', []);
  secret('HTTP/1.0 without Host', [], '/secret', '1.0');
  secret('HTTP/1.0 with Host', [`Host: ${other}`], '/secret', '1.0');
  secret('two Hosts, ours first', [`Host: ${own}`, `Host: ${other}`]);
  secret('two Hosts, ours last', [`Host: ${other}`, `Host: ${own}`]);
  secret('a list of Hosts', [`Host: ${own}, ${other}`]);
  secret('Host with a user', [`Host: ${own}@${other}`]);
  secret('Host with a path', [`Host: ${other}/secret?`]);
  secret('Host on a continued line', [`Host: ${own}`, ` ${other}`]);
  secret('Host with a blank before the colon', [`Host : ${other}`, `Host: ${own}`]);
  secret('Host after a bare line feed', [`X-A: b\nHost: ${other}`, `Host: ${own}`]);
  secret('an absolute request line', [`Host: ${own}`], `https://${other}/secret`);
  secret('an absolute request line, and Host', [`Host: ${other}`], `https://${own}/secret`);
  secret('an absolute request line for both', [`Host: ${other}`], `https://${other}/secret`);
  secret('an absolute request line without TLS', [`Host: ${own}`], `http://${other}/secret`);
  secret('an absolute request line with a user', [`Host: ${own}`], `https://${own}@${other}/secret`);
  secret('an absolute request line with another scheme', [`Host: ${own}`], `ftp://${other}/secret`);
  secret('a request line with a host after two slashes', [`Host: ${own}`], `//${other}/secret`);
  secret('a request line with an authority', [`Host: ${own}`], other);
  add('the name of the TLS handshake', write('POST /secret HTTP/1.1', [`Host: ${other}`, from]), 'other.example.com');

  const ours = `Host: ${own}`;
  secret('X-Forwarded-Host', [ours, `X-Forwarded-Host: ${other}`]);
  secret('X-Forwarded-Host twice', [ours, `X-Forwarded-Host: ${other}`, `X-Forwarded-Host: ${own}`]);
  secret('X-Forwarded-* of another webhook', [
    ours,
    'X-Forwarded-Proto: https',
    `X-Forwarded-Host: ${other}`,
    'X-Forwarded-Uri: /secret',
    `X-Forwarded-Port: ${otherPort}`,
    `X-Forwarded-Server: ${other}`,
  ]);
  secret('X-Forwarded-Uri', [ours, 'X-Forwarded-Uri: /granted']);
  secret('X-Forwarded-Prefix', [ours, 'X-Forwarded-Prefix: /granted']);
  secret('X-Original-URL', [ours, `X-Original-URL: https://${own}/granted`]);
  secret('X-Original-URL of another webhook', [ours, `X-Original-URL: https://${other}/secret`]);
  secret('X-Original-URL twice', [
    ours,
    `X-Original-URL: https://${own}/granted`,
    `x-original-url: https://${own}/granted`,
  ]);
  secret('X-Original-URI and X-Rewrite-URL', [ours, 'X-Original-URI: /granted', 'X-Rewrite-URL: /granted']);
  secret('Forwarded', [ours, `Forwarded: host="${other}";proto=https`]);
  secret('names with underscores', [ours, `X_Original_URL: https://${own}/granted`, `X_Forwarded_Host: ${other}`]);
  secret('hosts', [ours, `hosts: ${other}`, `Assent-Hosts: ${other}`]);
  secret('the token', [ours, 'Authorization: Bearer a.b.c', 'Assent-Authorization: Bearer a.b.c']);
  secret('an expectation', [ours, 'Expect: 100-continue']);
  secret('the wish not to count', [ours, 'Assent-Lease: false', 'Assent-Lease: false']);
  secret('headers that the connection drops', [
    ours,
    'Connection: close, X-Original-URL, X-Forwarded-Host, X-Forwarded-Uri, Authorization, Assent-Lease',
  ]);
  secret('another way for the proxy', [ours, 'X-Envoy-Original-Path: /granted', 'X-Accel-Redirect: /granted']);

  const stranger = `WebHook-Request-Origin: ${nobody}`;
  named('two origins, ours first', [from, stranger]);
  named('two origins, ours last', [stranger, from]);
  named('a list of origins', [`WebHook-Request-Origin: ${origin}, ${nobody}`]);
  named('an origin with underscores beside another', [stranger, `WebHook_Request_Origin: ${origin}`]);
  named('an origin with underscores', [`WebHook_Request_Origin: ${origin}`]);
  named('an origin on a continued line', ['WebHook-Request-Origin:', ` ${origin},${nobody}`]);
  named('an origin in the query', [stranger], `/granted?origin=${origin}`);
  named('an origin that the connection drops', [stranger, 'Connection: WebHook-Request-Origin']);
  const chunked = `1\r\na\r\n0\r\nWebHook-Request-Origin: ${origin}\r\n\r\n`;
  add(
    'an origin in a trailer',
    [
      'POST /granted HTTP/1.1',
      ours,
      stranger,
      mark(),
      'Trailer: WebHook-Request-Origin',
      'Transfer-Encoding: chunked',
      '',
      chunked,
    ].join('\r\n'),
  );

  for (const target of [
    '//granted',
    '/./granted',
    '/x/../granted',
    '/granted/../secret',
    '/granted/..%2fsecret',
    '/granted%2f..%2fsecret',
    '/granted/%2e%2e/secret',
    '/granted/..;/secret',
    '/granted/.%00./secret',
    '/%67ranted',
    '/granted%00',
    '/granted%0d%0aX-A:b',
    '/granted;x=1',
    '/granted/',
    '/GRANTED',
    '/granted?',
    '/granted??',
    '/granted?x=/../',
    '/granted#x',
    '/granted%23',
    '/granted%3f',
    '/granted\\..\\secret',
    '\\granted',
    '.example.com/granted',
    '@example.com/granted',
    '*',
    `/secret?sink=https://${own}/granted`,
    `/secret&sink=https://${own}/granted`,
    `/secret?hosts=${other}&hosts=${own}`,
    `/secret?https://${own}/granted`,
    '/secret#/../granted',
  ]) {
    near(target);
  }

  add('a method in lower case', write('post /secret HTTP/1.1', [ours, from]));
  add('a method with a tab', write('POST\t/secret HTTP/1.1', [ours, from]));
  add('CONNECT', write(`CONNECT ${own} HTTP/1.1`, [ours, from]));
  add('GET', write('GET /secret HTTP/1.1', [ours, from]));
  add('a method that starts as OPTIONS', write('OPTIONSPOST /secret HTTP/1.1', [ours, from]));

  // Not marked: it may pass without the second line.
  add(
    'another origin with underscores',
    write('POST /granted HTTP/1.1', [ours, from, `WebHook_Request_Origin: ${nobody}`]).replace(/^X-Form.*\r\n/m, ''),
  );

  // A second request inside the first, which has a grant, or is a handshake.
  for (const first of ['POST /granted', 'OPTIONS /secret']) {
    for (const [name, lines, before] of [
      ['with a length and chunks', ['Content-Length: LENGTH', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
      ['with chunks that one reads', ['Content-Length: LENGTH', 'Transfer-Encoding: xchunked'], '0\r\n\r\n'],
      ['with chunks after a tab', ['Content-Length: LENGTH', 'Transfer-Encoding:\tchunked, identity'], '0\r\n\r\n'],
      ['with a name and a blank', ['Content-Length: LENGTH', 'Transfer-Encoding : chunked'], '0\r\n\r\n'],
      ['with two lengths', ['Content-Length: 0', 'Content-Length: LENGTH'], ''],
      ['with a length in words', ['Content-Length: +LENGTH'], ''],
    ] as Array<[string, string[], string]>) {
      const inner = `${before}${write('POST /secret HTTP/1.1', [ours, from])}`;
      const head = [`${first} HTTP/1.1`, ours, from, ...lines].join('\r\n').replace('LENGTH', String(inner.length));
      add(`a request inside ${first}, ${name}`, `${head}\r\n\r\n${inner}`);
    }
  }
  return all;
}

/** Sends it on a connection of its own, and waits until the gateway has nothing more to say. */
export async function sendForged({ ca, port, own }: Aim, { bytes, servername }: Form): Promise<string> {
  const options: ConnectionOptions = { host: '127.0.0.1', port, ca, servername: servername ?? own.split(':')[0] ?? '' };
  // Its certificate has no such name.
  const socket = connect({ ...options, rejectUnauthorized: servername === undefined, ALPNProtocols: ['http/1.1'] });
  let answer = '';
  socket.setEncoding('latin1').on('data', (part: string) => (answer += part));
  socket.on('error', () => undefined);
  // Gateways wait for the rest of some of them. What follows the first response comes at once.
  socket.setTimeout(patienceMs, () => socket.destroy());
  socket.on('data', () => socket.setTimeout(200));
  socket.write(bytes, 'latin1');
  await once(socket, 'close').catch(() => undefined);
  return answer.split('\r\n')[0] ?? '';
}

/** The forms of HTTP/2, where a gateway speaks it. Resolves to their statuses. */
export async function sendForgedHttp2({ ca, port, own, other, origin }: Aim): Promise<Array<number | string>> {
  const session = connectHttp2(`https://localhost:${port}`, { ca });
  session.on('error', () => undefined);
  const ask = (headers: Record<string, string | string[]>, at: number) =>
    new Promise<number | string>((resolve) => {
      const defaults = {
        ':method': 'POST',
        ':path': '/secret',
        'webhook-request-origin': origin,
        [markName]: `h2.${at}`,
      };
      const stream = session.request({ ...defaults, ...headers });
      stream.on('response', (answer) => resolve(Number(answer[':status'])));
      stream.on('error', (error) => resolve(error.message));
      stream.on('close', () => resolve('closed'));
      stream.setTimeout(3_000, () => stream.close());
      stream.resume().end('{}');
    });
  const answers = await Promise.all(
    [
      { ':authority': other },
      { ':authority': own, host: other },
      { ':authority': other, host: own },
      { ':authority': own, ':path': `https://${other}/secret` },
      { ':authority': own, ':path': '/granted', 'webhook-request-origin': [nobody, origin] },
      { ':authority': own, ':path': '/granted/../secret' },
      { ':authority': own, 'x-forwarded-host': other, 'x-forwarded-uri': '/granted' },
    ].map(ask),
  );
  session.destroy();
  return answers;
}
