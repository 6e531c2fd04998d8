import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commands } from '../../../src/tools/cli/assent.js';
import { candidatesOf } from '../../../src/tools/cli/completion-command.js';
import { runCommand } from '../../support/command.js';

const program = fileURLToPath(new URL('../../../dist/tools/cli/assent.js', import.meta.url));
const wordsOf = (...words: string[]) => candidatesOf(commands, words).map(([word]) => word);

test('commands, subcommands, options and their values are completed from the table of the parser', () => {
  expect(wordsOf('')).toEqual(Object.keys(commands));
  expect(wordsOf('su')).toEqual(['subscriptions']);
  expect(wordsOf('subscriptions', 'su')).toEqual(['suspend']);
  expect(wordsOf('subscriptions', 'list', '--sta')).toEqual(['--status']);
  expect(wordsOf('subscriptions', 'list', '--status', 're')).toEqual(['refused', 'retired']);
  expect(wordsOf('subscriptions', 'list', '--status', 'refused', '--sta')).toEqual([]);
  expect(wordsOf('subscriptions', 'create', '--type', 'a', '--typ')).toEqual(['--type']);
  expect(wordsOf('events', 'check', '--profile', 'n')).toEqual(['nl-gov']);
  // A file, which the shell completes.
  expect(wordsOf('match', 'eve')).toEqual([]);
  expect(wordsOf('nothing', '')).toEqual([]);
});

test('every option and command has an explanation', () => {
  const all = Object.entries(commands).flatMap(([name, command]) =>
    'subcommands' in command ? Object.keys(command.subcommands).map((sub) => [name, sub]) : [],
  );
  for (const words of [
    [],
    ...Object.keys(commands)
      .filter((name) => 'subcommands' in commands[name]!)
      .map((n) => [n]),
  ]) {
    for (const [word, meaning] of candidatesOf(commands, [...words, '']))
      expect([word, meaning]).not.toEqual([word, '']);
  }
  for (const words of all) {
    for (const [word, meaning] of candidatesOf(commands, [...words, '']))
      expect([word, meaning]).not.toEqual([word, '.']);
  }
});

test('the options of a command are the parameters and members that the contract has, with what it says about them', async () => {
  const { stdout } = await runCommand(['origins', 'create', '--help']);
  expect(stdout).toMatch(/--name NAME +\(required\) A DNS name: the value of `WebHook-Request-Origin`\.\n/);
  expect(stdout).toMatch(/--judgement NAME +How strictly .*: strict, lenient\. `strict` if absent\.\n/);
  // What replaces a part of it has no defaults, and requires nothing.
  const { stdout: update } = await runCommand(['origins', 'update', '--help']);
  expect(update).toMatch(/^ {2}NAME +The DNS name of the origin\.\n/m);
  expect(update).not.toMatch(/required|absent|--name/);
});

test('bash completes with the script that is printed', async () => {
  const script = await runCommand(['completion', 'bash']);
  const ask = `${script.stdout}
    assent() { '${process.execPath}' '${program}' "$@"; }
    COMP_WORDS=(assent grants list --state ''); COMP_CWORD=4; _assent; echo "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', ask]);
  expect(stdout).toBe('live expired blocked ended revoked\n');
  expect(await runCommand(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
});
