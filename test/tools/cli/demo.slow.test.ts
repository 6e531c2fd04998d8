import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { story } from '../../../src/tools/cli/demo/steps.js';
import { compileLess } from '../../support/compile-less.mjs';

const program = fileURLToPath(new URL('../../../dist/tools/cli/assent.js', import.meta.url));
const limitMs = 60_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-demo-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The demo as a process of its own, whose temporary files are in a folder that nobody else uses. */
async function play(env: Record<string, string> = {}, atOutput: (text: string, end: () => void) => void = () => {}) {
  const child = spawn(process.execPath, [compileLess, program, 'demo'], {
    env: { ...process.env, TMPDIR: folder, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      atOutput(output, () => child.kill('SIGINT'));
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

test(
  'the demo plays every step with real traffic, exits with 0, and leaves nothing behind',
  async () => {
    const { code, output } = await play();
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining(`All ${story.length} steps succeeded`),
    });
    for (const { title } of story) expect(output).toContain(title);
    expect(output).toContain('> OPTIONS /events HTTP/1.1');
    expect(output).toContain('> WebHook-Request-Origin: eventemitter.example.com');
    expect(output).toContain('< WebHook-Allowed-Rate: 100');
    // eslint-disable-next-line no-control-regex -- that there is none is the point
    expect(output).not.toMatch(/\x1b/);
    expect(await readdir(folder)).toEqual([]);
  },
  limitMs,
);

test(
  'a step that goes wrong is named, and the exit code is 1',
  async () => {
    const { code, output } = await play({ ASSENT_DENIED_NETWORKS: '127.0.0.0/8' });
    expect(code).toBe(1);
    expect(output).toContain('Step 2, "A consumer subscribes a webhook, which consents immediately"');
    expect(output).not.toContain('steps succeeded');
    expect(await readdir(folder)).toEqual([]);
  },
  limitMs,
);

test(
  'a scene that cannot be set is a failure too',
  async () => {
    const { code, output } = await play({ TMPDIR: join(folder, 'nowhere') });
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('Starting: ENOENT') });
  },
  limitMs,
);

test(
  'an interrupted demo stops, removes its folder and exits with 1',
  async () => {
    let hasEnded = false;
    const { code, output } = await play({}, (text, end) => {
      if (hasEnded || !text.includes('registers the origin')) return;
      hasEnded = true;
      end();
    });
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('It was interrupted.') });
    expect(await readdir(folder)).toEqual([]);
  },
  limitMs,
);
