import { isDeepStrictEqual } from 'node:util';
import { RegistryError, type Fault, type FaultRule } from '../errors.js';
import type { Principal } from '../http/principal.js';
import { limits } from '../limits.js';
import { isConfined, unconfinedPlace, type Allows } from '../matching/confined.js';
import type { Origin } from '../origins/origin.js';
import { allows, rulesAbout, type Applicant, type SubscriptionRule } from '../origins/subscription-rule.js';
import { ruleTexts } from '../texts/subscription-rules.js';
import type { Definition, Subscription } from './subscription.js';

// The subscription rules of an origin. Every event that a subscription could match must be one that a rule about the
// subscriber allows: its source and subject as well as its type. An event has one type, so the types of a subscription
// may be in several rules. Rules that are not about the subscriber stay unknown to it.

export type Wishes = Pick<Definition, 'source' | 'types' | 'subject' | 'filters'>;

/** Returns RegistryError `subscription_not_allowed` if the origin has rules that do not allow this subscription. */
export function refuseUnallowed(
  { name, subscriptionRules }: Pick<Origin, 'name' | 'subscriptionRules'>,
  applicant: Applicant,
  wishes: Wishes,
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
  const ofTypes = missed.filter((place) => closest.missing.has(place));
  return new RegistryError('subscription_not_allowed', ruleTexts.closest(name, closest.rule.name), {
    faults: [...closest.faults, ...ofTypes.map((place) => faultOfType(closest.rule, wishes, place))].slice(
      0,
      limits.faults,
    ),
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
  const isSame = origin.name === present.origin && isDeepStrictEqual(received(definition), received(present));
  return isSame ? undefined : refuseUnallowed(origin, { subscriber }, definition);
}

function received({ sink, source, types, subject, filters }: Definition) {
  return { sink, source, types, subject, filters };
}

interface Comparison {
  rule: SubscriptionRule;
  /** The places of the types that the rule does not allow. */
  missing: ReadonlySet<number>;
  /** Of source and subject. */
  faults: Fault[];
  /** How many of source and subject the rule limits, and allows. */
  met: number;
}

function byDistance(one: Comparison, other: Comparison): number {
  return one.missing.size - other.missing.size || one.faults.length - other.faults.length || other.met - one.met;
}

/** The place of the types of a subscription that names none. */
const everyType = -1;

function placesOf({ types = [] }: Wishes): number[] {
  return types.length === 0 ? [everyType] : types.map((_, place) => place);
}

function compare(rule: SubscriptionRule, wishes: Wishes): Comparison {
  const { types, sources, subjects } = rule;
  const isEveryAllowed = types === undefined || areConfined(wishes, 'type', types);
  const isMissing = (place: number) => {
    const exact = wishes.types?.[place];
    return exact === undefined || types === undefined || !allows(types, { exact });
  };
  const faults = [...faultOf(rule, wishes, 'source', sources), ...faultOf(rule, wishes, 'subject', subjects)];
  const limited = [sources, subjects].filter((values) => values !== undefined).length;
  return {
    rule,
    missing: new Set(isEveryAllowed ? [] : placesOf(wishes).filter(isMissing)),
    faults,
    met: limited - faults.length,
  };
}

function areConfined({ filters = [] }: Wishes, attribute: string, values: readonly string[]): boolean {
  return filters.some((filter) => isConfined(filter, attribute, allowedBy(values)));
}

const allowedBy =
  (values: readonly string[]): Allows =>
  (texts) =>
    allows(values, texts);

function faultOf(
  rule: SubscriptionRule,
  wishes: Wishes,
  attribute: 'source' | 'subject',
  values: readonly string[] | undefined,
): Fault[] {
  if (values === undefined || areConfined(wishes, attribute, values)) return [];
  const exact = wishes[attribute];
  if (exact === undefined) return [faultOfAbsent(rule, wishes, attribute, `/${attribute}`, values)];
  if (allows(values, { exact })) return [];
  return [faultAt(`/${attribute}`, rule, attribute, values)];
}

function faultOfType(rule: SubscriptionRule, wishes: Wishes, place: number): Fault {
  const values = rule.types ?? [];
  if (place === everyType) return faultOfAbsent(rule, wishes, 'type', '/types', values);
  return faultAt(`/types/${place}`, rule, 'type', values);
}

/** At the filter that comes closest, or at the member that could name a value. */
function faultOfAbsent(
  rule: SubscriptionRule,
  { filters = [] }: Wishes,
  attribute: Attribute,
  member: string,
  values: readonly string[],
): Fault {
  for (const [place, filter] of filters.entries()) {
    const inside = unconfinedPlace(filter, attribute, allowedBy(values));
    if (inside !== undefined) return faultAt(`/filters/${place}${inside}`, rule, attribute, values);
  }
  return faultAt(member, rule, attribute, values);
}

const ruleNames = {
  type: 'type_not_allowed',
  source: 'source_not_allowed',
  subject: 'subject_not_allowed',
} as const satisfies Record<string, FaultRule>;
type Attribute = keyof typeof ruleNames;

function faultAt(pointer: string, rule: SubscriptionRule, attribute: Attribute, values: readonly string[]): Fault {
  return { pointer, rule: ruleNames[attribute], detail: ruleTexts.allowedOnly(rule.name, attribute, values) };
}
