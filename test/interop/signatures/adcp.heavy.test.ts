import { afterAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { install } from '../../support/foreign-tools.js';
import { formReadBy, rows } from './verifier.js';

/** A library with a hundred dependencies. */
const tools = await install({
  name: '@adcp/sdk',
  folder: fileURLToPath(new URL('adcp', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
});
afterAll(async () => {
  if (!('missing' in tools)) await tools.remove();
});

('missing' in tools ? test.skip : test)(
  '@adcp/sdk reads the form of Signature-Agent that the documentation says',
  async () => {
    if ('missing' in tools) return;
    expect(await formReadBy(tools, ['node', 'verify.mjs'])).toBe(rows.get('npm `@adcp/sdk` 6.11, in parts'));
  },
);
