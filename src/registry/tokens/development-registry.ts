import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Where a registry listens that nobody configured. */
export const usualUrl = 'http://127.0.0.1:3000';

/** In the data folder, while the registry runs. */
const addressFile = 'registry-url';
/** What `assent try` runs is in a folder of its own. */
const places = ['', 'try'];

/** Writes down where a registry that issues its own tokens listens: the command line of its folder finds it there. */
export async function publishAddress(dataFolder: string, url: string): Promise<() => Promise<void>> {
  const path = join(dataFolder, addressFile);
  // Nobody needs it: who cannot write there names the URL.
  await writeFile(path, `${url}\n`).catch(() => undefined);
  return async () => {
    // Another process may have the same folder.
    if ((await readAddress(path)) === url) await rm(path, { force: true });
  };
}

/** Undefined if none of this folder is running. */
export async function findAddress(dataFolder: string): Promise<string | undefined> {
  for (const place of places) {
    const url = await readAddress(join(dataFolder, place, addressFile));
    if (url !== undefined) return url;
  }
  return undefined;
}

async function readAddress(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return URL.canParse(text.trim()) ? text.trim() : undefined;
}

/**
 * What a developer runs in the folder of the registry: `console` prints a link that signs in, `token` a token, once it
 * has a scope. Without `url`, which is not known before a free port is chosen, the command finds it.
 */
export function developmentCommands(dataFolder: string, url: string | undefined): { console: string; token: string } {
  const data = dataFolder === resolve('.assent') ? '' : `ASSENT_DATA=${shellWord(dataFolder)} `;
  const at = url === undefined || url === usualUrl ? '' : ` --url ${shellWord(url)}`;
  return { console: `${data}npx assent console${at}`, token: `${data}npx assent token` };
}

/** As a POSIX shell reads it back. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));
