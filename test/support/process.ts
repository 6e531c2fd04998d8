import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compileLess } from './compile-less.mjs';
import { until } from './until.js';

/** A program of dist/ in its own process, with its output so far. */
export interface Program {
  child: ChildProcess;
  pid: number;
  stdout: string;
  stderr: string;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

export interface ProgramSettings {
  env: NodeJS.ProcessEnv;
  args?: string[];
  /** Runs as this user and group. */
  uid?: number;
  /** A command with its arguments that finally executes this program. */
  through?: string[];
  /** A file to write to instead of a pipe. */
  stdout?: number;
}

export interface RunningRegistry extends Program {
  url: string;
  operationsUrl: string;
}

/** Of the environment of the tests, it gets only PATH. */
export function startProgram(file: string, { env, args = [], uid, through = [], stdout }: ProgramSettings): Program {
  const path = fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
  const [command = '', ...rest] = [...through, process.execPath, compileLess, path, ...args];
  const child = spawn(command, rest, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid, cwd: '/' }),
  });
  const program: Program = {
    child,
    pid: child.pid ?? 0,
    stdout: '',
    stderr: '',
    ended: once(child, 'close').then(([code, signal]) => code ?? signal),
  };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => (program[name] += text));
  }
  return program;
}

/** Resolves when the registry has printed where it listens; rejects with its output if it ends before. */
export async function startRegistryProcess(settings: ProgramSettings): Promise<RunningRegistry> {
  const program = startProgram('main.js', settings);
  const [url, operationsUrl] = await new Promise<string[]>((resolve, reject) => {
    const look = () => {
      const said = /listens on (\S+)\n[^]*? Health +(\S+)\/readyz\n/.exec(program.stderr);
      if (said) resolve(said.slice(1));
    };
    program.child.stderr?.on('data', look);
    void program.ended.then((code) => reject(new Error(`it ended with ${code}: ${program.stderr}`)));
  });
  return Object.assign(program, { url: url ?? '', operationsUrl: operationsUrl ?? '' });
}

export const untilReady = (operationsUrl: string): Promise<void> =>
  until(async () => (await fetch(`${operationsUrl}/readyz`)).ok);
