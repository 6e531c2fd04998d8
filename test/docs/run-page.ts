import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileLess } from '../support/compile-less.mjs';
import { linkKits } from '../support/link-kits.js';
import { until } from '../support/until.js';
import { root } from './markdown.js';

/** A registry and a webhook (`assent try`), and a folder that looks like the one of the project: what a command writes lands in a copy. */
export interface Playground {
  /** When the registry started. */
  startedAt: number;
  /** Runs blocks in their order by one shell. */
  run(blocks: readonly string[]): Promise<PageRun>;
  stop(): Promise<void>;
}

/** What came of the commands of a page. */
export interface PageRun {
  /** For each block that was run, what it printed. Addresses are those of the page. */
  outputs: string[];
  /** What ended the shell before its last block. */
  failure: string | undefined;
}

const shellMs = 120_000;
/** Between the outputs of two blocks. */
const separator = '\x1e';
/** As `npx assent try` names its addresses unless others are asked for. */
const printed = { api: '127.0.0.1:3000', webhook: 'localhost:8443', operations: '127.0.0.1:3001' };

export async function startPlayground(): Promise<Playground> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-page-'));
  for (const name of readdirSync(root)) {
    if (!['.git', '.assent'].includes(name)) await symlink(join(root, name), join(folder, name));
  }
  await linkKits(join(folder, '.assent'));
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:ASSENT_|NODE_|npm_|DATABASE_URL$)/.test(name)),
    ),
    npm_config_update_notifier: 'false',
    NO_COLOR: '1',
  };
  const start = (command: string, ...args: string[]) =>
    spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const startedAt = Date.now();
  const options = ['--port', '0', '--webhook-port', '0'];
  const program = start(process.execPath, compileLess, 'dist/tools/cli/assent.js', 'try', ...options);
  let story = '';
  let complaint = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => (story += text));
  program.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const stopped = once(program, 'close');
  const stop = async () => {
    endGroup(program.pid);
    await stopped;
    await rm(folder, { recursive: true, force: true });
  };
  const isThere = await until(() => program.exitCode !== null || story.includes('Then try:')).then(
    () => program.exitCode === null,
    () => false,
  );
  if (!isThere) {
    await stop();
    throw new Error(`The playground did not start.\n${story}\n${complaint}`);
  }

  const variables = await readFile(join(folder, '.assent/try/env'), 'utf8');
  const valueOf = (name: string) => new RegExp(`^${name}='([^']*)'$`, 'm').exec(variables)?.[1] ?? '';
  const here = {
    api: new URL(valueOf('API')).host,
    webhook: new URL(valueOf('WEBHOOK')).host,
    operations: new URL(valueOf('OPERATIONS')).host,
  };
  const addresses = Object.entries(here) as Array<[keyof typeof here, string]>;
  const moved = (text: string) => addresses.reduce((all, [name, place]) => all.replaceAll(printed[name], place), text);
  const shown = (text: string) => {
    const named = addresses.reduce((all, [name, place]) => {
      return all
        .replaceAll(place, printed[name])
        .replaceAll(encodeURIComponent(place), encodeURIComponent(printed[name]));
    }, text);
    return named.replaceAll(`${folder}/`, '').replaceAll('\r\n', '\n');
  };

  return {
    startedAt,
    stop,
    async run(blocks) {
      // npm takes ten times the processor time of the program.
      const npx = `npx() { shift; '${process.execPath}' dist/tools/cli/assent.js "$@"; }\n`;
      const script = npx + blocks.map((commands) => `printf '\\036'\n${moved(commands)}`).join('\n');
      const shell = start('bash', '-euo', 'pipefail', '-c', script);
      let output = '';
      let errors = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      shell.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      const tooLate = setTimeout(() => shell.kill('SIGKILL'), shellMs);
      const [code, signal] = (await once(shell, 'exit')) as [number | null, string | null];
      clearTimeout(tooLate);
      endGroup(shell.pid);
      for (const stream of [shell.stdout, shell.stderr]) if (!stream.closed) await once(stream, 'close');
      const outputs = output.split(separator).slice(1).map(shown);
      return {
        outputs,
        failure: code === 0 ? undefined : `Block ${outputs.length} ended with ${code ?? signal}: ${shown(errors)}`,
      };
    },
  };
}

/** Ends a process that leads a group, and what it has started. */
function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
