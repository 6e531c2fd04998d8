import { groups, isRequired, type Command, type CommandGroup, type Commands, type Options } from './command.js';

/** Longer lines are broken: a terminal may be narrow. */
const width = 110;

/** The list of commands: a line each, by whom they are for. */
export function overviewOf(commands: Commands): string {
  const entries = Object.entries(commands);
  const parts = groups.map((group) =>
    section(
      group,
      entries
        .filter(([, each]) => (each.group ?? 'Senders and webhooks') === group)
        .map(([name, { summary }]) => [name, summary]),
    ),
  );
  return `Usage: assent COMMAND [options]

${parts.join('\n')}
assent COMMAND --help explains one command. assent --version prints the version.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Commands for a registry: 3 it does not respond, 4 not found.
`;
}

/** The help of a command, always in this form. */
export function helpOf(name: string, command: Command | CommandGroup): string {
  const rows: Row[] =
    'subcommands' in command
      ? Object.entries(command.subcommands).map(([sub, { summary }]) => [sub, summary])
      : Object.entries(command.operands ?? {}).map(([operand, option]) => [operand, explanationOf(option)]);
  const options: Row[] = Object.entries('subcommands' in command ? {} : command.options).map(([option, each]) => [
    optionText(option, each),
    explanationOf(each),
  ]);
  return [
    `Usage: assent ${formOf(name, command)} [options]\n`,
    wrapped(command.summary, ''),
    section('subcommands' in command ? 'Subcommands' : 'Arguments', rows),
    section('Options', [...options, ['--help, -h', 'Prints this help.']]),
    command.notes === undefined ? '' : wrapped(command.notes, ''),
    `Examples:\n${examplesOf(command)
      .map((line) => `  ${line}\n`)
      .join('')}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Its name with what follows it: `subscriptions get ID`. */
export const formOf = (name: string, command: Command | CommandGroup): string =>
  [name, ...('subcommands' in command ? ['SUBCOMMAND'] : Object.keys(command.operands ?? {}))].join(' ');

/** Those of a group are the first of its first two subcommands, or both of the only one. */
function examplesOf(command: Command | CommandGroup): readonly string[] {
  if (!('subcommands' in command)) return command.examples;
  const [first, other] = Object.values(command.subcommands).map(({ examples }) => examples);
  return other === undefined ? (first ?? []) : [...(first ?? []).slice(0, 1), ...other.slice(0, 1)];
}

/** Each option with its explanation. */
export const optionText = (name: string, option: Options[string]): string =>
  `--${name}${option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : ''}`;

/** Choices follow the first sentence. */
export function explanationOf(option: Options[string]): string {
  const { help = '' } = option;
  const { choices, multiple, default: usual = '' } = option.type === 'string' ? option : {};
  const listed = choices === undefined ? '' : `: ${choices.join(', ')}`;
  return [
    ...(isRequired(option) ? ['(required)'] : []),
    `${help.replace(/\.$/, '')}.`.replace(/\.(?=\s|$)/, `${listed}.`),
    ...(usual.length > 0 ? [`Default: ${[usual].flat().join(',')}.`] : []),
    ...(multiple ? ['Repeat it for more.'] : []),
  ].join(' ');
}

type Row = [name: string, meaning: string];

function section(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const wide = Math.max(...rows.map(([name]) => name.length)) + 4;
  const lines = rows.map(
    ([name, meaning]) => `  ${name}`.padEnd(wide) + wrapped(meaning, ' '.repeat(wide)).trimStart(),
  );
  return `${title}:\n${lines.join('')}`;
}

/** Lines of the width, each after the margin. */
function wrapped(text: string, margin: string): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = [lines.at(-1), word].filter(Boolean).join(' ');
    if (margin.length + line.length <= width || lines.at(-1) === '') lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.map((line) => `${margin}${line}\n`).join('');
}
