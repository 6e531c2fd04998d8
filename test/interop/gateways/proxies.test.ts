import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant } from '../../support/tenant.js';
import { testGateway } from '../../registry/gateways/enforced.js';
import { blockOf, isThere, replace } from '../../registry/gateways/gateways.js';

/** nginx and Caddy with the configurations of the documentation. What a machine lacks is skipped, with the reason. */
const describeIf = (tool: string[]) =>
  isThere(tool)
    ? describe
    : (name: string, tests: () => void) => describe.skip(`${name}: ${tool[0]} is not installed`, tests);

describeIf(['nginx', '-v'])('nginx', () => {
  // As root, nginx would work as a user that cannot write to this folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const around = (servers: string) => `${user} daemon off; pid nginx.pid; error_log stderr warn; events {}
http {
  client_body_temp_path temp/body; proxy_temp_path temp/proxy; fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi; scgi_temp_path temp/scgi; access_log off;
  ${servers}
}`;
  testGateway(
    {
      files: { 'nginx gateway': 'nginx.conf' },
      command: ['nginx', '-p', '.', '-e', 'stderr', '-c', 'nginx.conf'],
      adapt: (block, { port, registry, webhook }) =>
        around(
          replace(block, [
            ['listen 443', `listen 127.0.0.1:${port}`],
            ['server_name webhook.example.com', 'server_name localhost'],
            ['$host != webhook.example.com', '$host != localhost'],
            ['webhook.example.com', `localhost:${port}`],
            ['127.0.0.1:3000', registry],
            ['127.0.0.1:8080', webhook],
          ]),
        ),
    },
    { failure: 500 },
  );
});

describeIf(['caddy', 'version'])('Caddy', () => {
  testGateway(
    {
      files: { 'caddyfile gateway': 'Caddyfile' },
      command: ['caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
      env: { XDG_DATA_HOME: 'temp', XDG_CONFIG_HOME: 'temp' },
      adapt: (block, { port, registry, webhook }) =>
        `{\n\tadmin off\n\tauto_https off\n}\n${replace(block, [
          ['webhook.example.com {', `https://localhost:${port} {`],
          [':443 {', `https://:${port} {`],
          ['webhook.example.com', `localhost:${port}`],
          ['127.0.0.1:3000', registry],
          ['127.0.0.1:8080', webhook],
        ])}`,
    },
    { failure: 502, speaksHttp2: true },
  );
});

describeIf(['haproxy', '-v'])('HAProxy', () => {
  testGateway(
    {
      files: { 'haproxy gateway': 'haproxy.cfg', 'lua gateway': 'assent.lua' },
      command: ['haproxy', '-db', '-f', 'haproxy.cfg'],
      adapt: (block, { port, registry, webhook }) =>
        replace(block, [
          ['bind :443', `bind 127.0.0.1:${port}`],
          ['webhook.example.com', `localhost:${port}`],
          ['127.0.0.1:3000', registry],
          ['127.0.0.1:8080', webhook],
        ]),
    },
    { failure: 503 },
  );
});

/**
 * Traefik is not to be had here. Its ForwardAuth sends a GET with the headers in `authRequestHeaders` that the delivery
 * has after the middlewares before, and with those that it sets itself.
 */
describe('Traefik', () => {
  let registry: Registry;
  let token: string;
  beforeAll(async () => {
    registry = await startRegistry();
    const tenant = await createTenant(registry);
    registry.receiver.consent('/events', { rate: '*' });
    await tenant.register(registry.receiver.sink('/events'));
    const claims = { tenant: 'gemeente', subscriber: 'gateway', scopes: ['assent:deliver' as const], minutes: 60 };
    token = await createToken(claims, registry.env);
  });
  afterAll(() => registry.stop());

  const ask = (uri: string, delivered: Record<string, string>, chosen?: string) => {
    const block = blockOf('yaml traefik');
    const names = /authRequestHeaders: \[(.*)\]/.exec(block)?.[1]?.split(', ') ?? [];
    const added = {
      'Assent-Authorization': /Assent-Authorization: (Bearer TOKEN)/.exec(block)?.[1]?.replace('TOKEN', token) ?? '',
      'Assent-Lease': /Assent-Lease: '(true)'/.exec(block)?.[1] ?? '',
    };
    const all: Record<string, string> = { ...delivered, ...added };
    const address = /address: http:\/\/127\.0\.0\.1:3000(\S+)/.exec(block)?.[1] ?? '';
    const { host } = new URL(registry.receiver.sink('/'));
    return fetch(`${registry.url}${address.replace('webhook.example.com', host)}`, {
      headers: {
        ...Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]]))),
        'X-Forwarded-For': '192.0.2.1',
        'X-Forwarded-Method': 'POST',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': chosen ?? host,
        'X-Forwarded-Uri': uri,
      },
    });
  };
  const delivery = { 'WebHook-Request-Origin': 'eventemitter.example.com', Authorization: 'Basic YTpi' };

  test('asks with what its page documents, and gets a yes or a no', async () => {
    expect((await ask('/events', delivery)).status).toBe(204);
    const refused = await ask('/other', delivery);
    expect([refused.status, refused.headers.get('Assent-Denial')]).toEqual([403, 'no_grant']);
    expect((await ask('/events', { Authorization: 'Basic YTpi' })).headers.get('Assent-Denial')).toBe('origin_missing');
    const foreign = await ask('/events', delivery, 'webhook.example.com:8443');
    expect([foreign.status, foreign.headers.get('Assent-Denial')]).toEqual([403, 'host_not_listed']);
  });
});
