import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const support = fileURLToPath(new URL('../support/', import.meta.url));

const files = {
  passes: `test('holds', () => expect(1).toBe(1));`,
  'a false expectation': `test('fails', () => expect(1).toBe(2));`,
  'a hook that throws': `beforeAll(() => { throw new Error('hook'); }); test('holds', () => expect(1).toBe(1));`,
  'a module that is missing': `import './missing.js'; test('holds', () => expect(1).toBe(1));`,
  'a rejection that nobody handles': `test('holds', async () => { void Promise.reject(new Error('lost')); await sleep(); });`,
  'an error thrown by a timer': `test('holds', async () => { setTimeout(() => { throw new Error('timer'); }, 10); await sleep(); });`,
  'a test that never ends': `test('waits', () => new Promise(() => undefined), 100);`,
};

test('what is wrong in a test file fails it, after others in the same process too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assent-test-runner-'));
  try {
    for (const [name, text] of Object.entries(files))
      await writeFile(
        join(folder, `${name}.test.ts`),
        `import { beforeAll, expect, test } from '@jest/globals';
         const sleep = () => new Promise((resolve) => setTimeout(resolve, 100));
         ${text}\nvoid sleep; void beforeAll; void expect;`,
      );
    const config = {
      rootDir: folder,
      testMatch: ['**/*.test.ts'],
      testEnvironment: join(support, 'plain-environment.cjs'),
      runtime: join(support, 'plain-runtime.cjs'),
      transform: {},
    };
    const jest = fileURLToPath(import.meta.resolve('jest/bin/jest'));
    const output = await new Promise<string>((resolve) =>
      execFile(process.execPath, [jest, '--runInBand', '--config', JSON.stringify(config)], (_, stdout, stderr) =>
        resolve(stdout + stderr),
      ),
    );
    const results = [...output.matchAll(/^(PASS|FAIL) .*?([^/]+)\.test\.ts/gm)].map(([, result, name]) => [
      name,
      result,
    ]);
    expect(Object.fromEntries(results)).toEqual(
      Object.fromEntries(Object.keys(files).map((name) => [name, name === 'passes' ? 'PASS' : 'FAIL'])),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
