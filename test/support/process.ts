import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from './until.js';

/** A program of dist/ in a process of its own, with what it wrote so far. */
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
  /** A program with its arguments that becomes this one in the end. */
  through?: string[];
  /** A file to write to instead of a pipe. */
  stdout?: number;
}

export interface RunningRegistry extends Program {
  url: string;
  operationsUrl: string;
}

/** Nothing of the environment of the tests reaches it but where programs are. */
export function startProgram(file: string, { env, args = [], uid, through = [], stdout }: ProgramSettings): Program {
  const path = fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
  const [command = '', ...rest] = [...through, process.execPath, path, ...args];
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

/** Resolves when the registry has said where it listens; rejects with what it said if it ended before. */
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
