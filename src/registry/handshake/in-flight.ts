import { Prisma } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import type { Lane } from './lane.js';

/** The most handshakes in flight for one host and for one tenant, across all processes. */
export interface Places {
  perHost: number;
  perTenant: number;
  /** In flight without a row: those of dry runs in this process. */
  unstored: ReadonlySet<Lane>;
}

/** In flight for each tenant and host, and how many of them were claimed by a process that died. */
type Busy = Lane & { count: number; expired: number };

/** Rows of `Busy`. */
export const busyLanes = Prisma.sql`
  select tenant, sinkhost, count(*) filter (where claimeduntil > statement_timestamp())::int as count,
    count(*) filter (where claimeduntil <= statement_timestamp())::int as expired
  from handshake where state = 'asking' group by tenant, sinkhost`;

/** What is in flight, in all processes, with what is chosen now. It is right under the lock on claims. */
export class InFlight {
  /** Claims whose process died. */
  readonly expired: number;
  readonly #places: Places;
  readonly #byHost = new Map<string, number>();
  readonly #byTenant = new Map<string, number>();

  constructor(places: Places, rows: readonly Busy[]) {
    this.#places = places;
    this.expired = rows.reduce((sum, { expired }) => sum + expired, 0);
    for (const row of rows) this.#add(row, row.count);
    for (const lane of places.unstored) this.#add(lane, 1);
  }

  /** Takes a place at the host and of the tenant; false if one of them has none. */
  take(lane: Lane): boolean {
    const hasPlace = this.ofTenant(lane.tenant) < this.#places.perTenant && this.#ofHost(lane) < this.#places.perHost;
    if (hasPlace) this.#add(lane, 1);
    return hasPlace;
  }

  giveBack(lane: Lane): void {
    this.#add(lane, -1);
  }

  ofTenant(tenant: string): number {
    return this.#byTenant.get(tenant) ?? 0;
  }

  /** With the number of each. */
  tenants(): Array<[tenant: string, count: number]> {
    return [...this.#byTenant];
  }

  fullHosts(): string[] {
    return [...this.#byHost].flatMap(([host, count]) => (count >= this.#places.perHost ? [host] : []));
  }

  #ofHost({ sinkhost }: Lane): number {
    return this.#byHost.get(sinkhost) ?? 0;
  }

  #add(lane: Lane, count: number): void {
    this.#byHost.set(lane.sinkhost, this.#ofHost(lane) + count);
    this.#byTenant.set(lane.tenant, this.ofTenant(lane.tenant) + count);
  }
}

/** With the database's time. */
export async function readInFlight(sql: Sql, places: Places): Promise<{ inFlight: InFlight; now: number }> {
  const [row] = await sql.$queryRaw<Array<{ now: number; busy: Busy[] }>>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now,
      (select coalesce(jsonb_agg(b), '[]') from (${busyLanes}) b) as busy`;
  if (row === undefined) throw new Error('This query returns one row.');
  return { inFlight: new InFlight(places, row.busy), now: row.now };
}
