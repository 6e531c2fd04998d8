import type { Filter } from '../matching/filter.js';
import type { Rate } from '../origins/rate.js';
import type { subscription as SubscriptionRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/sql.js';
import type { Called } from './callback-key.js';

/** What the owner of a webhook decides: who asks, for what, and how fast. */
export interface OwnerQuestion {
  kind: 'open';
  origin: string;
  sink: string;
  tenant: string;
  /** What holds if the owner names no rate. */
  rate: Rate;
  /** There is a permission until then, whatever is decided of this question. */
  grantedUntil: Date | undefined;
  /** A refusal ends that permission. */
  isRenewal: boolean;
  /** When the URL expires. */
  until: Date;
  /** The oldest few of those that it is asked for. */
  subscriptions: AskedFor[];
  hasMore: boolean;
}

/** No value of a filter: it may hold what is not for everybody through whose hands the link goes. */
export interface AskedFor {
  subscriber: string;
  source: string | undefined;
  /** Empty: every type. */
  types: string[];
  /** What else decides: names of attributes, and `sql` for an expression. */
  filteredBy: string[];
}

const mostShown = 5;

/** A renewal is asked for all subscriptions of the pair. */
export async function questionOf(
  sql: Sql,
  called: Called,
  rate: Rate,
  grantedUntil: Date | undefined,
): Promise<OwnerQuestion> {
  const { origin, sink, tenant, subscription, reason, callbackexpiresat } = called;
  const rows = await sql.$queryRaw<SubscriptionRow[]>`
    select * from subscription
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant}
      and (${subscription}::uuid is null or id = ${subscription}::uuid)
    order by id limit ${mostShown + 1}`;
  return {
    kind: 'open',
    origin,
    sink,
    tenant,
    rate,
    grantedUntil,
    isRenewal: reason === 'renewal',
    until: callbackexpiresat,
    subscriptions: rows.slice(0, mostShown).map(askedFor),
    hasMore: rows.length > mostShown,
  };
}

function askedFor({ subscriber, source, types, subject, filters }: SubscriptionRow): AskedFor {
  const names = ((filters ?? []) as Filter[]).flatMap(attributesOf);
  return {
    subscriber,
    source: source ?? undefined,
    types: types ?? [],
    filteredBy: [...new Set([...(subject === null ? [] : ['subject']), ...names])],
  };
}

/** Filters are nested no deeper than registration takes. */
function attributesOf(filter: Filter): string[] {
  if ('all' in filter) return filter.all.flatMap(attributesOf);
  if ('any' in filter) return filter.any.flatMap(attributesOf);
  if ('not' in filter) return attributesOf(filter.not);
  if ('sql' in filter) return ['sql'];
  return Object.values(filter).flatMap((attributes) => Object.keys(attributes));
}
