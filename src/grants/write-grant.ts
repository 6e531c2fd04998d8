import { appendChange } from '../changes/change.js';
import { formatRate, type Rate } from '../origins/rate.js';
import { recordAudit, recordAudits, type Actor } from '../storage/audit.js';
import type { Sql } from '../storage/database.js';
import type { grant as GrantRow } from '../storage/generated/client.js';
import { uuidv7 } from '../storage/ids.js';
import { grantOf, keyOfPair, type Basis, type EndReason, type Grant, type Pair } from './grant.js';

// The arrows of a grant, each one conditional statement in the caller's transaction, which also gets the audit entry and
// the change. Where the state does not allow the arrow nothing is written.

/** What makes a grant live, whoever gave it. */
export interface Consent extends Pair {
  basis: Basis;
  allowedOrigin: string | undefined;
  allowedRate: Rate;
  requestedRate: number | undefined;
  warnings: readonly string[];
  handshake: string | undefined;
  reference: string | undefined;
  /** How long it holds: seconds from now by the database's clock, or an instant. */
  lease: { seconds: number } | { until: Date };
  /** Random part of a lease after which it is renewed, so that renewals do not come in crowds. */
  jitter: number;
}

/** Any state but revoked -> live, or undefined. An agreement is an admin's word and takes a revoked grant too. */
export async function putGrant(sql: Sql, actor: Actor, consent: Consent): Promise<Grant | undefined> {
  const { origin, sink, tenant, basis } = consent;
  const [row] = await sql.$queryRaw<GrantRow[]>`
    select * from put_grants(${JSON.stringify([consentColumns(actor, consent)])}::jsonb)`;
  if (row === undefined) return undefined;
  const grant = grantOf(row);
  await recordAudit(sql, actor, 'grant.live', `grant:${grant.id}`, {
    origin,
    sink,
    basis,
    allowedrate: grant.allowedRate,
    expiresat: grant.expiresAt,
  });
  await appendChange(sql, { kind: 'grant.live', tenant, origin, sink });
  return grant;
}

/** As the function put_grants takes it. */
export function consentColumns(actor: Actor, consent: Consent) {
  const { origin, sink, tenant, basis, warnings, handshake, reference, lease } = consent;
  const seconds = 'seconds' in lease ? lease.seconds : undefined;
  return {
    id: uuidv7(),
    origin,
    sink,
    tenant,
    basis,
    warnings,
    handshake,
    reference,
    allowedorigin: consent.allowedOrigin,
    allowedrate: formatRate(consent.allowedRate),
    requestedrate: consent.requestedRate,
    recordedby: actor.name,
    ...('until' in lease ? { until: lease.until } : {}),
    leaseseconds: seconds,
    // An agreement has its own end and is not renewed by a handshake.
    renewafter: seconds === undefined ? undefined : Math.floor(seconds * (0.75 + 0.1 * consent.jitter)),
  };
}

/**
 * One at a time for subscriptions that come to a pair or leave it: two that leave at once would each see the other and
 * both leave the grant behind, and one that comes while the last one leaves would lose its handshake. Held until the
 * end of the transaction; take it after the subscription's row and before handshakes and grants.
 */
