import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { Registry } from 'prom-client';
import { until } from '../../base/until.js';
import { RegistryError } from '../../base/errors.js';
import { uuidv7 } from '../../base/files/ids.js';
import { problemOf } from '../../base/problem.js';

/** A condition for receiving requests. Rejects, or resolves to a reason, if it is not met. */
type ReadinessCheck = () => Promise<string | undefined>;

interface OperationsSettings {
  metrics: Registry;
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** The checks that look-ups and matches need; they wait for nothing. */
  readChecks: readonly string[];
  /** The checks that say nothing while others, which are named, are not met. */
  needs?: Readonly<Record<string, readonly string[]>>;
  /** What an operator should look at although everything works; called after the checks. */
  warnings?: () => string[];
  /** Milliseconds for each check. */
  timeoutMs: number;
  /** When it fires, every response closes its connection. */
  stopping: AbortSignal;
}

/**
 * For operators, on a separate listener that nobody else can reach: `/livez` (the process is running), `/readyz` (503
 * and the reason while something is missing), `/readyz/reads` (the same for requests that are answered from memory, so
 * that an outage of the database does not take all processes out of a load balancer), `/metrics` (Prometheus).
 */
export function createOperationsApp(settings: OperationsSettings): Express {
  const { metrics, checks, readChecks, needs = {}, warnings = () => [], timeoutMs, stopping } = settings;
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    if (stopping.aborted) response.set('Connection', 'close');
    next();
  });
  app.get('/livez', (_request, response) => void response.json({ status: 'live' }));
  const reads = Object.entries(checks).filter(([name]) => readChecks.includes(name));
  const answer = (wanted: Array<[string, ReadinessCheck]>) => async (_request: Request, response: Response) => {
    const found = new Map(
      await Promise.all(
        wanted.map(async ([name, check]) => [name, (await failureOf(check, timeoutMs)) ?? 'ok'] as const),
      ),
    );
    const isKnown = (name: string) => (needs[name] ?? []).every((other) => (found.get(other) ?? 'ok') === 'ok');
    const results = [...found].map(([name, result]) => [name, isKnown(name) ? result : 'unknown'] as const);
    const isReady = results.every(([, result]) => result === 'ok');
    const warned = warnings();
    response.status(isReady ? 200 : 503).json({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results),
      ...(warned.length > 0 ? { warnings: warned } : {}),
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
    throw new RegistryError('method_not_allowed', 'This resource supports GET.');
  });
  app.use(() => {
    throw new RegistryError('not_found', `This listener only serves ${paths.join(', ')}.`);
  });
  app.use(answerProblem);
  return app;
}

/** Express recognizes an error handler by its four parameters. */
const answerProblem: ErrorRequestHandler = (thrown: unknown, _request, response, next) => {
  if (response.headersSent) return next(thrown);
  const error =
    thrown instanceof RegistryError
      ? thrown
      : thrown instanceof URIError
        ? new RegistryError('invalid_request', 'The path cannot be decoded.')
        : new RegistryError('internal', 'Collecting the metrics failed.');
  const requestId = uuidv7();
  const problem = problemOf(error, requestId);
  response.status(problem.status).set('X-Request-Id', requestId).type('application/problem+json');
  response.send(JSON.stringify(problem));
};

/** For a process that is still starting: its migrations may take longer than a liveness probe allows. */
export function createStartingApp(): Express {
  const checks = { process: async () => 'starting' };
  const { signal: stopping } = new AbortController();
  return createOperationsApp({ metrics: new Registry(), checks, readChecks: ['process'], timeoutMs: 1_000, stopping });
}

/** What is wrong, without the cause: causes are for the log. */
async function failureOf(check: ReadinessCheck, timeoutMs: number): Promise<string | undefined> {
  const work = check().then(
    (failure) => ({ failure }),
    () => ({ failure: 'failed' }),
  );
  const result = await until(work, { ms: timeoutMs });
  return result === undefined ? 'no answer in time' : result.failure;
}
