import type { Registry } from './registry.js';

/**
 * Lets time pass without waiting for it. Windows and leases are told by the database's clock, so an end that is moved
 * to now is the same as a clock that has come there; a millisecond more, because the columns round to that.
 */

/** Webhooks that cool down may be asked again. */
export async function passCooldowns({ sql }: Registry): Promise<void> {
  await sql(`update cooldown set until = now() - interval '1 millisecond' where until > now()`);
}

/** Handshakes that wait for their next attempt are due. */
export async function passDelays(registry: Registry): Promise<void> {
  await passCooldowns(registry);
  await registry.sql(`update handshake set dueat = now() - interval '1 millisecond' where state = 'due'`);
}

/** Callback keys that were given out so far run out, and nobody waits for them any longer. */
export async function passCallbacks({ sql }: Registry): Promise<void> {
  await sql(`update attempt set callbackexpiresat = now() - interval '1 millisecond' where callbackexpiresat > now()`);
  await sql(`update handshake set waitinguntil = now() - interval '1 millisecond' where state = 'waiting'`);
}

/** What is being asked is nobody's work any more. */
export async function passLeases({ sql }: Registry): Promise<void> {
  await sql(`update handshake set leaseduntil = now() - interval '1 millisecond' where state = 'asking'`);
}

/** The grant of a sink is to be renewed. */
export async function reachRenewal({ sql }: Registry, sink: string): Promise<void> {
  await sql(`update "grant" set renewat = now() - interval '1 millisecond' where sink = $1`, sink);
}

/** The grant of a sink has run out; the log is told, for nothing else moves an end. */
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

/** Asks what is due, lets the delays pass, and again, until no handshake is to be asked. */
export async function exhaust(registry: Registry): Promise<void> {
  const open = `select 1 from handshake where state in ('due', 'asking')`;
  do {
    await passDelays(registry);
    await registry.service.worker.drain();
  } while ((await registry.sql(open)).length > 0);
}
