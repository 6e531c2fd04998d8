import { RegistryError } from '../errors.js';
import type { Basis, Grant } from '../grants/grant.js';
import type { HandshakeReason, HandshakeState, HeaderLine } from '../handshake/handshake.js';
import type { RejectedCallback } from '../handshake/rejected-callback.js';
import { publicVerdict, type Verdict } from '../handshake/verdicts.js';
import { pageOf, type ListPage } from '../http/page.js';
import type { Principal } from '../http/principal.js';
import type { Filter } from '../matching/filter.js';
import type { CallbackPolicy, Profile } from '../origins/origin.js';
import { storedRate } from '../origins/rate.js';
import { createBatcher } from '../storage/batch.js';
import type { Database } from '../storage/database.js';
import { Prisma, type subscription as SubscriptionRow } from '../storage/generated/client.js';
import { isUuid } from '../storage/ids.js';
import type { Sql } from '../storage/sql.js';
import { subscriptionTexts } from '../texts/subscriptions.js';
import type { CredentialInfo, PresentCredential } from './credential.js';
import type { Status, Subscription, SubscriptionStatus, SuspendedBy } from './subscription.js';

export interface SubscriptionQuery {
  source?: string;
  type?: string;
  subject?: string;
  sink?: string;
  origin?: string;
  subscriber?: string;
  status?: Status;
  after: string | undefined;
  limit: number;
}

export interface SubscriptionReader {
  /** Throws RegistryError `subscription_not_found` for a subscription that the principal may not see. */
  read(principal: Principal, id: string): Promise<Subscription>;
  /** The subscriptions that the principal may see, oldest first. */
  list(principal: Principal, query: SubscriptionQuery): Promise<ListPage<Subscription>>;
}

export function createSubscriptionReader({ client, sql }: Database): SubscriptionReader {
  // Planning this query takes longer than running it, so concurrent reads are batched.
  const read = createBatcher<string, Row | undefined>({ run: (ids) => readRows(sql, ids), most: 200 });
  return {
    async read(principal, id) {
      return visible(principal, isUuid(id) ? await read(id) : undefined);
    },

    async list(principal, query) {
      const { source, type, subject, sink, origin, subscriber, status, after, limit } = query;
      const equals = (column: Prisma.Sql, value: string | undefined) =>
        value === undefined ? Prisma.sql`true` : Prisma.sql`${column} = ${value}`;
      const rows = await client.$queryRaw<Row[]>`
        select s.*, derived.*, sender.profile, s.previousuntil > now() as overlaps from subscription s
        join subscription_status derived on derived.id = s.id join origin sender on sender.name = s.origin
        where ${visibleTo(principal)}
          and ${equals(Prisma.sql`s.source`, source)} and ${equals(Prisma.sql`s.subject`, subject)}
          and ${equals(Prisma.sql`s.sink`, sink)} and ${equals(Prisma.sql`s.origin`, origin?.toLowerCase())}
          and ${equals(Prisma.sql`s.subscriber`, subscriber)}
          and ${mayBe(status)} and ${equals(Prisma.sql`derived.status`, status)}
          and (${type ?? null}::text is null or s.types @> array[${type ?? null}::text])
          and (${after ?? null}::uuid is null or s.id > ${after ?? null}::uuid)
        order by s.id limit ${limit + 1}`;
      return pageOf(rows.map(subscriptionOf), limit, (subscription) => subscription.id);
    },
  };
}

/** Admins see all subscriptions of the tenant, subscribers see their own. */
function visibleTo({ tenant, subscriber, scopes }: Principal): Prisma.Sql {
  return scopes.has('assent:admin')
    ? Prisma.sql`s.tenant = ${tenant}`
    : Prisma.sql`s.tenant = ${tenant} and s.subscriber = ${subscriber}`;
}

/**
 * A condition on the subscription and its grant that a status implies. The view decides the same, but looks up the
 * handshakes first, which would exceed the statement timeout for a million subscriptions.
 */
function mayBe(status: Status | undefined): Prisma.Sql {
  if (status === undefined) return Prisma.sql`true`;
  if (status === 'expired') {
    return Prisma.sql`(s.endedat is not null or s.endsat <= now() or (s.suspendedat is null and not coalesce((
      select g.state = 'live' and g.expiresat > now() from "grant" g where g.origin = s.origin and g.sink = s.sink), false)))`;
  }
  if (status === 'suspended') return Prisma.sql`s.suspendedat is not null`;
  // A scalar subquery instead of "exists" keeps the order of the ids, so a page of the most common status is fast.
  return Prisma.sql`s.suspendedat is null and ${status === 'active'} = coalesce((
    select g.state = 'live' and g.expiresat > now() from "grant" g where g.origin = s.origin and g.sink = s.sink), false)`;
}

