import { keyOfPair } from '../../consent/grant.js';
import { changedGrant } from '../grants/columns.js';
import { endGrants } from '../grants/write.js';
import { type Database, type Sql, databaseTime, type Actor, type Transaction } from '../storage/database.js';
import type { grant as GrantRow } from '../storage/generated/client.js';
import { claimKey, noteResource, type IdempotentRequest } from '../storage/idempotency.js';
import { firstHoldSeconds, pairReports, type Outcome, type PairReport } from '../../consent/outcome.js';

/**
 * Records a report in one transaction: the counters of its pairs in one statement, and the effects on grants. `unknown`
 * are the indexes of entries whose pair has no stored grant; they are not counted.
 */
export type RecordOutcomes = (
  actor: Actor,
  outcomes: readonly Outcome[],
  request: IdempotentRequest,
) => Promise<Recorded>;

export interface Recorded {
  unknown: number[];
  replayed: boolean;
  /** Grants that got a hold. */
  held: number;
}

/** For a 429 without Retry-After. */
const longestBackoffSeconds = 600;

interface Counted {
  origin: string;
  sink: string;
  gonecount: bigint;
  gonesince: Date | null;
  holds: number;
}

type GrantWithPolicy = GrantRow & { goneafter: number; isheld: boolean };

export function createRecordOutcomes({ write }: Pick<Database, 'write'>): RecordOutcomes {
  return (actor, outcomes, request) =>
    write(async (tx) => {
      const { sql } = tx;
      const earlier = await claimKey(sql, request, '');
      if (earlier !== undefined) {
        return { unknown: JSON.parse(earlier || '[]') as number[], replayed: true, held: 0 };
      }
      const reports = pairReports(outcomes);
      await lockOrigins(sql, actor, reports);
      const counted = new Map((await count(sql, actor, reports)).map((row) => [keyOfPair(row), row]));
      const unknown = outcomes.filter((outcome) => !counted.has(keyOfPair(outcome))).map(({ index }) => index);
      if (unknown.length > 0) await noteResource(sql, request, JSON.stringify(unknown));
      const telling = reports.filter(
        (report) =>
          counted.has(keyOfPair(report)) &&
          (report.gone > 0 || report.holdSeconds > 0 || report.unnamedHoldAge !== undefined),
      );
      return { unknown, replayed: false, held: await holdOrEnd(tx, actor, telling, counted) };
    });
}

/** Locks the origins, so that none is removed while its deliveries are counted. */
async function lockOrigins(sql: Sql, { tenant }: Actor, reports: readonly PairReport[]): Promise<void> {
  const names = [...new Set(reports.map(({ origin }) => origin))];
  await sql.$queryRaw`
    select 1 from origin where name = any (${names}::text[]) and tenant = ${tenant} order by name collate "C" for key share`;
}

/**
 * Adds to the counters; rows are locked in the order of the reports, as in all transactions. Only a 410 after the
 * current consent counts towards retirement: with that consent the webhook showed that it was still in use.
 */
