#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { UsageError } from '../errors.js';
import { profileNames } from '../origins/origin.js';
import { checkCommand } from './check-command.js';
import { portOf, text, type Command } from './command.js';
import { conformanceCommand } from './conformance-command.js';
import { listenCommand } from './listen-command.js';
import { version } from './version.js';

/**
 * The command line. Arguments are parsed here and passed to one command. It returns the exit code; a UsageError becomes
 * exit code 2. Commands load what they need themselves: `try` and `demo` run a whole registry, `receiver` a webhook;
 * `token` and `validate` use a single part of the registry without a database.
 */

const commands: Record<string, Command> = {
  try: {
    usage: `  try [--port N] [--webhook-port N] [--data FOLDER]
      Starts a registry on http://127.0.0.1:3000 and a webhook on https://localhost:8443, registers a subscription,
      matches an event and delivers it. Both keep running until you press Ctrl-C. The data is in .assent/try, which each
      start makes anew; .assent/try/env sets the tokens for your shell. Port 0 means a free port.
`,
    options: { port: text('3000'), 'webhook-port': text('8443'), data: text('') },
    async run(values) {
      const { runTry } = await import('./try.js');
      const env = values['data'] === '' ? process.env : { ...process.env, ASSENT_DATA: values['data'] as string };
      return runTry({ port: portOf(values, 'port'), webhookPort: portOf(values, 'webhook-port'), env });
    },
  },
  demo: {
    usage: `  demo
      Shows everything that can happen to a consent, with real traffic, in a few seconds. It leaves nothing behind.
`,
    options: {},
    async run() {
      const { runDemo } = await import('./demo.js');
      return runDemo(process.env);
    },
  },
  token: {
    usage: `  token --scope SCOPE [--tenant NAME] [--subscriber NAME] [--minutes N] [--claim NAME=VALUE]
      Prints a token for development. The key that signs it is in the data folder (ASSENT_DATA, by default .assent).
      Scopes: assent:subscribe, assent:admin, assent:deliver, assent:credentials, assent:audit,
      assent:block.
      Separate several with commas, or repeat the option. Defaults: --tenant demo --subscriber developer --minutes 60.
      --claim adds a claim that subscription rules can name. Repeat a name to make an array.
`,
    options: {
      scope: { type: 'string', multiple: true, default: [] },
      tenant: text('demo'),
      subscriber: text('developer'),
      minutes: text('60'),
      claim: { type: 'string', multiple: true, default: [] },
    },
    async run({ scope, tenant, subscriber, minutes, claim }) {
      const scopes = (scope as string[]).flatMap((each) => each.split(/[ ,]+/));
      const who = { tenant: tenant as string, subscriber: subscriber as string };
      const { claimsOf, createToken } = await import('./create-token.js');
      const request = { ...who, scopes, minutes: Number(minutes), claims: claimsOf(claim as string[]) };
      process.stdout.write(`${await createToken(request, process.env)}\n`);
      return 0;
    },
  },
  console: {
    usage: `  console [--scope SCOPE] [--tenant NAME] [--subscriber NAME] [--url URL]
      Prints a link that opens the console of a development registry and signs you in for an hour, by default as an admin
      who may also subscribe. Options are as for "token"; --url is where the registry is, http://127.0.0.1:3000 by default.
`,
    options: {
      scope: { type: 'string', multiple: true, default: ['assent:admin,assent:subscribe,assent:deliver'] },
      tenant: text('demo'),
      subscriber: text('developer'),
      url: text('http://127.0.0.1:3000'),
    },
    async run(values) {
      const { createToken } = await import('./create-token.js');
      const scopes = [values['scope']].flat().flatMap((each) => String(each).split(','));
      const who = { tenant: String(values['tenant']), subscriber: String(values['subscriber']) };
      const url = String(values['url']);
      if (!URL.canParse(url)) throw new UsageError('--url must be a URL.');
      const token = await createToken({ ...who, scopes, minutes: 60 }, process.env);
      const address = new URL('console', url.endsWith('/') ? url : `${url}/`);
      // A fragment never leaves the browser, and the console removes it at once.
      address.hash = new URLSearchParams({ token }).toString();
      process.stdout.write(`${address.href}\n`);
      return 0;
    },
  },
  check: checkCommand,
  listen: listenCommand,
  validate: {
    usage: `  validate FILE... [--profile NAME]
      Checks events against a profile: cloudevents (the default), nl-gov, intg-std-015 or belgif. A file is one event or
      a batch, in the JSON format; - is standard input. Exit codes: 0 valid, maybe with warnings; 1 not valid; 2 the
      command or a file cannot be read.
`,
    options: { profile: text('cloudevents') },
    takesFiles: true,
    async run(values, files) {
      const profile = profileNames.find((name) => name === values['profile']);
      if (profile === undefined) throw new UsageError(`--profile must be one of ${profileNames.join(', ')}.`);
      if (files.length === 0) throw new UsageError('Name at least one file.');
      const { validateFiles } = await import('./validate-files.js');
      const { lines, faults, unreadable } = await validateFiles(files, profile);
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
      process.stderr.write(unreadable.map((line) => `${line}\n`).join(''));
      return unreadable.length > 0 ? 2 : faults > 0 ? 1 : 0;
    },
  },
  conformance: conformanceCommand,
  notify: {
    usage: `  notify --origin NAME [--registry URL] [--source URI] [--type-prefix TEXT] [--language en|nl]
         [--hours N] [--data FOLDER] [--tenant NAME]
      Sends notices: tells each subscriber what happens to its subscriptions, at the webhooks that it subscribed to this
      origin. Defaults: --registry http://127.0.0.1:3000 --language en --hours 24, the registry's URL as source, and a
      folder in ASSENT_DATA. Token: NOTIFY_TOKEN_FILE, or NOTIFY_TOKEN_URL with NOTIFY_CLIENT_ID and
      NOTIFY_CLIENT_SECRET; in development it is made here, for --tenant demo. NOTIFY_REGISTRY_CA_FILE is the authority of
      the registry's certificate. ASSENT_ALLOWED_NETWORKS, ASSENT_DENIED_NETWORKS, ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE,
      ASSENT_DNS_SERVERS and ASSENT_LOG_LEVEL are those of the registry.
`,
    options: {
      origin: text(''),
      registry: text('http://127.0.0.1:3000'),
      source: text(''),
      'type-prefix': text(''),
      language: text('en'),
      hours: text('24'),
      tenant: text('demo'),
      data: text(''),
    },
    async run(values) {
      const { notify } = await import('./notify.js');
      const stop = new AbortController();
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)));
      return notify(values as unknown as Parameters<typeof notify>[0], process.env, stop.signal);
    },
  },
  receiver: {
    usage: `  receiver [--port N]
      Runs only the webhook of "try", on https://localhost:8443, for a registry that you start yourself, and prints what
      it is asked. Start the registry with ASSENT_SINK_CA_FILE=.assent/receiver-ca.pem so that it trusts the certificate,
      and with ASSENT_ALLOWED_NETWORKS=127.0.0.0/8 so that it may connect to your machine.
`,
    options: { port: text('8443') },
    async run(values) {
      const { describePaths, report, startReceiver } = await import('./receiver.js');
      const { readConfig } = await import('../config.js');
      const write = (lines: string) => void process.stdout.write(lines);
      const { dataFolder: folder } = readConfig({ ASSENT_DATA: process.env['ASSENT_DATA'] });
      const onExchange = (exchange: Parameters<typeof report>[0]) => write(report(exchange));
      const receiver = await startReceiver({ port: portOf(values, 'port'), folder, onExchange });
      write(`The receiver listens on ${receiver.url}; its certificate authority is ${receiver.caFile}\n`);
      write(`${describePaths(receiver.url, receiver.callbackFile)}\n`);
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
  --help prints this text, or the part about one command: assent try --help. --version prints the version.
`;

/** Exit codes: 0 success, 1 failure, 2 wrong usage. */
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
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    process.stderr.write(`Unknown command: ${name}\n\n${usage}`);
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
  // A reader that leaves, as `head` does, has read enough.
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
