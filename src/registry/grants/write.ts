import { formatRate, type Rate } from '../../consent/rate.js';
import { Prisma, type grant as GrantRow } from '../storage/generated/client.js';
import { uuidv7 } from '../../base/files/ids.js';
import { openStatesSql, recordset, recordsetOfPairs } from '../storage/rows.js';
import {
  type Sql,
  databaseTime,
  halfWay,
  lockRegistry,
  storedPerson,
  type Actor,
  type Transaction,
} from '../storage/database.js';
import type { Basis } from '../../consent/decision.js';
import { keyOfPair, type EndCode, type Grant, type Pair } from '../../consent/grant.js';
import { changedGrant, grantMembers } from './columns.js';

// The transitions of a grant. Each is one conditional statement for any number of pairs, with the audit record and the
// change. If the state does not allow the transition, nothing is written. Rows are locked by origin and sink, in order.

/** What makes a grant live, on any basis. */
export interface Consent extends Pair {
  basis: Basis;
  allowedOrigin: string | undefined;
  allowedRate: Rate;
  requestedRate: number | undefined;
  tolerated: readonly string[];
  handshake: string | undefined;
  /** Where the webhook is; by default where this handshake met it. */
  address?: string | undefined;
  agreement: string | undefined;
  /** How long it is valid: seconds from now by the database's clock, or an instant. */
  lifetime: { seconds: number } | { until: Date };
  /** From 0 to 1; spreads the times of renewal, so that renewals do not arrive in bursts. */
  jitter: number;
}

/**
 * When a grant is renewed, as shares of its lifetime. Wide, so that those that were granted together are not due together;
 * what is left is for retries.
 */
const renewal = { from: 0.5, to: 0.85 };

/** When a grant counts as about to expire: for this share of its lifetime, but not longer than these days. */
const soon = { share: 0.1, days: 7 };

/**
 * Any state but revoked -> live, for consents with distinct pairs. An agreement is an admin's decision and replaces a
 * revoked grant too. It keeps its expiry beside another consent. A trickle by policy does not replace a live consent.
 * Returns the grants that are live now, by `keyOfPair`.
 */
