import type { Readable, Writable } from 'node:stream';
import { UsageError } from '../../base/errors.js';

export interface TextOption {
  type: 'string';
  default?: string | string[];
  multiple?: true;
  /** Whether the command, or the file it is given, must have it. */
  required?: boolean;
  /** What it is called in the help: `--origin NAME`. */
  value?: string;
  help?: string;
  /** Every value that it can have. */
  choices?: readonly string[];
}

export interface FlagOption {
  type: 'boolean';
  default?: boolean;
  help?: string;
}

export type Options = Record<string, TextOption | FlagOption>;
export type Values = Record<string, string | string[] | boolean | undefined>;

/** Whom a command is for. The help lists them in this order. */
export const groups = ['Try it', 'Consumers and admins', 'Senders and webhooks', 'Operators', 'This program'] as const;
export type HelpGroup = (typeof groups)[number];

/** What a command reads and writes. */
export interface Io {
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable;
  stdin: Readable;
  env: NodeJS.ProcessEnv;
  /** Fires on Ctrl-C, and when no process reads the output. Until it is called, Ctrl-C ends the program. */
  interrupted(): AbortSignal;
}

/** A command, described once: its help, the reference, completion and the parser read the same. */
export interface Command {
  /** One sentence. */
  summary: string;
  group?: HelpGroup;
  /** What follows its name, by the names that the help shows: `FILE`, `[FILE|-]` if optional, `FILE...` if several. */
  operands?: Options;
  options: Options;
  /** What does not belong to one option, for the help: exit codes, settings. */
  notes?: string;
  /** Whole lines for a shell. */
  examples: readonly [string, string];
  /** Resolves to the exit code. Imports what it needs when it runs: other commands and the help need none of it. */
  run(values: Values, operands: string[], io: Io): Promise<number>;
}

/** A command with subcommands: `assent subscriptions list`. */
export interface CommandGroup {
  summary: string;
  group?: HelpGroup;
  /** What holds for all of them, for the help. */
  notes?: string;
  subcommands: Record<string, Command>;
}

export type Commands = Record<string, Command | CommandGroup>;

/** An option that is empty if it is absent, unless it has another default. */
export const text = (value: string, help: string, more: Partial<TextOption> = {}): TextOption => ({
  type: 'string',
  default: '',
  value,
  help,
  ...more,
});

/** An option that can be repeated. */
export const list = (value: string, help: string, more: Partial<TextOption> = {}): TextOption => ({
  type: 'string',
  multiple: true,
  default: [],
  value,
  help,
  ...more,
});

/** The parser accepts no other value. */
export const choice = (choices: readonly string[], value: string, help: string): TextOption => ({
  type: 'string',
  default: value,
  value: 'NAME',
  choices,
  help,
});

export const flag = (help: string): FlagOption => ({ type: 'boolean', default: false, help });

export const isRequired = (option: TextOption | FlagOption): boolean =>
  option.type === 'string' && option.required === true;

/** Throws a UsageError for a value that is none of the choices. `shown` is what the message calls it. */
export function checkChoice(
  shown: string,
  option: TextOption | FlagOption,
  value: string | boolean | (string | boolean)[] | undefined,
): void {
  const choices = option.type === 'string' ? option.choices : undefined;
  if (value === undefined || choices === undefined || [value].flat().every((each) => choices.includes(String(each))))
    return;
  throw new UsageError(`${shown} must be one of ${choices.join(', ')}.`);
}

/** Resolves when the text is written, or lost because no process reads it. */
export const write = (stream: Writable, lines: string): Promise<void> =>
  new Promise((resolve) => stream.write(lines, () => resolve()));

/** Runs a server until Ctrl-C or SIGTERM, whether or not a process reads its output. Listens to neither afterwards. */
export async function untilStopped<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const end = (name: string) => stop.abort(new Error(name));
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
  }
}

/** `shown` is what the message calls it. */
export function portOf(values: Values, name: string, shown = `--${name}`): number {
  const value = String(values[name]);
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
    throw new UsageError(`${shown} must be a number from 0 to 65535; 0 means a free port.`);
  }
  return Number(value);
}
