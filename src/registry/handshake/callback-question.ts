import type { Filter } from '../../matching/filters/filter.js';
import type { Rate } from '../../consent/rate.js';
import type { subscription as SubscriptionRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import type { Origin } from '../../consent/origin.js';
import { offeredRate, type OfferedHandshake } from './callback-key.js';

/** What a webhook owner decides on: who asks, for what, and how fast. */
export interface OwnerQuestion {
  kind: 'open';
  origin: string;
  /** What its tenant says that it is. */
  description: string | undefined;
  /** Its tenant proved that the name is its own; the key that the owner of the name publishes, if that is the proof. */
  isVerified: boolean;
  verifiedKey: string | undefined;
  sink: string;
  tenant: string;
  /** Applies if the owner enters no rate. */
  rate: Rate;
  /** When the consent that exists ends, whatever the owner decides here. */
  grantedUntil: Date | undefined;
  /** A refusal ends that consent. */
  isRenewal: boolean;
  /** When the URL expires. */
  until: Date;
  /** The oldest few of the subscriptions that ask. */
  subscriptions: AskedFor[];
  hasMore: boolean;
}

/** Has no filter values: they may be confidential, and the link passes through many hands. */
export interface AskedFor {
  subscriber: string;
  source: string | undefined;
  /** Empty: every type. */
  types: string[];
  /** What else is filtered by: names of attributes, and `sql` for an expression. */
  filteredBy: string[];
}

const maxShown = 5;

/** A renewal is for all subscriptions of the pair. */
export async function questionOf(
  sql: Sql,
  called: OfferedHandshake,
  {
    description,
    defaultRate,
    verifiedBy,
    verifiedKey,
  }: Pick<Origin, 'description' | 'defaultRate' | 'verifiedBy' | 'verifiedKey'>,
  grantedUntil: Date | undefined,
): Promise<OwnerQuestion> {
  const { origin, sink, tenant, subscription, trigger, callbackexpiresat } = called;
  const rows = await sql.$queryRaw<SubscriptionRow[]>`
    select * from subscription
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant} and endedat is null
      and (${subscription}::uuid is null or id = ${subscription}::uuid)
    order by id limit ${maxShown + 1}`;
  return {
    kind: 'open',
    origin,
    description,
    isVerified: verifiedBy !== undefined,
    verifiedKey,
    sink,
    tenant,
    rate: offeredRate(called) ?? defaultRate,
    grantedUntil,
    isRenewal: trigger === 'renewal',
    until: callbackexpiresat,
    subscriptions: rows.slice(0, maxShown).map(askedFor),
    hasMore: rows.length > maxShown,
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

/** Registration limits how deep filters nest. */
function attributesOf(filter: Filter): string[] {
  if ('all' in filter) return filter.all.flatMap(attributesOf);
  if ('any' in filter) return filter.any.flatMap(attributesOf);
  if ('not' in filter) return attributesOf(filter.not);
  if ('sql' in filter) return ['sql'];
  return Object.values(filter).flatMap((attributes) => Object.keys(attributes));
}
