import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError } from '../../base/errors.js';
import { checkChoice, type Command, type Commands, type Io } from './command.js';
import { helpOf, overviewOf } from './help.js';

/**
 * Runs one command line. Resolves to the exit code: 0 done, 1 refused or failed, 2 wrong usage; commands for a registry
 * also have 3, it does not respond, and 4, not found.
 */
export async function runCommandLine(commands: Commands, args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(commands, args, io);
  } catch (error) {
    io.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return isUsage(error) ? 2 : 1;
  }
}

/** Node throws an error with such a code for an unknown option. */
const isUsage = (error: unknown) =>
  error instanceof UsageError || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');

async function dispatch(commands: Commands, [name, ...rest]: readonly string[], io: Io): Promise<number> {
  if (name === undefined) {
    io.stderr.write(overviewOf(commands));
    return 2;
  }
  if (['help', '--help', '-h'].includes(name)) {
    if (rest[0] !== undefined) return dispatch(commands, [...rest, '--help'], io);
    io.stdout.write(overviewOf(commands));
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    io.stderr.write(`Unknown command: ${name}\n\n${overviewOf(commands)}`);
    return 2;
  }
  if (!('subcommands' in command)) return run(name, command, rest, io);
  const [sub = '', ...more] = rest;
  const found = Object.hasOwn(command.subcommands, sub) ? command.subcommands[sub] : undefined;
  if (found !== undefined) return run(`${name} ${sub}`, found, more, io);
  if (rest.includes('--help') || rest.includes('-h')) {
    io.stdout.write(helpOf(name, command));
    return 0;
  }
  io.stderr.write(`${sub === '' ? '' : `Unknown subcommand: ${sub}\n\n`}${helpOf(name, command)}`);
  return 2;
}

async function run(name: string, command: Command, args: readonly string[], io: Io): Promise<number> {
  const options = { ...command.options, help: { type: 'boolean', short: 'h', default: false } };
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: command.takesFiles ?? false,
    options: options as NonNullable<ParseArgsConfig['options']>,
  });
  if (values['help']) {
    io.stdout.write(helpOf(name, command));
    return 0;
  }
  for (const [name, option] of Object.entries(command.options)) checkChoice(`--${name}`, option, values[name]);
  return command.run(values as Parameters<Command['run']>[0], positionals, io);
}
