import type { Fault, FaultRule } from '../../base/errors.js';
import { escapePointer, forbiddenNames } from '../../base/formats/json.js';
import type { Claims } from '../../base/contract/principal.js';
import { limits } from '../../base/limits.js';
import type { SubscriptionRule } from '../../consent/origin.js';

// An origin may limit who subscribes to what. A rule says who (`subscribers`, `claims`) and to what (`types`, `sources`,
// `subjects`); a member that is absent limits nothing. All of its members must apply. The members are those of the API.

/** A client. Without `claims`, no rule that names claims is about it. */
export interface Applicant {
  subscriber: string;
  claims?: (() => Claims) | undefined;
}

/**
 * Tests texts that an attribute can have: whether the values of a rule allow all of them. A value that ends with `*`
 * allows every text that begins so, and any other only itself. Texts are compared as matching compares them: by
 * character, without any folding. Looks values up, because a rule can have thousands, and a subscription as many types.
 */
export function allowing(values: readonly string[]): (texts: { exact: string } | { prefix: string }) => boolean {
  const whole = new Set<string>();
  const beginnings = new Map<number, Set<string>>();
  for (const value of values) {
    const length = value.length - 1;
    if (!value.endsWith('*')) whole.add(value);
    else beginnings.set(length, (beginnings.get(length) ?? new Set()).add(value.slice(0, length)));
  }
  return (texts) => {
    if ('exact' in texts && whole.has(texts.exact)) return true;
    const text = 'exact' in texts ? texts.exact : texts.prefix;
    for (const [length, ofLength] of beginnings) if (ofLength.has(text.slice(0, length))) return true;
    return false;
  };
}

/** Decodes the token once at most, and only if a rule names claims. */
export function rulesAbout(applicant: Applicant, rules: readonly SubscriptionRule[]): SubscriptionRule[] {
  let token: Claims | undefined;
  const claims = () => (token ??= applicant.claims?.() ?? {});
  return rules.filter((rule) => isAbout(rule, applicant.subscriber, claims));
}

function isAbout({ subscribers, claims }: SubscriptionRule, subscriber: string, claimsOfToken: () => Claims): boolean {
  if (subscribers !== undefined && !subscribers.includes(subscriber)) return false;
  if (claims === undefined) return true;
  const token = claimsOfToken();
  return Object.entries(claims).every(([name, accepted]) => {
    const values = [claimOf(token, name)].flat();
    return [accepted].flat().some((value) => values.includes(value));
  });
}

/** A name with a slash in front is a JSON pointer (RFC 6901) through objects: `/realm_access/roles`. */
function claimOf(token: Claims, name: string): unknown {
  const path = name.startsWith('/') ? name.slice(1).split('/').map(unescapePointer) : [name];
  return path.reduce<unknown>((value, member) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.hasOwn(value, member) ? (value as Claims)[member] : undefined;
  }, token);
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The faults that the contract cannot express, at most fifty; `at` is the JSON pointer of the rules. */
export function checkSubscriptionRules(rules: readonly SubscriptionRule[] | undefined, at: string): Fault[] {
  if (rules === undefined) return [];
  if (Buffer.byteLength(JSON.stringify(rules)) > limits.rulesBytes) {
    return fault(at, 'too_long', `The rules of an origin have at most ${limits.rulesBytes} bytes as JSON.`);
  }
  const names = new Set<string>();
  const faults = rules.flatMap((rule, place) => {
    const ruleAt = `${at}/${place}`;
    const repeated = names.has(rule.name)
      ? fault(`${ruleAt}/name`, 'repeated', 'Another rule already has this name.')
      : [];
    names.add(rule.name);
    return [
      ...repeated,
      ...checkText(rule.name, `${ruleAt}/name`),
      ...checkClaims(rule.claims, `${ruleAt}/claims`),
      ...checkEach(rule.subscribers, `${ruleAt}/subscribers`, checkText),
      ...(['types', 'sources', 'subjects'] as const).flatMap((member) =>
        checkEach(rule[member], `${ruleAt}/${member}`, checkValue),
      ),
    ];
  });
  return faults.slice(0, limits.faults);
}

type CheckText = (value: string, at: string) => Fault[];

const checkEach = (values: readonly string[] | undefined, at: string, check: CheckText): Fault[] =>
  (values ?? []).flatMap((value, place) => check(value, `${at}/${place}`));

const checkText: CheckText = (value, at) => {
  if (value === '') return fault(at, 'value_empty', 'The string must have at least one character.');
  if (!/\p{Cc}/u.test(value)) return [];
  return fault(at, 'control_character', 'The string must not contain control characters.');
};

/** A lone asterisk would look like every event, but an event without a subject has none. */
const checkValue: CheckText = (value, at) => {
  if (value === '*') return fault(at, 'wildcard_alone', 'To allow everything, leave out the member.');
  if (!value.slice(0, -1).includes('*')) return checkText(value, at);
  return fault(at, 'wildcard_misplaced', 'An asterisk may only be the last character, for every value that begins so.');
};

function checkClaims(claims: SubscriptionRule['claims'], at: string): Fault[] {
  return Object.keys(claims ?? {}).flatMap((name) => {
    const claimAt = `${at}/${escapePointer(name)}`;
    if (forbiddenNames.has(name)) return fault(claimAt, 'name_forbidden', 'A claim cannot have this name.');
    if (/^\/?$/.test(name)) return fault(claimAt, 'name_empty', 'The name of a claim has at least one character.');
    return /~(?![01])/.test(name) && name.startsWith('/')
      ? fault(claimAt, 'name_malformed', 'In a JSON pointer, write ~ as ~0 and / as ~1.')
      : [];
  });
}

const fault = (pointer: string, rule: FaultRule, detail: string): Fault[] => [{ pointer, rule, detail }];
