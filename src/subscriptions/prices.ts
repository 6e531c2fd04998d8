import { RegistryError, type Fault } from '../errors.js';
import { cheapSteps, isLookedUp, ordinaryCharacters, stepsOfFilter } from '../matching/price.js';
import type { Sql } from '../storage/sql.js';
import { lockRegistry } from '../storage/transaction.js';
import type { Definition } from './subscription.js';

/** What the prices (matching/price.ts) of all subscriptions of one subscriber, and of one tenant, may come to. */
export interface PriceLimits {
  perSubscriber: number;
  perTenant: number;
}

/** What is to be stored. `before` is the price of what it takes the place of. */
export interface Priced {
  id: string;
  tenant: string;
  subscriber: string;
  definition: Definition;
  before: number;
}

/**
 * By id the error of those that cost more than is left; the others may be stored together, in this transaction. Nearly
 * all are free, and nothing is asked for them. What gets no more expensive is never refused.
 */
export async function refusePrices(
  sql: Sql,
  all: readonly Priced[],
  limits: PriceLimits,
): Promise<Map<string, RegistryError>> {
  const refused = new Map<string, RegistryError>();
  const dearer = all.filter(({ definition, before }) => definition.price > before);
  if (dearer.length === 0) return refused;
  const tenants = [...new Set(dearer.map(({ tenant }) => tenant))].sort();
  for (const tenant of tenants) await lockRegistry(sql, `prices ${tenant}`);
  const rows = await sql.$queryRaw<Array<{ tenant: string; subscriber: string; price: number }>>`
    select tenant, subscriber, sum(price)::float8 as price from subscription
    where tenant = any (${tenants}::text[]) and price > 0 group by tenant, subscriber`;
  for (const asked of dearer) {
    const { id, tenant, subscriber, definition, before } = asked;
    const ofTenant = rows.filter((row) => row.tenant === tenant);
    const ofSubscriber = ofTenant.filter((row) => row.subscriber === subscriber);
    const more = definition.price - before;
    const sums = [
      { who: 'subscriber', sum: sumOf(ofSubscriber), limit: limits.perSubscriber },
      { who: 'tenant', sum: sumOf(ofTenant), limit: limits.perTenant },
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

/** An answer shows so many filters. */
const shownFilters = 5;

function tooExpensive(definition: Definition, { who, sum, limit }: { who: string; sum: number; limit: number }) {
  const { price, filters = [] } = definition;
  const whole = (steps: number) => steps.toLocaleString('en');
  const reason = isLookedUp(definition)
    ? `They take more than ${whole(cheapSteps)} steps.`
    : 'They name nothing that an event must have, so every event of the origin is held against them. ' +
      'Add types, a source, or a filter with exact, prefix or suffix.';
  const faults = filters
    .map((filter, place): [number, Fault] => {
      const steps = stepsOfFilter(filter);
      const detail = `This filter takes ${whole(steps)} of the ${whole(price)} steps.`;
      return [steps, { pointer: `/filters/${place}`, rule: 'too_expensive', detail }];
    })
    .sort(([one], [other]) => other - one)
    .slice(0, shownFilters)
    .map(([, fault]) => fault);
  return new RegistryError(
    'filters_too_expensive',
    `The price of these filters is ${whole(price)}: the steps that they take for an event whose attributes have ` +
      `${ordinaryCharacters} characters. ${reason} A pattern of LIKE with % or _ inside takes 2 steps for each character. ` +
      `The other subscriptions of the ${who} have a price of ${whole(sum)}, and all together may have ${whole(limit)}.`,
    { faults },
  );
}
