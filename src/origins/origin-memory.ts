import type { Origin } from './origin.js';

/**
 * Origins as they were when they were last read, so that hot writes need not read them first. It need not be
 * true: a write that uses what is remembered has the database compare `identityOf` in the same transaction, and reads
 * anew where it differs.
 */
export interface OriginMemory {
  /** `name` undefined means the default of the tenant. */
  recall(tenant: string, name: string | undefined): Origin | undefined;
  remember(tenant: string, name: string | undefined, origin: Origin): void;
}

const capacity = 10_000;

export function createOriginMemory(): OriginMemory {
  const origins = new Map<string, Origin>();
  const keyOf = (tenant: string, name: string | undefined) => JSON.stringify([tenant, name]);
  return {
    recall: (tenant, name) => origins.get(keyOf(tenant, name)),
    remember(tenant, name, origin) {
      if (origins.size >= capacity) origins.clear();
      origins.set(keyOf(tenant, name), origin);
    },
  };
}

/** Every change of an origin counts its version; one that was removed and made again has another time. */
export function identityOf({ version, createdAt }: Origin) {
  return { originversion: version, origincreatedat: createdAt };
}
