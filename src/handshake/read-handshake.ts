import { RegistryError } from '../errors.js';
import { pageOf, type ListPage } from '../http/page.js';
import type { Database } from '../storage/database.js';
import type { attempt as AttemptRow, handshake as HandshakeRow } from '../storage/generated/client.js';
import { isUuid } from '../storage/ids.js';
import { handshakeTexts } from '../texts/handshakes.js';
import type { Attempt, Handshake, HandshakeReason, HandshakeState, HeaderLine } from './handshake.js';
import { leaseSecondsFor } from './queue.js';
import type { RejectedCallback } from './rejected-callback.js';
import type { Verdict } from './verdicts.js';

/** Whose handshakes: its own, and the renewals of its pair. An earlier tenant may have had an origin with this name. */
export interface Owner {
  id: string;
  tenant: string;
  origin: string;
  sink: string;
  suspended: object | undefined;
}

export interface HandshakeReader {
  /** Newest first. */
  list(owner: Owner, after: string | undefined, limit: number): Promise<ListPage<Handshake>>;
  /** RegistryError `handshake_not_found` for a handshake of another subscription. */
  read(owner: Owner, id: string): Promise<Handshake>;
}

/** `deadlineMs`: how long an attempt can take. `now`: milliseconds since 1970 by the clock of the database. */
export function createHandshakeReader({ client }: Database, deadlineMs: number, now: () => number): HandshakeReader {
  const leaseMs = leaseSecondsFor(deadlineMs) * 1_000;
  const ownedBy = ({ id, tenant, origin, sink }: Owner) => ({
    tenant,
    OR: [{ subscription: id }, { origin, sink, reason: 'renewal' }],
  });
  const include = { history: { orderBy: { number: 'asc' as const } } };
  return {
    async list(owner, after, limit) {
      const rows = await client.handshake.findMany({
        where: { ...ownedBy(owner), ...(after === undefined ? {} : { id: { lt: after } }) },
        orderBy: { id: 'desc' },
        take: limit + 1,
        include,
      });
      return pageOf(
        rows.map((row) => handshakeOf(row, owner, leaseMs, now())),
        limit,
        (handshake) => handshake.id,
      );
    },

    async read(owner, id) {
      const row = isUuid(id) ? await client.handshake.findFirst({ where: { id, ...ownedBy(owner) }, include }) : null;
      if (row === null) throw new RegistryError('handshake_not_found', handshakeTexts.notFound);
      return handshakeOf(row, owner, leaseMs, now());
    },
  };
}

function handshakeOf(
  row: HandshakeRow & { history: AttemptRow[] },
  owner: Owner,
  leaseMs: number,
  now: number,
): Handshake {
  // It is unknown when the subscription will be resumed.
  const isWaiting = owner.suspended !== undefined && row.subscription !== null;
  return {
    id: row.id,
    origin: row.origin,
    sink: row.sink,
    reason: row.reason as HandshakeReason,
    requestedRate: row.requestedrate ?? undefined,
    state: row.state as HandshakeState,
    verdict: (row.verdict ?? undefined) as Verdict | undefined,
    dueAt: isWaiting ? undefined : (row.dueat ?? undefined),
    waitingUntil: row.waitinguntil ?? undefined,
    createdAt: row.createdat,
    finishedAt: row.finishedat ?? undefined,
    rejectedCallback: (row.rejectedcallback ?? undefined) as RejectedCallback | undefined,
    attempts: row.history.map((attempt) => attemptOf(attempt, leaseMs, now)),
  };
}

/**
 * An attempt that has no outcome when its claim has expired died with its process. The next attempt records that. If a
 * callback or a cancellation ended the handshake meanwhile, no attempt follows and nothing is recorded.
 */
function attemptOf(row: AttemptRow, leaseMs: number, now: number): Attempt {
  const overAt = new Date(row.startedat.getTime() + leaseMs);
  const isInterrupted = row.finishedat === null && overAt.getTime() < now;
  return {
    number: row.number,
    startedAt: row.startedat,
    finishedAt: isInterrupted ? overAt : (row.finishedat ?? undefined),
    requestHeaders: row.requestheaders as HeaderLine[],
    answerHeaders: (row.answerheaders ?? undefined) as HeaderLine[] | undefined,
    status: row.status ?? undefined,
    remoteAddress: row.remoteaddress ?? undefined,
    timing: (row.timing ?? undefined) as Record<string, number> | undefined,
    verdict: isInterrupted ? 'interrupted' : ((row.verdict ?? undefined) as Verdict | undefined),
    warnings: row.warnings ?? [],
  };
}
