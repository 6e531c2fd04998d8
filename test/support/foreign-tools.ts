import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Tools of a language, and packages from its registry. */
export interface Tools {
  /** As the documentation calls it. */
  name: string;
  /** A copy of it is what they work in. */
  folder: string;
  /** Succeeds where the tool is there. */
  tool: string[];
  /** From the registry of the language; what fails here is not there. */
  install: string[];
  env?: Record<string, string>;
}

export interface Installed {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Resolves with what it printed; rejects with that where it fails. */
  execute(command: string[], env?: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

/** A language that cannot be had on this machine, and why. */
export interface Missing {
  name: string;
  missing: string;
}

const run = promisify(execFile);

/** Installs in a folder that `remove` takes away, or says what this machine lacks. */
export async function install({ name, folder: source, tool, install, env: more }: Tools): Promise<Installed | Missing> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-foreign-'));
  const env = { ...process.env, ...more };
  const remove = () => rm(folder, { recursive: true, force: true });
  const execute: Installed['execute'] = async ([command = '', ...args], own) => {
    const settings = { cwd: folder, env: { ...env, ...own }, timeout: 300_000, maxBuffer: 16_777_216 };
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
