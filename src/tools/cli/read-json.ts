import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { UsageError } from '../../base/errors.js';
import type { Io } from './command.js';

/** The JSON in a file; `-` is standard input. Throws UsageError. */
export async function readJson(file: string, io: Io): Promise<unknown> {
  const name = file === '-' ? 'Standard input' : file;
  const content = await (file === '-' ? textOf(io.stdin) : readFile(file, 'utf8')).catch((error: Error) => {
    throw new UsageError(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error.message}`);
  });
  try {
    return JSON.parse(content.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}`);
  }
}
