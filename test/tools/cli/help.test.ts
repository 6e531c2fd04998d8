import { expect, test } from '@jest/globals';
import { argumentsOf } from '../../../src/tools/cli/command-line.js';
import { commands } from '../../../src/tools/cli/assent.js';
import { checkChoice, isRequired, type Command } from '../../../src/tools/cli/command.js';
import { runCommand } from '../../support/command.js';

/** Commands, groups and subcommands, by the words that name them. */
const all = Object.entries(commands).flatMap(([name, command]) => [
  { words: [name], command },
  ...('subcommands' in command
    ? Object.entries(command.subcommands).map(([sub, each]) => ({ words: [name, sub], command: each }))
    : []),
]);

const helps = async () =>
  Promise.all(all.map(async (each) => ({ ...each, ...(await runCommand([...each.words, '--help'])) })));

test('every help has the same form, exits with 0 and reports no error', async () => {
  expect(all.length).toBeGreaterThan(40);
  for (const { words, command, code, stdout, stderr } of await helps()) {
    const parts = stdout.split('\n\n');
    const titles = parts.slice(2).map((part) => /^([A-Z]\w+):\n/.exec(part)?.[1] ?? 'notes');
    const operands = 'subcommands' in command ? { SUBCOMMAND: {} } : (command.operands ?? {});
    const first = 'subcommands' in command ? ['Subcommands'] : Object.keys(operands).length > 0 ? ['Arguments'] : [];
    const notes = command.notes === undefined ? [] : ['notes'];
    expect([words, code, stderr]).toEqual([words, 0, '']);
    expect([words, parts[0]]).toEqual([
      words,
      `Usage: assent ${[...words, ...Object.keys(operands), '[options]'].join(' ')}`,
    ]);
    expect([words, parts[1]?.replaceAll('\n', ' ')]).toEqual([words, expect.stringMatching(/^[A-Z](?:(?!\.\s).)*\.$/)]);
    expect([words, titles]).toEqual([words, [...first, 'Options', ...notes, 'Examples']]);
    expect([words, stdout.split('\n').filter((line) => line.length > 120 && !line.startsWith('  assent '))]).toEqual([
      words,
      [],
    ]);
  }
});

test('every argument and option is explained, and a required option is marked', async () => {
  for (const { words, command, stdout } of await helps()) {
    if ('subcommands' in command) continue;
    for (const [operand, { help }] of Object.entries(command.operands ?? {}))
      expect([words, operand, help]).toEqual([words, operand, expect.stringMatching(/^[A-Z]/)]);
    for (const [name, option] of Object.entries(command.options)) {
      const line = stdout.split('\n').find((each) => each.startsWith(`  --${name} `)) ?? '';
      expect([words, name, line]).toEqual([words, name, expect.stringMatching(/^ {2}--\S+( \S+)? {2,}\S/)]);
      expect([words, name, line.includes('(required)')]).toEqual([words, name, isRequired(option)]);
      expect([words, name, option.help]).toEqual([words, name, expect.stringMatching(/^[A-Z`]/)]);
    }
  }
});

test('every help ends with two examples, which the command accepts', async () => {
  for (const { words, command, stdout } of await helps()) {
    const [, examples = ''] = stdout.split('\nExamples:\n');
    const lines = examples.trimEnd().split('\n');
    expect([words, new Set(lines).size, lines.length]).toEqual([words, 2, 2]);
    for (const line of lines) {
      const [, given = ''] = /(?:^|\s|\()assent ([^|<>)]*)/.exec(line) ?? [];
      const said = [...given.matchAll(/'([^']*)'|([^\s']+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      expect([line, said.slice(0, words.length)]).toEqual([line, words]);
      const used = 'subcommands' in command ? command.subcommands[said[1] as string] : command;
      checkExample(line, used as Command, said.slice('subcommands' in command ? 2 : words.length));
    }
  }
});

/** Throws if an option, an argument or a value does not exist, or something is missing. */
function checkExample(line: string, command: Command, args: readonly string[]): void {
  const { values, operands } = argumentsOf(command, args);
  const names = Object.keys(command.operands ?? {});
  const isEnough = operands.length >= names.filter((name) => !name.startsWith('[')).length;
  const isTooMuch = operands.length > names.length && !names.at(-1)?.endsWith('...');
  expect([line, isEnough, isTooMuch]).toEqual([line, true, false]);
  for (const [at, name] of names.entries()) {
    const option = command.operands?.[name];
    if (option !== undefined) checkChoice(name, option, operands[at]);
  }
  // A file can have them, too.
  const hasFile = names.includes('[FILE|-]') && operands.length === names.length;
  const missing = Object.entries(command.options).filter(
    ([name, option]) => isRequired(option) && [values[name] ?? ''].flat().join('') === '',
  );
  expect([line, hasFile ? [] : missing.map(([name]) => name)]).toEqual([line, []]);
}
