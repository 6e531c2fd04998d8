import type { Change, Client } from '../../../kits/client/index.js';
import type { paths } from '../../../base/contract/contract.gen.js';
import type { Io, Options, TextOption, Values } from '../command.js';
import type { Column, Row } from './table.js';

/** An option of a command that becomes a member of a request. */
export interface Field extends Omit<TextOption, 'type' | 'default' | 'help'> {
  help: string;
  /** Its name in the API. If absent, the name of the option without dashes. */
  member?: string;
  /** How its text is read. If absent, it stays a text. */
  as?: 'number' | 'rate' | 'json' | 'list' | 'flag';
}

export type Fields = Record<string, Field>;

/** What a change of the feed may have touched: entries of the list with this query, or one by its id. */
export type Affected = { query: Record<string, string> } | { id: string } | undefined;

/** One operation of the contract as a subcommand. */
export interface Operation {
  summary: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  path: keyof paths;
  /** Names of what follows the subcommand: first the parameters of the path, then members of the body. */
  operands?: readonly string[];
  query?: Fields;
  /** Members of the body as options. With `file`, the body can also be a file, and options replace its members. */
  body?: Fields;
  takesFile?: true;
  /** The response waits for the handshake. */
  waits?: true;
  /** Has a version, for `--if-match`. */
  versioned?: true;
  /** If absent, the response is one resource. */
  columns?: readonly Column[];
  /** For lists: what a change of the feed may have touched. */
  affected?: (change: Change) => Affected;
  newestFirst?: true;
  /** One line instead of the whole resource. */
  done?(row: Row): string;
  /** In place of the one request. Resolves to the exit code. */
  run?: (context: OperationContext) => Promise<number>;
  /** Options of `run`. */
  options?: Options;
}

export interface OperationContext {
  client: Client;
  values: Values;
  operands: string[];
  query: Record<string, unknown>;
  io: Io;
}

export interface Resource {
  summary: string;
  operations: Record<string, Operation>;
}
