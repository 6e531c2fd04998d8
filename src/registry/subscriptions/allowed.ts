import { isDeepStrictEqual } from 'node:util';
import { RegistryError, type Fault, type FaultRule } from '../../base/errors.js';
import type { Principal } from '../../base/contract/principal.js';
import { limits } from '../../base/limits.js';
import { isConfined, unconfinedPlace, type Allows } from '../../matching/filters/confined.js';
import type { Origin, SubscriptionRule } from '../../consent/origin.js';
import { allowing, rulesAbout, type Applicant, checkSubscriptionRules } from '../origins/subscription-rule.js';
import { ruleTexts } from '../../base/texts/subscriptions.js';
import type { Text } from '../../base/texts/text.js';
import type { Definition, Subscription } from './columns.js';
import { setImmediate as otherWork } from 'node:timers/promises';
import type { Context } from '../context.js';
import type { Handlers } from '../http/handler.js';
import { faultsIn } from '../../base/problem.js';
import type { Filter } from '../../matching/filters/filter.js';
import { findOrigin } from '../origins/store.js';
import type { Sql } from '../storage/database.js';
import { requestTexts } from '../../base/texts/requests.js';

// The subscription rules of an origin. Every event that a subscription could match must be one that a rule about the
// subscriber allows: its source and subject as well as its type. An event has one type, so the types of a subscription
// may be in several rules. Rules that are not about the subscriber stay unknown to it.

export type RequestedEvents = Pick<Definition, 'source' | 'types' | 'subject' | 'filters'>;

/** Returns RegistryError `subscription_not_allowed` if the origin has rules that do not allow this subscription. */
export function refuseUnallowed(
  { name, subscriptionRules }: Pick<Origin, 'name' | 'subscriptionRules'>,
  applicant: Applicant,
  wishes: RequestedEvents,
): RegistryError | undefined {
  if (subscriptionRules === undefined) return undefined;
  const comparisons = rulesAbout(applicant, subscriptionRules).map((rule) => compare(rule, wishes));
  const fitting = comparisons.filter(({ faults }) => faults.length === 0);
  const missed = placesOf(wishes).filter((place) => fitting.every(({ missing }) => missing.has(place)));
  if (missed.length === 0) return undefined;
  const [closest] = comparisons.sort(byDistance);
  if (closest === undefined) {
    return new RegistryError('subscription_not_allowed', ruleTexts.noRule(name), {
      faults: [{ pointer: '/origin', rule: 'subscriber_not_allowed', detail: ruleTexts.notAbout }],
    });
  }
  const ofTypes = missed.flatMap((place) => closest.missing.get(place) ?? []);
  return new RegistryError('subscription_not_allowed', ruleTexts.closest(name, closest.rule.name), {
    faults: [...closest.faults, ...ofTypes].slice(0, limits.faults),
  });
}

/**
 * The error for a change, which must fit the rules of today, even if it only narrows. An admin who changes what another
 * client receives, or where, is bound by the rules about that client, as far as they name no claims: its token is not
 * there. Other changes of an admin are free, so that an admin can still rotate a credential after the rules changed.
 */
export function refuseChange(
  origin: Origin,
  principal: Principal,
  present: Subscription,
  definition: Definition,
): RegistryError | undefined {
  const { subscriber } = present;
  if (principal.subscriber === subscriber) return refuseUnallowed(origin, principal, definition);
  return receivesSame(origin, present, definition) ? undefined : refuseUnallowed(origin, { subscriber }, definition);
}

/** Whether a change leaves what the client receives, and where. */
export function receivesSame({ name }: Origin, present: Subscription, definition: Definition): boolean {
  return name === present.origin && isDeepStrictEqual(received(definition), received(present));
}

function received({ sink, source, types, subject, filters }: Definition) {
  return { sink, source, types, subject, filters };
}

interface Comparison {
  rule: SubscriptionRule;
  /** The faults of the types that the rule does not allow, by their place. */
  missing: ReadonlyMap<number, Fault>;
  /** The faults of source and subject. */
  faults: Fault[];
  /** How many of source and subject the rule limits, and allows. */
  met: number;
}

function byDistance(one: Comparison, other: Comparison): number {
  return one.missing.size - other.missing.size || one.faults.length - other.faults.length || other.met - one.met;
}

/** The place of the types of a subscription that names none. */
const everyType = -1;

function placesOf({ types = [] }: RequestedEvents): number[] {
  return types.length === 0 ? [everyType] : types.map((_, place) => place);
}

function compare(rule: SubscriptionRule, wishes: RequestedEvents): Comparison {
  const { types, sources, subjects } = rule;
  const others = [
    sources && faultsOf(limitOf(rule, 'source', sources), wishes, wishes.source, '/source'),
    subjects && faultsOf(limitOf(rule, 'subject', subjects), wishes, wishes.subject, '/subject'),
  ].filter((faults) => faults !== undefined);
  return {
    rule,
    missing: types === undefined ? new Map() : missingTypes(limitOf(rule, 'type', types), wishes),
    faults: others.flat(),
    met: others.filter((faults) => faults.length === 0).length,
  };
}

const faultRules = {
  type: 'type_not_allowed',
  source: 'source_not_allowed',
  subject: 'subject_not_allowed',
} as const satisfies Record<string, FaultRule>;
type Attribute = keyof typeof faultRules;

