import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/postgres.mjs';

/** How the receivers of one language are installed and started: all of them in one process. */
interface Language {
  /** As the documentation calls it. */
  name: string;
  folder: string;
  /** From a block of the documentation to the file that it becomes. */
  shown: Record<string, string>;
  tool: string[];
  /** From the registry of the language; what fails here is not there. */
  install: string[];
  build?: string[];
  start: string[];
  env?: Record<string, string>;
}

const languages: Language[] = [
  {
    name: 'Node.js',
    folder: 'node',
    shown: { express: 'shown/express.mjs', fastify: 'shown/fastify.mjs', hono: 'shown/hono.mjs' },
    tool: ['npm', '--version'],
    install: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'],
    start: [process.execPath, 'serve.mjs'],
  },
  {
    name: 'Python',
    folder: 'python',
    shown: { flask: 'shown/flask.py', fastapi: 'shown/fastapi.py' },
    tool: ['python3', '-m', 'pip', '--version'],
    install: [
      ...'python3 -m pip install --quiet --no-compile --no-deps'.split(' '),
      '--target',
      'packages',
      '-r',
      'requirements.txt',
    ],
    start: ['python3', 'serve.py'],
    env: { PYTHONPATH: 'packages' },
  },
  {
    name: 'Go',
    folder: 'go',
    shown: { go: 'webhook.go' },
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    // Half of the time is for compiling; what is compiled here runs for a second.
    build: ['go', 'build', '-tags=nomsgpack', '-gcflags=all=-N -l', '-o', 'receivers', '.'],
    start: ['./receivers'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  },
  {
    name: 'Java',
    folder: 'java',
    shown: { java: 'Webhook.java' },
    tool: ['javac', '-version'],
    install: ['javac', '-version'],
    build: ['javac', '-d', '.', 'Serve.java', 'Webhook.java'],
    start: ['java', '-XX:TieredStopAtLevel=1', '-cp', '.', 'Serve'],
  },
];

/** What runs: addresses by the name of the framework, as it comes and after its owner followed the advice. */
export interface Receivers {
  name: string;
  plain: Record<string, string>;
  advised: Record<string, string>;
  /** The programs behind `advised`, as they were written. */
  source: string;
  stop(): Promise<void>;
}

/** A language that cannot be had on this machine, and why. */
export interface Missing {
  name: string;
  missing: string;
}

/** Installs and starts what can be had here, in folders that are gone afterwards; `blocks` are those of the page. */
export function startReceivers(blocks: ReadonlyMap<string, string>): Promise<Array<Receivers | Missing>> {
  return Promise.all(languages.map((language) => startLanguage(language, blocks)));
}

const run = promisify(execFile);

async function startLanguage(language: Language, blocks: ReadonlyMap<string, string>): Promise<Receivers | Missing> {
  const { name, tool, install, build, start } = language;
  const folder = await mkdtemp(join(tmpdir(), `assent-${language.folder}-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  const env = { ...process.env, PORT: String(await freePort()), ...language.env };
  const execute = async ([command = '', ...args]: string[]) => {
    await run(command, args, { cwd: folder, env, timeout: 300_000 });
  };

  await cp(fileURLToPath(new URL(language.folder, import.meta.url)), folder, { recursive: true });
  const sources: string[] = [];
  for (const [block, file] of Object.entries(language.shown)) {
    const code = blocks.get(block);
    if (code === undefined) throw new Error(`docs/consumers/receive.md shows no code with the name ${block}`);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), code);
    sources.push(code);
  }
  for (const file of await readdir(folder)) {
    if (/^(?:advised|main)\./.test(file)) sources.push(await readFile(join(folder, file), 'utf8'));
  }

  for (const [command, reason] of [
    [tool, `there is no ${tool[0]} here`],
    [install, `"${install.slice(0, 3).join(' ')}" found no registry or not all packages`],
  ] as const) {
    const failure = await execute(command).catch((error: Error) => error);
    if (failure !== undefined) {
      await remove();
      console.warn(`The receivers in ${name} are not run: ${reason}.\n${failure.message}`);
      return { name, missing: reason };
    }
  }
  if (build !== undefined) await execute(build);
  const [command = '', ...args] = start;
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { plain, advised } = await firstLine(child);
  return {
    name,
    plain,
    advised,
    source: sources.join('\n'),
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await remove();
    },
  };
}

/** Where they listen, once they do. */
async function firstLine(child: ChildProcess): Promise<Pick<Receivers, 'plain' | 'advised'>> {
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const lines = createInterface({ input: child.stdout! });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}: ${complaints}`)));
  ended.catch(() => undefined);
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return JSON.parse(line);
}
