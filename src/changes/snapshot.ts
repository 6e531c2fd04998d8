import { RegistryError } from '../errors.js';
import type { Database, Query } from '../storage/database.js';
import { writeCursor } from './cursor.js';
import { readEnd, readStates, type Scope } from './log.js';

/** Sends text; resolves when there is room for more, rejects when the reader has gone. */
export type Write = (text: string) => Promise<void>;

const signOfLifeMs = 5_000;

/**
 * Everything of a scope as of one moment: a line of JSON for each thing, and a last one with the cursor to follow from.
 * At most one page is in memory.
 */
export async function writeSnapshot(
  database: Database,
  scope: Scope,
  write: Write,
  signal: AbortSignal,
): Promise<void> {
  // The embedded Postgres has one connection, and nobody else may wait until a reader has read.
  const kept: string[] = [];
  const isEmbedded = database.kind === 'embedded';
  const last = await database.snapshot(async (query) => {
    const { epoch, secret, position } = await readEnd(query);
    for await (const page of readStates(query, scope)) {
      if (signal.aborted) throw new RegistryError('stopping', 'The service stops, or the snapshot took too long.');
      const lines = `${page}\n`;
      if (isEmbedded) kept.push(lines);
      else await untilWritten(write(lines), query);
    }
    const cursor = writeCursor(secret, scope.tenant, { epoch, position });
    return `${JSON.stringify({ kind: 'end', cursor, revision: String(position) })}\n`;
  });
  for (const lines of [...kept, last]) await write(lines);
}

/** A connection that is silent for long is closed, and so is a transaction that does nothing. */
async function untilWritten(written: Promise<void>, query: Query): Promise<void> {
  for (let isPending = true; isPending;) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<true>((resolve) => (timer = setTimeout(resolve, signOfLifeMs, true)));
    try {
      isPending = await Promise.race([written.then(() => false), late]);
    } finally {
      clearTimeout(timer);
    }
    if (isPending) await query('select 1');
  }
}