async function count(sql: Sql, { tenant }: Actor, reports: readonly PairReport[]): Promise<Counted[]> {
  const consents = await findConsents(sql, tenant, reports);
  await sql.$executeRaw`
    with overtaken as materialized (
      select d.origin, d.sink from delivery d
      join jsonb_to_recordset(${JSON.stringify([...consents.values()])}::jsonb)
        as c (origin text, sink text, grantedat timestamptz) on c.origin = d.origin and c.sink = d.sink
      where d.gonesince < c.grantedat order by d.origin collate "C", d.sink collate "C" for update of d
    )
    update delivery d set gonecount = 0, gonesince = null
    from overtaken o where d.origin = o.origin and d.sink = o.sink`;
  const columns = reports.flatMap((report, place) => {
    const { counts, lastOutcome, lastStatusCode, succeeded, failures, gone, goneAt, origin, sink } = report;
    const consent = consents.get(keyOfPair(report));
    if (consent === undefined) return [];
    const gonecount = goneAt !== undefined && goneAt < consent.grantedat ? 0 : gone;
    const last = { lastoutcome: lastOutcome, laststatuscode: lastStatusCode };
    return [{ place, origin, sink, succeeded, failures, gonecount, ...last, ...counts }];
  });
  if (columns.length === 0) return [];
  return sql.$queryRaw<Counted[]>`
    insert into delivery as present (origin, sink, tenant, delivered, gone, throttled, unavailable, mediarefused,
      unauthorized, redirected, rejected, failed, no_response, failures, failingsince, gonecount, gonesince, lastoutcome,
      laststatuscode, lastat, deliveredat)
    select origin, sink, ${tenant}, coalesce(delivered, 0), coalesce(gone, 0), coalesce(throttled, 0),
      coalesce(unavailable, 0), coalesce(mediarefused, 0), coalesce(unauthorized, 0), coalesce(redirected, 0),
      coalesce(rejected, 0), coalesce(failed, 0), coalesce(no_response, 0), failures,
      case when failures > 0 then now() end, gonecount, case when gonecount > 0 then now() end, lastoutcome, laststatuscode,
      now(), case when succeeded then now() end
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as r (place int, origin text, sink text,
      succeeded boolean, failures bigint, gonecount bigint, lastoutcome text, laststatuscode int, delivered bigint, gone bigint,
      throttled bigint, unavailable bigint, mediarefused bigint, unauthorized bigint, redirected bigint,
      rejected bigint, failed bigint, no_response bigint)
    order by place
    on conflict (origin, sink) do update set
      delivered = present.delivered + excluded.delivered, gone = present.gone + excluded.gone,
      throttled = present.throttled + excluded.throttled, unavailable = present.unavailable + excluded.unavailable,
      mediarefused = present.mediarefused + excluded.mediarefused,
      unauthorized = present.unauthorized + excluded.unauthorized,
      redirected = present.redirected + excluded.redirected, rejected = present.rejected + excluded.rejected,
      failed = present.failed + excluded.failed, no_response = present.no_response + excluded.no_response,
      failures = excluded.failures + case when excluded.deliveredat is null then present.failures else 0 end,
      failingsince = case when excluded.deliveredat is null then coalesce(present.failingsince, excluded.failingsince)
        else excluded.failingsince end,
      gonecount = excluded.gonecount + case when excluded.deliveredat is null then present.gonecount else 0 end,
      gonesince = case when excluded.deliveredat is null then coalesce(present.gonesince, excluded.gonesince)
        else excluded.gonesince end,
      holds = case when excluded.deliveredat is null then present.holds else 0 end,
      lastoutcome = excluded.lastoutcome, laststatuscode = excluded.laststatuscode, lastat = excluded.lastat,
      deliveredat = coalesce(excluded.deliveredat, present.deliveredat)
    returning origin, sink, gonecount, gonesince, holds`;
}

/** The latest consent of each pair that has a grant, by `keyOfPair`. */
async function findConsents(sql: Sql, tenant: string, reports: readonly PairReport[]) {
  const rows = await sql.$queryRaw<Array<{ origin: string; sink: string; grantedat: Date }>>`
    select g.origin, g.sink, g.grantedat
    from unnest(${reports.map(({ origin }) => origin)}::text[], ${reports.map(({ sink }) => sink)}::text[]) as r (origin, sink)
    join "grant" g on g.origin = r.origin and g.sink = r.sink and g.tenant = ${tenant}`;
  return new Map(rows.map((row) => [keyOfPair(row), row]));
}

/**
 * The effects of 410, 429 and 503 on live grants; returns how many got a hold. All of them are locked before the change
 * log: all transactions lock in this order.
 */
