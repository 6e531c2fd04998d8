import ipaddr from 'ipaddr.js';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { getDomain } from 'tldts';
import type { Database } from '../storage/database.js';
import type { Claim } from './handshake.js';

/**
 * How many handshakes a minute one host, its registrable domain, its network and one tenant get, over all processes.
 * The registry must not become a flooder by many names of one victim, many tenants, or somebody who presses the button
 * again. What is over the budget waits; nothing is dropped. Counts live in the database, where registrations of a
 * batch take their share at once (admit_handshakes); one that finds no room there comes here with its next claim.
 */
export interface Budgets {
  /** Milliseconds to wait, or undefined to go on. */
  admit(claim: Claim): Promise<number | undefined>;
  /** The same for the network that is about to be dialled, a /24 or a /48. */
  admitNetwork(network: string): Promise<number | undefined>;
}

export interface BudgetSettings {
  database: Database;
  /** Handshakes a minute. */
  perMinute: { perHost: number; perTenant: number };
}

/** What all hosts of a domain get together, and all addresses of a network. */
export const perDomain = (perHost: number): number => perHost * 2;
const perNetwork = (perHost: number): number => perHost * 4;

export function createBudgets({ database, perMinute }: BudgetSettings): Budgets {
  const { perHost, perTenant } = perMinute;
  // The library speaks pg's interface; this is Prisma's raw one behind it, which works on both databases.
  const storeClient = {
    query: async ({ text, values = [] }: { text: string; values?: unknown[] }) => {
      const rows = await database.client.$queryRawUnsafe<Array<{ points: number; expire: bigint | null }>>(
        text,
        ...values,
      );
      return { rows: rows.map((row) => ({ ...row, expire: Number(row.expire) })), rowCount: rows.length };
    },
  };
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({
      storeClient,
      storeType: 'pool',
      tableName: 'budget',
      tableCreated: true,
      // Expired counters are forgotten by the hour (forget.ts); the library's own timer would outlive a test.
      clearExpiredByTimeout: false,
      keyPrefix,
      points,
      duration: 60,
    });
  const limits = {
    host: limiter('host', perHost),
    domain: limiter('domain', perDomain(perHost)),
    network: limiter('network', perNetwork(perHost)),
    tenant: limiter('tenant', perTenant),
  };

  return {
    async admit({ tenant, sinkHost }) {
      const domain = domainOf(sinkHost);
      const shares: Array<[RateLimiterPostgres, string]> = [
        [limits.tenant, tenant],
        [limits.host, sinkHost],
        ...(domain === null ? [] : [[limits.domain, domain] satisfies [RateLimiterPostgres, string]]),
      ];
      for (const [place, [limiter, key]] of shares.entries()) {
        const heldMs = await take(limiter, key);
        if (heldMs === undefined) continue;
        // All or nothing: else a crowd for one host, which is back each minute, would use up the budget of its tenant.
        for (const [taken, its] of shares.slice(0, place + 1)) await taken.reward(its);
        return heldMs;
      }
      return undefined;
    },
    // On a developer's machine everything is one network.
    admitNetwork: async (network) => (isLoopback(network) ? undefined : take(limits.network, network)),
  };
}

/**
 * The registrable domain of a host by the public suffix list (private suffixes count), which shares a budget; null for
 * a name that has none.
 */
export function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

/** Half a second at least, so that a budget that is about to be refilled is not asked again and again. */
async function take(limiter: RateLimiterPostgres, key: string): Promise<number | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (error) {
    if (error instanceof RateLimiterRes) return Math.max(error.msBeforeNext, 500);
    throw error;
  }
}

function isLoopback(network: string): boolean {
  const address = network.split('/')[0] ?? '';
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
