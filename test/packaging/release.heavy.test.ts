import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commit, makeCheckout } from '../support/checkout.js';

/** What `npm run release` makes, in two checkouts of one commit. release.slow.test.ts has what it refuses. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const { version, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const targets = ['--image', 'registry.example.com/assent', '--chart', 'oci://registry.example.com/charts'];

let folder: string;
let checkout: string;
/** What a dry run prints, and the folder that it makes. */
let printed: string;
let made: string;
const readMade = (file: string) => readFileSync(join(made, file), 'utf8');

const env = {
  ...process.env,
  NODE_OPTIONS: '',
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
};
async function execute(cwd: string, [program = '', ...args]: string[], more: Record<string, string> = {}) {
  const settings = { cwd, env: { ...env, ...more }, maxBuffer: 16_777_216 };
  const { stdout } = await promisify(execFile)(program, args, settings).catch((error: Error & { stdout: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-release-test-'));
  checkout = await makeCheckout();
  for (const [file, from, to] of [
    ['CHANGELOG.md', /^(## \[[\d.]+\]) - .*$/m, '$1 - 2027-02-01'],
    ['publiccode.yml', /^(softwareVersion: .*)$/m, "$1\nreleaseDate: '2027-02-01'"],
  ] as const) {
    const path = join(checkout, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  }
  commit(checkout, 'a release');
  printed = await execute(checkout, [
    ...'npm run release -- --dry-run --registry https://npm.example.com'.split(' '),
    ...targets,
  ]);
  made = join(checkout, 'dist', 'release');
});
afterAll(async () => {
  for (const each of [folder, checkout]) await rm(each, { recursive: true, force: true });
});

test('a dry run says what would be pushed where, and how to sign it', () => {
  const commands = printed.split('\n').map((line) => line.trim());
  const [revision] = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).split('\n');
  const build = commands.find((line) => line.includes('docker buildx build'));
  for (const part of [
    ...['--push', '--sbom=true', '--provenance=mode=max', `--tag=registry.example.com/assent:${version} `],
    `--label=org.opencontainers.image.revision=${revision} `,
    ` - < dist/release/image/assent-${version}.tar.gz`,
  ]) {
    expect(build).toContain(part);
  }
  const packages = readdirSync(join(made, 'packages'));
  expect(packages).toContain(`assent-sender-${version}.tgz`);
  expect(commands).toEqual(
    expect.arrayContaining([
      '.ci/run',
      `helm push dist/release/chart/assent-${version}.tgz oci://registry.example.com/charts`,
      ...packages.map((file) => `npm publish dist/release/packages/${file} --registry=https://npm.example.com`),
      'cosign sign --yes registry.example.com/assent@sha256:…',
      `cosign attest --yes --type cyclonedx --predicate dist/release/sbom/assent-image-${version}.cdx.json registry.example.com/assent@sha256:…`,
      'cosign sign --yes registry.example.com/charts/assent@sha256:…',
      'cosign sign-blob --yes --bundle dist/release/SHA256SUMS.sigstore.json dist/release/SHA256SUMS',
    ]),
  );
});

test('another checkout of the commit makes the same bytes, and publishes the packages', async () => {
  const other = join(folder, 'elsewhere');
  await execute(folder, ['sh', '-c', `umask 077 && git clone --quiet "$0" elsewhere`, checkout]);
  symlinkSync(join(root, 'node_modules'), join(other, 'node_modules'));
  writeFileSync(join(other, '.git', 'info', 'exclude'), 'node_modules\n');

  const published = new Map<string, string>();
  const registry = createServer((request, response) => {
    void request.toArray().then((parts) => {
      if (request.method === 'PUT' && request.headers.authorization === 'Bearer secret') {
        const { _id: name, _attachments: files, access } = JSON.parse(parts.join(''));
        const [{ data }] = Object.values<{ data: string }>(files) as [{ data: string }];
        published.set(name, `${access} ${data}`);
      }
      response.writeHead(request.method === 'PUT' ? 201 : 404, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const place = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  await writeFile(join(folder, 'npmrc'), `//${place}/:_authToken=secret\n`);
  try {
    const command = `umask 077 && exec npm run release -- --check true --no-provenance --registry http://${place}`;
    await execute(other, ['sh', '-c', command], { TZ: 'Asia/Tokyo', npm_config_userconfig: join(folder, 'npmrc') });
  } finally {
    registry.close();
  }
  expect(readFileSync(join(other, 'dist', 'release', 'SHA256SUMS'), 'utf8')).toBe(readMade('SHA256SUMS'));
  const packages = readdirSync(join(made, 'packages'));
  const files = packages.map((file) => `public ${readFileSync(join(made, 'packages', file)).toString('base64')}`);
  expect([...published.values()].sort()).toEqual(files.sort());
});

test('has a checksum of every file, and the section of the changelog as notes', async () => {
  await execute(made, ['sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS']);
  const listed = readMade('SHA256SUMS')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(66));
  const files = readdirSync(made, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(listed.length).toBe(files.length - 1);
  expect(readMade('NOTES.md')).toMatch(new RegExp(`^# Assent ${version}\n\n[^#]`));
});

test('the chart has its files, links among them, under its name', async () => {
  const file = join(made, 'chart', `assent-${version}.tgz`);
  const names = (await execute(folder, ['tar', '-tzf', file])).split('\n').filter((name) => !/(?:^|\/)$/.test(name));
  expect(names).toEqual(
    expect.arrayContaining(['assent/Chart.yaml', 'assent/values.yaml', 'assent/values.schema.json']),
  );
  expect(names.filter((name) => !name.startsWith('assent/') || name.startsWith('assent/ci/'))).toEqual([]);
  expect(await execute(folder, ['tar', '-xzOf', file, 'assent/files/alerts.yaml'])).toBe(
    readFileSync(join(root, 'docs/operate/alerts.yaml'), 'utf8'),
  );
});

test.each(['', '-client', '-guard', '-sender', '-webhook'])(
  'the bill of materials of assent%s lists the package by its hash, and what npm installs with it',
  async (suffix) => {
    const name = `assent${suffix}-${version}`;
    const project = join(folder, `project${suffix}`);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{"private":true}');
    const file = join(made, 'packages', `${name}.tgz`);
    await execute(project, ['npm', 'install', '--no-audit', '--no-fund', file]);
    const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
    const names = Object.keys(packages).map((path) => path.split('node_modules/').at(-1));

    const { metadata, components } = JSON.parse(readMade(`sbom/${name}.cdx.json`));
    expect(readMade('SHA256SUMS')).toContain(`${metadata.component.hashes[0].content}  packages/${name}.tgz\n`);
    const listed = components.map(({ group, name: each }: { group?: string; name: string }) =>
      group ? `${group}/${each}` : each,
    );
    expect(new Set([metadata.component.name, ...listed])).toEqual(new Set(names));
    expect(components.filter(({ licenses = [] }: { licenses?: unknown[] }) => licenses.length === 0)).toEqual([]);
    if (suffix !== '') return;
    expect(listed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    // openapi-fetch brings the types that it uses.
    const isBrought = (each: string) => each.startsWith('@types/') || each === 'openapi-typescript-helpers';
    expect(listed.filter((each: string) => each in devDependencies && !isBrought(each))).toEqual([]);
    expect(await execute(project, ['npx', 'assent', '--version'])).toBe(`${version}\n`);
  },
);
