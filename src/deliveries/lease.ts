import type { Denial } from '../matching/pairs/known-pairs.js';
import { storedRate, type Rate } from '../origins/rate.js';
import type { Database } from '../storage/database.js';
import { inPages, overPages } from '../storage/over-pages.js';
import type { Query } from '../storage/sql.js';

/**
 * A rate is granted to an origin as a whole. Its instances share it by leases: so many requests, to be sent within two
 * seconds. What was granted is counted by half seconds, in one row for each pair of origin and sink, and
 *
 *   what 127 such slots in a row hold (63.5 s) is never more than the rate.
 *
 * A request is sent at most 2 s after its lease was granted and is on its way for a second at most, so what a webhook
 * receives in any 60 s was granted within 63 s, which touch no more than 127 slots. So it holds whoever dies with a
 * lease, and if all send in the last moment: a share that nobody hands back counts until the slot has left the window.
 * The price is that 60/63.5 of the rate can be used (94 %).
 *
 * Within that, a bucket that fills at that pace and holds four seconds of it (two at first) makes the flow even, and
 * waiting instances get turns one behind the other, each for its part of two seconds. A turn that nobody takes up for a
 * second is anybody's.
 *
 * The function take_lease in the database does all this under the lock of the row, by the database's clock.
 */
export interface LeaseRequest {
  tenant: string;
  /** In lower case. */
  origin: string;
  sink: string;
  /** Names the sender's process among those of the origin. */
  instance: string;
  /** How many it has to send. */
  requests: number;
  /** Earlier leases of this instance and pair, with what was not sent of each. Unknown ones are passed over. */
  returns: ReadonlyArray<{ lease: string; unused: number }>;
}

export type LeaseAnswer =
  | { kind: 'denied'; denial: Denial }
  | { kind: 'unlimited' }
  | { kind: 'held'; rate: Rate; until: Date; retryAfterSeconds: number }
  | {
      kind: 'counted';
      rate: Rate;
      /** 0 if there is nothing at present. */
      requests: number;
      lease: { id: string; until: Date } | undefined;
      /** When there is something to be had, fractions included. */
      retryAfterSeconds: number;
    };

/** How long a lease lasts. */
export const leaseSeconds = 2;

export interface Leases {
  take(request: LeaseRequest): Promise<LeaseAnswer>;
  /**
   * Ends the lease. How many requests came back; 0 if it had ended or it is too late, undefined for a lease that the
   * tenant does not have.
   */
  handBack(tenant: string, lease: string, unused: number): Promise<number | undefined>;
}

interface Taken {
  denial: Denial | null;
  rate: string;
  granted: number;
  lease: string | null;
  until: Date;
  retryafter: number;
  held: Date | null;
}

export function createLeases({ query }: Pick<Database, 'query'>): Leases {
  return {
    async take({ tenant, origin, sink, instance, requests, returns }) {
      const [taken] = await query<Taken>(
        'select * from take_lease($1, $2, $3, $4, $5::integer, $6::text[], $7::integer[])',
        [
          tenant,
          origin,
          sink,
          instance,
          requests,
          returns.map((each) => each.lease),
          returns.map((each) => each.unused),
        ],
      );
      if (taken === undefined) throw new Error('take_lease gives one row.');
      if (taken.denial !== null) return { kind: 'denied', denial: taken.denial };
      const rate = storedRate(taken.rate);
      const retryAfterSeconds = taken.retryafter;
      if (taken.held !== null) return { kind: 'held', rate, until: taken.held, retryAfterSeconds };
      if (rate === '*') return { kind: 'unlimited' };
      const lease = taken.lease === null ? undefined : { id: taken.lease, until: taken.until };
      return { kind: 'counted', rate, requests: taken.granted, lease, retryAfterSeconds };
    },

    async handBack(tenant, lease, unused) {
      const [row] = await query<{ back: number | null }>('select hand_back_lease($1, $2, $3::integer) as back', [
        tenant,
        lease,
        unused,
      ]);
      return row?.back ?? undefined;
    },
  };
}

/** Removes what nobody has asked about for an hour. */
export async function forgetLeases(query: Query): Promise<void> {
  await overPages(
    query,
    'lease_holder',
    `delete from lease_holder where ${inPages} and askedat < now() - interval '1 hour'`,
  );
  // Locked one by one: a pool that is being written is in use, and its holder may not be there yet.
  await overPages(
    query,
    'lease_pool',
    `delete from lease_pool where pair in (
       select p.pair from lease_pool p
       where ${inPages} and p.tokensat < now() - interval '1 hour'
         and not exists (select from lease_holder h where h.pair = p.pair)
       for update skip locked)`,
  );
}
