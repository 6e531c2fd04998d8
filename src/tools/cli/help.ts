import { groups, type Command, type CommandGroup, type Commands, type Options } from './command.js';

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

export const usageLineOf = (name: string, operands: string, options: Options) =>
  `assent ${[name, operands].filter(Boolean).join(' ')}${Object.keys(options).length > 0 ? ' [options]' : ''}`;

/** Each option with its explanation. */
export const optionLines = (options: Options): string =>
  linesOf(Object.entries(options).map(([name, option]): Row => [optionText(name, option), explanationOf(option)]));

export const optionText = (name: string, option: Options[string]): string =>
  `--${name}${option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : ''}`;

export function explanationOf(option: Options[string]): string {
  const choices = option.type === 'string' && option.choices !== undefined ? `: ${option.choices.join(', ')}` : '';
  const repeat = option.type === 'string' && option.multiple ? ' Repeat it for more.' : '';
  return `${(option.help ?? '').replace(/\.$/, '')}${choices}.${repeat}`;
}

type Row = [string, string];

function linesOf(rows: Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('');
}
