import type { components } from '../../base/contract/contract.gen.js';
import { storedRate } from '../../consent/rate.js';
import type { Query } from '../storage/database.js';
import { maxSearched, type FeedScope, type LogBounds, type LoggedChange } from './log.js';

/** What one subscriber may see. */
export type OwnScope = FeedScope & { subscriber: string };

interface OwnRow extends Omit<LoggedChange, 'position' | 'resource' | 'subscribers' | 'block'> {
  epoch: string;
  horizon: string;
  end: string;
  searched: string;
  position: string | null;
}

/**
 * The changes after a position that concern a subscriber, in order, and the position up to which they were searched. The
 * resources of senders are left out: they name a grant that other subscribers share.
 */
export async function readOwnLog(
  query: Query,
  after: bigint,
  limit: number,
  { tenant, origin, subscriber }: OwnScope,
): Promise<{ bounds: LogBounds; end: bigint; position: bigint; changes: LoggedChange[] }> {
  const rows = await query<OwnRow>(
    `with searched as materialized (
       select position, at, origin, kind, sink, subscription, cause, subscribers from change
       where tenant = $1 and position > $2::bigint ${origin === undefined ? '' : 'and origin = $5 '}
       order by position limit ${maxSearched}
     ), own as (
       select * from searched where $3 = any (subscribers) order by position limit $4::int
     )
     select f.epoch::text as epoch, f.horizon::text as horizon, own.position::text as position, own.origin, own.kind,
       own.sink, own.subscription::text as subscription, own.cause,
       to_char(own.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, known.end::text as end,
       (case
         when (select count(*) from own) = $4::int then (select max(position) from own)
         when (select count(*) from searched) = ${maxSearched} then (select max(position) from searched)
         else known.end
       end)::text as searched
     from feed_state f
     cross join lateral (select greatest(f.horizon, (select max(position) from change)) as end) known
     left join own on true order by own.position`,
    [tenant, String(after), subscriber, limit, ...(origin === undefined ? [] : [origin])],
  );
  const [first] = rows;
  if (first === undefined) throw new Error('The table feed_state has no row.');
  const changes = rows.flatMap(({ position, at, origin: of, kind, sink, subscription, cause }) =>
    position === null
      ? []
      : [
          {
            position: BigInt(position),
            ...{ at, tenant, origin: of, kind, sink, subscription, cause },
            resource: null,
            subscribers: [subscriber],
            block: null,
          },
        ],
  );
  return {
    bounds: { epoch: first.epoch, horizon: BigInt(first.horizon) },
    end: BigInt(first.end),
    position: BigInt(first.searched),
    changes,
  };
}

/** Where a subscription stands now. Senders that ask for it get all members; subscribers get the first three. */
type PresentStatus = components['schemas']['PresentStatus'];

type StatusRow = Pick<Required<PresentStatus>, 'id' | 'status' | 'code' | 'subscriber' | 'origin' | 'sink'> & {
  place: number;
  handshake: string | null;
  allowedrate: string | null;
  grantexpiresat: string | null;
};

/** Of one change. A client that has more to one sink lists them. */
const maxListed = 1_000;

/**
 * The present status of the subscriptions that each change is about: one, those of a pair, or of an origin; only those of
 * the subscriber if there is one. A change without any, because they are gone, has none.
 */
export async function readStatuses(
  query: Query,
  changes: ReadonlyArray<Pick<LoggedChange, 'origin' | 'sink' | 'subscription'>>,
  { tenant, subscriber }: FeedScope,
): Promise<PresentStatus[][]> {
  if (changes.length === 0) return [];
  const isVisible = `s.tenant = $1 and ($2::text is null or s.subscriber = $2)`;
  const rows = await query<StatusRow>(
    `with asked as (
       select * from unnest($3::text[], $4::text[], $5::uuid[]) with ordinality as c (origin, sink, subscription, place)
     ), own as materialized (
       select a.place, s.id from asked a join subscription s on s.id = a.subscription and s.origin = a.origin
       where ${isVisible}
       union all
       select a.place, p.id from asked a cross join lateral (
         select s.id from subscription s
         where a.subscription is null and s.origin = a.origin and s.sink = a.sink and ${isVisible}
         order by s.id limit ${maxListed}) p
       union all
       select a.place, p.id from asked a cross join lateral (
         select s.id from subscription s
         where a.sink = '' and s.origin = a.origin and ${isVisible}
         order by s.id limit ${maxListed}) p
     ), known as materialized (
       select s.id, s.subscriber, s.origin, s.sink, d.status, d.code, d.handshake, d.allowedrate,
         d.expiresat
       from (select distinct id from own) one join subscription s on s.id = one.id cross join lateral (
         select * from subscription_status t where t.id = one.id offset 0) d
     )
     select own.place::int as place, known.id::text as id, known.status, known.code, known.subscriber, known.origin,
       known.sink, known.handshake::text as handshake, known.allowedrate,
       to_char(known.expiresat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as grantexpiresat
     from own join known on known.id = own.id order by own.place, own.id`,
    [
      tenant,
      subscriber ?? null,
      changes.map(({ origin }) => origin),
      changes.map(({ sink }) => sink),
      changes.map(({ subscription }) => subscription),
    ],
  );
  const found: PresentStatus[][] = changes.map(() => []);
  for (const { place, handshake, allowedrate, grantexpiresat, ...status } of rows) {
    found[place - 1]?.push({
      ...status,
      ...(handshake === null ? {} : { handshake }),
      ...(allowedrate === null ? {} : { allowedrate: storedRate(allowedrate) }),
      ...(grantexpiresat === null ? {} : { grantexpiresat }),
    });
  }
  return found;
}