export async function lockPairs(sql: Sql, ...pairs: Array<Omit<Pair, 'tenant'>>): Promise<void> {
  const keys = pairs.map(keyOfPair).sort();
  for (const key of keys) await sql.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${key}, 0))::text`;
}

/** Pairs whose grants end. A grant that is newer than `grantedBefore` stands: it rests on a consent that came later. */
export interface Ending extends Pair {
  grantedBefore?: Date;
}

/**
 * live -> ended, for any number of pairs. An agreement stands by itself, but not against a webhook that is gone: no
 * paper brings it back (webhook specification, section 2.2: the sender refrains from sending any further). All of them
 * in one call, the last of a transaction: grants are locked in the order in which everybody locks them, and then the
 * log is, of which there is one.
 */
export async function endGrants(
  sql: Sql,
  actor: Omit<Actor, 'tenant'>,
  endings: readonly Ending[],
  reason: EndReason,
): Promise<void> {
  if (endings.length === 0) return;
  const pairs = endings.map(({ origin, sink, tenant, grantedBefore }) => ({
    origin,
    sink,
    tenant,
    grantedbefore: grantedBefore,
  }));
  const rows = await sql.$queryRaw<GrantRow[]>`
    with ending as materialized (
      select g.origin, g.sink
      from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb)
        as e (origin text, sink text, tenant text, grantedbefore timestamptz)
      join "grant" g on g.origin = e.origin and g.sink = e.sink and g.tenant = e.tenant
      where g.state = 'live' and (g.basis <> 'agreement' or ${reason} = 'target_gone')
        and (e.grantedbefore is null or g.grantedat <= e.grantedbefore)
      order by g.origin collate "C", g.sink collate "C" for update of g
    )
    update "grant" g set state = 'ended', endreason = ${reason}, endedat = now(), endedby = ${actor.name},
      renewat = null, version = g.version + 1
    from ending e where g.origin = e.origin and g.sink = e.sink
    returning g.*`;
  await tell(sql, actor, rows, 'grant.ended', reason);
}

/** As endGrants, for one. */
export function endGrant(sql: Sql, actor: Actor, ending: Ending, reason: EndReason): Promise<void> {
  return endGrants(sql, actor, [ending], reason);
}

/** live or ended -> revoked. */
export async function revokeGrant(sql: Sql, actor: Actor, pair: Pair, reason: string): Promise<void> {
  const rows = await sql.$queryRaw<GrantRow[]>`
    update "grant" set state = 'revoked', endreason = ${reason}, endedat = now(), endedby = ${actor.name},
      renewat = null, version = version + 1
    where origin = ${pair.origin} and sink = ${pair.sink} and tenant = ${pair.tenant} and state <> 'revoked'
    returning *`;
  await tell(sql, actor, rows, 'grant.revoked', reason);
}

/** revoked -> ended: an admin lets the webhook be asked again. */
export async function reopenGrant(sql: Sql, actor: Actor, pair: Pair): Promise<void> {
  const rows = await sql.$queryRaw<GrantRow[]>`
    update "grant" set state = 'ended', endreason = 'reopened', endedat = now(), endedby = ${actor.name},
      version = version + 1
    where origin = ${pair.origin} and sink = ${pair.sink} and tenant = ${pair.tenant} and state = 'revoked'
    returning *`;
  await tell(sql, actor, rows, 'grant.ended', 'reopened');
}

/** A live grant whose renewal was given up is renewed in the middle of what is left of its lease. */
export async function renewLater(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  await sql.$executeRaw`
    update "grant" g set renewat = now() + (expiresat - now()) / 2, version = version + 1
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant} and state = 'live' and expiresat > now()
      and renewat is null and basis <> 'agreement'
      and not exists (
        select 1 from handshake h where h.origin = g.origin and h.sink = g.sink and h.reason = 'renewal'
          and h.state in ('due', 'asking', 'waiting'))`;
}

/** An admin ends the rest that a live grant has. */
export async function releaseGrant(sql: Sql, actor: Actor, pair: Pair): Promise<void> {
  const rows = await sql.$queryRaw<GrantRow[]>`
    update "grant" set helduntil = null, version = version + 1
    where origin = ${pair.origin} and sink = ${pair.sink} and tenant = ${pair.tenant} and state = 'live'
      and helduntil > clock_timestamp()
    returning *`;
  await tell(sql, actor, rows, 'grant.released');
}

async function tell(
  sql: Sql,
  actor: Omit<Actor, 'tenant'>,
  rows: readonly GrantRow[],
  kind: 'grant.ended' | 'grant.revoked' | 'grant.released',
  reason?: string,
): Promise<void> {
  if (rows.length === 0) return;
  await recordAudits(
    sql,
    rows.map(({ id, tenant, origin, sink }) => ({
      actor: { ...actor, tenant },
      action: kind,
      target: `grant:${id}`,
      detail: { origin, sink, reason },
    })),
  );
  await appendChange(sql, ...rows.map(({ tenant, origin, sink }) => ({ kind, tenant, origin, sink })));
}

/** Grants go with their origin: its name may be registered again, by somebody else. */
export async function removeGrantsOf(sql: Sql, actor: Actor, origin: string): Promise<void> {
  const rows = await sql.$queryRaw<GrantRow[]>`
    with going as materialized (
      select sink from "grant" where origin = ${origin} and tenant = ${actor.tenant} order by sink collate "C" for update
    )
    delete from "grant" g using going where g.origin = ${origin} and g.sink = going.sink returning g.*`;
  const live = rows.filter(({ state }) => state === 'live');
  await tell(sql, actor, live, 'grant.ended', 'origin_removed');
  // Nothing ends with the others; but everybody who follows the log drops them too.
  const over = rows.filter(({ state }) => state !== 'live');
  if (over.length === 0) return;
  await appendChange(sql, ...over.map(({ tenant, sink }) => ({ kind: 'grant.ended' as const, tenant, origin, sink })));
}
