import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { AssentError } from '../../../kits/client/index.js';
import { UsageError } from '../../../base/errors.js';
import { checkChoice, isRequired, write, type Io, type Values } from '../command.js';
import { visible } from '../printable.js';
import type { OptionField, CliOperation } from './operation.js';
import { loose, openRegistry, signInHint, type Init } from './registry.js';
import { showList } from './show-list.js';
import { detailsOf, type Row } from './table.js';

/** Runs one operation of the table, and prints what came back or the problem. Resolves to the exit code. */
export async function runOperation(
  operation: CliOperation,
  values: Values,
  given: readonly string[],
  io: Io,
): Promise<number> {
  const operands = operandsOf(operation, given);
  const init = await initOf(operation, values, given, io);
  const client = await openRegistry(values, io);
  try {
    if (operation.run !== undefined)
      return await operation.run({ client, values, operands, query: init.params.query, io });
    if (operation.columns !== undefined) return await showList(operation, client, init, values, io);
    const { data } = await loose(client).send(operation.method, operation.path, init);
    const row = data as Row;
    if (values['json']) await write(io.stdout, `${JSON.stringify(row, null, 2)}\n`);
    else await write(io.stdout, operation.done === undefined ? detailsOf(row) : `${operation.done(row)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof AssentError)) throw error;
    const hint = error.status === 401 ? await signInHint(values, io) : '';
    await write(io.stderr, problemText(error, Boolean(values['json']), hint));
    return exitCodeOf(error);
  }
}

function operandsOf({ positional, takesFile, file }: CliOperation, given: readonly string[]): string[] {
  const names = [...positional.map(({ member }) => member.toUpperCase()), ...(file === undefined ? [] : ['FILE'])];
  const missing = names[given.length];
  if (missing !== undefined) throw new UsageError(`Name the ${missing}.`);
  const maxOperands = names.length + (takesFile ? 1 : 0);
  if (given.length > maxOperands) throw new UsageError(`Unexpected: ${given[maxOperands]}`);
  return given.slice(0, names.length);
}

async function initOf(operation: CliOperation, values: Values, given: readonly string[], io: Io): Promise<Init> {
  const { positional, fields, takesFile } = operation;
  const header: Record<string, string> = {
    ...(typeof values['if-match'] === 'string' && { 'If-Match': quoted(values['if-match']) }),
    ...(typeof values['ticket'] === 'string' && { 'Audit-Reference': values['ticket'] }),
    ...(typeof values['wait'] === 'string' && { Prefer: preferOf(values['wait']) }),
  };
  const chosen: Array<readonly [OptionField, unknown]> = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = values[name];
    if (value === undefined) continue;
    const isFile = field.as === 'file' && typeof value === 'string';
    chosen.push([field, isFile ? (await readInput(value, io)).trim() : valueOf(`--${name}`, field, value)]);
  }
  const named = positional.map((field, at) => {
    const name = field.member.toUpperCase();
    checkChoice(name, field.option, given[at]);
    return [field, valueOf(name, field, given[at] as string)] as const;
  });
  const membersIn = (place: OptionField['in']): Row =>
    Object.fromEntries(
      [...named, ...chosen].filter(([field]) => field.in === place).map(([{ member }, value]) => [member, value]),
    );
  const params = { path: membersIn('path'), query: membersIn('query'), header };
  if (!operation.hasBody) return { params };
  const file = takesFile ? given[positional.length] : undefined;
  const body = nested(membersIn('body'));
  if (takesFile && file === undefined && Object.keys(body).length === 0) {
    throw new UsageError('Name a file, - for standard input, or at least one option.');
  }
  const isMissing = ([name, { option }]: [string, OptionField]) => isRequired(option) && values[name] === undefined;
  const missing = Object.entries(fields).find(isMissing);
  if (file === undefined && missing !== undefined) throw new UsageError(`--${missing[0]} is required.`);
  return { params, body: { ...operation.sets, ...(file !== undefined && (await readObject(file, io))), ...body } };
}

/** Members that are inside another one. */
function nested(members: Row): Row {
  const body: Row = {};
  for (const [path, value] of Object.entries(members)) {
    const [outer = path, inner] = path.split('/');
    body[outer] = inner === undefined ? value : { ...(body[outer] as Row | undefined), [inner]: value };
  }
  return body;
}

const quoted = (etag: string) => (/^(W\/)?"/.test(etag) || etag === '*' ? etag : `"${etag}"`);

function preferOf(seconds: string): string {
  if (!/^\d{1,2}$/.test(seconds) || Number(seconds) > 30) throw new UsageError('--wait must be a number from 0 to 30.');
  return seconds === '0' ? 'respond-async' : `wait=${seconds}`;
}

function valueOf(name: string, { as }: OptionField, value: string | string[] | boolean): unknown {
  if (Array.isArray(value)) return as === 'json' ? value.map((each) => jsonOf(name, each)) : value;
  if (typeof value === 'boolean') return value;
  if (as === 'json') return jsonOf(name, value);
  if (as === 'number' || (as === 'rate' && value !== '*')) {
    if (!/^\d+$/.test(value)) throw new UsageError(`${name} must be a whole number${as === 'rate' ? ' or *' : ''}.`);
    return Number(value);
  }
  return value;
}

function jsonOf(name: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new UsageError(`${name} must be JSON: ${(error as Error).message}`);
  }
}

async function readObject(file: string, io: Io): Promise<Row> {
  const content = await readJson(file, io);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError('The file must be a JSON object.');
  }
  return content as Row;
}

/** The JSON in a file; `-` is standard input. Throws UsageError. */
export async function readJson(file: string, io: Io): Promise<unknown> {
  const content = await readInput(file, io);
  try {
    return JSON.parse(content.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`${inputName(file)} is not JSON: ${(error as Error).message}`);
  }
}

const inputName = (file: string) => (file === '-' ? 'Standard input' : file);

async function readInput(file: string, io: Io): Promise<string> {
  return (file === '-' ? textOf(io.stdin) : readFile(file, 'utf8')).catch((error: Error) => {
    throw new UsageError(
      `${inputName(file)} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error.message}`,
    );
  });
}

/** 1 refused or failed, 3 the registry does not respond, 4 not found. */
function exitCodeOf({ code, status }: AssentError): number {
  if (code === 'connection_lost' || status === 502 || status === 503 || status === 504) return 3;
  return status === 404 ? 4 : 1;
}

/** For people, or as a line of JSON. */
function problemText(error: AssentError, asJson: boolean, hint: string): string {
  if (asJson) return `${JSON.stringify(error.problem)}\n`;
  const { title, detail } = error.problem;
  const cause = error.code === 'connection_lost' ? causeOf(error.cause) : '';
  const lines = [
    ...[title, detail, cause].filter(Boolean),
    ...error.faults.map(({ pointer, rule, detail }) => `  ${pointer || '/'}  ${rule}: ${detail}`),
    ...[hint].filter(Boolean),
    ...(error.requestid === '' ? [] : [`Code ${error.code}, request ${error.requestid}`]),
  ];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

interface Cause {
  message?: string;
  cause?: Cause;
  errors?: Cause[];
}

/** What Node hides behind "fetch failed". */
function causeOf(error: unknown): string {
  const { cause, message = '' } = (error ?? {}) as Cause;
  return cause?.errors?.[0]?.message || cause?.message || message;
}
