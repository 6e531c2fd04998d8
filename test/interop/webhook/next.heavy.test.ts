import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../../support/foreign-tools.js';
import { failuresOf, judgeReceiver } from '../../support/judge-receiver.js';
import { freePort } from '../../support/postgres.mjs';
import { until } from '../../support/until.js';

/** The route of docs/consumers/kit.md in Next itself, in both of its runtimes. It runs parts of a route when it builds. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/consumers/kit.md'), 'utf8');
const blockOf = (name: string) => page.split(`\`\`\`js ${name}\n`)[1]?.split('```')[0] ?? '';
const tools = await install({
  name: 'Next',
  folder: fileURLToPath(new URL('next', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
  env: { NEXT_TELEMETRY_DISABLED: '1' },
});
const next = [process.execPath, 'node_modules/next/dist/bin/next'];

beforeAll(async () => {
  if ('missing' in tools) return;
  const { folder, execute } = tools;
  // The package itself: which of its files a runtime takes is written in it.
  await execute([process.execPath, join(root, '.config', 'pack.mjs'), 'webhook', '--out', join(folder, 'packed')]);
  const kit = join(folder, 'node_modules', '@assent', 'webhook');
  await cp(join(folder, 'packed', 'webhook'), kit, { recursive: true });
  for (const name of Object.keys(JSON.parse(readFileSync(join(kit, 'package.json'), 'utf8')).dependencies)) {
    await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
  for (const runtime of ['edge', 'nodejs']) {
    const route = join(folder, 'app', runtime);
    await mkdir(route, { recursive: true });
    await writeFile(join(route, 'webhook.js'), blockOf('webhook.js'));
    await writeFile(join(route, 'route.js'), `${blockOf('kit-next')}export const runtime = '${runtime}';\n`);
  }
});
afterAll(async () => {
  if (!('missing' in tools)) await tools.remove();
});

('missing' in tools ? describe.skip : describe)('the kit in Next', () => {
  test.each(['turbopack', 'webpack'])(
    'is built with %s, starts, and satisfies the conformance kit in the edge runtime and in Node',
    async (bundler) => {
      if ('missing' in tools) return;
      const { folder, env, execute } = tools;
      await execute([...next, 'build', `--${bundler}`]);
      const port = await freePort();
      const [command = '', ...args] = [...next, 'start', '--port', String(port), '--hostname', '127.0.0.1'];
      const child = spawn(command, args, { cwd: folder, env });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      }
      try {
        await until(() => {
          if (child.exitCode !== null) throw new Error(output);
          return output.includes('Ready');
        });
        for (const runtime of ['edge', 'nodejs']) {
          const results = await judgeReceiver(`http://127.0.0.1:${port}/${runtime}`, {});
          expect([runtime, ...failuresOf(results)]).toEqual([runtime]);
        }
        expect(output).toMatch(/conformance\.test \S+ \{/);
      } finally {
        const ended = once(child, 'exit');
        if (child.kill('SIGKILL')) await ended;
      }
    },
  );
});
