#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../base/errors.js';
import { profileNames, type Profile } from '../../consent/origin.js';
import { checkCommand } from './check/check-command.js';
import { choice, flag, portOf, text, type Commands } from './command.js';
import { runCommandLine } from './command-line.js';
import { completionCommand } from './completion-command.js';
import { conformanceCommand } from './conformance/conformance-command.js';
import { listenCommand } from './check/listen-command.js';
import { loginCommand, logoutCommand, whoamiCommand } from './login/login-commands.js';
import { developmentUrlOf } from './resources/registry.js';
import { resourceCommands } from './resources/resource-commands.js';
import { languages } from '../../base/texts/text.js';
import { version } from '../../base/version.js';

/**
 * The table of commands. Commands load what they need themselves: `try` and `demo` run a whole registry, `receiver` a
 * webhook; `token` and `events check` use a single part of the registry without a database; those for resources, only the
 * client.
 */
export const commands: Commands = {
  try: {
    group: 'Try it',
    summary: 'Starts a registry and a webhook, and delivers an event.',
    usage: `  try [--port N] [--webhook-port N] [--data FOLDER]
      Starts a registry on http://127.0.0.1:3000 and a webhook on https://localhost:8443, registers a subscription,
      matches an event and delivers it. Both keep running until you press Ctrl-C. The data is in .assent/try, which each
      start makes anew; .assent/try/env signs your shell in. Port 0 means a free port. Without --port, ASSENT_PORT and
      PORT choose it. Also read: ASSENT_DATA, ASSENT_SINK_PORTS, ASSENT_ALLOWED_NETWORKS, ASSENT_DENIED_NETWORKS and
      ASSENT_DNS_SERVERS.
`,
    options: { port: text(''), 'webhook-port': text('8443'), data: text('') },
    async run(values, _, { env: given }) {
      const { runTry } = await import('./demo/try.js');
      const env = values['data'] === '' ? given : { ...given, ASSENT_DATA: values['data'] as string };
      const portFrom = values['port'] ? '--port' : (['ASSENT_PORT', 'PORT'].find((name) => env[name]) ?? '--port');
      const port = portOf({ port: values['port'] || env[portFrom] || '3000' }, 'port', portFrom);
      return runTry({ port, portFrom, webhookPort: portOf(values, 'webhook-port'), env });
    },
  },
  demo: {
    group: 'Try it',
    summary: 'Shows everything that can happen to a consent, with real traffic.',
    usage: `  demo
      Shows everything that can happen to a consent, with real traffic, in a few seconds. It leaves nothing behind.
`,
    options: {},
    async run() {
      const { runDemo } = await import('./demo/demo.js');
      return runDemo(process.env);
    },
  },
  token: {
    group: 'Try it',
    summary: 'Prints a token for development.',
    usage: `  token --scope SCOPE [--tenant NAME] [--subscriber NAME] [--person ID] [--minutes N] [--claim NAME=VALUE]
      Prints a token for development. The key that signs it is in the data folder (ASSENT_DATA, by default .assent).
      Scopes: assent:subscribe, assent:admin, assent:deliver, assent:credentials, assent:audit,
      assent:block.
      Separate several with commas, or repeat the option. Defaults: --tenant demo --subscriber developer --minutes 60.
      --person is someone who signed in to the client; --claim name=NAME is what is shown of them.
      --claim adds a claim that subscription rules can name. Repeat a name to make an array.
`,
    options: {
      scope: { type: 'string', multiple: true, default: [] },
      tenant: text('demo'),
      subscriber: text('developer'),
      person: { type: 'string' },
      minutes: text('60'),
      claim: { type: 'string', multiple: true, default: [] },
    },
    async run({ scope, tenant, subscriber, person, minutes, claim }) {
      const scopes = (scope as string[]).flatMap((each) => each.split(/[ ,]+/));
      const who = { tenant: tenant as string, subscriber: subscriber as string };
      const { claimsOf, createToken } = await import('./login/create-token.js');
      const claims = claimsOf(claim as string[]);
      const request = { ...who, person: person as string | undefined, scopes, minutes: Number(minutes), claims };
      process.stdout.write(`${await createToken(request, process.env)}\n`);
      return 0;
    },
  },
  console: {
    group: 'Try it',
    summary: 'Prints a link that opens the console and signs you in.',
    usage: `  console [--scope SCOPE] [--tenant NAME] [--subscriber NAME] [--url URL]
      Prints a link that opens the console of a development registry and signs you in for an hour, by default as an admin
      who may also subscribe. Options are as for "token"; --url is where the registry is. By default it is the one in
      ASSENT_URL, the one that runs with the data folder (ASSENT_DATA, by default .assent), or http://127.0.0.1:3000.
`,
    options: {
      scope: { type: 'string', multiple: true, default: ['assent:admin,assent:subscribe,assent:deliver'] },
      tenant: text('demo'),
      subscriber: text('developer'),
      url: text(''),
    },
    async run(values, _, { env }) {
      const { createToken } = await import('./login/create-token.js');
      const scopes = [values['scope']].flat().flatMap((each) => String(each).split(','));
      const who = { tenant: String(values['tenant']), subscriber: String(values['subscriber']) };
      const url = String(values['url'] || env['ASSENT_URL'] || (await developmentUrlOf(env)));
      if (!URL.canParse(url)) throw new UsageError('--url must be a URL.');
      const token = await createToken({ ...who, scopes, minutes: 60 }, env);
      const address = new URL('console', url.endsWith('/') ? url : `${url}/`);
      // A fragment never leaves the browser, and the console removes it at once.
      address.hash = new URLSearchParams({ token }).toString();
      process.stdout.write(`${address.href}\n`);
      return 0;
    },
  },
  check: checkCommand,
  listen: listenCommand,
  events: {
    group: 'Senders and webhooks',
    summary: 'Checks events against a profile.',
    subcommands: {
      check: {
        summary: 'Checks events against a profile.',
        usage: `  events check FILE... [--profile NAME]
      Checks events against a profile: cloudevents (the default), nl-gov, intg-std-015 or belgif. A file is one event or
      a batch, in the JSON format; - is standard input. Exit codes: 0 valid, maybe with warnings; 1 not valid; 2 the
      command or a file cannot be read.
`,
        options: { profile: choice(profileNames, 'cloudevents') },
        takesFiles: true,
        async run(values, files) {
          const profile = values['profile'] as Profile;
          if (files.length === 0) throw new UsageError('Name at least one file.');
          const { checkFiles } = await import('./check/check-files.js');
          const { lines, faults, unreadable } = await checkFiles(files, profile);
          process.stdout.write(lines.map((line) => `${line}\n`).join(''));
          process.stderr.write(unreadable.map((line) => `${line}\n`).join(''));
          return unreadable.length > 0 ? 2 : faults > 0 ? 1 : 0;
        },
      },
    },
  },
  conformance: conformanceCommand,
  notify: {
    group: 'Senders and webhooks',
    summary: 'Sends notices: tells subscribers what happens to their subscriptions.',
    usage: `  notify --origin NAME [--registry URL] [--source URI] [--type-prefix TEXT] [--language en|nl]
         [--hours N] [--data FOLDER] [--tenant NAME]
      Sends notices: tells each subscriber what happens to its subscriptions, at the webhooks that it subscribed to this
      origin. Defaults: the registry of "console", --language en --hours 24, the registry's URL as source, and a
      folder in ASSENT_DATA. Token: NOTIFY_TOKEN_FILE, or NOTIFY_TOKEN_URL with NOTIFY_CLIENT_ID and
      NOTIFY_CLIENT_SECRET; in development it is made here, for --tenant demo. NOTIFY_REGISTRY_CA_FILE is the authority of
      the registry's certificate. ASSENT_ALLOWED_NETWORKS, ASSENT_DENIED_NETWORKS, ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE,
      ASSENT_DNS_SERVERS, ASSENT_LOG_LEVEL, ASSENT_EGRESS_PROXY, ASSENT_EGRESS_PROXY_CA_FILE and ASSENT_EGRESS_NO_PROXY
      are those of the registry.
`,
    options: {
      origin: text(''),
      registry: text(''),
      source: text(''),
      'type-prefix': text(''),
      language: choice(languages, 'en'),
      hours: text('24'),
      tenant: text('demo'),
      data: text(''),
    },
    async run(given, _, { env }) {
      const { notify } = await import('./notify.js');
      const values = { ...given, registry: given['registry'] || env['ASSENT_URL'] || (await developmentUrlOf(env)) };
      const stop = new AbortController();
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)));
      return notify(values as unknown as Parameters<typeof notify>[0], process.env, stop.signal);
    },
  },
  receiver: {
    group: 'Senders and webhooks',
    summary: 'Runs a webhook, and prints what it is asked.',
    usage: `  receiver [--port N]
      Runs only the webhook of "try", on https://localhost:8443, for a registry that you start yourself, and prints what
      it is asked. Start the registry with ASSENT_SINK_CA_FILE=.assent/receiver-ca.pem so that it trusts the certificate,
      and with ASSENT_ALLOWED_NETWORKS=127.0.0.0/8 so that it may connect to your machine.
`,
    options: { port: text('8443') },
    async run(values) {
      const { describePaths, report, startReceiver } = await import('./demo/webhook.js');
      const { readConfig } = await import('../../registry/app/config.js');
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
  health: {
    group: 'Operators',
    summary: 'Checks whether the registry on this machine is ready.',
    usage: `  health [--reads] [--seconds N]
      Requests /readyz of the listener for operations (ASSENT_OPERATIONS_HOST and ASSENT_OPERATIONS_PORT, by default
      127.0.0.1:3001) and prints what is missing. --reads requests /readyz/reads: whether it can answer from memory, even
      while the database is away. Waits up to 4 seconds for a response. Exit codes: 0 ready; 1 not ready, or no response.
`,
    options: { reads: flag, seconds: text('4') },
    async run({ reads, seconds }, _, io) {
      const timeout = Number(seconds);
      if (!(timeout > 0 && timeout <= 3_600)) throw new UsageError('--seconds must be a number, up to 3600.');
      const { checkHealth } = await import('./operate/health.js');
      return checkHealth({ path: reads === true ? '/readyz/reads' : '/readyz', timeoutMs: timeout * 1_000 }, io);
    },
  },
  migrate: {
    group: 'Operators',
    summary: 'Applies the migrations that the database lacks.',
    usage: `  migrate [--check]
      Applies the migrations that the database of DATABASE_URL lacks, and prints their names. Use the URL of the user who
      owns the tables. Needs no other setting, and downloads nothing. Commands that run at the same time wait for one
      another. --check changes nothing and prints what is pending.
      Exit codes: 0 nothing is pending any more; 1 migrations are pending (--check), or cannot be applied; 2 wrong usage;
      3 the database does not respond, or refuses the user.
`,
    options: { check: flag },
    async run({ check }, _, io) {
      const { runMigrate } = await import('./operate/migrate.js');
      return runMigrate({ isCheck: check === true }, io);
    },
  },
  doctor: {
    group: 'Operators',
    summary: 'Checks the settings, the database and the issuers, without serving.',
    usage: `  doctor
      Checks what a process needs before it serves, with the settings that the process has: the settings themselves; the
      database, its migrations and the rights of its user; and whether the keys of the issuers can be fetched. Changes
      nothing, and may run beside a process. Exit codes: 0 a process can start and work; 1 it cannot, and a line says why.
`,
    options: {},
    async run(_, __, io) {
      const { runDoctor } = await import('./operate/doctor.js');
      return runDoctor(io);
    },
  },
  ...resourceCommands,
  login: loginCommand,
  logout: logoutCommand,
  whoami: whoamiCommand,
  completion: completionCommand(() => commands),
};

async function main(args: string[]): Promise<void> {
  const [name] = args;
  if (name === '--version') {
    process.stdout.write(`${version}\n`);
    return;
  }
  const { stdin, stdout, stderr, env } = process;
  // Output that could not be written has failed, whatever the command says.
  process.exitCode ||= await runCommandLine(commands, args, { stdin, stdout, stderr, env, interrupted });
}

function interrupted(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Error(signal)));
  process.stdout.once('error', (error) => stop.abort(error));
  return stop.signal;
}

// Not when the table is imported.
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that leaves, as `head` does, has read enough.
    if (error.code === 'EPIPE') return;
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exitCode = 1;
  });
  void main(process.argv.slice(2));
}
