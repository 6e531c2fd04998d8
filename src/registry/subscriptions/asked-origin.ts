import { RegistryError } from '../../base/errors.js';
import { faultOfBreach } from '../../events/rule.js';
import { lintSubscription } from '../../events/validate-event.js';
import type { Origin } from '../../consent/origin.js';
import { originOf } from '../origins/store.js';
import type { origin as OriginRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import { originTexts } from '../../base/texts/origins.js';
import { invalid } from './definition.js';
import type { Definition } from './subscription.js';

/** The origin that a request names, or the default of the tenant. */
export interface AskedOrigin {
  tenant: string;
  name: string | undefined;
}

/**
 * Finds the origins that requests name, and locks them against removal until the transaction ends. Returns a
 * RegistryError with the place for an origin that does not exist.
 */
export async function findAskedOrigins(
  sql: Sql,
  asked: readonly AskedOrigin[],
): Promise<(asked: AskedOrigin) => Origin | RegistryError> {
  const names = [...new Set(asked.flatMap(({ name }) => name ?? []))];
  const tenants = [...new Set(asked.map(({ tenant }) => tenant))];
  const isDefaultAsked = asked.some(({ name }) => name === undefined);
  const rows = await sql.$queryRaw<OriginRow[]>`
    select * from origin where tenant = any (${tenants}::text[])
      and (name = any (${names}::text[]) or (isdefault and ${isDefaultAsked}::boolean))
    order by name collate "C" for key share`;
  const origins = rows.map(originOf);
  return ({ tenant, name }) => {
    const isAsked = (origin: Origin) => (name === undefined ? origin.isDefault : origin.name === name);
    return origins.find((origin) => origin.tenant === tenant && isAsked(origin)) ?? unknownOrigin(name);
  };
}

/** Like findAskedOrigins, for one origin; throws the error. */
export async function findAskedOrigin(sql: Sql, asked: AskedOrigin): Promise<Origin> {
  const found = (await findAskedOrigins(sql, [asked]))(asked);
  if (found instanceof RegistryError) throw found;
  return found;
}

function unknownOrigin(name: string | undefined): RegistryError {
  if (name === undefined) {
    return new RegistryError('no_default_origin', originTexts.nameOne, {
      faults: [{ pointer: '/origin', rule: 'origin_missing', detail: originTexts.noDefault }],
    });
  }
  return invalid([{ pointer: '/origin', rule: 'origin_unknown', detail: originTexts.unknown }]);
}

/**
 * Returns an error if no event under the origin's profile could have such a type or source. A combination that is only
 * unlikely becomes a warning when the subscription is read.
 */
export function lint({ profile }: Origin, definition: Definition): RegistryError | undefined {
  const { faults } = lintSubscription(profile, definition);
  return faults.length > 0 ? invalid(faults.map(faultOfBreach)) : undefined;
}
