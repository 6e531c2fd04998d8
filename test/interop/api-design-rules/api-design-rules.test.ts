import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadContract } from '../../../src/base/contract/contract.js';
import { servedContract } from '../../../src/registry/http/served-contract.js';
import { install } from '../../support/foreign-tools.js';

/** The linter of the Dutch API Design Rules (Logius) is a set of rules for Spectral. */
const tools = await install({
  name: 'the API Design Rules',
  folder: fileURLToPath(new URL('node', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
});
const served = servedContract(loadContract().document, {
  contact: 'beheer@gemeente.nl (https://gemeente.nl/webhooks)',
  issuers: ['https://login.gemeente.nl'],
  developmentIssuer: false,
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-contract-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  if ('remove' in tools) await tools.remove();
});

if ('missing' in tools) test.skip(`not run: ${tools.missing}`, () => undefined);
else {
  const lint = async (document: object) => {
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    return JSON.parse(await tools.execute([process.execPath, 'lint.cjs', file])) as string[];
  };

  test('the linter of the API Design Rules finds nothing in the contract that a registry serves', async () => {
    expect(await lint(served)).toEqual([]);
  });

  test('and finds what breaks a rule', async () => {
    const [path, item] = Object.entries(served.paths)[0]!;
    const broken = {
      openapi: '3.1.0',
      info: { title: 'Broken', version: '1' },
      servers: [{ url: 'http://example.com' }],
      paths: { [`${path}_All/`]: { get: { ...item.get, responses: { '200': { description: 'Done.' } } }, trace: {} } },
    };
    const found = (await lint(broken)).map((each) => each.split(' ')[0]);
    const own = ['include-major-version-in-uri', 'missing-header', 'paths-kebab-case', 'semver', 'http-methods'];
    const expected = ['info-contact', 'path-keys-no-trailing-slash', ...own.map((rule) => `nlgov:${rule}`)];
    expect(found).toEqual(expect.arrayContaining(expected));
  });
}
