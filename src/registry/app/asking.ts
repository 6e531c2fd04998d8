import { version } from '../../base/version.js';
import { createAddressRules } from '../../outbound/address.js';
import { createLookUpTexts } from '../../outbound/look-up-texts.js';
import { createReadDocument } from '../../outbound/read-document.js';
import { createSafeRequest, safeRequestDefaults } from '../../outbound/safe-request.js';
import { authorityOf, parseSink } from '../../outbound/sink.js';
import { DryRun } from '../handshake/dry-run.js';
import type { Lane } from '../handshake/lane.js';
import { Queue } from '../handshake/queue.js';
import { isLoopback, RateWindows } from '../handshake/rate-window.js';
import { createSettle } from '../handshake/settle.js';
import { Worker, type WorkerSettings } from '../handshake/worker.js';
import { ProofChecks } from '../origins/check-proof.js';
import { openCertificate } from '../origins/client-certificate.js';
import { createBatcher } from '../storage/batch.js';
import { databaseTime, lockRegistry } from '../storage/database.js';
import type { Context } from '../context.js';

/** Asks webhooks for consent, and records their responses. */
export type Asking = Pick<Context, 'queue' | 'worker' | 'dryRun' | 'proofs' | 'faultOfSink' | 'readDocument'>;

/** Half the time that a statement may take. */
const slowClaimSeconds = 4;
const maxBackoffMs = 3_600_000;

export function createAsking({
  database,
  config,
  log,
  tracing,
  metrics,
  follower,
  counter,
  signers,
  vault,
}: Pick<
  Context,
  'database' | 'config' | 'log' | 'tracing' | 'metrics' | 'follower' | 'counter' | 'signers' | 'vault'
>): Asking {
  const { proxy } = config.outbound;
  // The origin of a URL has no credentials.
  if (proxy !== undefined) {
    log.info(
      { proxy: new URL(proxy.url).origin, noProxy: proxy.noProxy },
      'webhooks are asked through an egress proxy',
    );
  }
  const contact = config.contact ?? config.publicUrl;
  const ownAuthorities = config.publicUrl === undefined ? [] : [authorityOf(new URL(config.publicUrl))];
  const sinkRules = { addresses: createAddressRules(config.outbound), ports: config.outbound.ports, ownAuthorities };
  const rateWindows = new RateWindows(config.handshake.perMinute);
  // In one transaction for all that are dialled at this moment.
  const admitNetwork = createBatcher<string, number | undefined>({
    run: (take) => database.write(({ sql }) => rateWindows.admitNetworks(sql, take())),
    maxBatch: 200,
  });
  const places = { ...config.handshake.inFlight, unstored: new Set<Lane>() };
  const queue = new Queue({
    database,
    rateWindows,
    publicUrl: config.publicUrl,
    signers,
    callbackSeconds: config.handshake.callbackSeconds,
    deadlineMs: config.handshake.deadlineMs,
    inFlight: places,
    tracing,
  });
  const onOutcome: WorkerSettings['onOutcome'] = (claim, settled, seconds) => {
    const { verdict, state, evidence } = settled;
    const { id, tenant, origin, sinkHost, trigger, subscription } = claim;
    metrics.handshake({ verdict, trigger, seconds });
    counter.countAttempt(claim, settled);
    follower.wake();
    const ms = Math.round(seconds * 1_000);
    log.info(
      { handshake: id, tenant, subscription, origin, sinkhost: sinkHost, trigger, verdict, state, evidence, ms },
      'handshake',
    );
  };
  const { settle, settleIn } = createSettle({
    database,
    maxAttempts: config.handshake.attempts,
    retry: { firstMs: config.handshake.retryMs, maxMs: maxBackoffMs, factor: 4 },
    random: Math.random,
  });
  const request = createSafeRequest({
    ...safeRequestDefaults,
    ...config.outbound,
    ownAuthorities,
    deadlineMs: config.handshake.deadlineMs,
    userAgent: `Assent/${version}${contact === undefined ? '' : ` (${contact})`}`,
  });
  const admit = async (network: string) => (isLoopback(network) ? undefined : admitNetwork(network));
  const worker = new Worker({
    queue,
    admitNetwork: admit,
    request,
    openCertificate: (id) => openCertificate(database.sql, vault, id),
    settle,
    tracing,
    maxInFlight: config.handshake.maxInFlight,
    pollMs: config.pollMs,
    stopMs: Math.max(config.stopMs - 2_000, 0),
    onClaim(seconds) {
      metrics.claim(seconds);
      if (seconds > slowClaimSeconds) log.warn({ ms: Math.round(seconds * 1_000) }, 'slow claim of due handshakes');
    },
    onOutcome,
    onFault: (error, claim) => log.error({ handshake: claim?.id, err: error }, 'handshake fault'),
  });
  const dryRun = new DryRun({
    database,
    rateWindows,
    signers,
    places,
    settleIn,
    tracing,
    send: (asked, attempt) => worker.sendUnstored(asked, attempt),
    onAsked({ tenant, origin, sinkHost, trigger }, verdict, seconds) {
      metrics.handshake({ verdict, trigger, seconds });
      log.info(
        { dryrun: true, tenant, origin, sinkhost: sinkHost, verdict, ms: Math.round(seconds * 1_000) },
        'dry run',
      );
    },
  });
  const readDocument = createReadDocument(request, admit);
  const ofNames = { ...sinkRules, ports: [443], ownAuthorities: [] };
  const proofs = new ProofChecks({
    database,
    admit: (tenant, host) =>
      database.write(async ({ sql }) => {
        await lockRegistry(sql, 'claims');
        // Without a host, only the tenant's own budget counts: others could use up what they share.
        const sinkHost = host ?? `${tenant} in DNS`;
        const asked = { id: sinkHost, tenant, sinkHost };
        const held = await rateWindows.admit(sql, [asked], (await databaseTime(sql)).getTime());
        return held.get(sinkHost) ?? 0;
      }),
    lookUpTexts: createLookUpTexts({ ...config.outbound, deadlineMs: config.handshake.deadlineMs }),
    readDocument,
    isInternal: (url) => !parseSink(url, ofNames).ok,
    random: Math.random,
  });
  return {
    queue,
    worker,
    dryRun,
    proofs,
    readDocument,
    faultOfSink(sink) {
      const parsed = parseSink(sink, sinkRules);
      return parsed.ok ? undefined : { rule: parsed.rule, detail: parsed.detail };
    },
  };
}
