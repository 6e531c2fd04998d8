#!/usr/bin/env node
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../base/errors.js';
import { scopes } from '../../base/contract/principal.js';
import { profileNames, type Profile } from '../../consent/origin.js';
import { checkCommand } from './check/check-command.js';
import { choice, flag, list, portOf, text, untilStopped, type Commands } from './command.js';
import { runCommandLine } from './command-line.js';
import { completionCommand } from './completion-command.js';
import { conformanceCommand } from './conformance/conformance-command.js';
import { listenCommand } from './check/listen-command.js';
import { loginCommand, logoutCommand, whoamiCommand } from './login/login-commands.js';
import { developmentUrlOf } from './resources/registry.js';
import { resourceCommands } from './resources/resource-commands.js';
import { languages } from '../../base/texts/text.js';
import { version } from '../../base/version.js';

const whoOptions = {
  tenant: text('NAME', 'The tenant', { default: 'demo' }),
  subscriber: text('NAME', 'The subscriber', { default: 'developer' }),
};

/**
 * The table of commands. Commands load what they need themselves: `try` runs a whole registry, `receiver` a webhook; `token` and `events check` use a single part of the registry without a database; those for resources, only the
 * client.
 */
export const commands: Commands = {
  try: {
    group: 'Try it',
    summary: 'Starts a registry and a webhook, and delivers an event.',
    options: {
      port: text('N', 'The port of the registry. 0 is a free one. ASSENT_PORT, PORT or 3000 if absent'),
      'webhook-port': text('N', 'The port of the webhook. 0 is a free one', { default: '8443' }),
      data: text('FOLDER', 'Where the data is, which each start makes anew. ASSENT_DATA or .assent/try if absent'),
    },
    notes: `It registers a subscription, matches an event and delivers it. The registry and the webhook run until you press
      Ctrl-C. .assent/try/env signs your shell in. Also read: ASSENT_SINK_PORTS, ASSENT_ALLOWED_NETWORKS,
      ASSENT_DENIED_NETWORKS, ASSENT_DNS_SERVERS, ASSENT_OPERATOR and ASSENT_CONTACT.`,
    examples: ['assent try', 'assent try --port 0 --webhook-port 0'],
    async run(values, _, { env: given }) {
      const { runTry } = await import('./try/try.js');
      const env = values['data'] === '' ? given : { ...given, ASSENT_DATA: values['data'] as string };
      const portFrom = values['port'] ? '--port' : (['ASSENT_PORT', 'PORT'].find((name) => env[name]) ?? '--port');
      const port = portOf({ port: values['port'] || env[portFrom] || '3000' }, 'port', portFrom);
      return runTry({ port, portFrom, webhookPort: portOf(values, 'webhook-port'), env });
    },
  },
  token: {
    group: 'Try it',
    summary: 'Prints a token for development.',
    options: {
      scope: list('SCOPE', `What it permits: ${scopes.join(', ')}`, { required: true }),
      ...whoOptions,
      person: {
        type: 'string',
        value: 'ID',
        help: 'Who signed in to the client. --claim name=NAME is what is shown of them',
      },
      minutes: text('N', 'How long it is valid', { default: '60' }),
      claim: list('NAME=VALUE', 'A claim that subscription rules can name. A name that is repeated is an array'),
    },
    notes: 'Scopes can also be separated with commas. The key that signs it is in ASSENT_DATA, by default .assent.',
    examples: [
      'assent token --scope assent:subscribe',
      'assent token --scope assent:admin,assent:audit --person 7 --claim name=Ada --minutes 5',
    ],
    async run({ scope, tenant, subscriber, person, minutes, claim }, _, { env }) {
      const scopes = (scope as string[]).flatMap((each) => each.split(/[ ,]+/));
      const who = { tenant: tenant as string, subscriber: subscriber as string };
      const { claimsOf, createToken } = await import('./login/create-token.js');
      const claims = claimsOf(claim as string[]);
      const request = { ...who, person: person as string | undefined, scopes, minutes: Number(minutes), claims };
      process.stdout.write(`${await createToken(request, env)}\n`);
      return 0;
    },
  },
  console: {
    group: 'Try it',
    summary: 'Prints a link that opens the console and signs you in.',
    options: {
      scope: list('SCOPE', 'As for "token"', { default: ['assent:admin,assent:subscribe,assent:deliver'] }),
      ...whoOptions,
      url: text('URL', 'Where the registry is. ASSENT_URL, the one of this folder, or http://127.0.0.1:3000 if absent'),
    },
    notes: 'For a development registry. The link signs you in for an hour.',
    examples: ['assent console', 'assent console --scope assent:audit --url http://127.0.0.1:4000'],
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
        operands: {
          'FILE...': { type: 'string', help: 'An event or a batch, in the JSON format; - is standard input' },
        },
        options: { profile: choice(profileNames, 'cloudevents', 'The profile') },
        notes: `Exit codes: 0 valid, maybe with warnings; 1 not valid; 2 the command or a file cannot be read.`,
        examples: ['assent events check event.json', 'assent events check - --profile nl-gov < event.json'],
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
    options: {
      origin: text('NAME', 'The origin of the notices, which subscribers subscribe to', { required: true }),
      registry: text('URL', 'Where the registry is. As for "console" if absent'),
      source: text('URI', "The source of the notices. The registry's URL if absent"),
      'type-prefix': text('TEXT', 'What the types of the notices begin with'),
      language: choice(languages, 'en', 'The language of the notices'),
      hours: text('N', 'How long a notice is retried', { default: '24' }),
      tenant: text('NAME', 'The tenant of the token for development', { default: 'demo' }),
      data: text('FOLDER', 'Where notices wait. A folder in ASSENT_DATA if absent'),
    },
    notes: `Token: NOTIFY_TOKEN_FILE, or NOTIFY_TOKEN_URL with NOTIFY_CLIENT_ID, NOTIFY_CLIENT_SECRET and, as the issuer wants,
      NOTIFY_TOKEN_SCOPE (empty: none is asked for) and NOTIFY_TOKEN_AUDIENCE; in development it is made here. NOTIFY_REGISTRY_CA_FILE is the authority of the registry's certificate. ASSENT_ALLOWED_NETWORKS,
      ASSENT_DENIED_NETWORKS, ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE, ASSENT_DNS_SERVERS, ASSENT_LOG_LEVEL,
      ASSENT_EGRESS_PROXY, ASSENT_EGRESS_PROXY_CA_FILE and ASSENT_EGRESS_NO_PROXY are those of the registry.`,
    examples: [
      'assent notify --origin notices.example.org',
      'assent notify --origin notices.example.org --registry https://assent.example.org --language nl',
    ],
    async run(given, _, { env }) {
      const { notify } = await import('./notify.js');
      const values = { ...given, registry: given['registry'] || env['ASSENT_URL'] || (await developmentUrlOf(env)) };
      return untilStopped((stop) => notify(values as unknown as Parameters<typeof notify>[0], env, stop));
    },
  },
  egress: {
    group: 'Senders and webhooks',
    summary: 'Delivers for senders that cannot be changed: they post to it instead of to the webhook.',
    options: {
      registry: text('URL', 'Where the registry is; several processes with commas. As for "console" if absent'),
      listen: text('HOST:PORT', 'Where senders post', { default: '127.0.0.1:3080' }),
      operations: text('HOST:PORT', 'Where health and metrics are', { default: '127.0.0.1:3081' }),
      tenant: text('NAME', "The tenant of callers' tokens, and of the token for development", { default: 'demo' }),
      data: text('FOLDER', 'Where what it knows of the registry is kept for the next start. In memory only if absent'),
      'max-body': text('BYTES', 'The largest request', { default: '1048576' }),
      'in-flight': text('N', 'How many deliveries are in progress at most; of several callers, one has half of them', {
        default: '256',
      }),
      deadline: text('SECONDS', 'How long a webhook may take; at most ASSENT_STOP_SECONDS', { default: '10' }),
    },
    notes: `Post to /https/HOST[:PORT]/path, or send X-Original-URL. EGRESS_CALLERS, or EGRESS_CALLERS_FILE, is the list of
      callers as JSON; ASSENT_ISSUERS and EGRESS_ORIGIN_CLAIM accept tokens. Token for the registry: EGRESS_TOKEN_FILE, or
      EGRESS_TOKEN_URL with EGRESS_CLIENT_ID, EGRESS_CLIENT_SECRET and, as the issuer wants, EGRESS_TOKEN_SCOPE (empty: none is
      asked for) and EGRESS_TOKEN_AUDIENCE; in development it is made here.
      EGRESS_REGISTRY_CA_FILE is the authority of the registry's certificate. ASSENT_ALLOWED_NETWORKS,
      ASSENT_DENIED_NETWORKS, ASSENT_SINK_PORTS, ASSENT_SINK_CA_FILE, ASSENT_DNS_SERVERS, ASSENT_LOG_LEVEL,
      ASSENT_EGRESS_PROXY, ASSENT_EGRESS_PROXY_CA_FILE, ASSENT_EGRESS_NO_PROXY and ASSENT_STOP_SECONDS are those of the
      registry.`,
    examples: ['assent egress', 'assent egress --registry https://assent.example.org --listen 0.0.0.0:3080'],
    async run(given, _, { env, stderr }) {
      const { egress } = await import('./egress.js');
      const values = { ...given, registry: given['registry'] || env['ASSENT_URL'] || (await developmentUrlOf(env)) };
      const say = (lines: string) => void stderr.write(lines);
      return untilStopped((stop) => egress(values as unknown as Parameters<typeof egress>[0], env, stop, say));
    },
  },
  receiver: {
    group: 'Senders and webhooks',
    summary: 'Runs a webhook, and prints what it is asked.',
    options: { port: text('N', 'Where to listen; 0 is a free port', { default: '8443' }) },
    notes: `It is the webhook of "try", for a registry that you start yourself with
      ASSENT_SINK_CA_FILE=.assent/receiver-ca.pem, so that it trusts the certificate, and with
      ASSENT_ALLOWED_NETWORKS=127.0.0.0/8, so that it may connect to your machine.`,
    examples: ['assent receiver', 'assent receiver --port 0'],
    async run(values, _, { env }) {
      const { describePaths, report, startReceiver } = await import('./try/webhook.js');
      const { readConfig } = await import('../../registry/app/config.js');
      const write = (lines: string) => void process.stdout.write(lines);
      const { dataFolder: folder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
      const onExchange = (exchange: Parameters<typeof report>[0]) => write(report(exchange));
      const receiver = await startReceiver({ port: portOf(values, 'port'), folder, onExchange });
      write(`The receiver listens on ${receiver.url}; its certificate authority is ${receiver.caFile}\n`);
      write(`${describePaths(receiver.url, receiver.callbackFile)}\n`);
      await untilStopped((stop) => once(stop, 'abort'));
      await receiver.stop();
      return 0;
    },
  },
  health: {
    group: 'Operators',
    summary: 'Checks whether the registry on this machine is ready.',
    options: {
      reads: flag('Request /readyz/reads: whether it can respond from memory, even while the database is away'),
      seconds: text('N', 'How long to wait for a response', { default: '4' }),
    },
    notes: `It requests /readyz of the listener for operations (ASSENT_OPERATIONS_HOST and ASSENT_OPERATIONS_PORT, by default
      127.0.0.1:3001) and prints what is missing. Exit codes: 0 ready; 1 not ready, or no response.`,
    examples: ['assent health', 'assent health --reads --seconds 2'],
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
    options: { check: flag('Change nothing, and print what is pending') },
    notes: `Set DATABASE_URL to the URL of the user who owns the tables. Needs no other setting, and downloads nothing.
      Commands that run at the same time wait for one another. Exit codes: 0 nothing is pending any more; 1 migrations are
      pending (--check), or cannot be applied; 2 wrong usage; 3 the database does not respond, or refuses the user.`,
    examples: ['assent migrate', 'assent migrate --check'],
    async run({ check }, _, io) {
      const { runMigrate } = await import('./operate/migrate.js');
      return runMigrate({ isCheck: check === true }, io);
    },
  },
  doctor: {
    group: 'Operators',
    summary: 'Checks the settings, the database and the issuers, without serving.',
    options: {},
    notes: `It has the settings that the process has, and checks them; the database, its migrations and the rights of its user;
      whether the keys of the issuers can be fetched, and are for the algorithms of the settings; and, with the settings of
      "egress" or "notify" in the environment, whether these get a token. It changes nothing, and may run beside a process. Exit codes:
      0 a process can start and work; 1 it cannot, and a line says why.`,
    examples: ['assent doctor', 'DATABASE_URL=postgres://assent@db.example.org/assent assent doctor'],
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
