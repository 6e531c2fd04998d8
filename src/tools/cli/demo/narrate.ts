import { styleText } from 'node:util';
import { printable } from '../printable.js';
import type { WireExchange } from './webhook.js';

/** Writes a story in plain text. Every function writes whole lines. */
export interface Narrator {
  title(text: string): void;
  /** A name and its value, in columns. */
  fact(name: string, value: string): void;
  step(number: number, title: string): void;
  say(text: string): void;
  request(method: string, path: string, body?: unknown): void;
  response(status: number, body: unknown): void;
  /** As it went over the wire. */
  wire(exchange: WireExchange): void;
  kept(text: string): void;
  failed(text: string): void;
}

export interface NarratorSettings {
  write: (text: string) => void;
  coloured: boolean;
}

type Format = Parameters<typeof styleText>[0];

const width = 110;

export function createNarrator({ write, coloured }: NarratorSettings): Narrator {
  const paint = (format: Format, text: string) => (coloured ? styleText(format, text) : text);
  const line = (text = '') => write(`${text}\n`);
  /** On one line if it fits there, otherwise with a line for each member. */
  const json = (value: unknown, first: string) => {
    const short = JSON.stringify(value);
    if (short.length + first.length < width || typeof value !== 'object' || value === null) return short;
    const members = Object.entries(value).map(([name, each]) => `${paint('dim', name)}: ${JSON.stringify(each)}`);
    return ['', ...members].join('\n         ').trimEnd();
  };
  return {
    title: (text) => line(`\n${paint('bold', text)}\n`),
    fact: (name, value) => line(`  ${paint('dim', name.padEnd(10))} ${value}`),
    step: (number, title) => line(`\n${paint('bold', `${String(number).padStart(2)}  ${title}`)}\n`),
    say: (text) => line(wrapped(text, width - 4).replace(/^/gm, '    ')),
    request: (method, path, body) => {
      const first = `    -> ${method} ${path}`;
      line(paint('cyan', first) + (body === undefined ? '' : ` ${json(body, first)}`.replace(/^ \n/, '\n')));
    },
    response: (status, body) => {
      const first = `    <- ${status}`;
      line(paint('cyan', first) + (body === undefined ? '' : ` ${json(body, first)}`.replace(/^ \n/, '\n')));
    },
    wire: ({ asked, body, answered }) => {
      line();
      for (const each of asked.split('\n')) line(`      ${paint('yellow', '>')} ${printable(each)}`);
      line(`      ${paint('yellow', '>')}`);
      if (body !== '') line(`      ${paint('yellow', '>')} ${printable(body)}`);
      for (const each of answered.split('\n')) line(`      ${paint('green', '<')} ${printable(each)}`);
      line();
    },
    kept: (text) => line(`    ${paint('green', 'ok')}  ${text}`),
    failed: (text) => line(`\n    ${paint('red', 'failed')}  ${text}\n`),
  };
}

function wrapped(text: string, columns: number): string {
  let used = 0;
  return text
    .split(' ')
    .map((word) => {
      const breaks = used > 0 && used + 1 + word.length > columns;
      const gap = used === 0 ? '' : breaks ? '\n' : ' ';
      used = breaks ? word.length : used + gap.length + word.length;
      return gap + word;
    })
    .join('');
}
