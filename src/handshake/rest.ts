import type { Pair } from '../grants/grant.js';
import type { Sql } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';

/**
 * A webhook that answers 429 or 503 and names a Retry-After rests until then: nobody asks it for that pair, on behalf
 * of whichever subscription. Its latest answer counts. Consents end rests in their batch, by the function
 * settle_consents.
 *
 * Call it with the row of the handshake that was answered locked, and the pair too where there is a rest (lockPairs):
 * else who registers at this moment would neither see the rest nor be seen.
 *
 * @param restMs 0 for an answer that asks for none
 */
export async function recordRest(sql: Sql, { tenant, origin, sink }: Pair, restMs: number): Promise<void> {
  if (restMs === 0) {
    // Who writes one at this moment knows of a later answer.
    await sql.$executeRaw`
      delete from rest where (tenant, origin, sink) in (
        select tenant, origin, sink from rest where tenant = ${tenant} and origin = ${origin} and sink = ${sink}
        for update skip locked)`;
    return;
  }
  await sql.$executeRaw`
    insert into rest (tenant, origin, sink, until)
    values (${tenant}, ${origin}, ${sink}, now() + make_interval(secs => ${restMs / 1_000}::float8))
    on conflict (tenant, origin, sink) do update set until = excluded.until`;
  // Whoever holds one of these is closing it, or asks already.
  await sql.$executeRaw`
    update handshake set dueat = ${restOf({ tenant, origin, sink })}
    where id in (
      select id from handshake where tenant = ${tenant} and origin = ${origin} and sink = ${sink}
        and state = 'due' and dueat < ${restOf({ tenant, origin, sink })}
      for update skip locked)`;
}

/** Until when the webhook rests; in the past where that is over, null where nothing is known. */
export function restOf({ tenant, origin, sink }: Pair): Prisma.Sql {
  return Prisma.sql`(select until from rest where tenant = ${tenant} and origin = ${origin} and sink = ${sink})`;
}
