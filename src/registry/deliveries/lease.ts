import type { Denial } from '../../consent/decision.js';
import { storedRate, type Rate } from '../../consent/rate.js';
import type { Database } from '../storage/database.js';

/**
 * A rate is granted to an origin as a whole. Its instances share it with leases: a number of requests to send within two
 * seconds. The leased requests are counted in slots of half a second, in one row for each pair of origin and sink, and
 *
 *   the sum of 127 consecutive slots (63.5 s) never exceeds the rate.
 *
 * A request is sent at most 2 s after its lease and takes at most a second to arrive. So what a webhook receives in any
 * 60 s was leased within 63 s, which touch at most 127 slots. This is true even if instances die with a lease, or if all
 * send at the last moment: a share that is not returned counts until its slot has left the window. The price is that
 * only 60/63.5 of the rate can be used (94 %).
 *
 * Within that limit, a bucket evens out the flow: it fills at that pace and has room for four seconds (two at first).
 * Waiting instances take turns, each for its share of two seconds. A turn that is not taken within a second is free for
 * any instance.
 *
 * The function take_lease in the database does all this with the row locked, by the database's clock.
 */
export interface LeaseRequest {
  tenant: string;
  /** In lower case. */
  origin: string;
  sink: string;
  /** Identifies the sender's process among those of the origin. */
  instance: string;
  /** The number of requests that it wants to send. */
  requests: number;
  /** Earlier leases of this instance and pair, with the requests not sent of each. Unknown ones are ignored. */
  returns: ReadonlyArray<{ lease: string; unused: number }>;
}

export type LeaseAnswer =
  | { kind: 'denied'; denial: Denial }
  | { kind: 'unlimited' }
  | { kind: 'held'; rate: Rate; until: Date; retryAfterSeconds: number }
  | {
      kind: 'counted';
      rate: Rate;
      /** 0 if nothing is available now. */
      requests: number;
      /** No instance has asked for this pair in this minute before. */
      isFirst: boolean;
      lease: { id: string; until: Date } | undefined;
      /** Seconds until something is available, with fractions. */
      retryAfterSeconds: number;
    };

/** How long a lease lasts. */
export const leaseSeconds = 2;

export interface Leases {
  take(request: LeaseRequest): Promise<LeaseAnswer>;
  /**
   * Ends the lease. Returns the number of returned requests; 0 if the lease had ended or it is too late, undefined if the
   * tenant has no such lease.
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
  isfirst: boolean;
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
      if (taken === undefined) throw new Error('take_lease must return one row.');
      if (taken.denial !== null) return { kind: 'denied', denial: taken.denial };
      const rate = storedRate(taken.rate);
      const retryAfterSeconds = taken.retryafter;
      if (taken.held !== null) return { kind: 'held', rate, until: taken.held, retryAfterSeconds };
      if (rate === '*') return { kind: 'unlimited' };
      const lease = taken.lease === null ? undefined : { id: taken.lease, until: taken.until };
      return { kind: 'counted', rate, requests: taken.granted, isFirst: taken.isfirst, lease, retryAfterSeconds };
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
