import { types } from 'node:util';
import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * JSON lines, one for each outcome. What is logged is chosen field by field where it is logged; errors are cut down
 * here, because libraries hang requests and rows on theirs.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorForLog },
    // A second lock; nothing below is logged on purpose.
    redact: [
      'authorization',
      'headers',
      'body',
      'key',
      'token',
      'sinkcredential',
      '*.authorization',
      '*.sinkcredential',
    ],
  };
  return pino(options, destination ?? openOutput());
}

/**
 * What cannot be written, because a disk is full, is lost: ending for that would be worse, and pino would not even end.
 */
function openOutput(): DestinationStream {
  const open = () => {
    const opened = pino.destination();
    return opened.on('error', ({ code }: NodeJS.ErrnoException) => {
      // Nobody reads any more: pino writes no more then.
      if (code === 'EPIPE' || opened !== output) return;
      output = open();
      opened.destroy();
    });
  };
  let output = open();
  return { write: (line) => void output.write(line) };
}

function errorForLog(error: unknown): object {
  if (!types.isNativeError(error)) return { message: 'not an error' };
  const { name, message, stack = '', cause } = error;
  const code = (error as { code?: unknown }).code;
  // A stack begins with the message; what is left are the places.
  const places = stack.replace(message, '').split('\n').slice(1, 12);
  return {
    name,
    message: loggedMessage(error),
    ...(typeof code === 'string' ? { code } : {}),
    stack: places.map((line) => visible(line.trim())),
    ...(types.isNativeError(cause) ? { cause: { name: cause.name, message: loggedMessage(cause) } } : {}),
  };
}

/** Prisma repeats the arguments of a call in the message, and Postgres the value that it cannot read. */
function loggedMessage({ name, message }: Error): string {
  const text = name === 'PrismaClientValidationError' ? message.replace(/\{\n.*\n\}/s, '{ ... }') : message;
  return visible(text.trim().replace(/: ".*"/gs, ': "..."'));
}

/** Bidirectional and other invisible characters would let a text pretend to be another one. */
function visible(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/[^\P{C}\n]|[\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
