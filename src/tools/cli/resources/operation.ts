import {
  methods,
  resolve,
  type Method,
  type OpenApiDocument,
  type OperationId,
  type OperationObject,
  type ParameterObject,
  type PathItem,
  type ReferenceObject,
  type Schema,
} from '../../../base/contract/document.js';
import type { Change, Client } from '../../../kits/client/index.js';
import { isRequired, type Io, type Options, type TextOption, type Values } from '../command.js';
import type { Column, Row } from './table.js';

/** What a change of the feed may have touched: entries of the list with this query, or one by its id. */
export type Affected = { query: Record<string, string> } | { id: string } | undefined;

/** A subcommand: an operation of the contract, and what the contract does not say. */
export interface Subcommand {
  operation: OperationId;
  /** In place of the first sentence of its description. */
  summary?: string;
  /** Members of the body without an option: they follow the parameters of the path. */
  operands?: readonly string[];
  /** Members of the body that are not offered, and no file: another subcommand is for them. */
  omits?: readonly string[];
  /** Members that the body always has. */
  sets?: Row;
  /** For a list: members of its entries, with dots. */
  columns?: readonly string[];
  /** For a list: what a change of the feed may have touched. */
  affected?: (change: Change) => Affected;
  newestFirst?: true;
  /** One line instead of the whole resource. */
  done?(row: Row): string;
  /** In place of the one request. Resolves to the exit code. */
  run?: (context: OperationContext) => Promise<number>;
  /** Options of `run`. */
  options?: Options;
  /** `run` needs a file, which is this. */
  file?: string;
  /** What does not belong to one option, for the help. */
  notes?: string;
  /** Whole lines for a shell. */
  examples: readonly [string, string];
}

export interface OperationContext {
  client: Client;
  values: Values;
  operands: string[];
  query: Record<string, unknown>;
  io: Io;
}

/** An option or an operand that becomes a part of the request. */
export interface OptionField {
  in: 'path' | 'query' | 'body';
  /** One inside another has the names of both, with a slash. */
  member: string;
  /** How its text is read. */
  as: 'text' | 'number' | 'rate' | 'json' | 'flag' | 'file';
  option: Options[string];
}

/** A subcommand with what the contract says about its operation. */
export interface CliOperation extends Subcommand {
  summary: string;
  method: Method;
  path: string;
  positional: readonly OptionField[];
  /** By the name of the option. */
  fields: Readonly<Record<string, OptionField>>;
  hasBody: boolean;
  /** The body can also be a file, and options replace its members. */
  takesFile: boolean;
  /** Those that it understands, such as If-Match. */
  headers: readonly string[];
}

/** What people call a member, if it is not its name in the contract, and its value, if not TEXT. */
const spellings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['name', 'origin', 'host', 'subscriber', 'tenant', 'actor', 'action'].map((each) => [each, `${each} NAME`]),
  ),
  sink: 'sink URL',
  source: 'source URI',
  type: 'type TYPE',
  types: 'type TYPE',
  filters: 'filter',
  target: 'target KIND:ID',
  requestedrate: 'rate',
  allowedrate: 'rate',
  defaultrate: 'default-rate',
  unsupportedrate: 'unsupported-rate',
  isdefault: 'default',
  grantseconds: 'grant-seconds',
  goneafter: 'gone-after',
  subscriptionrules: 'rule',
  protocolsettings: 'protocol-settings',
  sinkcontains: 'sink-contains',
  createdat: 'created',
  createdsince: 'created-since',
  createduntil: 'created-until',
  expiresat: 'expires',
  expiressince: 'expires-since',
  expiresuntil: 'expires-until',
  helduntil: 'held-until',
  dryrun: 'dry-run',
  publickey: 'public-key',
  jwksuri: 'jwks-uri URL',
  startsat: 'starts',
  endsat: 'ends',
  overlapseconds: 'overlap SECONDS',
  grantTokens: 'grant-tokens',
  'signingsecret/secret': 'signing-secret-file FILE',
  certificate: 'certificate FILE',
  privatekey: 'private-key FILE',
  'signingsecret/make': 'make-signing-secret',
  'signingsecret/overlapseconds': 'overlap SECONDS',
};

const nameOf = (member: string): string => (spellings[member] ?? member).split(' ')[0] as string;

/** The column of a member, with dots for those inside: `statusdetails.code`, `attempts.length`. */
export const columnOf = (path: string): Column => {
  const names = path.split('.');
  return {
    title: nameOf(names.findLast((name) => name !== 'length') as string),
    of: (row) => names.reduce<unknown>((value, name) => (value as Row | undefined)?.[name], row),
  };
};

/** What the program sets itself, and what no command shows. Nor are secrets options: others can read those. */
const unlisted = new Set(['id', 'protocol', 'sinkcredential', 'limit', 'cursor', 'count', 'minRevision']);

