// What a claim of twenty handshakes costs, by how many are due. Each claim is rolled back, so all find the same rows.
import pg from 'pg';
import { used } from './fill.mjs';
import { median, round2 } from './measure.mjs';

const claimed = 20;
const rounds = 21;
const tooSlowMs = 5_000;

/** What is due; each takes the number of rows, and the number to start from. */
const backlogs = {
  // As after an outage: most are for one tenant and one host. The first few are of as many tenants as all, because a claim
  // looks at each of these.
  renewals: `
    select gen_random_uuid(), g.tenant, g.origin, g.sink, sink_host(g.sink), 'renewal', 120
    from "grant" g where g.state = 'live' and g.basis = 'response' and g.expiresat > now()
    order by row_number() over (partition by g.tenant order by hashtext(g.sink)), g.sink offset $2 limit $1`,
  // As many as possible wait for a host or a tenant of their own.
  spread: `
    select gen_random_uuid(), case k % 100 when 0 then 'bench' else 'tenant' || k % 100 - 1 end,
      case k % 100 when 0 then 'eventemitter.example.com' else 'origin' || k % 100 - 1 || '.example.org' end,
      'https://host' || host || '.example.com/due/' || k, 'host' || host || '.example.com', 'request', 120
    from generate_series($2::int, $2::int + $1::int - 1) k,
      lateral (select (k::bigint * 7919 + k / 100) % ${used.hosts} as host) h`,
};

/** Milliseconds of a claim with few due rows, and with a hundred and a thousand times as many. */
export async function measureClaims({ createRegistry, url }, size, onStep) {
  const few = Math.max(100, size / 1_000);
  const counts = [few, few * 100, few * 1_000].filter((count) => count <= size);
  const { database, context } = await createRegistry();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rows = [];
  try {
    for (const [backlog, due] of Object.entries(backlogs)) {
      let written = 0;
      let first;
      for (const count of counts) {
        await client.query(
          `insert into handshake (id, tenant, origin, sink, sinkhost, trigger, requestedrate, startedby, state, dueat)
           select due.*, '${mark}', 'due', now() - interval '1 hour' + row_number() over () * interval '1 ms'
           from (${due}) due`,
          [count - written, written],
        );
        written = count;
        await client.query(
          `insert into handshake_lane (tenant, sinkhost, nextat)
           select tenant, sinkhost, min(dueat) from handshake where state = 'due' group by 1, 2
           on conflict (tenant, sinkhost) do nothing`,
        );
        await client.query('analyze handshake, handshake_lane');
        const measured = await timeClaims(database, context.queue);
        first ??= measured.ms;
        rows.push({ backlog, due: count, ...measured, ratio: round2(measured.ms / first) });
        onStep(
          `a claim of ${count} ${backlog}: ${measured.ms} ms${measured.fails ? `, fails: ${measured.fails}` : ''}`,
        );
      }
      await client.query(`delete from handshake where startedby = '${mark}'`);
      await client.query('delete from handshake_lane');
      await client.query('vacuum analyze handshake, handshake_lane');
    }
  } finally {
    await client.end();
  }
  return rows;
}

const mark = 'bench:scale';

async function timeClaims(database, queue) {
  const times = [];
  let begun = 0;
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    try {
      await database.write(async ({ sql }) => {
        begun = (await queue.claimIn(sql, claimed)).begun.length;
        times.push(performance.now() - startedAt);
        throw undo;
      });
    } catch (error) {
      const ms = Math.round(performance.now() - startedAt);
      if (error !== undo) return { ms, begun: 0, fails: error.cause?.message ?? error.message };
    }
    if (times.at(-1) > tooSlowMs) break;
  }
  return { ms: round2(median(times)), begun, ...(begun === 0 && { fails: 'nothing was claimed' }) };
}

const undo = new Error('A claim is measured, and taken back.');