export async function putGrants(
  tx: Transaction,
  consents: ReadonlyArray<{ actor: Actor; consent: Consent }>,
): Promise<Map<string, Grant>> {
  if (consents.length === 0) return new Map();
  const columns = consents.map(({ actor, consent }) => columnsOf(actor, consent));
  const before = new Map((await lockGrants(tx.sql, columns)).map((row) => [keyOfPair(row), row]));
  const handshakes = consents.flatMap(({ consent }) => consent.handshake ?? []);
  // A query of its own: Citus cannot insert a join of rows and values.
  const rows = await tx.sql.$queryRaw<GrantRow[]>`
    with asked as materialized (
      select distinct on (a.handshake) a.handshake, a.address from attempt a
      where a.handshake = any (${handshakes}::uuid[]) and a.address is not null order by a.handshake, a.number desc
    )
    insert into "grant" as present (origin, sink, id, tenant, state, basis, allowedorigin, allowedrate, requestedrate,
      tolerated, handshake, agreement, recordedby, recordedbyperson, grantedat, expiresat, renewat, noteat, address)
    select origin, sink, id, tenant, 'live', basis, allowedorigin, allowedrate, requestedrate, tolerated, handshake,
      agreement, recordedby, recordedbyperson, now(), over, now() + make_interval(secs => renewafter),
      over - least((over - now()) * ${soon.share}::float8, make_interval(days => ${soon.days}::int)), address
    from (
      select c.*, coalesce(asked.address, knownaddress) as address, greatest(until, now() + make_interval(secs => grantseconds)) as over
      from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as c (origin text, sink text, id uuid, tenant text,
      basis text, allowedorigin text, allowedrate text, requestedrate int, tolerated text[], handshake uuid,
        agreement text, recordedby text, recordedbyperson jsonb, until timestamptz, grantseconds int, renewafter int, knownaddress text)
      left join asked on asked.handshake = c.handshake
    ) c
    order by origin collate "C", sink collate "C"
    on conflict (origin, sink) do update set
      state = 'live', endcode = null, endreason = null, endedat = null, endedby = null, endedbyperson = null,
      allowedorigin = excluded.allowedorigin, allowedrate = excluded.allowedrate,
      requestedrate = excluded.requestedrate, tolerated = excluded.tolerated, handshake = excluded.handshake,
      recordedby = excluded.recordedby, recordedbyperson = excluded.recordedbyperson, grantedat = excluded.grantedat, version = present.version + 1,
      -- A hold continues through a renewal, and ends with the grant that it was for.
      helduntil = case when present.state = 'live' and present.expiresat > excluded.grantedat then present.helduntil end,
      basis = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > excluded.grantedat
        and excluded.basis <> 'agreement' then present.basis else excluded.basis end,
      agreement = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > excluded.grantedat
        and excluded.basis <> 'agreement' then present.agreement else excluded.agreement end,
      address = coalesce(excluded.address, present.address),
      expiresat = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > excluded.grantedat
        and excluded.basis <> 'agreement' then present.expiresat else excluded.expiresat end,
      renewat = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > excluded.grantedat
        and excluded.basis <> 'agreement' then null else excluded.renewat end,
      noteat = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > excluded.grantedat
        and excluded.basis <> 'agreement' then present.noteat else excluded.noteat end
    where (present.state <> 'revoked' or excluded.basis = 'agreement')
      and not (excluded.basis = 'policy' and present.basis <> 'policy' and present.state = 'live'
        and present.expiresat > excluded.grantedat)
    returning *`;
  const live = new Map(rows.map((row) => [keyOfPair(row), grantMembers.read(row)]));
  const after = new Map(rows.map((row) => [keyOfPair(row), row]));
  for (const { actor, consent } of consents) {
    const grant = live.get(keyOfPair(consent));
    if (grant === undefined) continue;
    const { origin, sink, tenant, basis, allowedRate, expiresAt } = grant;
    const changed = changedGrant(before.get(keyOfPair(grant)), after.get(keyOfPair(grant)), grant.grantedAt);
    const detail = { origin, sink, basis, allowedrate: allowedRate, expiresat: expiresAt, changed };
    tx.audit(actor, 'grant.live', `grant:${grant.id}`, detail);
    tx.change({ kind: 'grant.live', tenant, origin, sink });
  }
  return live;
}

/** The present grants of some pairs, locked in the order of all transactions. */
async function lockGrants(sql: Sql, pairs: ReadonlyArray<Omit<Pair, 'tenant'>>): Promise<GrantRow[]> {
  return sql.$queryRaw<GrantRow[]>`
    select g.* from ${recordsetOfPairs(pairs)} p
    join "grant" g on g.origin = p.origin and g.sink = p.sink
    order by g.origin collate "C", g.sink collate "C" for update of g`;
}

/** As putGrants, for one. */
export async function putGrant(tx: Transaction, actor: Actor, consent: Consent): Promise<Grant | undefined> {
  return (await putGrants(tx, [{ actor, consent }])).get(keyOfPair(consent));
}

/** Stores where the webhook was when a handshake granted; a block of its network stops it from now on. */
export async function learnAddresses(
  tx: Transaction,
  asked: ReadonlyArray<{ origin: string; sink: string; handshake: string; address: string }>,
): Promise<void> {
  if (asked.length === 0) return;
  const rows = await tx.sql.$queryRaw<GrantRow[]>`
    with unknown as materialized (
      select g.origin, g.sink, a.address from ${recordset('grant', asked)} a
      join "grant" g on g.origin = a.origin and g.sink = a.sink and g.handshake = a.handshake
      where g.address is distinct from a.address
      order by g.origin collate "C", g.sink collate "C" for update of g
    )
    update "grant" g set address = u.address from unknown u where g.origin = u.origin and g.sink = u.sink returning g.*`;
  for (const { tenant, origin, sink, state } of rows) {
    if (state === 'live') tx.change({ kind: 'grant.live', tenant, origin, sink });
  }
}

