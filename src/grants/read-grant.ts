import { RegistryError } from '../errors.js';
import { isUuid, pageOf, type Page } from '../http/page.js';
import { parseRate, type Rate } from '../origins/rate.js';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type grant as GrantRow } from '../storage/generated/client.js';
import { grantOf, type Basis, type Grant } from './grant.js';

/** A grant as it reads now: past its end it is expired, whatever its row says. */
export type PresentState = Grant['state'] | 'expired';
export type PresentGrant = Omit<Grant, 'state'> & { state: PresentState };

/** Why not: no grant at all, one that is over, or every subscription of the pair is suspended; an agreement needs none. */
export type Denial = 'no_grant' | 'expired' | 'revoked' | 'ended' | 'suspended';

export interface Permission {
  origin: string;
  sink: string;
  grant: { id: string; basis: Basis; allowedRate: Rate; expiresAt: Date } | undefined;
  denial: Denial | undefined;
}

export interface GrantQuery {
  tenant: string;
  origin?: string;
  sink?: string;
  state?: PresentState;
  after: string | undefined;
  limit: number;
}

export interface GrantReader {
  /** RegistryError `grant_not_found` for one that is not the tenant's. */
  read(tenant: string, id: string): Promise<PresentGrant>;
  list(query: GrantQuery): Promise<Page<PresentGrant>>;
  /** One answer for each pair, in order; a pair of another tenant has no grant. */
  permissions(tenant: string, pairs: ReadonlyArray<{ origin: string; sink: string }>): Promise<Permission[]>;
}

type Row = GrantRow & { present: PresentState };
// Told by the database's clock, as everything that has an end.
const present = Prisma.sql`case when state = 'live' and expiresat <= now() then 'expired' else state end`;

export function createGrantReader(database: Database): GrantReader {
  const { client } = database;
  return {
    async read(tenant, id) {
      return presentGrant(await findGrant(client, tenant, id));
    },

    async list({ tenant, origin, sink, state, after, limit }) {
      const rows = await client.$queryRaw<Row[]>`
        select *, ${present} as present from "grant"
        where tenant = ${tenant}
          and (${origin ?? null}::text is null or origin = ${origin ?? null})
          and (${sink ?? null}::text is null or sink = ${sink ?? null})
          and (${state ?? null}::text is null or ${present} = ${state ?? null})
          and (${after ?? null}::uuid is null or id > ${after ?? null}::uuid)
        order by id limit ${limit + 1}`;
      return pageOf(rows.map(presentGrant), limit, (grant) => grant.id);
    },

    async permissions(tenant, pairs) {
      const rows = await client.$queryRaw<PermissionRow[]>`
        select pair.origin, pair.sink, g.id, g.basis, g.allowedrate, g.expiresat, ${present} as present,
          coalesce(s.every = s.suspended and (s.every > 0 or g.basis <> 'agreement'), false) as suspended
        from unnest(${pairs.map((pair) => pair.origin)}::text[], ${pairs.map((pair) => pair.sink)}::text[])
          with ordinality as pair (origin, sink, place)
        left join "grant" g on g.origin = pair.origin and g.sink = pair.sink and g.tenant = ${tenant}
        left join lateral (
          select count(*) as every, count(suspendedat) as suspended from subscription
          where origin = pair.origin and sink = pair.sink
        ) s on true
        order by place`;
      return rows.map(permissionOf);
    },
  };
}

/** RegistryError `grant_not_found` for one that is not the tenant's. */
export async function findGrant(sql: Sql, tenant: string, id: string): Promise<Row> {
  const rows = isUuid(id)
    ? await sql.$queryRaw<Row[]>`
        select *, ${present} as present from "grant" where id = ${id}::uuid and tenant = ${tenant}`
    : [];
  if (rows[0] === undefined) throw new RegistryError('grant_not_found', 'The tenant has no grant with this id.');
  return rows[0];
}

/** As findGrant, and nobody else changes it until the transaction ends. */
export async function lockGrant(sql: Sql, tenant: string, id: string): Promise<Row> {
  await sql.$queryRaw`select 1 from "grant" where id = ${id}::uuid and tenant = ${tenant} for update`;
  return findGrant(sql, tenant, id);
}

function presentGrant(row: Row): PresentGrant {
  return { ...grantOf(row), state: row.present };
}

interface PermissionRow {
  origin: string;
  sink: string;
  id: string | null;
  basis: Basis;
  allowedrate: string;
  expiresat: Date;
  present: PresentState | null;
  suspended: boolean;
}

function permissionOf(row: PermissionRow): Permission {
  const { origin, sink } = row;
  if (row.id === null || row.present === null) return { origin, sink, grant: undefined, denial: 'no_grant' };
  const allowedRate = parseRate(row.allowedrate) ?? 1;
  const denial = row.present !== 'live' ? row.present : row.suspended ? 'suspended' : undefined;
  return { origin, sink, grant: { id: row.id, basis: row.basis, allowedRate, expiresAt: row.expiresat }, denial };
}
