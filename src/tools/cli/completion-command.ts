import { type Command, type Commands, write } from './command.js';
import { explanationOf } from './help.js';
import { UsageError } from '../../base/errors.js';

/** A word that can stand next, and what it means. */
export type Completion = readonly [word: string, meaning: string];

/**
 * What the last of the words can become: a command, an option or the value of one. None if it is anything else, such as a
 * file.
 */
export function candidatesOf(commands: Commands, words: readonly string[]): Completion[] {
  const current = words.at(-1) ?? '';
  return allOf(commands, words.slice(0, -1)).filter(([word]) => word.startsWith(current) && word !== current);
}

function allOf(commands: Commands, [name, ...rest]: readonly string[]): Completion[] {
  if (name === undefined) return namesOf(commands);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return [];
  if (!('subcommands' in command)) return optionsOf(command, rest);
  const [sub, ...more] = rest;
  if (sub === undefined) return namesOf(command.subcommands);
  const found = Object.hasOwn(command.subcommands, sub) ? command.subcommands[sub] : undefined;
  return found === undefined ? [] : optionsOf(found, more);
}

const namesOf = (commands: Commands): Completion[] =>
  Object.entries(commands).map(([name, { summary }]) => [name, summary]);

function optionsOf({ options }: Command, before: readonly string[]): Completion[] {
  const previous = before.at(-1) ?? '';
  const open = previous.startsWith('--') ? options[previous.slice(2)] : undefined;
  if (open?.type === 'string') return (open.choices ?? []).map((choice) => [choice, '']);
  return Object.entries(options)
    .filter(([name, option]) => (option.type === 'string' && option.multiple) || !before.includes(`--${name}`))
    .map(([name, option]) => [`--${name}`, explanationOf(option)]);
}

/** Each asks this program what can stand next, so that it never lacks a command. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_assent() {
  local IFS=$'\\n'
  COMPREPLY=($(assent completion candidates -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _assent assent
`,
  zsh: `#compdef assent
_assent() {
  local -a found
  found=("\${(@f)$(assent completion candidates -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} )); then
    found=("\${(@)found//:/\\\\:}")
    found=("\${(@)found/$'\\t'/:}")
    _describe assent found
  else
    _files
  fi
}
compdef _assent assent
`,
  fish: `function __assent_candidates
  assent completion candidates -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c assent -f -a '(__assent_candidates)'
complete -c assent -n 'test -z (__assent_candidates | string collect)' -F
`,
};

/** `commands` is called when it runs: the table has this command, too. */
export const completionCommand = (commands: () => Commands): Command => ({
  summary: 'Prints a script that completes commands and options in your shell.',
  group: 'This program',
  operands: { SHELL: { type: 'string', choices: Object.keys(scripts), help: 'Whose script' } },
  options: {},
  notes: 'Load it when your shell starts: in ~/.bashrc, in ~/.zshrc after compinit, or in ~/.config/fish/config.fish.',
  examples: ['eval "$(assent completion bash)"', 'assent completion fish | source'],
  async run(_values, [shell = '', ...words], { stdout }) {
    if (shell === 'candidates') {
      const found = candidatesOf(commands(), words);
      await write(stdout, found.map(([word, meaning]) => `${word}\t${meaning}\n`).join(''));
      return 0;
    }
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined || words.length > 0) {
      throw new UsageError(`Name one shell: ${Object.keys(scripts).join(', ')}.`);
    }
    await write(stdout, script);
    return 0;
  },
});
