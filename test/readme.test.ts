import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { copyDatabase } from './support/registry.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('the lines of the README, run in their order by one shell against real processes', () => {
  interface Block {
    commands: string;
    /** What the README shows as its output, if it shows any. */
    shown: { kind: string; text: string } | undefined;
  }
  const pattern =
    /^```bash run\n([\s\S]*?)^```$(?:(?!^```bash)[\s\S])*?(?=^```bash|^```(?:json|text) answer\n|(?![\s\S]))(?:^```(json|text) answer\n([\s\S]*?)^```$)?/gm;
  const blocks = [...readme.matchAll(pattern)].map(([, commands = '', kind, text]): Block => ({
    commands,
    shown: kind === undefined ? undefined : { kind, text: text ?? '' },
  }));
  const start = /^(ASSENT_.*) npm start$/m.exec(readme)?.[1] ?? '';

  const children: ChildProcess[] = [];
  let folder = '';
  let database: { url: string | undefined; drop: () => Promise<void> } | undefined;
  let received = '';
  let outputs: string[] = [];
  /**
   * From what is printed to where it runs here: other ports and another data folder, for others use this machine too.
   */
  let moved: Array<[printed: string, here: string]> = [];

  const here = (text: string) => moved.reduce((moving, [printed, place]) => moving.replaceAll(printed, place), text);
  const printed = (text: string) => moved.reduce((moving, [name, place]) => moving.replaceAll(place, name), text);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'assent-readme-'));
    database = await copyDatabase(folder);
    const [api = 0, operations = 0, webhook = 0] = await freePorts(3);
    moved = [
      ['127.0.0.1:3000', `127.0.0.1:${api}`],
      ['localhost:8443', `localhost:${webhook}`],
      ['.assent/', `${folder}/`],
    ];
    const env: NodeJS.ProcessEnv = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ASSENT_|NODE_ENV$)/.test(name))),
      ASSENT_DATA: folder,
      ASSENT_PORT: String(api),
      ASSENT_OPERATIONS_PORT: String(operations),
      ASSENT_SINK_PORTS: `443,${webhook}`,
      ...(database.url === undefined ? {} : { DATABASE_URL: database.url }),
    };
    const run = (program: string, args: string[], more: Record<string, string> = {}) => {
      const child = spawn(process.execPath, [join(root, program), ...args], {
        cwd: root,
        env: { ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      children.push(child);
      return child;
    };
    const receiver = run('dist/cli/assent.js', ['receiver', '--port', String(webhook)]);
    receiver.stdout?.setEncoding('utf8').on('data', (text: string) => (received += text));
    await until(() => received.includes('listens'));
    const settings = here(start)
      .split(' ')
      .map((setting) => setting.split(/=(.*)/s).slice(0, 2) as [string, string]);
    const registry = run('dist/main.js', [], Object.fromEntries(settings));
    let complaint = '';
    registry.stdout?.resume();
    registry.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    await until(async () => {
      const ready = await fetch(`http://127.0.0.1:${operations}/readyz`).catch(() => undefined);
      if (registry.exitCode !== null) throw new Error(complaint);
      return ready?.ok === true;
    });
    outputs = await runInOrder(
      blocks.map(({ commands }) => here(commands)),
      env,
    );
  });

  afterAll(async () => {
    for (const child of children) {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  test('there are lines for consumers, delivery systems and admins, and the two processes start as printed', () => {
    expect(blocks.length).toBeGreaterThan(12);
    expect(blocks.filter(({ shown }) => shown === undefined)).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(scripts).toMatchObject({
      start: expect.stringMatching(/ exec node dist\/main\.js$/),
      receiver: expect.stringMatching(/ exec node dist\/cli\/assent\.js receiver$/),
    });
    expect(readme).toMatch(/^npm ci && npm run receiver$/m);
    expect(start).toContain('ASSENT_SINK_CA_FILE=.assent/receiver-ca.pem');
  });

  test.each(blocks.map(({ commands, shown }, index) => [index + 1, commands.trim().split('\n').at(0), shown] as const))(
    'block %i (%s) answers as shown',
    (number, _line, shown) => {
      const output = printed(outputs[number - 1] ?? '');
      if (shown?.kind === 'json') expect(same(JSON.parse(output))).toEqual(same(JSON.parse(shown.text)));
      else expect(same(output.trim())).toEqual(same(shown?.text.trim()));
    },
  );

  test('the exchange that is shown is the one that went over the wire', () => {
    const shown = ['asked', 'answered'].map(
      (part) => new RegExp(`^\`\`\`http ${part}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readme)?.[1],
    );
    const lines = printed(received).split('\n');
    const first = lines.slice(lines.findIndex((line) => line.startsWith('> OPTIONS /events ')));
    const exchange = first.slice(0, first.indexOf(''));
    const marked = (mark: string) =>
      exchange
        .filter((line) => line.startsWith(`${mark} `))
        .map((line) => `${line.slice(2)}\n`)
        .join('');
    expect([marked('>'), marked('<')].map(same)).toEqual(shown.map(same));
  });
});

/** What differs from run to run looks the same afterwards: ids, keys and times. */
function same(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/"revision":"\d+"/g, '"revision":"<revision>"')
    .replace(/"cursor":"[^"]+"/g, '"cursor":"<cursor>"')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT/g, '<time>')
    .replace(/key=[\w-]{43}/g, 'key=<key>');
  return JSON.parse(text);
}

/** The output of each block of one bash session that ends at the first error. */
async function runInOrder(blocks: string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const script = blocks.map((commands) => `printf '\\036'\n${commands}`).join('\n');
  const { output, code } = await new Promise<{ output: string; code: unknown }>((resolve) => {
    execFile('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ output: stdout, code: error ? `${error.code}: ${stderr}` : 0 }),
    );
  });
  expect(code).toBe(0);
  return output.split('\x1e').slice(1);
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 600; left > 0; left -= 1) {
    if (await holds()) return;
    await sleep(100);
  }
  throw new Error('It did not come true within 60 s.');
}
