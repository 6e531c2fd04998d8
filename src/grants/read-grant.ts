import { RegistryError } from '../errors.js';
import { pageOf, type ListPage } from '../http/page.js';
import type { Database } from '../storage/database.js';
import { Prisma, type grant as GrantRow } from '../storage/generated/client.js';
import { isUuid } from '../storage/ids.js';
import type { Sql } from '../storage/sql.js';
import { grantTexts } from '../texts/grants.js';
import { grantOf, type Grant, type Pair } from './grant.js';

/** A grant as it is now: after its expiry it is expired, whatever its row says. */
export type PresentState = Grant['state'] | 'expired';
export type PresentGrant = Omit<Grant, 'state'> & { state: PresentState };

export interface GrantQuery {
  tenant: string;
  origin?: string;
  sink?: string;
  state?: PresentState;
  after: string | undefined;
  limit: number;
}

export interface GrantReader {
  /** RegistryError `grant_not_found` for a grant of another tenant. */
  read(tenant: string, id: string): Promise<PresentGrant>;
  list(query: GrantQuery): Promise<ListPage<PresentGrant>>;
}

type Row = GrantRow & { present: PresentState };
// By the database's clock, like every expiry.
const present = Prisma.sql`case when state = 'live' and expiresat <= now() then 'expired' else state end`;

export function createGrantReader(database: Database): GrantReader {
  const { client, sql } = database;
  return {
    async read(tenant, id) {
      return presentGrant(await findGrant(sql, tenant, id));
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
  };
}

/** The grant of a pair, of any tenant. */
export async function findGrantOf(sql: Sql, { origin, sink }: Omit<Pair, 'tenant'>): Promise<GrantRow | undefined> {
  return (await sql.$queryRaw<GrantRow[]>`select * from "grant" where origin = ${origin} and sink = ${sink}`)[0];
}

/** RegistryError `grant_not_found` for a grant of another tenant. */
export async function findGrant(sql: Sql, tenant: string, id: string): Promise<Row> {
  const rows = isUuid(id)
    ? await sql.$queryRaw<Row[]>`
        select *, ${present} as present from "grant" where id = ${id}::uuid and tenant = ${tenant}`
    : [];
  if (rows[0] === undefined) throw new RegistryError('grant_not_found', grantTexts.notFound);
  return rows[0];
}

/** As findGrant, with the row locked until the transaction ends. */
export async function lockGrant(sql: Sql, tenant: string, id: string): Promise<Row> {
  if (isUuid(id)) {
    await sql.$queryRaw`select 1 from "grant" where id = ${id}::uuid and tenant = ${tenant} for update`;
  }
  return findGrant(sql, tenant, id);
}

function presentGrant(row: Row): PresentGrant {
  return { ...grantOf(row), state: row.present };
}
