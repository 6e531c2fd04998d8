import { createRequire } from 'node:module';
import type { Follower } from '../changes/follower.js';
import type { Fault } from '../../base/errors.js';
import { createAddressRules } from '../../outbound/address.js';
import { createSafeRequest, safeRequestDefaults } from '../../outbound/safe-request.js';
import { authorityOf, parseSink } from '../../outbound/sink.js';
import { createQueue, type Queue } from '../handshake/queue.js';
import { createRateWindows } from '../handshake/rate-window.js';
import { createSettle } from '../handshake/settle.js';
import { createWorker, type Worker, type WorkerSettings } from '../handshake/worker.js';
import type { Counter } from '../statistics/counter.js';
import type { Context } from './context.js';

/** Asks webhooks for consent, and records their responses. */
export interface Asking {
  queue: Queue;
  worker: Worker;
  /** Undefined if the sink may be asked. */
  faultOfSink(sink: string): Omit<Fault, 'pointer'> | undefined;
}

const maxBackoffMs = 3_600_000;
const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

export function createAsking(
  { database, config, log, metrics }: Context,
  follower: Pick<Follower, 'wake'>,
  counter: Pick<Counter, 'count'>,
): Asking {
  const contact = config.contact ?? config.publicUrl;
  const ownAuthorities = config.publicUrl === undefined ? [] : [authorityOf(new URL(config.publicUrl))];
  const sinkRules = { addresses: createAddressRules(config), ports: config.sinkPorts, ownAuthorities };
  const rateWindows = createRateWindows({ perHost: config.handshakesPerHost, perTenant: config.handshakesPerTenant });
  const queue = createQueue({
    database,
    rateWindows,
    publicUrl: config.publicUrl,
    callbackSeconds: config.callbackSeconds,
    deadlineMs: config.handshakeDeadlineMs,
    inFlight: { perHost: config.handshakesInFlightPerHost, perTenant: config.handshakesInFlightPerTenant },
  });
  const onOutcome: WorkerSettings['onOutcome'] = (claim, { verdict, state }, seconds) => {
    const { id, tenant, origin, sinkHost, reason, subscription } = claim;
    metrics.handshake({ verdict, reason, seconds });
    counter.count(tenant, origin, { kind: 'handshake', code: verdict }, 1);
    follower.wake();
    const ms = Math.round(seconds * 1_000);
    log.info(
      { handshake: id, tenant, subscription, origin, sinkhost: sinkHost, reason, verdict, state, ms },
      'handshake',
    );
  };
  const worker = createWorker({
    queue,
    admitNetwork: (network) => rateWindows.admitNetwork(database, network),
    request: createSafeRequest({
      ...safeRequestDefaults,
      allowedNetworks: config.allowedNetworks,
      deniedNetworks: config.deniedNetworks,
      ports: config.sinkPorts,
      ownAuthorities,
      dnsServers: config.dnsServers,
      ca: config.sinkCa,
      deadlineMs: config.handshakeDeadlineMs,
      userAgent: `Assent/${version}${contact === undefined ? '' : ` (${contact})`}`,
    }),
    settle: createSettle({
      database,
      maxAttempts: config.handshakeAttempts,
      retry: { firstMs: config.handshakeRetryMs, maxMs: maxBackoffMs },
      random: Math.random,
    }),
    maxInFlight: config.handshakesInFlight,
    pollMs: config.pollMs,
    stopMs: Math.max(config.stopMs - 2_000, 0),
    onOutcome,
    onFault: (error, claim) => log.error({ handshake: claim?.id, err: error }, 'handshake fault'),
  });
  return {
    queue,
    worker,
    faultOfSink(sink) {
      const parsed = parseSink(sink, sinkRules);
      return parsed.ok ? undefined : { rule: parsed.rule, detail: parsed.detail };
    },
  };
}
