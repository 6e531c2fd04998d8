import { documentText, type OpenApiDocument } from '../../../base/contract/document.js';
import type { Command, CommandGroup, Commands, Options } from '../command.js';
import { operationOf, type CliOperation, type Subcommand } from './operation.js';
import { connectionOptions } from './registry.js';
import { match, resources } from './resources.js';

const group = 'Consumers and admins';

const listOptions: Options = {
  limit: { type: 'string', value: 'N', help: 'At most this many. 100 if absent' },
  all: { type: 'boolean', help: 'Every entry' },
  wide: { type: 'boolean', help: 'Do not cut lines to the width of the terminal' },
};
const watchOption: Options = {
  watch: { type: 'boolean', help: 'Go on, and print each entry that changes, until you press Ctrl-C' },
};
/** For headers of the contract. */
const headerOptions: Readonly<Record<string, Options>> = {
  Prefer: {
    wait: { type: 'string', value: 'SECONDS', help: 'How long to wait for the handshake, from 0 to 30. 5 if absent' },
  },
  'If-Match': { 'if-match': { type: 'string', value: 'ETAG', help: 'Only if it still has this version' } },
  'Audit-Reference': {
    ticket: { type: 'string', value: 'TEXT', help: 'What the change belongs to, kept in the audit record' },
  },
};

function optionsOf({ fields, columns, affected, headers, options }: CliOperation): Options {
  return {
    ...Object.fromEntries(Object.entries(fields).map(([name, { option }]) => [name, option])),
    ...options,
    ...(columns && listOptions),
    ...(affected && watchOption),
    ...Object.fromEntries(headers.flatMap((name) => Object.entries(headerOptions[name] ?? {}))),
    ...connectionOptions,
  };
}

function commandOf(subcommand: Subcommand): Command {
  const operation = operationOf(document, subcommand);
  const { summary, positional, file, takesFile, notes, examples } = operation;
  const operands: Options = {
    ...Object.fromEntries(positional.map(({ member, option }) => [member.toUpperCase(), option])),
    ...(file !== undefined && { FILE: { type: 'string', help: file } }),
    ...(takesFile && { '[FILE|-]': { type: 'string', help: bodyFile } }),
  };
  return {
    summary,
    group,
    options: optionsOf(operation),
    ...(Object.keys(operands).length > 0 && { operands }),
    ...(notes !== undefined && { notes }),
    examples,
    async run(values, given, io) {
      const { runOperation } = await import('./run-operation.js');
      return runOperation(operation, values, given, io);
    },
  };
}

const bodyFile = 'A file with the JSON of the API; - is standard input. Options replace its members';
/** The options that mean the same in every command which has them. */
export const commonOptions: Options = {
  ...connectionOptions,
  ...listOptions,
  ...watchOption,
  ...Object.fromEntries(Object.values(headerOptions).flatMap((each) => Object.entries(each))),
};
const document = JSON.parse(documentText()) as OpenApiDocument;

/** `assent subscriptions list` and so on, from the table of resources. */
export const resourceCommands: Commands = {
  ...Object.fromEntries(
    Object.entries(resources).map(([name, { summary, subcommands }]): [string, CommandGroup] => [
      name,
      {
        summary,
        group,
        subcommands: Object.fromEntries(Object.entries(subcommands).map(([sub, each]) => [sub, commandOf(each)])),
      },
    ]),
  ),
  match: commandOf(match),
};
