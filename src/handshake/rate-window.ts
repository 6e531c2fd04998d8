import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import type { Database } from '../storage/database.js';
import type { Sql } from '../storage/sql.js';
import { databaseTime, lockRegistry } from '../storage/transaction.js';

/**
 * How many handshakes a minute one host, its registrable domain, its network and one tenant get, over all processes: a
 * fixed window for each. The registry must not become a flooder by many names of one victim, many tenants, or somebody
 * who presses the button again. What finds no room waits; nothing is dropped.
 */
export interface RateWindows {
  /**
   * Takes a place in all windows of each question or, where one of them is full, in none: else a crowd for one host,
   * which is back each minute, would use up what its tenant has. Returns for those without a place how many milliseconds
   * to wait, by their ids. Call it under the lock of claims; `now` is the database's time.
   */
  admit(sql: Sql, questions: readonly AdmittedQuestion[], now: number): Promise<Map<string, number>>;
  /**
   * The same for the network that is about to be dialled, a /24 or a /48, in a transaction of its own: milliseconds to
   * wait, or undefined to go on.
   */
  admitNetwork({ write }: Pick<Database, 'write'>, network: string): Promise<number | undefined>;
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
  function windowsOf({ tenant, sinkHost }: AdmittedQuestion): Window[] {
    const domain = domainOf(sinkHost);
    return [
      { key: `tenant:${tenant}`, limit: perTenant },
      { key: `host:${sinkHost}`, limit: perHost },
      ...(domain === null ? [] : [{ key: `domain:${domain}`, limit: perHost * 2 }]),
    ];
  }

  return {
    admit: (sql, questions, now) =>
      admitAll(
        sql,
        questions.map((question) => ({ id: question.id, windows: windowsOf(question) })),
        now,
      ),

    async admitNetwork({ write }, network) {
      // On a developer's machine everything is one network.
      if (isLoopback(network)) return undefined;
      const key = `network:${network}`;
      const held = await write(async ({ sql }) => {
        await lockRegistry(sql, key);
        const now = (await databaseTime(sql)).getTime();
        return admitAll(sql, [{ id: key, windows: [{ key, limit: perHost * 4 }] }], now);
      });
      return held.get(key);
    },
  };
}

interface Window {
  key: string;
  /** Handshakes. */
  limit: number;
}

/** Under a lock for all these windows. */
async function admitAll(
  sql: Sql,
  asked: ReadonlyArray<{ id: string; windows: Window[] }>,
  now: number,
): Promise<Map<string, number>> {
  const keys = [...new Set(asked.flatMap(({ windows }) => windows).map(({ key }) => key))];
  const rows = await sql.$queryRaw<Array<{ key: string; points: number; until: Date }>>`
    select key, points, until from rate_window where key = any (${keys}::text[]) and until > ${new Date(now)}::timestamptz`;
  const untils = new Map(rows.map(({ key, until }) => [key, until]));
  const points = new Map(rows.map((row) => [row.key, row.points]));
  const endOf = (key: string) => untils.get(key) ?? new Date(now + windowMs);
  const taken = new Set<string>();
  const held = new Map<string, number>();
  for (const { id, windows } of asked) {
    const full = windows.find(({ key, limit }) => (points.get(key) ?? 0) >= limit);
    if (full !== undefined) held.set(id, Math.max(endOf(full.key).getTime() - now, leastWaitMs));
    else {
      for (const { key } of windows) {
        points.set(key, (points.get(key) ?? 0) + 1);
        taken.add(key);
      }
    }
  }
  const columns = [...taken].map((key) => ({ key, points: points.get(key), until: endOf(key) }));
  if (columns.length > 0) {
    await sql.$executeRaw`
      insert into rate_window (key, points, until)
      select key, points, until
      from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as w (key text, points int, until timestamptz)
      on conflict (key) do update set points = excluded.points, until = excluded.until`;
  }
  return held;
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
