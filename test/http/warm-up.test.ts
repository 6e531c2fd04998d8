import { expect, test } from '@jest/globals';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../support/early-collections.mjs', import.meta.url));

/** Nothing is collected while the bytes are counted. */
async function bytesOfRequest(argument: string): Promise<number> {
  const execArgv = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
  const [bytes] = await once(fork(script, [argument], { execArgv }), 'message');
  return bytes as number;
}

test('a server that was asked while memory was collected serves as cheaply as any other', async () => {
  const [quiet, collected] = [await bytesOfRequest(''), await bytesOfRequest('collect')];
  expect(quiet).toBeGreaterThan(1_000);
  expect(collected / quiet).toBeLessThan(1.3);
});
