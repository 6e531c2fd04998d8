import { RegistryError } from '../errors.js';
import { lintSubscription } from '../events/lint-subscription.js';
import { faultOfBreach } from '../events/rule.js';
import type { Origin } from '../origins/origin.js';
import { findDefaultOrigin, findOrigin } from '../origins/store.js';
import type { Sql } from '../storage/database.js';
import { invalid } from './definition.js';
import type { Definition } from './subscription.js';

/** The origin that a request names, or the default of the tenant. RegistryError with the place where there is none. */
export async function findAskedOrigin(sql: Sql, tenant: string, name: string | undefined): Promise<Origin> {
  if (name === undefined) {
    const origin = await findDefaultOrigin(sql, tenant);
    if (origin) return origin;
    throw new RegistryError('no_default_origin', 'Name an origin, or have an admin make one the default.', {
      faults: [{ pointer: '/origin', rule: 'origin_missing', detail: 'The tenant has no default origin.' }],
    });
  }
  return findOrigin(sql, tenant, name).catch((error: unknown) => {
    if (!(error instanceof RegistryError)) throw error;
    throw invalid([{ pointer: '/origin', rule: 'origin_unknown', detail: 'The tenant has no origin of this name.' }]);
  });
}

/**
 * No event that keeps the origin's profile could have such a type or source. What is only unlikely is a warning in the answer.
 */
export function lint({ profile }: Origin, definition: Definition): void {
  const { faults } = lintSubscription(profile, definition);
  if (faults.length > 0) throw invalid(faults.map(faultOfBreach));
}
