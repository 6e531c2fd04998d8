import { RegistryError } from '../../base/errors.js';
import { LinkedController } from '../../base/until.js';
import type { Context } from '../context.js';
import type { Identity } from './handler.js';
import type { ListPage } from './page.js';
import type { StreamedBody } from './write-answer.js';

/** How long an export may take. Most of this is time for its reader. */
const exportMs = 900_000;

/** How entries become text. */
export interface ExportForm<T> {
  head: string;
  lineOf: (entry: T) => string;
}

/**
 * The body of a list as a whole. One page is in memory at a time. An export that ends early is cut off, so that its reader
 * sees that it is incomplete. RegistryError `too_many_readers` or `feed_full` if too many are being read.
 */
export function exportOf<T>(
  { readers, stopping }: Pick<Context, 'readers' | 'stopping'>,
  { principal, signal }: Pick<Identity, 'principal'> & { signal: AbortSignal },
  pages: AsyncIterable<readonly T[]>,
  { head, lineOf }: ExportForm<T>,
): StreamedBody {
  readers.admit('export', principal.tenant, signal);
  const over = new LinkedController([signal, stopping], Math.min(exportMs, principal.tokenExpiresAt - Date.now()));
  return async (write) => {
    let before = head;
    for await (const entries of pages) {
      if (over.signal.aborted)
        throw new RegistryError('stopping', 'The export took too long.', { retryAfterSeconds: 5 });
      await write(before + entries.map(lineOf).join(''));
      before = '';
    }
    if (before !== '') await write(before);
  };
}

/** Entries that an export of a list reads at once. */
const pageSize = 200;

/** The pages of a list, from a place in it. */
export async function* allOf<T>(
  read: (after: string | undefined, limit: number) => Promise<ListPage<T>>,
  from: string | undefined,
): AsyncGenerator<T[]> {
  let after = from;
  do {
    const { entries, next } = await read(after, pageSize);
    yield entries;
    after = next;
  } while (after !== undefined);
}

/** RFC 4180, with a header line (section 2). What is no text is JSON. */
export function csvOf<T, Column extends string>(
  columns: readonly Column[],
  cellsOf: (entry: T) => Record<Column, unknown>,
): ExportForm<T> {
  return {
    head: line(columns),
    lineOf(entry) {
      const cells = cellsOf(entry);
      return line(columns.map((name) => textOf(cells[name])));
    },
  };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function line(cells: readonly string[]): string {
  return `${cells.map(cellOf).join()}\r\n`;
}

/**
 * An apostrophe in front of a text that a spreadsheet would run as a formula: clients choose their names, references and
 * reasons, and an admin opens the file.
 */
function cellOf(text: string): string {
  const safe = /^(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])/.test(text) ? `'${text}` : text;
  return /[",\r\n;]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
