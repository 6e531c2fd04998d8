import { constants } from 'node:os';
import { resolve } from 'node:path';
import { readConfig } from './config.js';
import { SetupError } from './errors.js';
import { createLog } from './http/log.js';
import { createStartingApp } from './http/operations.js';
import { closeServer, serve } from './http/server.js';
import { createService } from './service.js';

/** The process: reads the configuration, creates the service, starts it, and stops it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  // Until there is something to stop. The first process of a container ignores a signal that nobody listens to.
  let stop = (signal: NodeJS.Signals): void => {
    // eslint-disable-next-line no-restricted-properties -- What is being opened has no signal to end by.
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));

  // Why it cannot listen is told by the start.
  const starting = await serve(createStartingApp(), config.operationsPort, config.operationsHost).catch(
    () => undefined,
  );
  const service = await createService({ config, log }).finally(async () => starting && closeServer(starting, 0));
  const { url, operationsUrl } = await service.start().catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });

  let isStopping = false;
  stop = (signal) => {
    // npm passes on the signal that the terminal has sent to everybody already; stopping is limited in time anyway.
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

  process.stderr.write(
    [
      `Assent listens on ${url} (documentation: ${url}/docs); health and metrics on ${operationsUrl}`,
      `Data: ${service.database.place}`,
      ...(config.developmentIssuer ? [`A token: ${dataOf(config)}npx assent token --scope assent:admin`] : []),
      ...(config.publicUrl === undefined && config.replicaUrl === undefined
        ? ['No callback is offered to webhooks: ASSENT_PUBLIC_URL is not set']
        : []),
      '',
    ].join('\n'),
  );
}

/** What the command needs to find the key, where it is not in the usual folder. */
function dataOf({ dataFolder }: { dataFolder: string }): string {
  return dataFolder === resolve('.assent') ? '' : `ASSENT_DATA=${dataFolder} `;
}

main().catch((error: unknown) => {
  const isForPeople = error instanceof SetupError;
  const text = isForPeople ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
