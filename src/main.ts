import { constants } from 'node:os';
import { resolve } from 'node:path';
import { readConfig } from './registry/app/config.js';
import { SetupError } from './base/errors.js';
import { createLog } from './registry/http/log.js';
import { createStartingApp } from './registry/probes/probes.js';
import { closeServer, serve } from './registry/http/server.js';
import { createService } from './registry/app/service.js';

/** What `assent console` makes a link for, if it is given no URL. */
const usualUrl = 'http://127.0.0.1:3000';

/** The process: reads the configuration, creates the service, starts it, and stops it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
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

  const lines = {
    'Start page': `${url}/`,
    Console: `${url}/console`,
    Health: `${operationsUrl}/readyz`,
    Metrics: `${operationsUrl}/metrics`,
    Data: service.database.place,
    ...(config.tokens.developmentIssuer && {
      'Sign in': `${dataOf(config)}npx assent console${url === usualUrl ? '' : ` --url ${url}`}`,
      'Get a token': `${dataOf(config)}npx assent token --scope assent:admin`,
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

/** What the command needs to find the key, if the data folder is not the default one. */
function dataOf({ dataFolder }: { dataFolder: string }): string {
  return dataFolder === resolve('.assent') ? '' : `ASSENT_DATA=${dataFolder} `;
}

main().catch((error: unknown) => {
  const isForPeople = error instanceof SetupError;
  const text = isForPeople ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
