import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** What `assent login` keeps for one registry. */
export interface Login {
  issuer: string;
  clientid: string;
  scope: string;
  token: string;
  refreshtoken?: string | undefined;
  /** Milliseconds since 1970. Undefined if the issuer did not say it. */
  expiresat?: number | undefined;
}

export interface Credentials {
  /** The registry of the last login. */
  latest?: string | undefined;
  /** By URL. */
  registries: Record<string, Login>;
}

/** In the user's folder for configuration (XDG Base Directory Specification). */
export function credentialsPath(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] || homedir();
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'assent', 'credentials.json');
}

export async function readCredentials(env: NodeJS.ProcessEnv): Promise<Credentials> {
  const path = credentialsPath(env);
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Credentials;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { registries: {} };
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Only the user can read it. Another process sees the old file or the new one. */
export async function writeCredentials(env: NodeJS.ProcessEnv, credentials: Credentials): Promise<void> {
  const path = credentialsPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  try {
    await writeFile(next, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}
