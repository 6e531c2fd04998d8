import type { Principal } from '../../base/contract/principal.js';
import type { HandshakeTrigger } from '../../consent/handshake.js';
import { type Status, type StatusDetailCode, statusDetailCodes } from '../../consent/status.js';
import { goneGrants, grantsOver } from '../grants/read.js';
import { answeredHandshakes, latestFailures } from '../handshake/find-handshakes.js';
import type { Sql } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import { allOf, countFirst, newestIds, newestOf, type Part, type SearchKey, summary } from '../storage/search.js';
import { blockedIn, impliedBy, ofGrant, ofHandshake, subscriptionsOf, visibleTo } from './read.js';

/** In this order. A new status doesn't compile until it stands here, or is one that nobody has to attend to. */
const places: Record<Exclude<Status, 'active' | 'suspended'>, number> = {
  refused: 0,
  unreachable: 1,
  retired: 2,
  expired: 3,
  blocked: 4,
  pending: 5,
};
type Attended = keyof typeof places;
const attended = (Object.keys(places) as Attended[]).sort((one, two) => places[one] - places[two]);

/** Subscriptions of one status that someone has to attend to. */
interface SubscriptionAttention {
  group: Attended;
  count: number;
  /** How many of them have this status for less than a day. */
  recent: number;
  /** There may be more. */
  isAtLeast: boolean;
  /** The ids of the first few. */
  ids: string[];
}

const t = Prisma.sql`t`;
/** Renewals last: most of them are of grants that are still live. */
const handshakeTriggers: readonly HandshakeTrigger[] = ['registration', 'change', 'request', 'renewal'];

/**
 * What the subscriptions that the principal may see need: exact if they are few, and otherwise by the indexes that lead to
 * each status, the newest candidates first. The cost has a limit at any size, and so have the counts.
 */
export async function findAttention(sql: Sql, principal: Principal): Promise<SubscriptionAttention[]> {
  const { tenant, subscriber, scopes } = principal;
  const isAdmin = scopes.has('assent:admin');
  const own: SearchKey = [
    [Prisma.sql`t.tenant`, tenant],
    ...(isAdmin ? [] : [[Prisma.sql`t.subscriber`, subscriber] as const]),
  ];
  const newest = await newestIds(sql, Prisma.sql`subscription t`, { key: own });
  if (newest.areAll) return ofEach(sql, newest.ids, false);
  const byStatus = attended.map(async (group) => {
    const gate = group === 'blocked' || group === 'expired' ? undefined : hasNoGrant;
    const wanted = { table: Prisma.sql`subscription t`, ...needsAttention(group, principal) };
    return { group, ...(await countFirst(sql, wanted, candidatesFor(group, tenant), gate)) };
  });
  if (isAdmin) return Promise.all(byStatus);
  // The indexes are of the tenant, in which a subscriber can have a small part.
  const [ofNewest, ...found] = await Promise.all([ofEach(sql, newest.ids, true), ...byStatus]);
  return found.map((one, place) => {
    const other = ofNewest[place];
    return other !== undefined && one.isAtLeast && other.count > one.count ? other : one;
  });
}

/** A subscription that reached the end that its subscriber chose has expired as well, and needs nothing. */
const isMeant = (status: Status, code: StatusDetailCode): boolean =>
  status === 'expired' ? code === 'expired' : status === 'pending' ? statusDetailCodes[code].wantsAttention : true;

async function ofEach(sql: Sql, ids: readonly string[], isAtLeast: boolean): Promise<SubscriptionAttention[]> {
  const rows = await sql.$queryRaw<
    Array<{ id: string; status: Status; code: StatusDetailCode; isrecent: boolean | null }>
  >`
    select d.id::text, d.status, d.code, d.since >= now() - interval '1 day' as isrecent from unnest(${ids}::uuid[]) with ordinality k (id, place)
    cross join lateral (select * from subscription_status d where d.id = k.id offset 0) d order by k.place`;
  return attended.map((group) => {
    const found = rows.filter(({ status, code }) => status === group && isMeant(status, code));
    const recent = found.filter(({ isrecent }) => isrecent).length;
    return { group, count: found.length, recent, isAtLeast, ids: found.slice(0, summary.shown).map(({ id }) => id) };
  });
}

/** Most handshakes that failed were followed by consent. The grant of the candidate says so, before the subscription is read. */
const hasNoGrant = Prisma.sql`not coalesce((
  select g.state = 'live' and g.expiresat > now() from "grant" g where g.origin = c.origin and g.sink = c.sink), false)`;

function needsAttention(group: Attended, principal: Principal) {
  const known = impliedBy(group, undefined);
  return {
    test: allOf([
      visibleTo(principal),
      known?.test,
      // What has not ended has the code `expired`, which costs the view three times as much as the status.
      group === 'expired' && Prisma.sql`t.endedat is null and coalesce(t.endsat > now(), true)`,
    ]),
    details: Prisma.sql`
      select d.status, d.since ${group === 'pending' ? Prisma.sql`, d.code` : Prisma.empty}
      from subscription_status d where d.id = t.id offset 0`,
    detailsTest: allOf([
      Prisma.sql`d.status = ${group}`,
      group === 'pending' && Prisma.sql`d.code = any (${attendedCodes})`,
    ]),
  };
}

const attendedCodes = Object.entries(statusDetailCodes).flatMap(([code, row]) => (row.wantsAttention ? [code] : []));

/** Those that may have the status, by an index, the newest first. */
function candidatesFor(group: Attended, tenant: string): Prisma.Sql {
  const handshakes = (part: Part) => newestOf(ofHandshake, Prisma.sql`handshake t`, part);
  const grants = (part: Part) => newestOf(ofGrant, Prisma.sql`"grant" t`, part);
  const failed = (state: 'refused' | 'unreachable' | 'retired') => handshakes(latestFailures(t, tenant, state));
  const of = (...queries: Prisma.Sql[]) => subscriptionsOf(Prisma.sql`(${Prisma.join(queries, ' union all ')})`);
  switch (group) {
    case 'refused':
      return of(failed('refused'), grants(grantsOver(t, tenant, 'revoked')));
    case 'unreachable':
      return of(failed('unreachable'));
    case 'retired':
      // By a 410 to a handshake, or to a delivery.
      return of(failed('retired'), grants(goneGrants(t, tenant)));
    case 'expired':
      return of(Prisma.sql`(
        select ${ofGrant} from "grant" t where t.tenant = ${tenant} and t.expiresat <= now() order by t.expiresat desc)`);
    case 'blocked':
      return blockedIn(tenant);
    case 'pending':
      return of(...handshakeTriggers.map((trigger) => handshakes(answeredHandshakes(t, tenant, trigger))));
  }
}
