import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Tools of a language, and packages from its registry. */
export interface Tools {
  /** Its name in the documentation. */
  name: string;
  /** The tools work in a copy of it. */
  folder: string;
  /** Succeeds if the tool is installed. */
  tool: string[];
  /** Installs from the registry of the language. If this fails, the language is unavailable. */
  install: string[];
  env?: Record<string, string>;
  /** For each command; five minutes if absent. */
  timeoutMs?: number;
}

export interface Installed {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Resolves with its output; rejects with the output if it fails. */
  execute(command: string[], env?: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

/** A language that is unavailable on this machine, and why. */
export interface Missing {
  name: string;
  missing: string;
}

const run = promisify(execFile);

/** Installs in a folder that `remove` deletes, or returns what this machine lacks. */
export async function install({
  name,
  folder: source,
  tool,
  install,
  env: more,
  timeoutMs = 300_000,
}: Tools): Promise<Installed | Missing> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-foreign-'));
  const env = { ...process.env, ...more };
  const remove = () => rm(folder, { recursive: true, force: true });
  const execute: Installed['execute'] = async ([command = '', ...args], own) => {
    const settings = { cwd: folder, env: { ...env, ...own }, timeout: timeoutMs, maxBuffer: 16_777_216 };
    const { stdout, stderr } = await run(command, args, settings).catch((error: Error & { stdout: string }) => {
      throw new Error(`${error.message}\n${error.stdout}`);
    });
    return stdout + stderr;
  };
  await cp(source, folder, { recursive: true });
  for (const [command, reason] of [
    [tool, `there is no ${tool[0]} here`],
    [install, `"${install.slice(0, 3).join(' ')}" found no registry or not all packages`],
  ] as const) {
    const failure = await execute(command).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failure === undefined) continue;
    await remove();
    console.warn(`What is in ${name} is not run: ${reason}.\n${failure.message}`);
    return { name, missing: reason };
  }
  return { folder, env, execute, remove };
}
