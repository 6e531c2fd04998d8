import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { until, whenAborted } from '../../../base/until.js';
import type { Assignment, Drive } from '../../conformance/sender/run-sender.js';
import { UsageError } from '../../../base/errors.js';

export const killAfterMs = 2_000;
const longestOutput = 4_000;

/**
 * Starts the command once for each webhook, all at the same time and without a shell, and ends those that still run when
 * the run is over. Every process of a command is in one group, so that a script leaves nothing behind. docs/conformance.md
 * says what the command has to do.
 */
export function driveByCommand(command: string, caFile: string, env: NodeJS.ProcessEnv): Drive {
  const words = wordsOf(command);
  const own = { NODE_EXTRA_CA_CERTS: caFile, ...env, CONFORMANCE_CA_FILE: caFile };
  return async (assignments, signal) => {
    const groups = new Set<number>();
    const kill = (name: NodeJS.Signals) => groups.forEach((group) => killGroup(group, name));
    let killing: NodeJS.Timeout | undefined;
    const stop = () => {
      kill('SIGTERM');
      killing = setTimeout(kill, killAfterMs, 'SIGKILL');
    };
    let interrupted: string | undefined;
    // Groups of their own do not get the Ctrl-C of a terminal.
    const interrupt = (name: NodeJS.Signals) => {
      interrupted = name;
      kill('SIGKILL');
    };
    const leave = whenAborted([signal], stop);
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
    const ends = new Map<string, string[]>();
    const work = assignments.map(async (assignment) => {
      const end = await execute(
        words.map((word) => filled(word, assignment)),
        own,
        groups,
      );
      if (!signal.aborted) ends.set(assignment.url, [...(ends.get(assignment.url) ?? []), end]);
    });
    try {
      await Promise.all(work);
    } finally {
      kill('SIGKILL');
      clearTimeout(killing);
      leave();
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt);
    }
    if (interrupted !== undefined) throw new Error(`The run was ended by ${interrupted}.`);
    return new Map([...ends].map(([url, texts]) => [url, texts.join(' ')]));
  };
}

/** Prints what the sender has to do, and waits for Enter or the time-out. */
export function driveByHand(caFile: string, input: Readable, write: (text: string) => void): Drive {
  return async (assignments, signal) => {
    write(`The sender must trust the certificate authority ${caFile}\n`);
    write('Register each of these webhooks with it, and let it send events there, one after the other:\n\n');
    for (const { url, does, events, instance, instances } of assignments) {
      const from = instances > 1 ? ` from each of ${instances} instances at the same time` : '';
      if (instance === 1) write(`  ${url}\n    ${does}; ${events} events${from}\n`);
    }
    write('\nPress Enter when the sender has nothing more to send.\n');
    const isDone = (await until(once(input, 'data'), { signals: [signal] })) !== undefined;
    input.pause();
    return new Map(isDone ? assignments.map(({ url }) => [url, 'The sender was done.']) : []);
  };
}

/** Resolves to how it ended. Rejects if it cannot start. */
async function execute([program = '', ...args]: string[], env: NodeJS.ProcessEnv, groups: Set<number>) {
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const group = child.pid ?? 0;
  if (group > 0) groups.add(group);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-longestOutput)));
  }
  const closed = once(child, 'close').catch(() => undefined);
  const [code, by] = (await once(child, 'exit').catch((error: Error) => {
    throw new UsageError(`"${program}" cannot be started: ${error.message}`);
  })) as [number | null, string | null];
  // What it has left behind, which may hold the pipes.
  killGroup(group, 'SIGKILL');
  groups.delete(group);
  await until(closed, { ms: killAfterMs, ref: false });
  child.stdout.destroy();
  child.stderr.destroy();
  const last = output.trim().split('\n').at(-1) ?? '';
  return `The command ended with ${by ?? `exit code ${code}`}${last === '' ? '.' : `: ${last}`}`;
}

function killGroup(group: number, name: NodeJS.Signals): void {
  try {
    if (group > 0) process.kill(-group, name);
  } catch {
    // It has ended.
  }
}

/** Splits at white space; single and double quotes keep words together. There is no shell, and so nothing to escape. */
export function wordsOf(command: string): string[] {
  const word = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;
  if (command.replace(word, '').trim() !== '') throw new UsageError('--command has a quote without its end.');
  const words = (command.match(word) ?? []).map((each) => each.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  if (!words.some((each) => each.includes('{url}'))) {
    throw new UsageError('--command must contain {url}: the webhook that the sender has to use.');
  }
  return words;
}

function filled(word: string, { url, events, instance }: Assignment): string {
  const values: Record<string, string> = { url, events: String(events), instance: String(instance) };
  return word.replace(/\{(url|events|instance)\}/g, (_, name: string) => values[name] ?? '');
}
