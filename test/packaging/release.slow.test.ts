import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, makeCheckout } from '../support/checkout.js';

/** What `npm run release` refuses. release.heavy.test.ts has what it makes. */
let checkout: string;
beforeAll(async () => {
  checkout = await makeCheckout();
});
afterAll(() => rm(checkout, { recursive: true, force: true }));

const release = (...args: string[]) =>
  new Promise<{ code: number; output: string }>((resolve) =>
    execFile(process.execPath, ['.config/release.mjs', ...args], { cwd: checkout }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    ),
  );
const git = (...args: string[]) => execFileSync('git', args, { cwd: checkout });
const edit = (file: string, from: string | RegExp, to: string) => {
  const path = join(checkout, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(path, text.replace(from, to));
};

test.each<[string, string[], () => void, RegExp]>([
  [
    'what is not committed',
    ['--dry-run'],
    () => appendFileSync(join(checkout, 'README.md'), 'more\n'),
    /^What is not committed would not be released:\nM README\.md$/m,
  ],
  [
    'a version without a section in the changelog',
    ['--dry-run'],
    () => edit('CHANGELOG.md', /^## \[\d/m, '## [9'),
    /^CHANGELOG\.md has no section \[[\d.]+\]\.$/m,
  ],
  [
    'a place with another version',
    ['--dry-run'],
    () => edit('docs/consumers/kit.md', /assent-webhook-\d+/, 'assent-webhook-99'),
    /^docs\/consumers\/kit\.md says 99\.[\d.]+, and package\.json [\d.]+: npm run release -- --version [\d.]+$/m,
  ],
  [
    'a version that is the tag of another commit',
    ['--dry-run'],
    () => {
      git('tag', `v${JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')).version}`);
      appendFileSync(join(checkout, 'README.md'), 'more\n');
    },
    /^v[\d.]+ is the tag of another commit\.$/m,
  ],
  [
    'a release without its date in the changelog',
    [],
    () => edit('CHANGELOG.md', /^(## \[[\d.]+\]) - .*$/m, '$1 - unreleased'),
    /^CHANGELOG\.md has no date for \[[\d.]+\]\.$/m,
  ],
  [
    'a release whose date publiccode.yml lacks',
    [],
    () => edit('CHANGELOG.md', /^(## \[[\d.]+\]) - .*$/m, '$1 - 2027-02-01'),
    /^publiccode\.yml needs releaseDate: '2027-02-01', as CHANGELOG\.md has it\.$/m,
  ],
  [
    'a stale contract',
    ['--dry-run'],
    () => edit('openapi/openapi.json', '"openapi": "3.1', '"openapi":  "3.1'),
    /^The build changes what is committed:\nM openapi\/openapi\.json$/m,
  ],
  ['a check that fails', ['--dry-run', '--check', 'false'], () => undefined, /^This failed \(1\): sh -c false$/m],
])('refuses %s, and makes nothing', async (what, args, change, reason) => {
  change();
  if (!what.includes('not committed')) commit(checkout, what);
  try {
    const { code, output } = await release(...args);
    expect([code, output]).toEqual([1, expect.stringMatching(reason)]);
    expect(existsSync(join(checkout, 'dist', 'release'))).toBe(false);
  } finally {
    for (const tag of git('tag', '--list').toString().split('\n').filter(Boolean)) git('tag', '--delete', tag);
    git('reset', '--quiet', '--hard', git('rev-list', '--max-parents=0', 'HEAD').toString().trim());
  }
});

test('--version sets the version everywhere', async () => {
  expect(await release('--version', '97.98.99-rc.1')).toMatchObject({ code: 0 });
  const text = (file: string) => readFileSync(join(checkout, file), 'utf8');
  expect(JSON.parse(text('package-lock.json')).version).toBe('97.98.99-rc.1');
  for (const [file, place] of [
    ['package.json', '"version": "VERSION"'],
    ['publiccode.yml', 'softwareVersion: VERSION'],
    ['docs/versioning.md', 'Semantic Versioning: `VERSION`'],
    ['docs/senders/kit.md', 'assent-{sender,guard}-VERSION.tgz'],
    ['docs/consumers/try-your-webhook.md', 'User-Agent: Assent/VERSION'],
    ['docs/operate/chart/Chart.yaml', '\nversion: VERSION'],
    ['docs/operate/chart/Chart.yaml', '\nappVersion: VERSION'],
    ['docs/operate/kubernetes.yaml', 'registry.example.com/assent:VERSION'],
    ['docs/operate/kubernetes.yaml', "app.kubernetes.io/version: 'VERSION'"],
  ] as const) {
    expect(text(file)).toContain(place.replace('VERSION', '97.98.99-rc.1'));
  }
  commit(checkout, 'version');
  const { code, output } = await release('--dry-run');
  expect([code, output]).toEqual([1, 'CHANGELOG.md has no section [97.98.99-rc.1].\n']);
});
