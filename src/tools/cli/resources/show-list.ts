import { AssentError, type Client } from '../../../kits/client/index.js';
import { UsageError } from '../../../base/errors.js';
import { write, type Io, type Values } from '../command.js';
import { columnOf, type CliOperation } from './operation.js';
import { loose, type Init } from './registry.js';
import { tableOf, type Row } from './table.js';

const usualLimit = 100;
const pageSize = 200;

/** Prints a list, as a table or as JSON lines, and with `--watch` what changes after it. Resolves to the exit code. */
export async function showList(operation: CliOperation, client: Client, init: Init, values: Values, io: Io) {
  const limit = limitOf(values);
  const show = printerOf(operation, values, io);
  if (!values['watch']) {
    let left = limit;
    for await (const { data, next } of pagesOf(operation, client, init, limit)) {
      await show(data.slice(0, left));
      left -= data.length;
      if (io.stdout.errored || io.stdout.destroyed) return 0;
      if (left > 0 || (next === undefined && left === 0)) continue;
      await write(io.stderr, `There are more than ${limit}. Use --limit N or --all.\n`);
      return 0;
    }
    return 0;
  }
  const signal = io.interrupted();
  await watch(operation, client, init, limit, show, { signal, onConnection: reporterOf(io) }).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
  return 0;
}

function limitOf({ limit, all }: Values): number {
  if (all) return Infinity;
  if (limit === undefined) return usualLimit;
  if (!/^[1-9]\d{0,8}$/.test(String(limit))) throw new UsageError('--limit must be a whole number above 0.');
  return Number(limit);
}

function pagesOf({ path }: CliOperation, client: Client, { params }: Init, limit: number, more: Row = {}) {
  const query = { ...params.query, ...more, limit: Math.min(limit, pageSize) };
  return loose(client).pages(path, { params: { ...params, query } });
}

function printerOf(operation: CliOperation, values: Values, { stdout }: Io): (rows: Row[]) => Promise<void> {
  if (values['json']) return (rows) => write(stdout, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const columns = (operation.columns ?? []).map(columnOf);
  const width = values['wide'] || !stdout.isTTY ? Infinity : (stdout.columns ?? 80);
  let widths: readonly number[] | undefined;
  return async (rows) => {
    const table = tableOf(columns, rows, { width, widths });
    widths = table.widths;
    await write(stdout, table.text);
  };
}

/** Says when the feed is lost for longer than a stream that was renewed. */
function reporterOf({ stderr }: Io): (state: 'live' | 'lost') => void {
  let losses = 0;
  return (state) => {
    if (state === 'lost') losses += 1;
    if (state === 'lost' && losses === 2) stderr.write('The connection is lost. Trying again.\n');
    if (state === 'live' && losses >= 2) stderr.write('Connected again.\n');
    if (state === 'live') losses = 0;
  };
}

const identityOf = (row: Row) => String(row['id'] ?? row['name']);

/** An entry is printed again when it is no longer as it was printed last. One that is gone is printed without more. */
async function watch(
  operation: CliOperation,
  client: Client,
  init: Init,
  limit: number,
  show: (rows: Row[]) => Promise<void>,
  { signal, onConnection }: { signal: AbortSignal; onConnection: (state: 'live' | 'lost') => void },
): Promise<void> {
  const known = new Map<string, string>();
  const isNew = (row: Row) => {
    const [id, text] = [identityOf(row), JSON.stringify(row)];
    if (known.get(id) === text) return false;
    known.set(id, text);
    return true;
  };
  const read = async (more: Row = {}) => {
    const rows: Row[] = [];
    for await (const { data } of pagesOf(operation, client, init, limit, more)) {
      rows.push(...data);
      if (rows.length >= limit) break;
    }
    return operation.newestFirst ? rows.slice(0, limit).reverse() : rows.slice(0, limit);
  };
  const name = operation.path === '/origins' ? 'name' : 'id';
  const lose = async (id: string) => void (known.delete(id) && (await show([{ [name]: id, gone: true }])));
  // From before the list is read, so that no change falls in between.
  const { data: start } = await client.GET('/changes', { params: { query: { limit: 1 } }, signal });
  const first = await read();
  first.forEach(isNew);
  await show(first);
  for await (const change of client.changes({ after: start.cursor, signal, onConnection })) {
    const affected = operation.affected?.(change);
    if (affected === undefined) continue;
    if ('id' in affected) {
      const row = await readOne(operation, client, affected.id);
      if (row === undefined) await lose(affected.id);
      else if (isNew(row)) await show([row]);
      continue;
    }
    const rows = await read(affected.query);
    await show(rows.filter(isNew));
    const isWhole = Object.keys(affected.query).length === 0 && !operation.newestFirst && rows.length < limit;
    const present = new Set(rows.map(identityOf));
    if (isWhole) for (const id of [...known.keys()].filter((each) => !present.has(each))) await lose(id);
  }
}

async function readOne({ path }: CliOperation, client: Client, id: string): Promise<Row | undefined> {
  const item = path === '/origins' ? '/origins/{name}' : `${path}/{id}`;
  try {
    return (await loose(client).send('get', item, { params: { path: { id, name: id }, query: {} } })).data as Row;
  } catch (error) {
    if (error instanceof AssentError && error.status === 404) return undefined;
    throw error;
  }
}
