import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chownSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { makeCheckout } from '../support/checkout.js';
import { buildImage, Container, lacks, type ContainerSettings, type Image } from '../support/image.js';
import { freePort, startPostgres } from '../support/postgres.mjs';
import { until } from '../support/until.js';

/** The image, built from what `npm run release` packs for it, and run as compose.yaml runs it. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const { services } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [, node = ''] = /^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];

const missing = lacks();
(missing === undefined ? describe : describe.skip)(`the image (needs ${missing ?? 'root'})`, () => {
  let folder: string;
  let checkout: string;
  let image: Image;
  const containers: Container[] = [];
  const start = (settings: ContainerSettings) => {
    const container = new Container(image, settings);
    containers.push(container);
    return container;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'assent-image-test-'));
    checkout = await makeCheckout();
    // @ts-expect-error A script, without types.
    const { writeContext } = await import('../../.config/archives.mjs');
    await writeContext(join(folder, 'context.tar.gz'), checkout);
    image = await buildImage(join(folder, 'context.tar.gz'));
  });
  afterAll(async () => {
    for (const container of containers) container.kill();
    await until(() => containers.every((container) => container.hasEnded));
    await image?.remove();
    for (const each of [folder, checkout]) await rm(each, { recursive: true, force: true });
  });

  const operations = (port: number, path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  async function settingsFor(more: Record<string, string>) {
    const [api, operationsPort] = [await freePort(), await freePort()];
    const env = { ASSENT_PORT: String(api), ASSENT_OPERATIONS_PORT: String(operationsPort), ...more };
    const keys = `2026-11:${Buffer.alloc(32).toString('base64url')}`;
    return { api, operationsPort, env: { ASSENT_CREDENTIAL_KEYS: keys, ASSENT_DEVELOPMENT_ISSUER: 'true', ...env } };
  }
  async function becomesReady(container: Container, port: number) {
    await until(async () => container.hasEnded || (await operations(port, '/readyz')) === 200);
    if (container.hasEnded) throw new Error(container.output);
  }

  test('starts as its user with a read-only root, serves everything it has, and writes only to /data and /tmp', async () => {
    expect(services.registry).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(services.registry.volumes.map((each: string) => each.split(':').at(-1))).toEqual(['/data', '/tmp']);
    const data = join(folder, 'data');
    await mkdir(data, { mode: 0o700 });
    chownSync(data, 1000, 1000);
    const { api, operationsPort, env } = await settingsFor({ ASSENT_EMBEDDED_DATABASE: 'true' });
    const container = start({ env, volumes: { '/data': data } });
    await becomesReady(container, operationsPort);

    const status = container.read('/proc/1/status');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toMatch(new RegExp(`^${set}:\t0+$`, 'm'));
    }
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect((await container.exec(['touch', '/app/file'])).output).toContain('Read-only file system');
    expect((await container.exec(['node', '--version'])).output).toMatch(new RegExp(`^v${node}\\.`));

    for (const path of ['/', '/console', '/docs', '/guides/versioning', '/openapi.json']) {
      expect([path, (await fetch(`http://127.0.0.1:${api}${path}`)).status]).toEqual([path, 200]);
    }
    const token = await container.exec(['assent', 'token', '--scope', 'assent:subscribe']);
    expect(token.code).toBe(0);
    const list = await fetch(`http://127.0.0.1:${api}/v1/subscriptions`, {
      headers: { Authorization: `Bearer ${token.output.trim()}` },
    });
    expect(list.status).toBe(200);

    for (const command of [
      image.healthcheck,
      ['assent', 'health'],
      ['assent', 'notify', '--help'],
      ['assent', 'egress', '--help'],
    ]) {
      expect(await container.exec(command)).toMatchObject({ code: 0 });
    }
    expect((await container.exec(['assent', '--version'])).output).toBe(`${version}\n`);

    const from = performance.now();
    expect(await container.stop()).toBe(0);
    // Longer, and Docker kills it.
    expect(performance.now() - from).toBeLessThan(Number.parseInt(services.registry.stop_grace_period) * 1_000);
    expect(container.output).not.toMatch(/warn|EROFS|EACCES|"level":"error"/i);
  });

  test('migrates and serves a Postgres as a user that it does not know, without a data folder', async () => {
    const postgres = await startPostgres();
    try {
      const { operationsPort, env } = await settingsFor({ DATABASE_URL: postgres.url, ASSENT_DATA: '/tmp' });
      const user = '10001:10001';
      const migration = start({ env, user, command: ['assent', 'migrate'] });
      await until(() => migration.hasEnded);
      expect(migration.output).toMatch(/init/);
      const container = start({ env, user });
      await becomesReady(container, operationsPort);
      expect(await container.stop()).toBe(0);
    } finally {
      await postgres.stop();
    }
  });

  test('has a bill of materials of every package that it runs, with a licence, and nothing else', () => {
    const json = (file: string) => JSON.parse(readFileSync(join(image.root, 'app', file), 'utf8'));
    const { components } = json('sbom.cdx.json') as { components: Array<{ purl: string; licenses?: unknown[] }> };
    const installed = Object.entries<{ name?: string; version: string }>(
      json('node_modules/.package-lock.json').packages,
    );
    const purls = installed.map(([path, { name = path.split('node_modules/').at(-1)!, version }]) => {
      return `pkg:npm/${name.replace('@', '%40')}@${version}`;
    });
    expect(purls.length).toBeGreaterThan(50);
    expect([...new Set(components.map(({ purl }) => purl.replace(/\?.*/, '')))].sort()).toEqual(
      [...new Set(purls)].sort(),
    );
    expect(components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
  });
});
