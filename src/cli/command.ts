import { UsageError } from '../errors.js';

export type Options = Record<
  string,
  { type: 'string'; default: string | string[]; multiple?: true } | { type: 'boolean'; default: boolean }
>;
export type Values = Record<string, string | string[] | boolean | undefined>;

export interface Command {
  usage: string;
  options: Options;
  takesFiles?: true;
  /** Resolves to the exit code. Imports what it needs when it runs: other commands and the help need none of it. */
  run(values: Values, files: string[]): Promise<number>;
}

export const text = (value: string) => ({ type: 'string' as const, default: value });

export const flag = { type: 'boolean' as const, default: false };

/** `shown` is what the message calls it. */
export function portOf(values: Values, name: string, shown = `--${name}`): number {
  const value = String(values[name]);
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
    throw new UsageError(`${shown} must be a number from 0 to 65535; 0 means a free port.`);
  }
  return Number(value);
}
