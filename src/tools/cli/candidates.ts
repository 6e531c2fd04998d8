import type { Command, Commands } from './command.js';
import { explanationOf, summaryOf } from './help.js';

/** A word that can stand next, and what it means. */
export type Candidate = readonly [word: string, meaning: string];

/**
 * What the last of the words can become: a command, an option or the value of one. None if it is anything else, such as a
 * file.
 */
export function candidatesOf(commands: Commands, words: readonly string[]): Candidate[] {
  const current = words.at(-1) ?? '';
  return allOf(commands, words.slice(0, -1)).filter(([word]) => word.startsWith(current) && word !== current);
}

function allOf(commands: Commands, [name, ...rest]: readonly string[]): Candidate[] {
  if (name === undefined) return namesOf(commands);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return [];
  if (!('subcommands' in command)) return optionsOf(command, rest);
  const [sub, ...more] = rest;
  if (sub === undefined) return namesOf(command.subcommands);
  const found = Object.hasOwn(command.subcommands, sub) ? command.subcommands[sub] : undefined;
  return found === undefined ? [] : optionsOf(found, more);
}

const namesOf = (commands: Commands): Candidate[] =>
  Object.entries(commands).map(([name, command]) => [name, summaryOf(command)]);

function optionsOf({ options }: Command, before: readonly string[]): Candidate[] {
  const previous = before.at(-1) ?? '';
  const open = previous.startsWith('--') ? options[previous.slice(2)] : undefined;
  if (open?.type === 'string') return (open.choices ?? []).map((choice) => [choice, '']);
  return Object.entries(options)
    .filter(([name, option]) => (option.type === 'string' && option.multiple) || !before.includes(`--${name}`))
    .map(([name, option]) => [`--${name}`, explanationOf(option)]);
}
