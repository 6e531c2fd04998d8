import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import { type Sql } from '../storage/database.js';
import type { ShownCertificate } from '../../consent/handshake.js';
import { silentVerdicts } from '../../consent/judgement.js';
import { readInFlight, type InFlight, type Places } from './in-flight.js';
import { keyOfLane, openLanes, type Lane } from './lane.js';
import type { Budgets, RateWindows } from './rate-window.js';
import { isWanted } from './wanted.js';

// Chooses which of the due handshakes are claimed next. What a choice costs grows with the tenants that have a free place,
// and with the handshakes that it chooses; not with those that wait.

/** A row with the rate to request, and whether to leave out the callback. */
export type ClaimCandidate = HandshakeRow & {
  askedrate: number | null;
  offersnone: boolean;
  blockednetworks: string[];
  clientcertificate: CertificateColumns | null;
};

/** As JSON has them: the time in milliseconds. */
export interface CertificateColumns {
  id: string;
  fingerprint: string;
  endsat: number;
}

export const certificateOf = ({ id, fingerprint, endsat }: CertificateColumns): ShownCertificate => ({
  id,
  fingerprint,
  endsAt: new Date(endsat),
});

/** Of the row `c` of client_certificate. */
export const certificateColumns = Prisma.sql`jsonb_build_object('id', c.id, 'fingerprint', c.fingerprint,
  'endsat', floor(extract(epoch from c.endsat) * 1000)::float8)`;

/** It is due, or the process that claimed it died. */
const isReady = Prisma.sql`(
  (h.state = 'due' and h.dueat <= statement_timestamp())
  or (h.state = 'asking' and h.claimeduntil <= statement_timestamp()))`;

/**
 * The callback is left out if the origin or the subscription says so (for a renewal: every subscription of the pair),
 * and once if the last response to a request with a callback had no WebHook header.
 */
const offersNone = Prisma.sql`(
  (select o.callback from origin o where o.name = h.origin) = 'never'
  or case when h.trigger <> 'renewal'
    then coalesce((select s.callback from subscription s where s.id = h.subscription) = 'never', false)
    else (select true from subscription s where s.origin = h.origin and s.sink = h.sink and s.endedat is null
      and s.callback is distinct from 'never' limit 1) is null end
  or coalesce((select a.callbackkeyhash is not null and a.verdict = any (${[...silentVerdicts]}::text[])
    from attempt a where a.handshake = h.id and a.number = h.attempts), false))`;

/** What a claim needs to know of the handshake `h`. A renewal requests the rate of the grant that it renews, which may be newer. */
const claimColumns = Prisma.sql`
  h.*, case when h.trigger <> 'renewal' then h.requestedrate else (
    select g.requestedrate from "grant" g where g.origin = h.origin and g.sink = h.sink) end as askedrate,
  ${offersNone} as offersnone,
  array(select b.value from block b where b.tenant in (h.tenant, '*') and b.kind = 'network') as blockednetworks,
  (select ${certificateColumns} from client_certificate c where c.origin = h.origin) as clientcertificate`;

/** Those of these handshakes that can be sent and have a place, locked, with the database's time. */
export async function chooseAmong(sql: Sql, places: Places, limit: number, ids: readonly string[]) {
  const { inFlight, now } = await readInFlight(sql, places);
  const ready = await sql.$queryRaw<ClaimCandidate[]>`
    select ${claimColumns} from handshake h
    where h.id = any (${ids}::uuid[]) and ${isReady} and ${isWanted} order by h.dueat, h.id for update of h skip locked`;
  return { rows: ready.filter((row) => inFlight.take(row)).slice(0, limit), now };
}

/** What a claim found, and what becomes of the lanes. */
interface Choice {
  /** The database's time. */
  now: number;
  rows: ClaimCandidate[];
  /** The places of the rows are taken in them. */
  budgets: Budgets;
  /** Those that were served or had nothing ready, and those whose host has no budget left until a time. */
  moved: Array<Lane & { helduntil: Date | undefined }>;
  /** Those with a handshake that is not wanted now. */
  unwanted: Lane[];
}

