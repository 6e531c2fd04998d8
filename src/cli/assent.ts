#!/usr/bin/env node
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { UsageError } from '../errors.js';
import { profileNames } from '../origins/origin.js';

/**
 * The command line. Arguments are parsed here and handed to one command; what a command returns becomes the exit code,
 * and a UsageError becomes exit code 2. Commands load what they need themselves: `demo` runs a whole registry,
 * `receiver` a webhook; `token` and `validate` use a single part of the registry without a database.
 */

type Options = Record<string, { type: 'string'; default: string | string[]; multiple?: true }>;
type Values = Record<string, string | string[] | boolean | undefined>;

interface Command {
  usage: string;
  options: Options;
  takesFiles?: true;
  /** Resolves with the exit code. What it needs is loaded by it: the others, and the help, need nothing of that. */
  run(values: Values, files: string[]): Promise<number>;
}

const text = (value: string) => ({ type: 'string' as const, default: value });

const commands: Record<string, Command> = {
  token: {
    usage: `  token --scope SCOPE [--tenant NAME] [--subscriber NAME] [--minutes N]
      Prints a token of the development issuer, whose key is in the data folder (ASSENT_DATA, .assent).
      Scopes: assent:subscribe, assent:admin, assent:deliver, assent:credentials; several with commas or by repeating the option.
      What is left out: --tenant demo --subscriber developer --minutes 60.
`,
    options: {
      scope: { type: 'string', multiple: true, default: [] },
      tenant: text('demo'),
      subscriber: text('developer'),
      minutes: text('60'),
    },
    async run({ scope, tenant, subscriber, minutes }) {
      const scopes = (scope as string[]).flatMap((each) => each.split(/[ ,]+/));
      const who = { tenant: tenant as string, subscriber: subscriber as string };
      const { createToken } = await import('./create-token.js');
      process.stdout.write(`${await createToken({ ...who, scopes, minutes: Number(minutes) }, process.env)}\n`);
      return 0;
    },
  },
  validate: {
    usage: `  validate FILE... [--profile NAME]
      Holds events against a profile: cloudevents (if none is named), nl-gov, intg-std-015 or belgif. A file is one event, or a
      batch of them, in the JSON format; - is the standard input. Exit codes: 0 valid (warnings may be printed), 1 not valid,
      2 not understood or a file not read.
`,
    options: { profile: text('cloudevents') },
    takesFiles: true,
    async run(values, files) {
      const profile = profileNames.find((name) => name === values['profile']);
      if (profile === undefined) throw new UsageError(`--profile takes one of ${profileNames.join(', ')}.`);
      if (files.length === 0) throw new UsageError('Name at least one file.');
      const { validateFiles } = await import('./validate-files.js');
      const { lines, faults, unreadable } = await validateFiles(files, profile);
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
      process.stderr.write(unreadable.map((line) => `${line}\n`).join(''));
      return unreadable.length > 0 ? 2 : faults > 0 ? 1 : 0;
    },
  },
  demo: {
    usage: `  demo
      Tells the whole story on this machine with real traffic, in under a minute.
`,
    options: {},
    async run() {
      const { runDemo } = await import('./demo.js');
      return runDemo();
    },
  },
  receiver: {
    usage: `  receiver [--port N]
      Runs a webhook on https://localhost:8443 to try the registry with, and prints what it is asked, until it is stopped.
      /events consents, /later keeps its answer back, /closed allows somebody else. The registry believes its certificate
      if ASSENT_SINK_CA_FILE is the file receiver-ca.pem in the data folder.
`,
    options: { port: text('8443') },
    async run({ port }) {
      if (!/^\d{1,5}$/.test(String(port)) || Number(port) > 65_535) {
        throw new UsageError('--port takes a number from 0 to 65535; 0 takes a free one.');
      }
      const { startReceiver } = await import('./receiver.js');
      const write = (lines: string) => void process.stdout.write(lines);
      const receiver = await startReceiver({ port: Number(port), env: process.env, write });
      await new Promise((stop) => process.once('SIGINT', stop).once('SIGTERM', stop));
      await receiver.stop();
      return 0;
    },
  },
};

const usage = `Usage: assent <command>

${Object.values(commands)
  .map((command) => command.usage)
  .join('\n')}
  --help prints this, behind a command what is about it; --version the version.
`;

/** Exit codes: 0 done, 1 failed, 2 not understood. */
async function main([name, ...rest]: string[]): Promise<number> {
  if (name === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  if (['help', '--help', '-h'].includes(name)) {
    process.stdout.write(usage);
    return 0;
  }
  if (name === '--version') {
    const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    process.stderr.write(`There is no command ${name}.\n\n${usage}`);
    return 2;
  }
  const help = { type: 'boolean', short: 'h', default: false } as const;
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: command.takesFiles ?? false,
    options: { ...command.options, help },
  });
  if (values.help) {
    process.stdout.write(`Usage: assent\n\n${command.usage}`);
    return 0;
  }
  return command.run(values, positionals);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that goes away, as `head` does, has read what it wanted.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
});
main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof TypeError || error instanceof UsageError ? 2 : 1;
  },
);
