import type { Command, CommandGroup, Commands, Options } from '../command.js';
import { optionLines, usageLineOf } from '../help.js';
import { connectionOptions } from './registry.js';
import type { Field, Operation } from './resource.js';
import { match, resources } from './resources.js';

const group = 'Consumers and admins';

const listOptions: Options = {
  limit: { type: 'string', value: 'N', help: 'At most this many. Default: 100' },
  all: { type: 'boolean', help: 'Every entry' },
  wide: { type: 'boolean', help: 'Do not cut lines to the width of the terminal' },
};
const watchOption: Options = {
  watch: { type: 'boolean', help: 'Go on, and print each entry that changes, until you press Ctrl-C' },
};
const changeOptions: Options = {
  ticket: { type: 'string', value: 'TEXT', help: 'What the change belongs to, kept in the audit record' },
};
const versionOption: Options = {
  'if-match': { type: 'string', value: 'ETAG', help: 'Only if it still has this version' },
};
const waitOption: Options = {
  wait: { type: 'string', value: 'SECONDS', help: 'How long to wait for the handshake, from 0 to 30. Default: 5' },
};

const optionOf = ({ as, help, value, choices, multiple }: Field): Options[string] =>
  as === 'flag'
    ? { type: 'boolean', help }
    : {
        type: 'string',
        help,
        ...(value && { value }),
        ...(choices && { choices }),
        ...(multiple && { multiple }),
      };

function optionsOf(operation: Operation): Options {
  const { query = {}, body = {}, columns, affected, method, versioned, waits, options = {}, run } = operation;
  const fields = Object.entries({ ...query, ...body }).map(([name, field]) => [name, optionOf(field)] as const);
  return {
    ...Object.fromEntries(fields),
    ...options,
    ...(columns && listOptions),
    ...(affected && watchOption),
    ...(waits && waitOption),
    ...(versioned && versionOption),
    ...(method !== 'get' && run === undefined && changeOptions),
    ...connectionOptions,
  };
}

function commandOf(name: string, operation: Operation): Command {
  const options = optionsOf(operation);
  const operands = [...(operation.operands ?? []), ...(operation.takesFile ? ['[FILE|-]'] : [])].join(' ');
  return {
    summary: operation.summary,
    group,
    usage: `  ${usageLineOf(name, operands, options).slice('assent '.length)}\n      ${operation.summary}\n\n${optionLines(options)}`,
    options,
    ...(operands !== '' && { takesFiles: true }),
    async run(values, given, io) {
      const { runOperation } = await import('./run-operation.js');
      return runOperation(operation, values, given, io);
    },
  };
}

/** `assent subscriptions list` and so on, from the table of resources. */
export const resourceCommands: Commands = {
  ...Object.fromEntries(
    Object.entries(resources).map(([name, { summary, operations }]): [string, CommandGroup] => [
      name,
      {
        summary,
        group,
        subcommands: Object.fromEntries(
          Object.entries(operations).map(([sub, operation]) => [sub, commandOf(`${name} ${sub}`, operation)]),
        ),
      },
    ]),
  ),
  match: commandOf('match', match),
};
