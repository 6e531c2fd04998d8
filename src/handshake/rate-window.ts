import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import type { Sql } from '../storage/database.js';

/**
 * How many handshakes a minute one host, its registrable domain, its network and one tenant get, over all processes: a
 * fixed window for each. The registry must not become a flooder by many names of one victim, many tenants, or somebody
 * who presses the button again. What finds no room waits; nothing is dropped.
 */
export interface RateWindows {
  /**
   * Takes a place in all windows of each question or, where one of them is full, in none: else a crowd for one host,
   * which is back each minute, would use up what its tenant has. Returns for those without a place how many milliseconds
   * to wait, by their ids. Call it under the lock of claims.
   */
  admit(sql: Sql, questions: readonly AdmittedQuestion[]): Promise<Map<string, number>>;
  /**
   * The same for the network that is about to be dialled, a /24 or a /48: milliseconds to wait, or undefined to go on.
   */
  admitNetwork(sql: Sql, network: string): Promise<number | undefined>;
}

export interface AdmittedQuestion {
  id: string;
  tenant: string;
  sinkHost: string;
}

const windowMs = 60_000;
/** So that a window that is about to end is not asked again and again. */
const leastWaitMs = 500;

/** @param perMinute handshakes of a host and of a tenant; a domain gets twice as many as a host, a network four times */
export function createRateWindows({ perHost, perTenant }: { perHost: number; perTenant: number }): RateWindows {
  function windowsOf({ tenant, sinkHost }: AdmittedQuestion): Array<{ key: string; limit: number }> {
    const domain = domainOf(sinkHost);
    return [
      { key: `tenant:${tenant}`, limit: perTenant },
      { key: `host:${sinkHost}`, limit: perHost },
      ...(domain === null ? [] : [{ key: `domain:${domain}`, limit: perHost * 2 }]),
    ];
  }

  return {
    async admit(sql, questions) {
      const keys = [...new Set(questions.flatMap(windowsOf).map(({ key }) => key))];
      const rows = await sql.$queryRaw<Array<{ key: string; points: number; leftms: number }>>`
        select key, points, (extract(epoch from until - statement_timestamp()) * 1000)::float8 as leftms
        from rate_window where key = any (${keys}::text[]) and until > statement_timestamp()`;
      const present = new Map(rows.map((row) => [row.key, row]));
      const taken = new Map<string, number>();
      const held = new Map<string, number>();
      for (const question of questions) {
        const windows = windowsOf(question);
        const full = windows.find(({ key, limit }) => (present.get(key)?.points ?? 0) + (taken.get(key) ?? 0) >= limit);
        if (full !== undefined) {
          held.set(question.id, Math.max(present.get(full.key)?.leftms ?? windowMs, leastWaitMs));
        } else {
          for (const { key } of windows) taken.set(key, (taken.get(key) ?? 0) + 1);
        }
      }
      await take(sql, taken);
      return held;
    },

    async admitNetwork(sql, network) {
      // On a developer's machine everything is one network.
      if (isLoopback(network)) return undefined;
      const [row] = await take(sql, new Map([[`network:${network}`, 1]]));
      if (row === undefined || row.points <= perHost * 4) return undefined;
      return Math.max(row.leftms, leastWaitMs);
    },
  };
}

/** A window that is over begins anew. */
function take(sql: Sql, taken: ReadonlyMap<string, number>): Promise<Array<{ points: number; leftms: number }>> {
  return sql.$queryRaw`
    insert into rate_window as present (key, points, until)
    select key, points, statement_timestamp() + make_interval(secs => ${windowMs / 1_000}::float8)
    from unnest(${[...taken.keys()]}::text[], ${[...taken.values()]}::int[]) as t (key, points)
    order by key
    on conflict (key) do update set
      points = excluded.points + case when present.until > statement_timestamp() then present.points else 0 end,
      until = case when present.until > statement_timestamp() then present.until else excluded.until end
    returning points, (extract(epoch from until - statement_timestamp()) * 1000)::float8 as leftms`;
}

/**
 * The registrable domain of a host by the public suffix list (private suffixes count); null for a name that has none.
 */
function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

function isLoopback(network: string): boolean {
  const address = network.split('/')[0] ?? '';
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
