import { once } from 'node:events';
import type { Server } from 'node:http';
import { SetupError, UsageError } from '../../base/errors.js';
import { openTracing } from '../../base/tracing.js';
import { version } from '../../base/version.js';
import { createSender } from '../../kits/sender/index.js';
import { createTrustedRoute } from '../../outbound/trusted-route.js';
import { createLog } from '../../registry/http/log.js';
import { closeServer, createRefuseUnread, serve, urlOf } from '../../registry/http/server.js';
import { createOperationsApp } from '../../registry/probes/operations-app.js';
import { openIssuers } from '../../registry/tokens/issuers.js';
import { Callers } from '../egress/callers.js';
import { Egress } from '../egress/egress.js';
import { EgressMetrics } from '../egress/metrics.js';
import { Places } from '../egress/places.js';
import { readEgressSettings, registriesOf } from './sender-settings.js';
import { SenderToken } from './sender-token.js';

export interface EgressOptions {
  registry: string;
  listen: string;
  operations: string;
  tenant: string;
  data: string;
  'max-body': string;
  'in-flight': string;
  deadline: string;
}

/** Longer, and it takes no part in deliveries to limited rates. */
const registryAwaySeconds = 60;
const checkMs = 2_000;

/**
 * Delivers for senders that cannot be changed, until the signal fires. `say` gets the addresses. Throws a UsageError or a
 * SetupError for people, and AssentError if the registry refuses the token. Resolves to the exit code.
 */
export async function egress(
  options: EgressOptions,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<number> {
  const registry = registriesOf(options.registry);
  const [place, operationsPlace] = [placeOf('listen', options.listen), placeOf('operations', options.operations)];
  const maxBodyBytes = wholeOf('max-body', options['max-body'], 1, 16_777_216);
  const maxInFlight = wholeOf('in-flight', options['in-flight'], 1, 10_000);
  const deadlineMs = wholeOf('deadline', options.deadline, 1, 300) * 1_000;
  const { config, values, token: tokenSettings, registryCa, given } = readEgressSettings(env);
  if (deadlineMs > config.stopMs) {
    const stop = `ASSENT_STOP_SECONDS (${config.stopMs / 1_000})`;
    throw new UsageError(`--deadline must not be longer than ${stop}: a stop would break deliveries off.`);
  }
  const { ports: sinkPorts, ca: sinkCa, ...networks } = config.outbound;
  const log = createLog(config.logLevel);
  const route = createTrustedRoute(config.outbound);
  const { issuers, clockToleranceSeconds } = config.tokens;
  const tokens = { issuers, clockToleranceSeconds, developmentIssuer: false, dataFolder: config.dataFolder, route };
  const known = issuers.length === 0 ? undefined : (await openIssuers(tokens, log)).tokens;

  const stop = new AbortController();
  const onFault = (error: unknown) => {
    metrics.fault();
    log.warn({ err: error }, 'egress fault');
  };
  const token = new SenderToken({
    prefix: 'EGRESS',
    token: tokenSettings,
    route,
    tenant: options.tenant,
    subscriber: 'assent-egress',
    given,
  });
  const sender = await createSender({
    registry: registry.map(({ href }) => href),
    token: token.get,
    ca: registryCa,
    instance: 'egress',
    ...(options.data !== '' && { folder: options.data }),
    guard: { ...networks, sinkPorts, sinkCa, deadlineMs, userAgent: 'Assent egress' },
    onFault,
  });
  const callers = new Callers({
    entries: values.callers,
    authenticate: known && ((authorization) => known.authenticate(authorization)),
    originClaim: values.ORIGIN_CLAIM,
    tenant: options.tenant,
  });
  const places = new Places(maxInFlight, callers.areSeveral());
  const metrics = new EgressMetrics({ inFlight: () => places.taken(), age: () => sender.age() });
  const engine = new Egress({
    callers,
    permission: (origin, sink) => sender.permission(origin, sink),
    forward: (request) => sender.forward(request),
    hasToken: () => token.fault() === undefined,
    maxBodyBytes,
    places,
    metrics,
    onHandled: (handled) => log[handled.outcome === 'delivered' ? 'debug' : 'info'](handled, 'handled'),
    onFault,
    stopping: stop.signal,
    tracing: openTracing('assent', version),
  });
  const operations = createOperationsApp({
    metrics: metrics.registry,
    checks: {
      process: async () => (stop.signal.aborted ? 'stopping' : undefined),
      // As long as the replica is current, the next attempt may come in time.
      token: async () => (sender.age() < registryAwaySeconds ? undefined : token.fault()),
      index: async () => (Number.isFinite(sender.age()) ? undefined : 'loading'),
      registry: async () => (sender.age() < registryAwaySeconds ? undefined : 'does not respond'),
    },
    readChecks: ['process', 'index'],
    needs: { registry: ['token', 'index'] },
    timeoutMs: checkMs,
    stopping: stop.signal,
  });

  const servers: Server[] = [];
  try {
    const refuseUnread = createRefuseUnread(() => metrics.request('unread', 0));
    servers.push(await listen('operations', operationsPlace, () => serve(operations, ...operationsPlace)));
    const server = await listen('listen', place, () => serve(engine.handle, ...place, refuseUnread));
    server.on('connect', engine.refuseConnect);
    servers.push(server);
    const [watch] = servers as [Server];
    const url = urlOf(server, place[1]);
    log.info({ url, callers: values.callers.map(({ name }) => name) }, 'egress starts');
    const operationsUrl = urlOf(watch, operationsPlace[1]);
    say(
      `Assent egress listens on ${url}\n  Health       ${operationsUrl}/readyz\n  Metrics      ${operationsUrl}/metrics\n`,
    );
    // Rejects if the registry refuses the token, which no later attempt would change.
    const refused = sender.ready().then(() => new Promise<never>(() => undefined));
    await Promise.race([fired(signal), refused]);
  } finally {
    stop.abort();
    const [watch, server] = servers;
    // In this order: deliveries in progress use the sender, and operators watch until the end.
    if (server) await closeServer(server, config.stopMs);
    await sender.close();
    if (watch) await closeServer(watch, 0);
  }
  log.info('egress stopped');
  return 0;
}

async function fired(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Where to listen: the port, then the host. */
type Place = [port: number, host: string];

function placeOf(name: string, text: string): Place {
  const [, v6, host = v6, port] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    throw new UsageError(`--${name} must be an address and a port, such as 127.0.0.1:3080 or [::1]:3080.`);
  }
  return [Number(port), host];
}

function wholeOf(name: string, text: string, from: number, to: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text);
  throw new UsageError(`--${name} must be a whole number from ${from} to ${to}.`);
}

async function listen(option: string, [port, host]: Place, start: () => Promise<Server>): Promise<Server> {
  return start().catch((error: Error) => {
    throw new SetupError(`--${option} ${host}:${port}: ${error.message}`);
  });
}