function columnsOf(actor: Actor, consent: Consent) {
  const { origin, sink, tenant, basis, tolerated, handshake, agreement, lifetime } = consent;
  const seconds = 'seconds' in lifetime ? lifetime.seconds : undefined;
  return {
    id: uuidv7(),
    origin,
    sink,
    tenant,
    basis,
    tolerated,
    handshake,
    agreement,
    allowedorigin: consent.allowedOrigin,
    allowedrate: formatRate(consent.allowedRate),
    requestedrate: consent.requestedRate,
    recordedby: actor.name,
    recordedbyperson: actor.person,
    knownaddress: consent.address,
    until: 'until' in lifetime ? lifetime.until : undefined,
    grantseconds: seconds,
    // An agreement has its own expiry and is not renewed by a handshake.
    renewafter:
      seconds === undefined
        ? undefined
        : Math.floor(seconds * (renewal.from + (renewal.to - renewal.from) * consent.jitter)),
  };
}

/**
 * Serialises subscriptions that join or leave a pair: two that leave at once would each see the other and both leave the
 * grant behind, and one that joins while the last one leaves would lose its handshake. Locked until the transaction
 * ends; lock after the row of the subscription and before handshakes and grants.
 */
export async function lockPairs(sql: Sql, pairs: ReadonlyArray<Omit<Pair, 'tenant'>>): Promise<void> {
  if (pairs.length > 0) await lockRegistry(sql, ...pairs.map((pair) => `pair ${keyOfPair(pair)}`));
}

/** A pair whose grant ends. A grant newer than `grantedBefore` stays live: it is based on a later consent. */
export interface Ending extends Pair {
  code: EndCode;
  grantedBefore?: Date;
}

/**
 * live -> ended. An agreement ends only if the webhook is gone (webhook specification, section 2.2: the sender refrains
 * from sending any further).
 */
export async function endGrants(
  tx: Transaction,
  actor: Omit<Actor, 'tenant'>,
  endings: readonly Ending[],
): Promise<void> {
  if (endings.length === 0) return;
  const records = endings.map(({ origin, sink, tenant, code, grantedBefore }) => {
    return { origin, sink, tenant, endcode: code, grantedat: grantedBefore };
  });
  const rows = await tx.sql.$queryRaw<ChangedRow[]>`
    with ending as materialized (
      select g.origin, g.sink, e.endcode, to_jsonb(g) as before
      from ${recordset('grant', records)} e
      join "grant" g on g.origin = e.origin and g.sink = e.sink and g.tenant = e.tenant
      where g.state = 'live' and (g.basis <> 'agreement' or e.endcode = 'target_gone')
        and (e.grantedat is null or g.grantedat <= e.grantedat)
      order by g.origin collate "C", g.sink collate "C" for update of g
    )
    update "grant" g set state = 'ended', endcode = e.endcode, endedat = now(), endedby = ${actor.name},
      endedbyperson = ${storedPerson(actor)}::jsonb,
      renewat = null, version = g.version + 1
    from ending e where g.origin = e.origin and g.sink = e.sink
    returning g.*, e.before`;
  record(tx, actor, rows, 'grant.ended');
}

/** live or ended -> revoked. */
export async function revokeGrant(tx: Transaction, actor: Actor, pair: Pair, reason: string): Promise<void> {
  const rows = await tx.sql.$queryRaw<ChangedRow[]>`
    with present as materialized (
      select origin, sink, to_jsonb(p) as before from "grant" p
      where origin = ${pair.origin} and sink = ${pair.sink} and tenant = ${pair.tenant} and state <> 'revoked'
      for update
    )
    update "grant" g set state = 'revoked', endcode = 'revoked', endreason = ${reason}, endedat = now(), endedby = ${actor.name},
      endedbyperson = ${storedPerson(actor)}::jsonb,
      renewat = null, version = g.version + 1
    from present p where g.origin = p.origin and g.sink = p.sink
    returning g.*, p.before`;
  record(tx, actor, rows, 'grant.revoked');
}

/** revoked -> ended: an admin allows another handshake. */
export async function reopenGrant(tx: Transaction, actor: Actor, pair: Pair): Promise<void> {
  const rows = await tx.sql.$queryRaw<ChangedRow[]>`
    with present as materialized (
      select origin, sink, to_jsonb(p) as before from "grant" p
      where origin = ${pair.origin} and sink = ${pair.sink} and tenant = ${pair.tenant} and state = 'revoked'
      for update
    )
    update "grant" g set state = 'ended', endcode = 'reopened', endreason = null, endedat = now(), endedby = ${actor.name},
      endedbyperson = ${storedPerson(actor)}::jsonb,
      version = g.version + 1
    from present p where g.origin = p.origin and g.sink = p.sink
    returning g.*, p.before`;
  record(tx, actor, rows, 'grant.ended');
}

