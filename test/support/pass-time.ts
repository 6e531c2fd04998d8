import type { Registry } from './registry.js';

/**
 * Lets time pass without waiting. Windows and expiries follow the database's clock, so moving an end to now has the
 * same effect as waiting for it; minus a millisecond, because the columns round to that.
 */

/** Ends all cool-downs: webhooks may be asked again. */
export async function passCooldowns({ sql }: Registry): Promise<void> {
  await sql(`update cooldown set until = now() - interval '1 millisecond' where until > now()`);
}

/** Makes handshakes due that wait for their next attempt. */
export async function passDelays(registry: Registry): Promise<void> {
  await passCooldowns(registry);
  await registry.sql(`update handshake set dueat = now() - interval '1 millisecond' where state = 'due'`);
  await passTurns(registry);
}

/** Makes it the turn of all lanes in which something is due by now. */
export async function passTurns({ sql }: Registry): Promise<void> {
  await sql(
    `insert into handshake_lane (tenant, sinkhost, nextat)
     select tenant, sinkhost, min(dueat) from handshake where state = 'due' and dueat is not null group by 1, 2
     on conflict (tenant, sinkhost) do update set nextat = excluded.nextat, helduntil = null`,
  );
}

/** Ends the minute of all budgets of handshakes. */
export async function passBudgets(registry: Registry): Promise<void> {
  await registry.sql('update rate_window set until = now(), fulluntil = null');
  await passTurns(registry);
}

/** Expires all callback keys so far, and ends the wait for them. */
export async function passCallbacks({ sql }: Registry): Promise<void> {
  await sql(`update attempt set callbackexpiresat = now() - interval '1 millisecond' where callbackexpiresat > now()`);
  await sql(`update handshake set waitinguntil = now() - interval '1 millisecond' where state = 'waiting'`);
}

/** Expires the claims of all handshakes in progress. */
export async function passLeases({ sql }: Registry): Promise<void> {
  await sql(`update handshake set claimeduntil = now() - interval '1 millisecond' where state = 'asking'`);
}

/** Makes the grant of a sink due for renewal. */
export async function reachRenewal({ sql }: Registry, sink: string): Promise<void> {
  await sql(`update "grant" set renewat = now() - interval '1 millisecond' where sink = $1`, sink);
}

/** Expires the grant of a sink, and appends a change, because nothing else moves an expiry. */
export async function passGrant({ sql, service }: Registry, sink: string): Promise<void> {
  const rows = await sql<{ tenant: string; origin: string }>(
    `update "grant" set expiresat = now() - interval '1 millisecond', renewat = null where sink = $1
     returning tenant, origin`,
    sink,
  );
  await service.database.write(async (tx) => {
    for (const row of rows) tx.change({ kind: 'grant.live', ...row, sink });
  });
  await service.follow();
}

/** Runs due handshakes and lets delays pass, again and again, until no handshake is left. */
export async function exhaust(registry: Registry): Promise<void> {
  const open = `select 1 from handshake where state in ('due', 'asking')`;
  do {
    await passDelays(registry);
    await registry.service.worker.drain();
  } while ((await registry.sql(open)).length > 0);
}
