import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { Registry } from 'prom-client';
import { RegistryError } from '../errors.js';
import { uuidv7 } from '../storage/ids.js';
import { problemOf } from './problem.js';

/** What must hold for requests to be sent here; each rejects or gives a reason if it does not. */
export type ReadinessCheck = () => Promise<string | undefined>;

export interface OperationsSettings {
  metrics: Registry;
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** Those of them that look-ups and matches need; they wait for nothing. */
  readChecks: readonly string[];
  /** What an operator should look at although everything works; read after the checks. */
  warnings?: () => string[];
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
export function createOperationsApp(settings: OperationsSettings): Express {
  const { metrics, checks, readChecks, warnings = () => [], timeoutMs, stopping } = settings;
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
    const found = warnings();
    response.status(isReady ? 200 : 503).json({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results),
      ...(found.length > 0 ? { warnings: found } : {}),
    });
  };
  app.get('/readyz', answer(Object.entries(checks)));
  app.get('/readyz/reads', answer(reads));
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.metrics());
  });
  const paths = ['/livez', '/readyz', '/readyz/reads', '/metrics'];
  app.all(paths, (_request, response) => {
    response.set('Allow', 'GET, HEAD');
    throw new RegistryError('method_not_allowed', 'This resource has GET.');
  });
  app.use(() => {
    throw new RegistryError('not_found', `This listener has ${paths.join(', ')}, and nothing else.`);
  });
  app.use(answerProblem);
  return app;
}

/** Express gives an error handler four parameters. */
const answerProblem: ErrorRequestHandler = (thrown: unknown, _request, response, next) => {
  if (response.headersSent) return next(thrown);
  const error =
    thrown instanceof RegistryError
      ? thrown
      : thrown instanceof URIError
        ? new RegistryError('invalid_request', 'The path could not be read.')
        : new RegistryError('internal', 'The metrics could not be collected.');
  const requestId = uuidv7();
  const problem = problemOf(error, requestId);
  response.status(problem.status).set('X-Request-Id', requestId).type('application/problem+json');
  response.send(JSON.stringify(problem));
};

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
