import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Starts one proxy in front of two applications, as its owner had it and after the owner followed the advice, and prints
 * the addresses as one line of JSON. The set-up of the documentation is started as shown there, on another port.
 */
const origin = 'eventemitter.example.com';
const host = '127.0.0.1';

/** An application without a handler for OPTIONS, and one with it. */
const silent = await startApplication((request, response) => response.writeHead(request.method === 'POST' ? 204 : 404));
const consenting = await startApplication((request, response) => {
  const isAllowed = request.method === 'OPTIONS' && request.headers['webhook-request-origin'] === origin;
  response.writeHead(204, isAllowed ? { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '120' } : {});
});
/** In front of the application without a handler. */
const shown = async (file) => (await readFile(`shown/${file}`, 'utf8')).replaceAll('127.0.0.1:9100', silent);

const nginx = {
  async start(ports) {
    const server = (port, rules) => `server { listen ${host}:${port}; location /events { ${rules} } }`;
    const rule = async (port, zone) =>
      (await shown('nginx.conf'))
        .replace('server {', `server { listen ${host}:${port};`)
        .replaceAll(/\$(webhook_\w+|is_event)/g, `$$$1_${zone}`)
        .replaceAll('zone=events', `zone=${zone}`);
    await mkdir('temp');
    await writeFile('events', '');
    await writeFile(
      'nginx.conf',
      `daemon off; master_process off; pid nginx.pid; error_log stderr crit; events {} http { access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path temp/${name};`).join(' ')}
      ${server(ports.plain[0], `limit_except POST { deny all; } proxy_pass http://${silent};`)}
      ${server(ports.plain[1], `root ${process.cwd()};`)}
      ${server(ports.plain[2], `if ($request_method = OPTIONS) { add_header Access-Control-Allow-Origin *; return 204; } proxy_pass http://${silent};`)}
      ${server(ports.advised[0], `limit_except POST OPTIONS { deny all; } proxy_pass http://${consenting};`)}
      ${await rule(ports.advised[1], 'file')}
      ${await rule(ports.advised[2], 'cors')} }`,
    );
    run('nginx', '-p', process.cwd(), '-e', 'stderr', '-c', 'nginx.conf');
  },
  names: ['`limit_except POST { deny all; }`', 'serving a file', 'a CORS rule for `OPTIONS`'],
};

const caddy = {
  async start(ports) {
    // The password is "secret".
    const guard = 'basicauth {\nadmin $2a$14$1XRrcNhygDwwUPf0Og5YxeCRpYfoxGqAkMvrrWGbL0jd52wPIb4MC\n}';
    // Whatever the name: the tests reach it under many.
    const site = (port, rules = '') => `http://:${port} {\nbind ${host}\n${rules}`;
    const rule = await shown('Caddyfile');
    const ruleAt = (port) => rule.replace('webhook.example.com {', site(port));
    await writeFile(
      'Caddyfile',
      `{\nadmin off\nauto_https off\n}
      ${site(ports.plain[0], `${guard}\nreverse_proxy ${silent}\n}`)}
      ${site(ports.plain[1], `reverse_proxy ${silent}\n}`)}
      ${ruleAt(ports.advised[0]).replace('  reverse_proxy', `  ${guard}\n  reverse_proxy`)}
      ${ruleAt(ports.advised[1])}`,
    );
    run('caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile');
  },
  names: ['`basicauth`', '`reverse_proxy` to an application that returns 404'],
};

const haproxy = {
  async start(ports) {
    const rule = (await shown('haproxy.cfg')).replace(/bind .*/, `bind ${host}:${ports.advised[0]}`);
    await writeFile(
      'haproxy.cfg',
      `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend plain
  bind ${host}:${ports.plain[0]}
  http-request deny unless METH_POST
  default_backend plain
backend plain
  server plain ${silent}
${rule}
`,
    );
    run('haproxy', '-db', '-f', 'haproxy.cfg');
  },
  names: ['`http-request deny unless METH_POST`'],
};

const [, , name] = process.argv;
const proxy = { nginx, caddy, haproxy }[name];
const ports = { plain: await freePorts(proxy.names), advised: await freePorts(proxy.names) };
await proxy.start(ports);
const addresses = {};
for (const [setup, of] of Object.entries(ports)) {
  addresses[setup] = {};
  for (const [index, port] of of.entries()) {
    await untilOpen(port);
    addresses[setup][proxy.names[index]] = `http://${host}:${port}/events`;
  }
}
console.log(JSON.stringify(addresses));

function run(command, ...args) {
  // Caddy writes its last configuration there.
  const env = { ...process.env, XDG_CONFIG_HOME: process.cwd(), XDG_DATA_HOME: process.cwd() };
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
  child.once('exit', (code) => {
    process.stderr.write(`${command} ended with ${code}: ${complaints}`);
    process.exit(1);
  });
}

async function startApplication(head) {
  const server = createServer((request, response) => {
    head(request, response);
    request.resume();
    response.end();
  });
  server.listen(0, host);
  await once(server, 'listening');
  return `${host}:${server.address().port}`;
}

async function freePorts(names) {
  const servers = names.map(() => createTcpServer().listen(0, host));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

async function untilOpen(port) {
  for (;;) {
    const socket = connect(port, host);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await wait(20);
  }
}