/** Throws RegistryError `subscription_not_found` for a subscription that the principal may not see. */
function visible({ tenant, subscriber, scopes }: Principal, row: Row | undefined): Subscription {
  if (row?.tenant !== tenant || (row.subscriber !== subscriber && !scopes.has('assent:admin'))) {
    throw new RegistryError('subscription_not_found', subscriptionTexts.notFound);
  }
  return subscriptionOf(row);
}

async function readRows(sql: Sql, ids: readonly string[]): Promise<Array<Row | undefined>> {
  const rows = await sql.$queryRaw<Row[]>`
    select s.*, derived.*, sender.profile, s.previousuntil > now() as overlaps from subscription s
    join subscription_status derived on derived.id = s.id join origin sender on sender.name = s.origin
    where s.id = any (${ids}::uuid[])`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Like `read`, and locks the subscription until the transaction ends. */
export async function lockSubscription(sql: Sql, principal: Principal, id: string): Promise<Subscription> {
  if (!isUuid(id)) return visible(principal, undefined);
  await sql.$queryRaw`select 1 from subscription s where s.id = ${id}::uuid and ${visibleTo(principal)} for update`;
  return visible(principal, (await readRows(sql, [id]))[0]);
}

/** The columns of the view; the migration has its query. */
type Row = SubscriptionRow & {
  profile: Profile;
  overlaps: boolean | null;
  status: Status;
  isended: boolean;
  handshake: string | null;
  handshakestate: HandshakeState;
  handshakereason: HandshakeReason;
  verdict: Verdict | null;
  dueat: Date | null;
  waitinguntil: Date | null;
  answerheaders: HeaderLine[] | null;
  callbackoffered: boolean | null;
  rejectedcallback: RejectedCallback | null;
  grantstate: Grant['state'] | null;
  basis: Basis;
  allowedrate: string;
  warnings: string[] | null;
  expiresat: Date;
  renewat: Date | null;
  secondsleft: number;
};

function subscriptionOf(row: Row): Subscription {
  return {
    id: row.id,
    tenant: row.tenant,
    subscriber: row.subscriber,
    origin: row.origin,
    profile: row.profile,
    sink: row.sink,
    protocol: row.protocol,
    protocolSettings: (row.protocolsettings ?? undefined) as Record<string, unknown> | undefined,
    source: row.source ?? undefined,
    types: row.types?.length ? row.types : undefined,
    subject: row.subject ?? undefined,
    price: row.price,
    filters: (row.filters ?? undefined) as Filter[] | undefined,
    config: (row.config ?? undefined) as Record<string, unknown> | undefined,
    requestedRate: row.requestedrate ?? undefined,
    callback: (row.callback ?? undefined) as CallbackPolicy | undefined,
    credential: credentialOf(row),
    generation: row.generation,
    version: row.version,
    suspended:
      row.suspendedat === null
        ? undefined
        : { at: row.suspendedat, by: row.suspendedby as SuspendedBy, reason: row.suspendreason ?? undefined },
    expiresAt: row.endsat ?? undefined,
    isEnded: row.isended,
    createdAt: row.createdat,
    updatedAt: row.updatedat,
    ...statusOf(row),
  };
}

function credentialOf({ credentialinfo, previousinfo, previousuntil, overlaps }: Row): PresentCredential | undefined {
  if (credentialinfo === null) return undefined;
  const present = credentialinfo as unknown as CredentialInfo;
  if (overlaps !== true || previousuntil === null) return present;
  const previous = previousinfo as unknown as CredentialInfo;
  return { ...present, previous: { ...previous, until: previousuntil.toISOString() } };
}

function statusOf(row: Row): SubscriptionStatus {
  return {
    status: row.status,
    handshake:
      row.handshake === null
        ? undefined
        : {
            id: row.handshake,
            reason: row.handshakereason,
            state: row.handshakestate,
            verdict: row.verdict === null ? undefined : publicVerdict(row.verdict),
            dueAt: row.dueat ?? undefined,
            waitingUntil: row.waitinguntil ?? undefined,
            answer: row.answerheaders ?? undefined,
            callbackOffered: row.callbackoffered ?? false,
            rejectedCallback: row.rejectedcallback ?? undefined,
          },
    grant:
      row.grantstate === null
        ? undefined
        : {
            state: row.grantstate,
            basis: row.basis,
            allowedRate: storedRate(row.allowedrate),
            warnings: row.warnings ?? [],
            expiresAt: row.expiresat,
            renewAt: row.renewat ?? undefined,
            secondsLeft: row.secondsleft,
          },
  };
}
