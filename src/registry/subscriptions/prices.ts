import { RegistryError, type Fault } from '../../base/errors.js';
import { cheapSteps, isLookedUp, ordinaryCharacters, stepsOfFilter } from '../../matching/filters/price.js';
import { type Sql, lockRegistry } from '../storage/database.js';
import { priceTexts } from '../../base/texts/filters.js';
import type { Definition } from './columns.js';
import type { RefuseExcess } from './quota.js';

/** The maximum total price (matching/price.ts) of all subscriptions of one subscriber, and of one tenant. */
export interface PriceLimits {
  perSubscriber: number;
  perTenant: number;
}

/** The limits of tenants, each with what it counts. */
export interface TenantLimits {
  prices: PriceLimits;
  /** Subscriptions that have not ended. */
  refuseOverQuota: RefuseExcess;
  /** Handshakes that clients ask for. */
  refuseOverBacklog: RefuseExcess;
}

/** A subscription to store. `before` is the price of the version that it replaces. */
export interface Priced {
  id: string;
  tenant: string;
  subscriber: string;
  definition: Definition;
  before: number;
}

/**
 * Returns, by id, the errors of subscriptions that cost more than is left. The others can be stored together in this
 * transaction. Nearly all are free and need no query. A subscription that gets no more expensive is never refused.
 */
export async function refusePrices(
  sql: Sql,
  all: readonly Priced[],
  limits: PriceLimits,
): Promise<Map<string, RegistryError>> {
  const refused = new Map<string, RegistryError>();
  const costlier = all.filter(({ definition, before }) => definition.price > before);
  if (costlier.length === 0) return refused;
  const tenants = [...new Set(costlier.map(({ tenant }) => tenant))].sort();
  for (const tenant of tenants) await lockRegistry(sql, `prices ${tenant}`);
  const rows = await sql.$queryRaw<Array<{ tenant: string; subscriber: string; price: number }>>`
    select tenant, subscriber, sum(price)::float8 as price from subscription
    where tenant = any (${tenants}::text[]) and price > 0 and endedat is null group by tenant, subscriber`;
  for (const asked of costlier) {
    const { id, tenant, subscriber, definition, before } = asked;
    const ofTenant = rows.filter((row) => row.tenant === tenant);
    const ofSubscriber = ofTenant.filter((row) => row.subscriber === subscriber);
    const more = definition.price - before;
    const sums = [
      { owner: 'subscriber' as const, sum: sumOf(ofSubscriber), limit: limits.perSubscriber },
      { owner: 'tenant' as const, sum: sumOf(ofTenant), limit: limits.perTenant },
    ];
    const over = sums.find(({ sum, limit }) => sum + more > limit);
    if (over === undefined) rows.push({ tenant, subscriber, price: more });
    else refused.set(id, tooExpensive(definition, { ...over, sum: over.sum - before }));
  }
  return refused;
}

function sumOf(rows: ReadonlyArray<{ price: number }>): number {
  return rows.reduce((sum, { price }) => sum + price, 0);
}

/** A response shows at most this many filters. */
const shownFilters = 5;

interface Over {
  owner: 'subscriber' | 'tenant';
  /** The price of the other subscriptions. */
  sum: number;
  limit: number;
}

function tooExpensive(definition: Definition, over: Over) {
  const { price, filters = [] } = definition;
  const { lookedUp, everyEvent } = priceTexts.reasons;
  const reason = isLookedUp(definition) ? lookedUp(cheapSteps) : everyEvent;
  const faults = filters
    .map((filter, place): [number, Fault] => {
      const steps = stepsOfFilter(filter);
      return [
        steps,
        { pointer: `/filters/${place}`, rule: 'too_expensive', detail: priceTexts.ofFilter(steps, price) },
      ];
    })
    .sort(([one], [other]) => other - one)
    .slice(0, shownFilters)
    .map(([, fault]) => fault);
  const detail = priceTexts.tooExpensive({ price, characters: ordinaryCharacters, reason, ...over });
  return new RegistryError('filters_too_expensive', detail, { faults });
}
