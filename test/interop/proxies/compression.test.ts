import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../../src/kits/client/index.js';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { blockOf, isThere } from '../../registry/gateways/gateways.js';
import { readPage } from '../../docs/markdown.js';
import { inBrowser } from '../../support/browser.js';
import { runCommand } from '../../support/command.js';
import { startConsole, type ConsoleStage } from '../../support/console.js';
import { freePort } from '../../support/postgres.mjs';
import { until } from '../../support/until.js';

/** nginx and HAProxy in front of a registry, as docs/operate/nginx.conf and docs/operate/install.md have them. */
interface Proxy {
  tool: string;
  command: string[];
  config(here: { port: number; registry: string }): string;
  /** What the proxy makes of the ETag "1". */
  tag: string;
}

const user = process.getuid?.() === 0 ? 'user root;' : '';
const proxies: Proxy[] = [
  {
    tool: 'nginx',
    command: ['-p', '.', '-e', 'stderr', '-c', 'proxy.conf'],
    config: ({ port, registry }) => `${user} daemon off; pid nginx.pid; error_log stderr warn; events {}
http {
  client_body_temp_path temp/body; proxy_temp_path temp/proxy; fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi; scgi_temp_path temp/scgi; access_log off;
  ${readPage('docs/operate/nginx.conf')
    .replace(/^ *(?:ssl_|access_log).*$/gm, '')
    .replace('443 ssl', `127.0.0.1:${port}`)
    .replace('127.0.0.1:3000', registry)}
}`,
    tag: 'W/"1"',
  },
  {
    tool: 'haproxy',
    command: ['-db', '-f', 'proxy.conf'],
    config: ({ port, registry }) => `defaults
  mode http
  timeout connect 2s
  timeout client 75s
  timeout server 130s
frontend api
  bind 127.0.0.1:${port}
${blockOf('haproxy compression', 'docs/operate/install.md')}
  default_backend registry
backend registry
  server registry ${registry}
`,
    // It respects no-transform.
    tag: '"1"',
  },
];

const scopes = ['assent:subscribe' as const];

inBrowser('behind a proxy that compresses', () => {
  let stage: ConsoleStage;
  let running: ChildProcess | undefined;
  let folder: string;
  beforeAll(async () => {
    stage = await startConsole();
    folder = await mkdtemp(join(tmpdir(), 'assent-proxy-'));
    await mkdir(join(folder, 'temp'));
  });
  afterEach(async () => {
    if (running === undefined || running.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  });
  afterAll(async () => {
    await stage?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start({ tool, command, config }: Proxy): Promise<string> {
    const port = await freePort();
    await writeFile(join(folder, 'proxy.conf'), config({ port, registry: new URL(stage.registry.url).host }));
    running = spawn(tool, command, { cwd: folder, stdio: 'inherit' });
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/openapi.json`).catch(() => undefined))?.ok === true);
    return url;
  }

  async function compressed(url: string, token: string): Promise<IncomingMessage['headers']> {
    const asked = request(url, { headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': 'gzip' } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.headers;
  }

  for (const proxy of proxies) {
    const testIf = isThere([proxy.tool, '-v']) ? test : test.skip;
    testIf(`as ${proxy.tool} does, the client, the command line and the console change what they read`, async () => {
      const url = await start(proxy);
      const { registry, tenant } = stage;
      const token = await createToken(
        { tenant: 'gemeente', subscriber: 'zaaksysteem', scopes, minutes: 60 },
        registry.env,
      );
      registry.receiver.consent('/compressed');
      const { id } = await tenant.register(registry.receiver.sink('/compressed'), { types: ['com.example.a'] });
      const path = `/v1/subscriptions/${id}`;
      expect((await compressed(`${url}/v1/subscriptions`, token))['content-encoding']).toBe('gzip');
      expect((await compressed(url + path, token)).etag).toBe(proxy.tag);

      const client = createClient({ url, token });
      await client.edit('/subscriptions/{id}', { id }, () => ({ types: ['com.example.b'] }));
      const { etag = '' } = await client.GET('/subscriptions/{id}', { params: { path: { id } } });
      expect(etag).toBe(proxy.tag.replace('1', '2'));

      const suspend = ['subscriptions', 'suspend', id, '--reason', 'Move.', '--if-match', etag];
      const { code, stderr } = await runCommand(suspend, { env: { ASSENT_URL: url, ASSENT_TOKEN: token } });
      expect([code, stderr]).toEqual([0, '']);

      const { page, check } = await stage.open(scopes, `#/subscriptions/${id}`, { url });
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      await button('Resume').click();
      await page.getByRole('dialog').getByLabel('Reason').fill('Moved.');
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Edit' }).click();
      await button('Remove com.example.b').click();
      await page.getByLabel('Types', { exact: true }).fill('com.example.c,');
      await button('Save').click();
      await page.getByText('The subscription is changed.').waitFor();
      expect(await tenant.read(id)).toMatchObject({ status: 'active', types: ['com.example.c'] });
      await button('Actions').click();
      await button('Delete').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.waitForSelector('h1:has-text("Subscriptions")');
      await tenant.subscriber.get(path).expect(404);
      await check();
    });
  }
});
