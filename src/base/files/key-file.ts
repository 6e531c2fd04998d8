import { randomUUID } from 'node:crypto';
import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SetupError } from '../errors.js';
import { makeFolder } from './make-folder.js';

/**
 * Reads a file of secret keys, or creates it (mode 0600) if it is missing. Processes that start at the same time agree
 * on the content: each writes its own file, and only the first `link` to the final name succeeds. So a reader never
 * sees an incomplete file. If `parse` throws for the content, this throws a SetupError that names the file.
 */
export async function openKeyFile<T>(
  path: string,
  create: () => unknown,
  parse: (content: unknown) => T | Promise<T>,
): Promise<T> {
  const text = await readOrCreate(path, create).catch((error: Error) => {
    throw new SetupError(`ASSENT_DATA: cannot read or create the key file ${path}: ${error.message}`);
  });
  try {
    return await parse(JSON.parse(text));
  } catch {
    // No cause: the parser's message quotes the text, and the text is a key.
    throw new SetupError(`The key file ${path} is damaged. Restore it, or remove it to start with a new key.`);
  }
}

async function readOrCreate(path: string, create: () => unknown): Promise<string> {
  return (await readIfPresent(path)) ?? createOnce(path, await create());
}

async function createOnce(path: string, content: unknown): Promise<string> {
  const temporary = `${path}.${randomUUID()}`;
  await makeFolder(dirname(path));
  await writeFile(temporary, JSON.stringify(content), { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(temporary, path).catch(unless('EEXIST'));
  } finally {
    await unlink(temporary);
  }
  return readFile(path, 'utf8');
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(unless('ENOENT'));
}

function unless(expected: string) {
  return (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== expected) throw error;
  };
}
