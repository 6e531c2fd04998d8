import { types } from 'node:util';
import { pino, type DestinationStream, type Logger } from 'pino';
import { activeIds, openTracing } from '../../base/tracing.js';

/**
 * JSON lines, one for each outcome. Each call chooses the fields that it logs. Errors are reduced here, because
 * libraries attach requests and rows to them.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorForLog },
    ...(openTracing('assent') && { mixin: activeIds }),
    // A second safeguard: no call logs these on purpose.
    redact: [
      'authorization',
      'headers',
      'body',
      'key',
      'token',
      'sinkcredential',
      'signingsecret',
      '*.authorization',
      '*.sinkcredential',
      '*.signingsecret',
    ],
  };
  return pino(options, destination ?? openOutput());
}

/**
 * Lines that cannot be written, because a disk is full, are lost. Exiting would be worse, and pino would not even exit.
 */
function openOutput(): DestinationStream {
  const open = () => {
    const opened = pino.destination();
    return opened.on('error', ({ code }: NodeJS.ErrnoException) => {
      // The reader is gone. pino stops writing.
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
  // A stack starts with the message; the rest are the locations.
  const places = stack.replace(message, '').split('\n').slice(1, 12);
  return {
    name,
    message: loggedMessage(error),
    ...(typeof code === 'string' ? { code } : {}),
    stack: places.map((line) => visible(line.trim())),
    ...(types.isNativeError(cause) ? { cause: { name: cause.name, message: loggedMessage(cause) } } : {}),
  };
}

/** Prisma repeats the arguments of a call in its message; Postgres repeats the value that it cannot parse. */
function loggedMessage({ name, message }: Error): string {
  const text = name === 'PrismaClientValidationError' ? message.replace(/\{\n.*\n\}/s, '{ ... }') : message;
  return visible(text.trim().replace(/: ".*"/gs, ': "..."'));
}

/** Bidirectional and other invisible characters could make one text look like another. */
function visible(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/[^\P{C}\n]|[\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
