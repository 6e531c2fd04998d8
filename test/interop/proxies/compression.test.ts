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

/** The path of the public URL, in the configuration of a proxy. */
interface Path {
  name: string;
  isRemoved: boolean;
}

/** nginx and HAProxy in front of a registry, as docs/operate/nginx.conf and docs/operate/install.md have them. */
interface Proxy {
  tool: string;
  command: string[];
  config(here: { port: number; registry: string; path?: Path }): string;
  /** What the proxy makes of the ETag "1". */
  tag: string;
}

const user = process.getuid?.() === 0 ? 'user root;' : '';
const proxies: Proxy[] = [
  {
    tool: 'nginx',
    command: ['-p', '.', '-e', 'stderr', '-c', 'proxy.conf'],
    config: ({
      port,
      registry,
      path = { name: '', isRemoved: false },
    }) => `${user} daemon off; pid nginx.pid; error_log stderr warn; events {}
http {
  client_body_temp_path temp/body; proxy_temp_path temp/proxy; fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi; scgi_temp_path temp/scgi; access_log off;
  ${readPage('docs/operate/nginx.conf')
    .replace(/^ *(?:ssl_|access_log).*$/gm, '')
    .replace('443 ssl', `127.0.0.1:${port}`)
    .replace('127.0.0.1:3000', registry)
    .replace(
      /location (= )?(\S+) \{\s*proxy_pass http:\/\/assent;/g,
      (_, exact = '', place) =>
        `location ${exact}${path.name}${place} { proxy_pass http://assent${path.isRemoved ? place : ''};`,
    )}
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

/** A stage behind a proxy, which each test starts. */
function behind(startStage: () => Promise<ConsoleStage>) {
  let running: ChildProcess | undefined;
  const here = {} as { stage: ConsoleStage; folder: string };
  beforeAll(async () => {
    here.stage = await startStage();
    here.folder = await mkdtemp(join(tmpdir(), 'assent-proxy-'));
    await mkdir(join(here.folder, 'temp'));
  });
  afterEach(async () => {
    if (running === undefined || running.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  });
  afterAll(async () => {
    await here.stage?.stop();
    await rm(here.folder, { recursive: true, force: true });
  });
  return {
    stage: () => here.stage,
    async start({ tool, command, config }: Proxy, port: number, path?: Path): Promise<string> {
      const { stage, folder } = here;
      const registry = new URL(stage.registry.url).host;
      await writeFile(join(folder, 'proxy.conf'), config({ port, registry, ...(path && { path }) }));
      running = spawn(tool, command, { cwd: folder, stdio: 'inherit' });
      const url = `http://127.0.0.1:${port}${path?.name ?? ''}`;
      await until(async () => (await fetch(`${url}/openapi.json`).catch(() => undefined))?.ok === true);
      return url;
    },
  };
}

inBrowser('behind a proxy that compresses', () => {
  const { stage: stageNow, start } = behind(startConsole);

  async function compressed(url: string, token: string): Promise<IncomingMessage['headers']> {
    const asked = request(url, { headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': 'gzip' } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.headers;
  }

  for (const proxy of proxies) {
    const testIf = isThere([proxy.tool, '-v']) ? test : test.skip;
    testIf(`as ${proxy.tool} does, the client, the command line and the console change what they read`, async () => {
      const url = await start(proxy, await freePort());
      const stage = stageNow();
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

inBrowser('behind a path of the public URL', () => {
  let port: number;
  const name = '/assent';
  const { stage: stageNow, start } = behind(async () => {
    port = await freePort();
    return startConsole({ env: { ASSENT_PUBLIC_URL: `http://127.0.0.1:${port}${name}` } });
  });

  /** Every subscription, as a client finds it that takes `Link` as it is. */
  async function followed(first: string, token: string): Promise<string[]> {
    const found: string[] = [];
    for (let next: string | undefined = first; next !== undefined;) {
      const answer: Response = await fetch(next, { headers: { Authorization: `Bearer ${token}` } });
      expect([next, answer.status]).toEqual([next, 200]);
      found.push(...((await answer.json()) as Array<{ id: string }>).map(({ id }) => id));
      const link: string | undefined = /^<(.*)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')?.[1];
      next = link === undefined ? undefined : new URL(link, next).href;
    }
    return found;
  }

  /** What a page leads to on this host. */
  async function linksOf(page: string): Promise<string[]> {
    const answer = await fetch(page, { headers: { Accept: 'text/html' } });
    const all = [...(await answer.text()).matchAll(/ (?:href|src)="([^"#]+)/g)];
    const links = all.map(([, to = '']) => new URL(to.replaceAll('&amp;', '&'), answer.url));
    return links.flatMap(({ origin, href }) => (origin === new URL(page).origin ? [href] : []));
  }

  const nginx = proxies[0]!;
  const testIf = isThere([nginx.tool, '-v']) ? test : test.skip;
  for (const isRemoved of [true, false]) {
    testIf(
      `that nginx ${isRemoved ? 'removes' : 'passes on'}, every address that is handed out leads back`,
      async () => {
        const url = await start(nginx, port, { name, isRemoved });
        const stage = stageNow();
        const { registry, tenant } = stage;
        const token = await createToken(
          {
            tenant: 'gemeente',
            subscriber: 'zaaksysteem',
            scopes: ['assent:subscribe', 'assent:deliver'],
            minutes: 60,
          },
          registry.env,
        );
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
        const post = (to: string, body: object) => fetch(to, { method: 'POST', headers, body: JSON.stringify(body) });

        const contract = (await (await fetch(`${url}/openapi.json`)).json()) as {
          servers: [{ url: string }];
          paths: Record<string, { servers?: [{ url: string }] }>;
        };
        const api = new URL(contract.servers[0].url, `${url}/openapi.json`).href;
        expect(api).toBe(`${url}/v1`);
        const access = contract.paths['/access/v1/evaluation']?.servers?.[0].url ?? '';
        expect(new URL(access, api).href).toBe(`${url}/`);

        const [sink] = [registry.receiver.sink(`/path-${isRemoved}`)];
        registry.receiver.consent(`/path-${isRemoved}`);
        const ids: string[] = [];
        for (let n = 0; n < 5; n += 1) {
          const made = await post(`${api}/subscriptions`, { sink, protocol: 'HTTP', types: [`com.example.${n}`] });
          expect(made.status).toBe(201);
          const read = await fetch(new URL(made.headers.get('Location')!, made.url), { headers });
          ids.push(((await read.json()) as { id: string }).id);
        }
        expect(await followed(`${api}/subscriptions?limit=2&sink=${encodeURIComponent(sink)}`, token)).toEqual(ids);
        // A neighbour that doesn't come through the proxy.
        const beside = `${registry.url}/v1/subscriptions?limit=2&sink=${encodeURIComponent(sink)}`;
        expect(await followed(beside, token)).toEqual(ids);
        const lease = await post(`${api}/leases`, { origin: tenant.origin, sink, instance: 'i', requests: 1 });
        expect(lease.status).toBe(201);
        const taken = new URL(`${lease.headers.get('Location')}?unused=1`, lease.url);
        expect((await fetch(taken, { method: 'DELETE', headers })).status).toBe(200);

        const asked = registry.receiver.asked.at(-1)!;
        const agent = /"(http[^"]+)"/.exec(String(asked.headers['signature-agent']))![1]!;
        const problem = (await (await fetch(`${api}/subscriptions/none`, { headers })).json()) as { help: string };
        const well = [
          `${url}/.well-known/authzen-configuration`,
          `${registry.url}/.well-known/authzen-configuration${name}`,
        ];
        const [metadata, same] = await Promise.all(
          well.map(async (each) => (await (await fetch(each)).json()) as Record<string, string>),
        );
        expect(same).toEqual(metadata);
        const decision = await post(metadata!['access_evaluation_endpoint']!, {
          subject: { type: 'origin', id: tenant.origin },
          action: { name: 'deliver' },
          resource: { type: 'sink', id: sink },
        });
        expect(await decision.json()).toMatchObject({ decision: true });

        const pages = [
          '',
          '/',
          '/docs',
          '/docs/',
          '/guides',
          '/guides/consumers/receive',
          '/console',
          '/console/',
          '/x/y',
        ];
        const links = new Set((await Promise.all(pages.map((each) => linksOf(url + each)))).flat());
        expect(links.size).toBeGreaterThan(20);
        for (const link of [agent, problem.help, ...links]) {
          expect(link.startsWith(`${url}/`) ? 'within' : link).toBe('within');
          expect([link, (await fetch(link)).status]).toEqual([link, 200]);
        }
      },
    );
  }

  testIf('the console works, and the page of a callback URL decides', async () => {
    const url = await start(nginx, port, { name, isRemoved: true });
    const stage = stageNow();
    const { registry, tenant } = stage;
    const offered = new Promise<string>((resolve) => {
      registry.receiver.on('/callback', ({ headers }, response) => {
        const callback = headers['webhook-request-callback'];
        if (typeof callback === 'string') resolve(callback);
        response.writeHead(202).end();
      });
    });
    const { id } = await tenant.register(registry.receiver.sink('/callback'), {}, 'respond-async');
    const { page, check } = await stage.open(scopes, `#/subscriptions/${id}`, { url });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.goto(await offered);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForSelector('h1');
    expect(page.url().startsWith(`${url}/v1/callbacks/`)).toBe(true);
    await until(async () => (await tenant.read(id)).status === 'active');
    await check();
  });
});
