import express, { type Express, type Request, type Response } from 'express';
import { Registry } from 'prom-client';

/** What must hold for requests to be sent here; each rejects or gives a reason if it does not. */
export type ReadinessCheck = () => Promise<string | undefined>;

export interface OperationsSettings {
  metrics: Registry;
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** Those of them that look-ups and matches need; they wait for nothing. */
  readChecks: readonly string[];
  /** Milliseconds for each check. */
  timeoutMs: number;
  /** From then on every answer is the last one of its connection. */
  stopping: AbortSignal;
}

/**
 * For whoever runs the service, on a listener of its own that nobody else reaches: `/livez` (the process is running),
 * `/readyz` (503 and the reason while something is missing), `/readyz/reads` (the same for what is answered from
 * memory, so that an outage of the database does not take all processes out of a balancer), `/metrics` (Prometheus).
 */
export function createOperationsApp({ metrics, checks, readChecks, timeoutMs, stopping }: OperationsSettings): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    if (stopping.aborted) response.set('Connection', 'close');
    next();
  });
  app.get('/livez', (_request, response) => void response.json({ status: 'live' }));
  const reads = Object.entries(checks).filter(([name]) => readChecks.includes(name));
  const answer = (wanted: Array<[string, ReadinessCheck]>) => async (_request: Request, response: Response) => {
    const results = await Promise.all(
      wanted.map(async ([name, check]) => [name, (await failureOf(check, timeoutMs)) ?? 'ok'] as const),
    );
    const isReady = results.every(([, result]) => result === 'ok');
    response
      .status(isReady ? 200 : 503)
      .json({ status: isReady ? 'ready' : 'not ready', checks: Object.fromEntries(results) });
  };
  app.get('/readyz', answer(Object.entries(checks)));
  app.get('/readyz/reads', answer(reads));
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.metrics());
  });
  return app;
}

/** For a process that is not there yet: it may have to migrate for longer than a liveness probe has patience. */
export function createStartingApp(): Express {
  const checks = { process: async () => 'starting' };
  const { signal: stopping } = new AbortController();
  return createOperationsApp({ metrics: new Registry(), checks, readChecks: ['process'], timeoutMs: 1_000, stopping });
}

/** Causes are for the log; here stands what is wrong and not why. */
async function failureOf(check: ReadinessCheck, timeoutMs: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => (timer = setTimeout(resolve, timeoutMs, 'no answer in time')));
  try {
    return await Promise.race([check(), late]);
  } catch {
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}
