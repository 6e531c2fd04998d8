import { everyTenant } from '../../matching/replica/blocks.js';
import { Prisma } from '../storage/generated/client.js';
import { addressOf } from './find-blocks.js';
import type { Block } from './block.js';

export type BlockedThing = Pick<Block, 'tenant' | 'kind' | 'value'>;

/** Whether a subscription or grant `t` of the tenant is under a block. For a subscriber it is one of a subscription. */
export function isUnder({ kind, value }: BlockedThing): Prisma.Sql {
  if (kind === 'subscriber') return Prisma.sql`t.subscriber = ${value}`;
  return Prisma.sql`blocks_pair(${kind}, ${value}, t.origin, t.sink, ${addressOf(Prisma.sql`t`)})`;
}

/**
 * Finds what `isUnder` holds for by an index, in one tenant; what no index knows is looked at one by one. Of a sink that has
 * most of its tenant's subscriptions, Postgres knows to read them in their order.
 */
export function indexOf({ kind, value }: BlockedThing, tenant: Prisma.Sql): Prisma.Sql {
  switch (kind) {
    case 'subscriber':
      return Prisma.sql`t.subscriber = ${value}`;
    case 'host':
      return Prisma.sql`sink_host(t.sink) = ${value}`;
    case 'sink':
      return Prisma.sql`t.sink = ${value} and t.origin = any (array(select name from origin where tenant = ${tenant}))`;
    default:
      return Prisma.sql`true`;
  }
}

/** The tenants of a block, as rows with `tenant`. */
export function tenantsOf({ tenant }: BlockedThing): Prisma.Sql {
  return tenant === everyTenant
    ? Prisma.sql`(select distinct tenant from origin)`
    : Prisma.sql`(values (${tenant}::text))`;
}