/** A live grant whose renewal was given up is renewed halfway through the rest of its lifetime. */
export async function renewLater(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  await sql.$executeRaw`
    update "grant" g set renewat = ${halfWay(await databaseTime(sql), Prisma.sql`g.expiresat`)}, version = version + 1
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant} and state = 'live' and expiresat > now()
      and renewat is null and basis <> 'agreement'
      and not exists (
        select 1 from handshake h where h.origin = g.origin and h.sink = g.sink and h.trigger = 'renewal'
          and h.state in ${openStatesSql})`;
}

/** The same for renewals without a response, unless a consent or an agreement arrived meanwhile, or little time is left. */
export async function renewUnreached(sql: Sql, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  await sql.$executeRaw`
    update "grant" g set renewat = ${halfWay(await databaseTime(sql), Prisma.sql`g.expiresat`)}, version = g.version + 1
    from ${recordsetOfPairs(pairs)} p
    where g.origin = p.origin and g.sink = p.sink and g.tenant = p.tenant and g.state = 'live'
      and g.expiresat > now() + interval '10 minutes' and g.renewat is null and g.basis <> 'agreement'`;
}

/** An admin ends a hold before the time that the webhook asked for. */
export async function releaseGrant(tx: Transaction, actor: Actor, pair: Pair): Promise<void> {
  const rows = await tx.sql.$queryRaw<ChangedRow[]>`
    with present as materialized (
      select origin, sink, to_jsonb(p) as before from "grant" p
      where origin = ${pair.origin} and sink = ${pair.sink} and tenant = ${pair.tenant} and state = 'live'
        and helduntil > statement_timestamp()
      for update
    )
    update "grant" g set helduntil = null, version = g.version + 1
    from present p where g.origin = p.origin and g.sink = p.sink
    returning g.*, p.before`;
  record(tx, actor, rows, 'grant.released');
}

/** A grant as it is now, and as it was. */
type ChangedRow = GrantRow & { before: GrantRow };

function record(
  tx: Transaction,
  actor: Omit<Actor, 'tenant'>,
  rows: ReadonlyArray<GrantRow & { before?: GrantRow }>,
  kind: 'grant.ended' | 'grant.revoked' | 'grant.released',
  cause?: 'origin_removed',
): void {
  for (const row of rows) {
    const { id, tenant, origin, sink, endcode, endreason, endedat, before } = row;
    const because = cause ?? (kind === 'grant.ended' ? (endcode ?? undefined) : undefined);
    const reason = kind === 'grant.revoked' ? (endreason ?? undefined) : undefined;
    const now = kind === 'grant.released' ? null : endedat;
    // A removed grant has no `before`: the row is what it was.
    const changed = before === undefined ? changedGrant(row, undefined, null) : changedGrant(before, row, now);
    const detail = { origin, sink, cause: because, reason, changed };
    tx.audit({ ...actor, tenant }, kind, `grant:${id}`, detail);
    tx.change({ kind, tenant, origin, sink, cause: because });
  }
}

/** Grants are removed with their origin: another tenant may register its name. */
export async function removeGrantsOf(tx: Transaction, actor: Actor, origin: string): Promise<void> {
  const rows = await tx.sql.$queryRaw<GrantRow[]>`
    with going as materialized (
      select sink from "grant" where origin = ${origin} and tenant = ${actor.tenant} order by sink collate "C" for update
    )
    delete from "grant" g using going where g.origin = ${origin} and g.sink = going.sink returning g.*`;
  const isLive = ({ state }: GrantRow) => state === 'live';
  record(tx, actor, rows.filter(isLive), 'grant.ended', 'origin_removed');
  // The others have ended already, but every follower of the change log must drop them too.
  for (const { tenant, sink } of rows.filter((row) => !isLive(row))) {
    tx.change({ kind: 'grant.ended', tenant, origin, sink });
  }
}