/** The next handshakes of all tenants, locked; undefined if none is ready. Call it under the lock on claims. */
export async function chooseNext(
  sql: Sql,
  rateWindows: RateWindows,
  places: Places,
  limit: number,
): Promise<Choice | undefined> {
  const { inFlight, now } = await readInFlight(sql, places);
  if (inFlight.expired > 0) await takeBackExpired(sql);
  const lanes = await readLanes(sql, inFlight, places, limit);
  if (lanes.length === 0) return undefined;
  const budgets = await rateWindows.read(sql, lanes.map(askedOf), now);
  const served: ReadyLane[] = [];
  const moved = new Map<string, Lane & { helduntil: Date | undefined }>();
  const move = ({ tenant, sinkhost }: Lane, helduntil?: Date) => {
    moved.set(keyOfLane({ tenant, sinkhost }), { tenant, sinkhost, helduntil });
  };
  for (const lane of inTurn(lanes, inFlight)) {
    if (lane.id === null) move(lane);
    else if (served.length < limit && inFlight.take(lane)) {
      const heldMs = budgets.waitMsOfHost(askedOf(lane));
      if (heldMs > 0) move(lane, new Date(now + heldMs));
      if (heldMs > 0 || budgets.waitMsOfTenant(askedOf(lane)) > 0) inFlight.giveBack(lane);
      else {
        budgets.take(askedOf(lane));
        served.push(lane);
      }
    }
  }
  const found = new Map(
    (
      await sql.$queryRaw<Array<ClaimCandidate & { iswanted: boolean }>>`
        select ${claimColumns}, ${isWanted} as iswanted from handshake h
        where h.id = any (${served.map(({ id }) => id)}::uuid[]) and ${isReady} for update of h skip locked`
    ).map((row) => [row.id, row]),
  );
  const rows: ClaimCandidate[] = [];
  const unwanted = new Map<string, Lane>();
  for (const lane of served) {
    const row = found.get(lane.id as string);
    if (row?.iswanted) {
      rows.push(row);
      if (!moved.has(keyOfLane(lane))) move(lane);
    } else {
      budgets.giveBack(askedOf(lane));
      if (row !== undefined) unwanted.set(keyOfLane(lane), { tenant: lane.tenant, sinkhost: lane.sinkhost });
    }
  }
  // What follows in them is ready, and nobody has to wait for the turn that was not used.
  for (const key of unwanted.keys()) moved.delete(key);
  return { now, rows, budgets, moved: [...moved.values()], unwanted: [...unwanted.values()] };
}

/**
 * How late, in seconds, the turn of a lane is whose host and tenant have a place and a budget; 0 if there is none. A tenant
 * that is served is as late as its last handshake, because its lanes take turns.
 */
export async function lagSeconds(sql: Sql, rateWindows: RateWindows, places: Places): Promise<number> {
  const { inFlight, now } = await readInFlight(sql, places);
  const lanes = (await readLanes(sql, inFlight, places, lanesForLag)).filter(({ id }) => id !== null);
  if (lanes.length === 0) return 0;
  const budgets = await rateWindows.read(sql, lanes.map(askedOf), now);
  const late = lanes.map((lane) => {
    const asked = askedOf(lane);
    const isHeld = budgets.waitMsOfHost(asked) > 0 || budgets.waitMsOfTenant(asked) > 0;
    return isHeld ? 0 : now - Math.max(lane.nextat.getTime(), budgets.lastTakenAt(asked));
  });
  return Math.max(0, ...late) / 1_000;
}

const lanesForLag = 20;

const askedOf = ({ tenant, sinkhost }: Lane) => ({ tenant, sinkHost: sinkhost });

/** asking -> due: the process that claimed it died. */
async function takeBackExpired(sql: Sql): Promise<void> {
  const due = await sql.$queryRaw<Array<Lane & { dueat: Date | null }>>`
    update handshake set state = 'due', claimid = null, claimeduntil = null
    where id in (
      select id from handshake where state = 'asking' and claimeduntil <= statement_timestamp()
      order by id for update skip locked)
    returning tenant, sinkhost, dueat`;
  await openLanes(sql, due);
}

/** One of the first handshakes of a lane whose turn has come; without an id, there is none. */
interface ReadyLane extends Lane {
  nextat: Date;
  id: string | null;
}

