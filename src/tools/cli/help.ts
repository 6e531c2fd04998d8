import {
  groups,
  isRequired,
  type Command,
  type CommandGroup,
  type Commands,
  type Options,
  type TextOption,
} from './command.js';

/** The list of commands: a line each, by whom they are for. */
export function overviewOf(commands: Commands): string {
  const entries = Object.entries(commands);
  const parts = groups.map((group) => {
    const rows = entries.filter(([, each]) => (each.group ?? 'Senders and webhooks') === group);
    return rows.length === 0 ? '' : `${group}:\n${linesOf(rows.map(([name, each]) => [name, summaryOf(each)]))}\n`;
  });
  return `Usage: assent <command> [options]

${parts.join('')}assent <command> --help explains one command. assent --version prints the version.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Commands for a registry: 3 it does not respond, 4 not found.
`;
}

export function helpOf(name: string, command: Command | CommandGroup): string {
  if (!('subcommands' in command)) return `Usage: assent\n\n${command.usage}`;
  const rows = Object.entries(command.subcommands).map(([sub, each]): Row => [sub, summaryOf(each)]);
  const notes = command.notes === undefined ? '' : `\n${command.notes}\n`;
  return `Usage: assent ${name} <subcommand> [options]

${command.summary}

${linesOf(rows)}${notes}
assent ${name} <subcommand> --help explains one.
`;
}

/** The first sentence of its usage, unless it has a summary. */
export function summaryOf(command: Command | CommandGroup): string {
  if (command.summary !== undefined || !('usage' in command)) return command.summary ?? '';
  const description = command.usage.split('\n').filter((line) => /^ {6}\w/.test(line));
  return /^.*?[.:](?=\s|$)/s.exec(description.map((line) => line.trim()).join(' '))?.[0].replace(/:$/, '.') ?? '';
}

/** The help of a command from its table of options, and of operands if it has any. */
export function usageOf(name: string, summary: string, options: Options, operands: Options = {}): string {
  const line = [
    '',
    ...[name, ...Object.keys(operands)],
    ...(Object.keys(options).length > 0 ? ['[options]'] : []),
  ].join(' ');
  const given = Object.entries(operands).map(([operand, option]): Row => [operand, explanationOf(option)]);
  const chosen = Object.entries(options).map(([option, each]): Row => [optionText(option, each), explanationOf(each)]);
  return ` ${line}\n      ${summary}\n\n${linesOf([...given, ...chosen])}`;
}

/** Each option with its explanation. */
export const optionText = (name: string, option: Options[string]): string =>
  `--${name}${option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : ''}`;

/** Choices follow the first sentence. */
export function explanationOf(option: Options[string]): string {
  const { help = '', choices, multiple } = option as TextOption;
  const listed = choices === undefined ? '' : `: ${choices.join(', ')}`;
  return [
    `${help.replace(/\.$/, '')}.`.replace(/\.(?=\s|$)/, `${listed}.`),
    ...(isRequired(option) ? ['Required.'] : []),
    ...(multiple ? ['Repeat it for more.'] : []),
  ].join(' ');
}

type Row = [string, string];

function linesOf(rows: Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('');
}
