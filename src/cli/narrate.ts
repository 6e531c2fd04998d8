import { styleText } from 'node:util';

/** Tells a story in plain text. Every function writes whole lines. */
export interface Narrator {
  title(text: string): void;
  /** A name and what stands for it, in columns. */
  fact(name: string, value: string): void;
  step(number: number, title: string): void;
  say(text: string): void;
  request(method: string, path: string, body?: unknown): void;
  answer(status: number, told: unknown): void;
  /** Heads as they stood on the wire. */
  wire(asked: string, answered: string): void;
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
  /** On the line if it fits there, else with a line for each member. */
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
    answer: (status, told) => {
      const first = `    <- ${status}`;
      line(paint('cyan', first) + (told === undefined ? '' : ` ${json(told, first)}`.replace(/^ \n/, '\n')));
    },
    wire: (asked, answered) => {
      line();
      for (const each of asked.split('\n')) line(`      ${paint('yellow', '>')} ${printable(each)}`);
      line(`      ${paint('yellow', '>')}`);
      for (const each of answered.split('\n')) line(`      ${paint('green', '<')} ${printable(each)}`);
      line();
    },
    kept: (text) => line(`    ${paint('green', 'ok')}  ${text}`),
    failed: (text) => line(`\n    ${paint('red', 'failed')}  ${text}\n`),
  };
}

/** What comes from a socket must not steer a terminal. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
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
