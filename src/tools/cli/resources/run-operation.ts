import { AssentError } from '../../../kits/client/index.js';
import { UsageError } from '../../../base/errors.js';
import { write, type Io, type Values } from '../command.js';
import { exitCodeOf, problemText } from '../problem-text.js';
import { loose, type Init } from '../check/loose-client.js';
import { readJson } from '../read-json.js';
import { openRegistry } from './registry.js';
import type { Field, Fields, Operation } from './resource.js';
import { showList } from './show-list.js';
import { detailsOf, type Row } from './table.js';

/** Runs one operation of the table, and prints what came back or the problem. Resolves to the exit code. */
export async function runOperation(
  operation: Operation,
  values: Values,
  given: readonly string[],
  io: Io,
): Promise<number> {
  const operands = operandsOf(operation, given);
  const query = membersOf(operation.query, values);
  const init = await initOf(operation, values, given, operands, query, io);
  const client = await openRegistry(values, io);
  try {
    if (operation.run !== undefined) return await operation.run({ client, values, operands, query, io });
    if (operation.columns !== undefined) return await showList(operation, client, init, values, io);
    const { data } = await loose(client).send(operation.method, operation.path, init);
    const row = data as Row;
    if (values['json']) await write(io.stdout, `${JSON.stringify(row, null, 2)}\n`);
    else await write(io.stdout, operation.done === undefined ? detailsOf(row) : `${operation.done(row)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof AssentError)) throw error;
    await write(io.stderr, problemText(error, Boolean(values['json'])));
    return exitCodeOf(error);
  }
}

function operandsOf({ operands = [], takesFile }: Operation, given: readonly string[]): string[] {
  const missing = operands[given.length];
  if (missing !== undefined) throw new UsageError(`Name the ${missing}.`);
  const maxOperands = operands.length + (takesFile ? 1 : 0);
  if (given.length > maxOperands) throw new UsageError(`Unexpected: ${given[maxOperands]}`);
  return given.slice(0, operands.length);
}

async function initOf(
  operation: Operation,
  values: Values,
  given: readonly string[],
  operands: readonly string[],
  query: Row,
  io: Io,
): Promise<Init> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const path = Object.fromEntries(names.map((name, at) => [name, operands[at]]));
  const header: Record<string, string> = {
    ...(typeof values['if-match'] === 'string' && { 'If-Match': quoted(values['if-match']) }),
    ...(typeof values['ticket'] === 'string' && { 'Audit-Reference': values['ticket'] }),
    ...(typeof values['wait'] === 'string' && { Prefer: preferOf(values['wait']) }),
  };
  const params = { path, query, header };
  if (operation.body === undefined || operation.run !== undefined) return { params };
  const file = operation.takesFile ? given[operands.length] : undefined;
  const rest = operands.slice(names.length).map((value, at) => [operation.operands?.[names.length + at], value]);
  const body: Row = {
    ...(operation.path === '/subscriptions' && { protocol: 'HTTP' }),
    ...(file !== undefined && (await readObject(file, io))),
    ...Object.fromEntries(rest.map(([name = '', value]) => [name.toLowerCase(), value])),
    ...membersOf(operation.body, values),
  };
  if (operation.takesFile && file === undefined && Object.keys(membersOf(operation.body, values)).length === 0) {
    throw new UsageError('Name a file, - for standard input, or at least one option.');
  }
  return { params, body };
}

const quoted = (etag: string) => (/^(W\/)?"/.test(etag) || etag === '*' ? etag : `"${etag}"`);

function preferOf(seconds: string): string {
  if (!/^\d{1,2}$/.test(seconds) || Number(seconds) > 30) throw new UsageError('--wait must be a number from 0 to 30.');
  return seconds === '0' ? 'respond-async' : `wait=${seconds}`;
}

/** The options that were given, under their names in the API. */
function membersOf(fields: Fields = {}, values: Values): Row {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = values[name];
      if (value === undefined) return [];
      return [[field.member ?? name.replaceAll('-', ''), valueOf(name, field, value)]];
    }),
  );
}

function valueOf(name: string, { as, choices }: Field, value: string | string[] | boolean): unknown {
  if (typeof value !== 'string') return as === 'json' ? (value as string[]).map((each) => jsonOf(name, each)) : value;
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(`--${name} must be one of ${choices.join(', ')}.`);
  }
  if (as === 'number' || (as === 'rate' && value !== '*')) {
    if (!/^\d+$/.test(value)) throw new UsageError(`--${name} must be a whole number${as === 'rate' ? ' or *' : ''}.`);
    return Number(value);
  }
  return value;
}

function jsonOf(name: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new UsageError(`--${name} must be JSON: ${(error as Error).message}`);
  }
}

async function readObject(file: string, io: Io): Promise<Row> {
  const content = await readJson(file, io);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError('The file must be a JSON object.');
  }
  return content as Row;
}