async function holdOrEnd(
  tx: Transaction,
  actor: Actor,
  reports: readonly PairReport[],
  counted: ReadonlyMap<string, Counted>,
): Promise<number> {
  if (reports.length === 0) return 0;
  const grants = await tx.sql.$queryRaw<GrantWithPolicy[]>`
    select g.*, o.goneafter, coalesce(g.helduntil > clock_timestamp(), false) as isheld
    from unnest(${reports.map(({ origin }) => origin)}::text[], ${reports.map(({ sink }) => sink)}::text[])
      with ordinality as r (origin, sink, place)
    join "grant" g on g.origin = r.origin and g.sink = r.sink and g.tenant = ${actor.tenant}
    join origin o on o.name = g.origin
    where g.state = 'live' order by r.place for update of g`;
  const byPair = new Map(grants.map((grant) => [keyOfPair(grant), grant]));
  const holds: Hold[] = [];
  const retired: GrantWithPolicy[] = [];
  for (const report of reports) {
    const grant = byPair.get(keyOfPair(report));
    const row = counted.get(keyOfPair(report));
    if (grant === undefined || row === undefined) continue;
    if (isGone(report, row, grant)) retired.push(grant);
    else if (report.holdSeconds > 0) holds.push({ grant, seconds: report.holdSeconds, isOwn: false });
    else if (report.unnamedHoldAge !== undefined && !grant.isheld) {
      const own = Math.min(firstHoldSeconds * 2 ** row.holds, longestBackoffSeconds);
      const seconds = Math.ceil(own - report.unnamedHoldAge);
      if (seconds > 0) holds.push({ grant, seconds, isOwn: true });
    }
  }
  const held = await hold(tx, actor, holds);
  const endings = retired.map(({ tenant, origin, sink }) => ({ tenant, origin, sink, code: 'target_gone' as const }));
  await endGrants(tx, actor, endings);
  return held;
}

/** Checked again with the grant locked: a consent may have arrived after the count. */
function isGone(
  report: PairReport,
  { gonecount, gonesince }: Counted,
  { grantedat, goneafter }: GrantWithPolicy,
): boolean {
  if (report.gone === 0 || (report.goneAt !== undefined && report.goneAt < grantedat)) return false;
  return gonesince !== null && gonesince >= grantedat && Number(gonecount) >= goneafter;
}

interface Hold {
  grant: GrantWithPolicy;
  seconds: number;
  /** The response had no Retry-After. */
  isOwn: boolean;
}

async function hold(tx: Transaction, actor: Actor, holds: readonly Hold[]): Promise<number> {
  if (holds.length === 0) return 0;
  const own = holds.filter(({ isOwn }) => isOwn).map(({ grant }) => grant);
  await tx.sql.$executeRaw`
    update delivery d set holds = d.holds + 1
    from unnest(${own.map(({ origin }) => origin)}::text[], ${own.map(({ sink }) => sink)}::text[]) as h (origin, sink)
    where d.origin = h.origin and d.sink = h.sink`;
  const now = (await databaseTime(tx.sql)).getTime();
  const ids = holds.map(({ grant }) => grant.id);
  const untils = holds.map(({ seconds }) => new Date(now + seconds * 1_000));
  const held = await tx.sql.$queryRaw<GrantRow[]>`
    update "grant" g set helduntil = h.until, version = g.version + 1
    from unnest(${ids}::uuid[], ${untils}::timestamptz[]) as h (id, until)
    where g.id = h.id and (g.helduntil is null or g.helduntil < h.until)
    returning g.*`;
  const before = new Map(holds.map(({ grant }) => [grant.id, grant]));
  for (const row of held) {
    const { id, tenant, origin, sink, helduntil } = row;
    const changed = changedGrant(before.get(id), row, new Date(now));
    tx.audit(actor, 'grant.held', `grant:${id}`, { origin, sink, helduntil, changed });
    tx.change({ kind: 'grant.held', tenant, origin, sink });
  }
  return held.length;
}