export function operationOf(document: OpenApiDocument, subcommand: Subcommand): CliOperation {
  const { operation: id, operands = [], omits, run } = subcommand;
  const [path, item, method] = placeOf(document, id);
  const isPatch = method === 'patch';
  const { description, parameters = [], requestBody } = item[method] as OperationObject;
  const all = [...(item.parameters ?? []), ...parameters].map((each) => resolved<ParameterObject>(document, each));
  const fieldsIn = (place: 'path' | 'query') =>
    all
      .filter((each) => each.in === place)
      .map(({ name, schema, description: text = '' }) =>
        fieldOf(place, name, { ...resolved(document, schema), description: text }, false, false),
      );
  // A merge patch can have the members that a replacement has.
  const content = Object.values(item[isPatch ? 'put' : method]?.requestBody?.content ?? {});
  const { properties = {}, required = [] } = run || !content[0] ? {} : resolved(document, content[0].schema);
  const inBody = Object.entries(properties)
    .map(([member, schema]) => [member, resolved(document, schema)] as const)
    .flatMap(([member, schema]) =>
      member === 'signingsecret' ? membersOf(document, member, schema) : [[member, schema] as const],
    )
    .filter(([member, { readOnly }]) => !readOnly && !path.includes(`{${member}}`) && !omits?.includes(member))
    .map(([member, schema]) =>
      fieldOf('body', member, schema, isPatch, !isPatch && required.includes(member) && !operands.includes(member)),
    );
  const isOperand = ({ member }: OptionField) => operands.includes(member);
  const options = [...fieldsIn('query'), ...inBody].filter((each) => !unlisted.has(each.member) && !isOperand(each));
  const isNeeded = ({ option }: OptionField) => isRequired(option);
  return {
    ...subcommand,
    summary: subcommand.summary ?? sentencesOf(description),
    method,
    path,
    positional: [...fieldsIn('path'), ...inBody.filter(isOperand)],
    fields: Object.fromEntries(
      [...options.filter(isNeeded), ...options.filter((each) => !isNeeded(each))].map((each) => [
        nameOf(each.member),
        each,
      ]),
    ),
    hasBody: requestBody !== undefined && run === undefined,
    takesFile: inBody.length > 1 && operands.length === 0 && omits === undefined,
    headers: all.filter((each) => each.in === 'header').map(({ name }) => name),
  };
}

function placeOf({ paths }: OpenApiDocument, id: OperationId): [path: string, item: PathItem, method: Method] {
  for (const [path, item] of Object.entries(paths)) {
    for (const method of methods) if (item[method]?.operationId === id) return [path, item, method];
  }
  throw new Error(`The contract has no operation ${id}.`);
}

/** What is inside a member, as members of their own. */
function membersOf(document: OpenApiDocument, member: string, { properties = {} }: Schema) {
  return Object.entries(properties).map(([name, schema]) => [`${member}/${name}`, resolved(document, schema)] as const);
}

/** A reference has its own description beside what it refers to. */
function resolved<T extends object>(document: OpenApiDocument, value: T | ReferenceObject): T {
  return { ...resolve<T>(document, value), ...value };
}

function fieldOf(
  place: OptionField['in'],
  member: string,
  schema: Schema,
  isPatch: boolean,
  required: boolean,
): OptionField {
  const help = sentencesOf(schema.description, isPatch ? /^$/ : /absent|default|^With/);
  if (schema.type === 'boolean' && (place === 'body' || schema.default !== undefined)) {
    return { in: place, member, as: 'flag', option: { type: 'boolean', help } };
  }
  if (spellings[member]?.endsWith(' FILE')) {
    const what = `A file with ${help.charAt(0).toLowerCase()}${help.slice(1)}`;
    return { in: place, member, as: 'file', option: { type: 'string', value: 'FILE', help: what } };
  }
  const { as, value, ...more } = kindOf(schema);
  const named = spellings[member]?.split(' ')[1] ?? value;
  return { in: place, member, as, option: { type: 'string', help, required, value: named, ...more } };
}

interface Kind extends Pick<TextOption, 'choices' | 'multiple'> {
  as: Exclude<OptionField['as'], 'flag' | 'file'>;
  value: string;
}

function kindOf({ type, format, enum: choices, items, oneOf }: Schema): Kind {
  if (choices !== undefined) return { as: 'text', value: 'NAME', choices };
  if (type === 'boolean') return { as: 'text', value: 'NAME', choices: ['true', 'false'] };
  if (type === 'integer') return { as: 'number', value: 'N' };
  if (type === 'array') return { ...(items?.type === 'string' ? text : json), multiple: true };
  if (type === 'object') return json;
  if (oneOf !== undefined) return { as: 'rate', value: 'RATE' };
  return format === 'date-time' ? { as: 'text', value: 'TIME' } : text;
}

const text: Kind = { as: 'text', value: 'TEXT' };
const json: Kind = { as: 'json', value: 'JSON' };

/** The first sentence, and those that match, without the sections that they refer to. */
function sentencesOf(description = '', others = /^$/): string {
  const plain = description
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ \([^)]*\b(?:section|RFC)\b[^)]*\)/g, '');
  const [first = '', ...more] = plain.split(/(?<=\.) /);
  return [first, ...more.filter((each) => others.test(each))].join(' ');
}