/** What a rule says about one attribute. */
interface Limit {
  attribute: Attribute;
  allows: Allows;
  faultAt: (pointer: string) => Fault;
}

function limitOf({ name }: SubscriptionRule, attribute: Attribute, values: readonly string[]): Limit {
  // A thousand types can have the same fault.
  let detail: Text | undefined;
  const faultAt = (pointer: string): Fault => {
    detail ??= ruleTexts.allowedOnly(name, attribute, values);
    return { pointer, rule: faultRules[attribute], detail };
  };
  return { attribute, allows: allowing(values), faultAt };
}

function missingTypes(limit: Limit, wishes: RequestedEvents): Map<number, Fault> {
  if (isConfinedByFilters(limit, wishes)) return new Map();
  return new Map(
    placesOf(wishes).flatMap((place): Array<[number, Fault]> => {
      const exact = wishes.types?.[place];
      if (exact === undefined) return [[place, faultOfAbsent(limit, wishes, '/types')]];
      return limit.allows({ exact }) ? [] : [[place, limit.faultAt(`/types/${place}`)]];
    }),
  );
}

function faultsOf(limit: Limit, wishes: RequestedEvents, exact: string | undefined, member: string): Fault[] {
  if (isConfinedByFilters(limit, wishes)) return [];
  if (exact === undefined) return [faultOfAbsent(limit, wishes, member)];
  return limit.allows({ exact }) ? [] : [limit.faultAt(member)];
}

function isConfinedByFilters({ attribute, allows }: Limit, { filters = [] }: RequestedEvents): boolean {
  return filters.some((filter) => isConfined(filter, attribute, allows));
}

/** At the filter that comes closest, or at the member that could name a value. */
function faultOfAbsent(
  { attribute, allows, faultAt }: Limit,
  { filters = [] }: RequestedEvents,
  member: string,
): Fault {
  for (const [place, filter] of filters.entries()) {
    const inside = unconfinedPlace(filter, attribute, allows);
    if (inside !== undefined) return faultAt(`/filters/${place}${inside}`);
  }
  return faultAt(member);
}

/** Subscriptions that one request examines, and that one response lists. */
const max = { examined: 100_000, listed: 100 };
const atOnce = 1_000;
/** Then other requests get their turn. */
const longestMs = 2;

/** Which subscriptions of an origin its rules do not allow, or would not. It changes nothing. */
export function ruleRoutes({ database: { sql } }: Context): Handlers<'checkSubscriptionRules'> {
  return {
    checkSubscriptionRules: async ({ path, body, principal: { tenant }, language }) => {
      const origin = await findOrigin(sql, tenant, path.name.toLowerCase());
      const faults = checkSubscriptionRules(body.subscriptionrules, '/subscriptionrules');
      if (faults.length > 0) throw new RegistryError('invalid_request', requestTexts.brokenBody, { faults });
      const subscriptionRules = body.subscriptionrules ?? origin.subscriptionRules;
      const counts = { examined: 0, refused: 0, undecided: 0 };
      const listed = [];
      let rows: Row[] = [];
      let begun = performance.now();
      do {
        rows = await readSome(sql, tenant, origin.name, rows.at(-1)?.id);
        for (const row of rows) {
          if (performance.now() - begun > longestMs) {
            await otherWork();
            begun = performance.now();
          }
          const found = judge({ name: origin.name, subscriptionRules }, row);
          if (found === undefined) continue;
          counts[found.result] += 1;
          if (listed.length === max.listed) continue;
          const { result, faults } = found;
          listed.push({ id: row.id, subscriber: row.subscriber, result, faults: faultsIn(faults, language) });
        }
        counts.examined += rows.length;
      } while (rows.length === atOnce && counts.examined < max.examined);
      return { status: 200, body: { ...counts, complete: rows.length < atOnce, results: listed } };
    },
  };
}

interface Row {
  id: string;
  subscriber: string;
  source: string | null;
  types: string[];
  subject: string | null;
  filters: Filter[] | null;
}

function readSome(sql: Sql, tenant: string, origin: string, after: string | undefined): Promise<Row[]> {
  return sql.$queryRaw<Row[]>`
    select id, subscriber, source, types, subject, filters from subscription
    where tenant = ${tenant} and origin = ${origin} and endedat is null
      and id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
    order by id limit ${atOnce}`;
}

/** Undecided if a rule allows it that also needs claims, which only the token of the subscriber has. */
function judge(
  origin: { name: string; subscriptionRules: SubscriptionRule[] | undefined },
  { subscriber, source, types, subject, filters }: Row,
): { result: 'refused' | 'undecided'; faults: readonly Fault[] } | undefined {
  const wishes: RequestedEvents = {
    source: source ?? undefined,
    types,
    subject: subject ?? undefined,
    filters: filters ?? undefined,
  };
  const refused = refuseUnallowed(origin, { subscriber }, wishes);
  if (refused === undefined) return undefined;
  const withAnyClaims = origin.subscriptionRules?.map(({ claims: _, ...rule }) => rule);
  const mayFit = refuseUnallowed({ ...origin, subscriptionRules: withAnyClaims }, { subscriber }, wishes) === undefined;
  return { result: mayFit ? 'undecided' : 'refused', faults: refused.faults };
}
