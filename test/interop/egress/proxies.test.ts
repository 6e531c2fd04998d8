import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSafeRequest, safeRequestDefaults } from '../../../src/outbound/safe-request.js';
import { createAuthority, type Authority } from '../../support/certificates.js';
import { startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { startEgressProxy, type EgressProxy } from '../../support/egress-proxy.js';
import { asHost, forbidden, inIpv6 } from '../../support/hostile-addresses.js';
import { startHostileServer, type HostileServer } from '../../support/hostile-server.js';
import { freePort } from '../../support/postgres.mjs';
import { until } from '../../support/until.js';

/**
 * Squid and tinyproxy as egress proxies, with Basic authentication, and nginx in front of a webhook. Public addresses are
 * not reached here, so each proxy hands its connections to one of the tests. What a machine lacks is skipped.
 */
const host = 'hooks.shop.example';
const publicAddress = '93.184.216.34';
const password = 'p4ssw0rd';
/** Of that password, as htpasswd writes it. */
const hash = spawnSync('openssl', ['passwd', '-apr1', '-salt', 'abcdefgh', password]).stdout?.toString().trim() ?? '';

let folder: string;
let authority: Authority;
let dns: DnsServer;
let target: HostileServer;
let behind: EgressProxy;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-egress-'));
  // Started by root, they work as another user.
  await chmod(folder, 0o755);
  authority = await createAuthority();
  dns = await startDnsServer({ [host]: [publicAddress] });
  const consent = 'HTTP/1.1 200 OK\r\nWebHook-Allowed-Origin: *\r\nContent-Length: 0\r\n\r\n';
  target = await startHostileServer({
    tls: await authority.issue([host]),
    answer: (socket) => void socket.write(consent),
  });
  behind = await startEgressProxy();
});
afterAll(async () => {
  for (const child of running
    .splice(0)
    .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
  await Promise.all([dns.stop(), target.stop(), behind.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const pathOf = (tool: string) =>
  spawnSync('sh', ['-c', `command -v ${tool}`])
    .stdout.toString()
    .trim();
const describeIf = (...tools: string[]) => {
  const missing = tools.find((tool) => pathOf(tool) === '');
  return missing === undefined
    ? describe
    : (name: string, tests: () => void) => describe.skip(`${name}: ${missing} is not installed`, tests);
};

async function run(command: string[], port: number): Promise<void> {
  const [tool = '', ...args] = command;
  const child = spawn(tool, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until(async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${tool} ended: ${said}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
}

function open(proxy: string | undefined, ports: number[]) {
  const ask = createSafeRequest({
    ...safeRequestDefaults,
    ports,
    dnsServers: [dns.address],
    ca: authority.cert,
    userAgent: 'Assent-test/1',
    ...(proxy === undefined ? { allowedNetworks: ['127.0.0.0/8'] } : { proxy: { url: proxy } }),
  });
  return (url: string) => ask({ url, method: 'OPTIONS', headers: {} });
}

/** The tests of one proxy; `start` has it allow the target's port and hand everything to a port of loopback. */
function testProxy(start: (ports: { own: number; allowed: number; parent: number }) => Promise<string[]>): void {
  const login = (name: string) => `assent:${encodeURIComponent(name)}@127.0.0.1`;
  let port: number;
  let lost: number;
  beforeAll(async () => {
    [port, lost] = [await freePort(), await freePort()];
    await run(await start({ own: port, allowed: target.port, parent: behind.port }), port);
  });
  const through = (userinfo: string, sinkPort = target.port) =>
    open(`http://${userinfo}:${port}`, [target.port, lost])(`https://${host}:${sinkPort}/`);

  test('a target is asked through it, by its checked address', async () => {
    const before = behind.heads.length;
    expect(await through(login(password))).toMatchObject({ kind: 'answered', remoteAddress: publicAddress });
    expect(behind.heads.slice(before).join()).toContain(`CONNECT ${publicAddress}:${target.port} HTTP/1.`);
    expect(target.sessions.at(-1)).toMatchObject({ servername: host });
  });

  test('its refusals and failures are told apart', async () => {
    expect(await through('127.0.0.1')).toMatchObject({ code: 'proxy_authentication' });
    expect(await through(login('wrong'))).toMatchObject({ code: 'proxy_authentication' });
    expect(await through(login(password), lost)).toMatchObject({ code: 'proxy_refused', evidence: '403' });
  });

  test('no private address gets to it, in any notation and by any name', async () => {
    const before = behind.heads.length;
    const answers = forbidden.flatMap((address) => [address, ...inIpv6(address)]);
    Object.assign(dns.zone, Object.fromEntries(answers.map((answer, index) => [`n${index}.example`, [answer]])));
    const names = [...forbidden.flatMap(asHost), ...answers.map((_, index) => `n${index}.example`), 'localhost'];
    const ask = open(`http://${login(password)}:${port}`, [443]);
    const replies: Array<Awaited<ReturnType<typeof ask>>> = [];
    for (const name of names) replies.push(await ask(`https://${name}/`));
    expect(replies.filter(({ kind }) => kind !== 'blocked')).toEqual([]);
    expect(behind.heads.length).toBe(before);
  });
}

describeIf('squid', 'openssl')('Squid', () => {
  testProxy(async ({ own, allowed, parent }) => {
    const place = dirname(dirname(pathOf('squid')));
    const [share, programs] = [join(place, 'share/squid'), join(place, 'lib/squid')];
    await writeFile(join(folder, 'users'), `assent:${hash}\n`);
    await writeFile(
      join(folder, 'squid.conf'),
      `http_port 127.0.0.1:${own}
pid_filename none
cache_log /dev/stderr
access_log none
cache deny all
mime_table ${share}/mime.conf
icon_directory ${share}/icons
unlinkd_program ${programs}/unlinkd
pinger_enable off
auth_param basic program ${programs}/basic_ncsa_auth ${folder}/users
acl known proxy_auth REQUIRED
acl SSL_ports port ${allowed}
http_access deny !SSL_ports
http_access allow known
cache_peer 127.0.0.1 parent ${parent} 0 no-query no-digest
never_direct allow all
shutdown_lifetime 0 seconds
`,
    );
    // The name is part of its shared memory, which another one on this machine may use.
    return ['squid', '-N', '-n', `assent${process.pid}`, '-f', join(folder, 'squid.conf')];
  });
});

describeIf('tinyproxy')('tinyproxy', () => {
  testProxy(async ({ own, allowed, parent }) => {
    await writeFile(
      join(folder, 'tinyproxy.conf'),
      `Port ${own}
Listen 127.0.0.1
Timeout 60
MaxClients 50
BasicAuth assent ${password}
ConnectPort ${allowed}
Upstream http 127.0.0.1:${parent}
`,
    );
    return ['tinyproxy', '-d', '-c', join(folder, 'tinyproxy.conf')];
  });
});

describeIf('nginx')('nginx in front of a webhook', () => {
  let ports: number[];
  beforeAll(async () => {
    ports = [await freePort(), await freePort()];
    const { cert, key } = await authority.issue([host]);
    await writeFile(join(folder, 'cert.pem'), cert);
    await writeFile(join(folder, 'key.pem'), key);
    await writeFile(join(folder, 'ca.pem'), authority.cert);
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const server = (port: number | undefined, version: string) => `server {
    listen 127.0.0.1:${port} ssl; ssl_protocols ${version};
    ssl_certificate cert.pem; ssl_certificate_key key.pem;
    ssl_client_certificate ca.pem; ssl_verify_client on;
  }`;
    const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    await writeFile(
      join(folder, 'nginx.conf'),
      `${user} daemon off; pid nginx.pid; error_log stderr warn; events {}
http {
  access_log off; ${temps.map((name) => `${name}_temp_path temp-${name};`).join(' ')}
  ${server(ports[0], 'TLSv1.2')}
  ${server(ports[1], 'TLSv1.3')}
}`,
    );
    await run(['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], ports[1] ?? 0);
  });

  test.each([0, 1])('its 400 without a client certificate arrives with the sentence that names it (%i)', async (at) => {
    dns.zone[host] = ['127.0.0.1'];
    const reply = await open(undefined, ports)(`https://${host}:${ports[at]}/`);
    dns.zone[host] = [publicAddress];
    expect(reply).toMatchObject({
      status: 400,
      opening: expect.stringContaining('No required SSL certificate was sent'),
    });
  });
});
