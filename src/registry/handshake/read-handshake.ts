import { RegistryError } from '../../base/errors.js';
import { pageOf, type FoundPage, type ListPage } from '../http/page.js';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type attempt as AttemptRow, type handshake as HandshakeRow } from '../storage/generated/client.js';
import { isUuid } from '../../base/files/ids.js';
import { countMatches, findPage } from '../storage/search.js';
import { handshakeTexts } from '../../base/texts/handshakes.js';
import type {
  Attempt,
  Handshake,
  HandshakeTrigger,
  HandshakeState,
  HeaderLine,
  RejectedCallback,
} from '../../consent/handshake.js';
import { handshakeSearch, type HandshakeQuery } from './find-handshakes.js';
import { heldUntil } from './lane.js';
import { claimSecondsFor } from './queue.js';
import type { Verdict } from '../../consent/verdicts.js';

/** Whose handshakes: its own, and the renewals of its pair. An earlier tenant may have had an origin with this name. */
interface Owner {
  id: string;
  tenant: string;
  origin: string;
  sink: string;
  suspension: object | undefined;
}

interface HandshakeReader {
  /** Those that match, of a whole tenant, newest first. */
  find(
    query: HandshakeQuery & { after: string | undefined; limit: number; count?: boolean | undefined },
  ): Promise<FoundPage<Handshake>>;
  /** Newest first. */
  list(owner: Owner, after: string | undefined, limit: number): Promise<ListPage<Handshake>>;
  /** RegistryError `handshake_not_found` for a handshake of another subscription. */
  read(owner: Owner, id: string): Promise<Handshake>;
}

/** `deadlineMs`: how long an attempt can take. `now`: milliseconds since 1970 by the clock of the database. */
export function createHandshakeReader(
  { client, sql }: Database,
  deadlineMs: number,
  now: () => number,
): HandshakeReader {
  const claimMs = claimSecondsFor(deadlineMs) * 1_000;
  const ownedBy = ({ id, tenant, origin, sink }: Owner) => ({
    tenant,
    OR: [{ subscription: id }, { origin, sink, trigger: 'renewal' }],
  });
  const include = { history: { orderBy: { number: 'asc' as const } } };
  /** With the verdict and the time of those that a budget holds. */
  async function withHolds<Row extends HandshakeRow>(rows: readonly Row[]): Promise<Row[]> {
    const due = rows.filter(({ state }) => state === 'due').map(({ id }) => id);
    if (due.length === 0) return [...rows];
    const held = await sql.$queryRaw<Array<{ id: string; until: Date | null }>>`
      select h.id, ${heldUntil(Prisma.sql`h`)} as until from handshake h where h.id = any (${due}::uuid[])`;
    const untils = new Map(held.map(({ id, until }) => [id, until]));
    return rows.map((row) => {
      const dueat = untils.get(row.id);
      return dueat ? { ...row, verdict: 'held_by_budget', dueat } : row;
    });
  }
  return {
    async find(query) {
      const wanted = handshakeSearch(query);
      const { ids, next, examined } = await findPage(sql, wanted, query.after, query.limit);
      const where = { id: { in: ids } };
      const rows = await withHolds(await client.handshake.findMany({ where, orderBy: { id: 'desc' }, include }));
      const waiting = rows.flatMap(({ dueat, subscription }) => (dueat && subscription ? [subscription] : []));
      const isSuspended = await findSuspended(client, waiting);
      return {
        entries: rows.map((row) => handshakeOf(row, isSuspended(row.subscription), claimMs, now())),
        next,
        examined,
        total: query.count ? await countMatches(sql, wanted) : undefined,
      };
    },

    async list(owner, after, limit) {
      const rows = await client.handshake.findMany({
        where: { ...ownedBy(owner), ...(after === undefined ? {} : { id: { lt: after } }) },
        orderBy: { id: 'desc' },
        take: limit + 1,
        include,
      });
      return pageOf(
        (await withHolds(rows)).map((row) => handshakeOf(row, owner.suspension !== undefined, claimMs, now())),
        limit,
        (handshake) => handshake.id,
      );
    },

    async read(owner, id) {
      const row = isUuid(id) ? await client.handshake.findFirst({ where: { id, ...ownedBy(owner) }, include }) : null;
      if (row === null) throw new RegistryError('handshake_not_found', handshakeTexts.notFound);
      const [shown = row] = await withHolds([row]);
      return handshakeOf(shown, owner.suspension !== undefined, claimMs, now());
    },
  };
}

async function findSuspended(client: Database['client'], ids: string[]): Promise<(id: string | null) => boolean> {
  if (ids.length === 0) return () => false;
  const where = { id: { in: ids }, suspendedat: { not: null } };
  const suspended = new Set((await client.subscription.findMany({ where, select: { id: true } })).map(({ id }) => id));
  return (id) => id !== null && suspended.has(id);
}

function handshakeOf(
  row: HandshakeRow & { history: AttemptRow[] },
  isSuspended: boolean,
  claimMs: number,
  now: number,
): Handshake {
  // It is unknown when the subscription will be resumed.
  const isWaiting = isSuspended && row.subscription !== null;
  return {
    id: row.id,
    origin: row.origin,
    sink: row.sink,
    subscription: row.subscription ?? undefined,
    trigger: row.trigger as HandshakeTrigger,
    requestedRate: row.requestedrate ?? undefined,
    state: row.state as HandshakeState,
    verdict: (row.verdict ?? undefined) as Verdict | undefined,
    // A renewal takes the place of its grant in the queue, which is before the handshake was created.
    dueAt: isWaiting || row.dueat === null ? undefined : row.dueat < row.createdat ? row.createdat : row.dueat,
    waitingUntil: row.waitinguntil ?? undefined,
    createdAt: row.createdat,
    finishedAt: row.finishedat ?? undefined,
    rejectedCallback: (row.rejectedcallback ?? undefined) as RejectedCallback | undefined,
    attempts: row.history.map((attempt) => attemptOf(attempt, claimMs, now)),
  };
}

/** One that has finished. */
export async function readAttempt(sql: Sql, handshake: string, number: number): Promise<Attempt | undefined> {
  const [row] = await sql.$queryRaw<AttemptRow[]>`
    select * from attempt where handshake = ${handshake}::uuid and number = ${number}`;
  return row && attemptOf(row, 0, 0);
}

/**
 * An attempt that has no outcome when its claim has expired died with its process. The next attempt records that. If a
 * callback or a cancellation ended the handshake meanwhile, no attempt follows and nothing is recorded.
 */
function attemptOf(row: AttemptRow, claimMs: number, now: number): Attempt {
  const overAt = new Date(row.startedat.getTime() + claimMs);
  const isInterrupted = row.finishedat === null && overAt.getTime() < now;
  return {
    number: row.number,
    startedAt: row.startedat,
    finishedAt: isInterrupted ? overAt : (row.finishedat ?? undefined),
    requestHeaders: row.requestheaders as HeaderLine[],
    responseHeaders: (row.responseheaders ?? undefined) as HeaderLine[] | undefined,
    statusCode: row.statuscode ?? undefined,
    address: row.address ?? undefined,
    timing: (row.timing ?? undefined) as Record<string, number> | undefined,
    verdict: isInterrupted ? 'interrupted' : ((row.verdict ?? undefined) as Verdict | undefined),
    evidence: row.evidence ?? undefined,
    tolerated: row.tolerated ?? [],
  };
}
