import { expect, test } from '@jest/globals';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../support/early-collections.mjs', import.meta.url));

/** No garbage collection runs while the bytes are counted. */
async function bytesOfRequest(argument: string): Promise<number> {
  const execArgv = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
  const [bytes] = await once(fork(script, [argument], { execArgv }), 'message');
  return bytes as number;
}

test('requests during garbage collections at startup do not make later requests more expensive', async () => {
  const [quiet, collected] = [await bytesOfRequest(''), await bytesOfRequest('collect')];
  expect(quiet).toBeGreaterThan(1_000);
  expect(collected / quiet).toBeLessThan(1.3);
});
