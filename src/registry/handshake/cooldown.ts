import type { Pair } from '../../consent/grant.js';
import { Prisma } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import { insertRows, recordsetOfPairs } from '../storage/rows.js';

/**
 * A webhook that returns 429 or 503 with Retry-After to a handshake cools down until then: no handshake of that pair is
 * sent for any subscription. Its latest response counts.
 *
 * Lock the rows of these handshakes before the call, and the pairs whose cool-down begins too (lockPairs): otherwise a
 * registration at this moment would miss the cool-down and be missed by it.
 *
 * @param answered distinct pairs, with the milliseconds to wait; 0 for a response that asks for none
 * @param now the database's time
 */
export async function recordCooldowns(
  sql: Sql,
  answered: ReadonlyArray<Pair & { ms: number }>,
  now: Date,
): Promise<void> {
  const over = answered.filter(({ ms }) => ms === 0);
  const begun = answered.filter(({ ms }) => ms > 0);
  if (over.length > 0) {
    // A transaction that writes one of these now has a later response.
    await sql.$executeRaw`
      delete from cooldown where (tenant, origin, sink) in (
        select c.tenant, c.origin, c.sink
        from ${recordsetOfPairs(over)} p
        join cooldown c on c.tenant = p.tenant and c.origin = p.origin and c.sink = p.sink
        for update of c skip locked)`;
  }
  if (begun.length > 0) {
    const rows = begun.map(({ tenant, origin, sink, ms }) => {
      return { tenant, origin, sink, until: new Date(now.getTime() + ms) };
    });
    await sql.$executeRaw`
      ${insertRows('cooldown', rows)} order by tenant, origin, sink
      on conflict (tenant, origin, sink) do update set until = excluded.until`;
    // A transaction that has one of these locked is closing or claiming it.
    await sql.$executeRaw`
      with waiting as materialized (
        select h.id, c.until
        from ${recordsetOfPairs(begun)} p
        join cooldown c on c.tenant = p.tenant and c.origin = p.origin and c.sink = p.sink
        join handshake h on h.tenant = p.tenant and h.origin = p.origin and h.sink = p.sink
        where h.state = 'due' and h.dueat < c.until
        for update of h skip locked
      )
      update handshake h set dueat = waiting.until from waiting where h.id = waiting.id`;
  }
}

/** When the cool-down of the webhook ends; in the past if it is over, null if there is none. */
export function cooldownOf({ tenant, origin, sink }: Pair): Prisma.Sql {
  return Prisma.sql`(select until from cooldown where tenant = ${tenant} and origin = ${origin} and sink = ${sink})`;
}
