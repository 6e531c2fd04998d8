import { PassThrough } from 'node:stream';
import { commands } from '../../src/tools/cli/assent.js';
import { runCommandLine } from '../../src/tools/cli/command-line.js';

/** A command that runs in this process, with its output so far. */
export interface RunningCommand {
  stdout: string;
  stderr: string;
  /** As Ctrl-C does. */
  interrupt(): void;
  /** Its exit code. */
  ended: Promise<number>;
}

export interface CommandSettings {
  env?: NodeJS.ProcessEnv;
  input?: string;
  /** The output is a terminal of this width. */
  columns?: number;
}

export function startCommand(args: readonly string[], settings: CommandSettings = {}): RunningCommand {
  const { env = {}, input = '', columns } = settings;
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const running: RunningCommand = {
    stdout: '',
    stderr: '',
    interrupt: () => stop.abort(new Error('SIGINT')),
    ended: Promise.resolve(0),
  };
  stdout.on('data', (chunk: Buffer) => (running.stdout += chunk.toString()));
  stderr.on('data', (chunk: Buffer) => (running.stderr += chunk.toString()));
  stdin.end(input);
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const io = { stdin, stdout: Object.assign(stdout, terminal), stderr, env, interrupted: () => stop.signal };
  running.ended = runCommandLine(commands, args, io);
  return running;
}

/** Resolves when the command has ended. */
export async function runCommand(args: readonly string[], settings?: CommandSettings) {
  const running = startCommand(args, settings);
  const code = await running.ended;
  return { code, stdout: running.stdout, stderr: running.stderr };
}
