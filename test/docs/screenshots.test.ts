import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

test('the screenshots are as new as the pages of the console: npm run screenshots', async () => {
  // eslint-disable-next-line @typescript-eslint/ban-ts-comment
  // @ts-ignore A script without types.
  const { hashOfPages } = await import('../../.config/screenshots.mjs');
  const taken = readFileSync(new URL('../../docs/images/pages.sha256', import.meta.url), 'utf8').trim();
  expect(taken).toBe(await hashOfPages());
});
