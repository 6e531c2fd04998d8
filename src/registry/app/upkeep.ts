import { announceBlocks } from '../blocks/announcements.js';
import { createBlockStore } from '../blocks/store.js';
import { forgetAudits, forgetChanges } from '../changes/retention.js';
import type { Context } from '../context.js';
import { forgetLeases } from '../deliveries/retention.js';
import { forgetGrants, noteExpiries } from '../grants/retention.js';
import { forgetCooldowns, forgetHandshakes, forgetRateWindows } from '../handshake/retention.js';
import { findExpiring, secondsToExpiry } from '../origins/client-certificate.js';
import { forgetKeysOfOrigins, noteKeyTimes, readDueSets } from '../origins/key-upkeep.js';
import { unpark } from '../handshake/lane.js';
import { renewDue } from '../handshake/renew.js';
import { findOverloads } from '../handshake/renewal-load.js';
import { refuseUncalled } from '../handshake/sweep.js';
import { flushMs } from '../statistics/counter.js';
import { forgetStatistics } from '../statistics/retention.js';
import { beforeAllIds } from '../../base/files/ids.js';
import { forgetKeys } from '../storage/retention.js';
import type { Query, Transaction } from '../storage/database.js';
import { recordEnds, forgetEnded } from '../subscriptions/retention.js';
import { forgetPreviousSecrets } from '../subscriptions/secrets.js';
import { resealSecrets } from '../storage/reseal.js';
import { repeat } from './repeat.js';

/** The periodic work of a process that writes. Safe in several processes at once. */
interface Upkeep {
  /** Runs the transitions that time alone causes. */
  sweep(): Promise<void>;
  /** Deletes data whose retention time is over. */
  forget(): Promise<void>;
  /** Loops that end when the signal fires. */
  run(signal: AbortSignal): Promise<void>[];
}

/** Tasks with the same interval take turns, so that they hold one connection. */
interface Interval {
  ms: number;
  /** Before the first time. */
  firstMs: number;
}

interface Task {
  /** For the log. */
  name: string;
  every: Interval;
  run(): Promise<void>;
}

const hourMs = 3_600_000;
/** The interval of a server's checkpoints (checkpoint_timeout). */
const tidyMs = 300_000;

