import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError } from '../../base/errors.js';
import { checkChoice, type Command, type Commands, type Io, type Values } from './command.js';
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
    io.stderr.write(`Unknown command: ${name}.${didYouMean(name, Object.keys(commands))}\n\n${overviewOf(commands)}`);
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
  const unknown = `Unknown subcommand: ${sub}.${didYouMean(sub, Object.keys(command.subcommands))}\n\n`;
  io.stderr.write(`${sub === '' ? '' : unknown}${helpOf(name, command)}`);
  return 2;
}

async function run(name: string, command: Command, args: readonly string[], io: Io): Promise<number> {
  const { values, operands } = argumentsOf(command, args);
  if (values['help']) {
    io.stdout.write(helpOf(name, command));
    return 0;
  }
  return command.run(values, operands, io);
}

/** What stands after the name of a command. Throws a UsageError, or what Node throws, for what the command does not have. */
export function argumentsOf(command: Command, args: readonly string[]): { values: Values; operands: string[] } {
  const options = { ...command.options, help: { type: 'boolean', short: 'h', default: false } };
  const { values, positionals } = parse(args, command.operands !== undefined, options as ParsedOptions);
  if (!values['help'])
    for (const [name, option] of Object.entries(command.options)) checkChoice(`--${name}`, option, values[name]);
  return { values: values as Values, operands: positionals };
}

type ParsedOptions = NonNullable<ParseArgsConfig['options']>;

/** As Node parses it, but what it says about an unknown option names the one that was meant. */
function parse(given: readonly string[], allowPositionals: boolean, options: ParsedOptions) {
  const args = [...given];
  try {
    return parseArgs({ args, allowPositionals, options });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error;
    const { tokens } = parseArgs({ args, allowPositionals: true, options, strict: false, tokens: true });
    const unknown = tokens.find((each) => each.kind === 'option' && !Object.hasOwn(options, each.name));
    if (unknown?.kind !== 'option') throw error;
    const names = Object.keys(options).map((each) => `--${each}`);
    throw new UsageError(
      `Unknown option: ${unknown.rawName}.${hintFor(unknown.name) ?? didYouMean(unknown.rawName, names)}`,
    );
  }
}

/** Other users of the machine see the arguments of a command. */
const hintFor = (option: string): string | undefined =>
  /credential|secret|password/.test(option)
    ? ' Secrets are no options: others can see them. Put sinkcredential and signingsecret in a file with the JSON of the API, or in standard input (-).'
    : undefined;

function didYouMean(given: string, known: readonly string[]): string {
  const distances = known.map((each) => ({ each, distance: distanceOf(given, each) }));
  const [nearest] = distances.sort((one, other) => one.distance - other.distance);
  const isNear =
    nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(given.replace(/^--/, '').length / 3));
  return isNear ? ` Did you mean ${nearest.each}?` : '';
}

/** How many letters differ (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let to = 1; to <= other.length; to += 1) {
      const changed = (row[to - 1] as number) + (letter === other[to - 1] ? 0 : 1);
      next[to] = Math.min((row[to] as number) + 1, (next[to - 1] as number) + 1, changed);
    }
    row = next;
  }
  return row[other.length] as number;
}