/**
 * The lanes whose turn has come and whose host and tenant have a free place, as far as a claim of `limit` needs them, with
 * the first handshakes of each. Each tenant is found by one probe of an index, and contributes as many as there is room for.
 */
function readLanes(sql: Sql, inFlight: InFlight, places: Places, limit: number): Promise<ReadyLane[]> {
  const tenants = inFlight.tenants();
  const enough = Math.max(2 * limit, 8);
  const share = (of: Prisma.Sql, least: number) =>
    Prisma.sql`(select greatest(${least}::int, ceil(${enough}::float8 / greatest(count(*), 1))::int) from ${of})`;
  return sql.$queryRaw<ReadyLane[]>`
    with recursive known as (
      (select tenant from handshake_lane order by tenant limit 1)
      union all
      select (select l.tenant from handshake_lane l where l.tenant > known.tenant order by l.tenant limit 1)
      from known where known.tenant is not null
    ), able as materialized (
      select known.tenant, coalesce(busy.count, 0) as busy
      from known left join unnest(${tenants.map(([name]) => name)}::text[], ${tenants.map(([, count]) => count)}::int[])
        as busy (tenant, count) on busy.tenant = known.tenant
      where known.tenant is not null and coalesce(busy.count, 0) < ${places.perTenant}
        and (select l.nextat from handshake_lane l where l.tenant = known.tenant order by l.nextat, l.sinkhost limit 1)
          <= statement_timestamp()
        and coalesce((select w.fulluntil from rate_window w where w.key = 'tenant:' || known.tenant) <= statement_timestamp(), true)
        and not exists (select from block b where b.tenant = known.tenant and b.kind = 'tenant')
    ), due as materialized (
      select l.*, able.busy + row_number() over (partition by l.tenant order by l.nextat, l.sinkhost) as place
      from able cross join lateral (
        select l.tenant, l.sinkhost, l.nextat from handshake_lane l
        where l.tenant = able.tenant and l.nextat <= statement_timestamp()
          and l.sinkhost <> all (${inFlight.fullHosts()}::text[])
        order by l.nextat, l.sinkhost
        limit least(${share(Prisma.sql`able`, 4)}, 2 * (${places.perTenant}::int - able.busy) + 4)) l
    ), turn as materialized (
      -- No more for a host than it has places.
      select tenant, sinkhost, nextat, place from (
        select due.*, row_number() over (partition by sinkhost order by place, nextat) as hostplace from due
      ) d where hostplace <= ${places.perHost} order by place, nextat limit ${enough}
    )
    select turn.tenant, turn.sinkhost, turn.nextat, first.id from turn left join lateral (
      select h.id, h.dueat from handshake h
      where h.state = 'due' and h.tenant = turn.tenant and h.sinkhost = turn.sinkhost and h.dueat <= statement_timestamp()
      order by h.dueat, h.id limit least(${places.perHost}::int, ${share(Prisma.sql`turn`, 2)})) first on true
    order by turn.place, turn.nextat, first.dueat, first.id`;
}

/**
 * The order in which they get places: those of the tenant with the fewest in flight are first; of one tenant, the first
 * handshake of each lane is before the second of any; and the lane that waited longest for its turn is before the others.
 */
function inTurn(lanes: readonly ReadyLane[], inFlight: InFlight): ReadyLane[] {
  const depths = new Map<string, number>();
  const byTenant = new Map<string, Array<{ lane: ReadyLane; depth: number }>>();
  for (const lane of lanes) {
    const key = keyOfLane(lane);
    const depth = depths.get(key) ?? 0;
    depths.set(key, depth + 1);
    const own = byTenant.get(lane.tenant);
    if (own === undefined) byTenant.set(lane.tenant, [{ lane, depth }]);
    else own.push({ lane, depth });
  }
  return [...byTenant.values()]
    .flatMap((own) =>
      own
        .sort((one, other) => one.depth - other.depth)
        .map(({ lane }, place) => ({ lane, place: place + inFlight.ofTenant(lane.tenant) })),
    )
    .sort((one, other) => one.place - other.place || one.lane.nextat.getTime() - other.lane.nextat.getTime())
    .map(({ lane }) => lane);
}