export function createUpkeep({
  database,
  config,
  log,
  metrics,
  vault,
  secretWatch,
  registryKeys,
  counter,
  proofs,
  stopping,
  readDocument,
}: Context): Upkeep {
  // There may be many statements, and a stop waits only for the one in progress.
  const query: Query = async (text, values) => {
    stopping.throwIfAborted();
    return database.query(text, values);
  };

  /** Repeats a step until it writes less than it may. */
  const untilDone = (maxRows: number, step: (tx: Transaction, maxRows: number) => Promise<number>) => async () => {
    while ((await database.write((tx) => step(tx, maxRows))) === maxRows);
  };

  async function reseal(): Promise<void> {
    const resealed = await resealSecrets({ query }, vault);
    if (resealed === 0) return;
    log.info({ secrets: resealed }, 're-encrypted secrets with the current key');
    await secretWatch.count();
  }

  /** Not until all are in the queue: it gets as many as the budgets allow within minutes. */
  async function renewNext(): Promise<void> {
    await database.write((tx) => renewDue(tx, 1_000, config.handshake.perMinute));
  }

  async function compareRenewals(): Promise<void> {
    const found = await findOverloads(database, config.handshake.perMinute);
    metrics.renewalsOverBudget(found.length);
    for (const overload of found.slice(0, 20))
      log.warn(overload, 'more renewals within an hour than the budget allows');
  }

  async function checkCertificates(): Promise<void> {
    metrics.firstCertificateExpiry(await secondsToExpiry(database.sql));
  }

  /** Once a day. */
  async function warnOfCertificates(): Promise<void> {
    for (const { origin, fingerprint, endsat } of await findExpiring(database.sql)) {
      log.warn({ origin, fingerprint, endsat }, 'a client certificate expires soon, or has expired');
    }
  }

  async function endCallbacks(): Promise<void> {
    const maxRows = 100;
    for (let ended = maxRows; ended === maxRows;) {
      const rows = await database.write((tx) => refuseUncalled(tx, maxRows));
      for (const row of rows) {
        if (row.state === 'refused') counter.count(row, { kind: 'handshake', code: 'callback_expired' }, 1);
      }
      ended = rows.length;
    }
  }

  let parkedAfter = beforeAllIds;
  /** A page at a time: a block may have parked many. */
  async function unparkNext(): Promise<void> {
    const last = await database.write(({ sql }) => unpark(sql, parkedAfter, 500));
    parkedAfter = last ?? beforeAllIds;
  }

  let announced: Promise<void> = Promise.resolve();
  /** One after the other, so that each call ends when what came before it is announced. */
  function announce(): Promise<void> {
    announced = announced.catch(() => undefined).then(() => announceBlocks(database, stopping));
    return announced;
  }

  async function checkProofs(): Promise<void> {
    while ((await proofs.checkDue(stopping)) > 0);
  }

  const sweeping: Interval = { ms: config.pollMs * 2, firstMs: 0 };
  /** Of its own, because a block of a million takes minutes to announce. */
  const announcing: Interval = { ms: config.pollMs * 2, firstMs: 0 };
  /** Of its own, because it waits for servers of tenants. */
  const reading: Interval = { ms: 60_000, firstMs: 0 };
  /** Of its own, because it waits for name servers and web servers of others. */
  const proving: Interval = { ms: config.pollMs * 2, firstMs: 0 };
  const forgetting: Interval = { ms: hourMs, firstMs: 0 };
  // These read all rows that are old enough, of which most may have to stay; at first, the process loads its memory.
  const reviewing: Interval = { ms: 24 * hourMs, firstMs: 600_000 };
  const { days, auditDays, feedHours } = config.retention;
  const tasks: Task[] = [
    { name: 'end subscriptions', every: sweeping, run: untilDone(500, recordEnds) },
    { name: 'lift blocks', every: sweeping, run: createBlockStore(database).liftEnded },
    { name: 'announce blocks', every: announcing, run: announce },
    { name: 'start and end keys', every: sweeping, run: untilDone(100, noteKeyTimes) },
    { name: 'read key sets', every: reading, run: () => readDueSets(database, readDocument, stopping) },
    { name: 'check proofs of origins', every: proving, run: checkProofs },
    { name: 'end callbacks', every: sweeping, run: endCallbacks },
    { name: 'find parked handshakes that are wanted', every: sweeping, run: unparkNext },
    { name: 'renew grants', every: sweeping, run: renewNext },
    { name: 'report expiry of grants', every: sweeping, run: untilDone(100, noteExpiries) },
    { name: 'compare renewals with budgets', every: forgetting, run: compareRenewals },
    { name: 'compare ends of client certificates', every: forgetting, run: checkCertificates },
    { name: 'warn of client certificates', every: reviewing, run: warnOfCertificates },
    { name: 'delete ended subscriptions', every: forgetting, run: () => forgetEnded(query, days) },
    { name: 'delete previous secrets', every: forgetting, run: () => forgetPreviousSecrets(query) },
    { name: 'delete changes', every: forgetting, run: () => forgetChanges(query, feedHours) },
    { name: 'delete idempotency keys', every: forgetting, run: () => forgetKeys(query) },
    { name: 'delete rate windows', every: forgetting, run: () => forgetRateWindows(query) },
    { name: 'delete cool-downs', every: forgetting, run: () => forgetCooldowns(query) },
    { name: 'delete audit records', every: forgetting, run: () => forgetAudits(query, auditDays) },
    { name: 'delete leases', every: forgetting, run: () => forgetLeases(query) },
    { name: 'delete keys', every: reviewing, run: () => forgetKeysOfOrigins(query, days) },
    { name: 'delete handshakes', every: reviewing, run: () => forgetHandshakes(query, days) },
    { name: 'delete grants', every: reviewing, run: () => forgetGrants({ ...database, query }, days) },
    { name: 'renew keys of the registry', every: forgetting, run: () => registryKeys.renew() },
    { name: 'delete statistics', every: reviewing, run: () => forgetStatistics(query) },
    { name: 'write statistics', every: { ms: flushMs, firstMs: flushMs }, run: () => counter.flush() },
    { name: 'vacuum', every: { ms: tidyMs, firstMs: tidyMs }, run: database.tidy },
    // Not at startup: during a rolling restart, the other processes do not have a new key yet.
    { name: 're-encrypt secrets', every: { ms: hourMs, firstMs: hourMs }, run: reseal },
  ];

  /** A task that fails stops no other one. */
  async function runAll(every: Interval): Promise<void> {
    for (const task of tasks) {
      if (task.every !== every) continue;
      stopping.throwIfAborted();
      await task.run().catch((error: unknown) => {
        stopping.throwIfAborted();
        log.error({ task: task.name, err: error }, 'upkeep fault');
      });
    }
  }

  return {
    async sweep() {
      await runAll(sweeping);
      await runAll(announcing);
      await runAll(reading);
      await runAll(proving);
    },
    async forget() {
      await runAll(forgetting);
      await runAll(reviewing);
    },
    run(signal) {
      const intervals = [...new Set(tasks.map(({ every }) => every))];
      const logged = () => undefined;
      return intervals.map((every) => repeat(() => runAll(every), every.ms, signal, logged, every.firstMs));
    },
  };
}
