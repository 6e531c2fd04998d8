import { constants } from 'node:os';
import { readConfig } from './registry/app/config.js';
import { SetupError } from './base/errors.js';
import { createLog } from './registry/http/log.js';
import { createStartingApp } from './registry/probes/operations-app.js';
import { closeServer, serve } from './registry/http/server.js';
import { createService } from './registry/app/service.js';
import { developmentCommands } from './registry/tokens/development-registry.js';
import { version } from './base/version.js';

const usage = `Usage: node dist/main.js

Serves the registry. It takes no arguments: settings are variables of the environment (docs/operate/configuration.md),
such as ASSENT_PORT=4000. "npx assent --help" lists the commands.
`;

/** Writes what was asked for instead of a registry, and returns the exit code; undefined if nothing was. */
function answerArguments([argument]: readonly string[]): number | undefined {
  if (argument === undefined) return undefined;
  const known: Record<string, string> = { '--help': usage, '-h': usage, '--version': `${version}\n` };
  const text = Object.hasOwn(known, argument) ? known[argument] : undefined;
  (text === undefined ? process.stderr : process.stdout).write(text ?? `Unknown argument: ${argument}\n\n${usage}`);
  return text === undefined ? 2 : 0;
}

/** The process: reads the configuration, creates the service, starts it, and stops it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const code = answerArguments(process.argv.slice(2));
  if (code !== undefined) return void (process.exitCode = code);
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  // Until there is something to stop. The first process of a container ignores a signal without a listener.
  let stop = (signal: NodeJS.Signals): void => {
    // eslint-disable-next-line no-restricted-properties -- What is being opened listens to no signal.
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));

  // If it cannot listen, the start reports why.
  const starting = await serve(createStartingApp(), config.operations.port, config.operations.host).catch(
    () => undefined,
  );
  const service = await createService({ config, log }).finally(async () => starting && closeServer(starting, 0));
  const { url, operationsUrl } = await service.start().catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });

  let isStopping = false;
  stop = (signal) => {
    // npm sends the signal of the terminal a second time; stopping is limited in time anyway.
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'stopping');
    service.stop().then(
      () => log.info('stopped'),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exitCode = 1;
      },
    );
  };

  const commands = developmentCommands(config.dataFolder, url);
  const lines = {
    'Start page': `${url}/`,
    Console: `${url}/console`,
    Health: `${operationsUrl}/readyz`,
    Metrics: `${operationsUrl}/metrics`,
    Data: service.database.place,
    ...(config.tokens.developmentIssuer && {
      'Sign in': commands.console,
      'Get a token': `${commands.token} --scope assent:admin`,
    }),
    ...(!config.production && {
      Next: 'docs/quickstart.md; or stop this with Ctrl-C and see it work: npm run try',
    }),
    ...(config.publicUrl === undefined &&
      config.database.replicaUrl === undefined && {
        Callbacks: 'off; set ASSENT_PUBLIC_URL so that webhooks can decide later',
      }),
  };
  const text = Object.entries(lines).map(([name, value]) => `  ${name.padEnd(12)} ${value}\n`);
  process.stderr.write(`Assent listens on ${url}\n${text.join('')}`);
}

main().catch((error: unknown) => {
  const isForPeople = error instanceof SetupError;
  const text = isForPeople ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
