import type { Fault } from '../base/errors.js';
import type { components } from '../base/contract/contract.gen.js';
import type { Profile } from '../consent/origin.js';
import { pointerTo, type EventParts } from './cloud-event.js';

/** REQUIRED counts as MUST, RECOMMENDED as SHOULD (RFC 2119). */
type Level = 'MUST' | 'SHOULD';

/**
 * The place in the event (undefined: the whole event), and the detail if the rule's sentence does not say enough.
 */
export interface Violation {
  member: string | undefined;
  below?: string;
  detail?: string;
}

/** Undefined if the event keeps the rule, without an allocation. */
export type Check = (event: EventParts) => readonly Violation[] | undefined;

/** The attributes that a subscription can ask for too. */
export type JudgedAlone = 'type' | 'source' | 'subject';

/**
 * A rule as data. `check` is 'reading' if an event that breaks the rule cannot be read: the reader checks it. `of` names
 * the only attribute that the rule reads; such a rule can judge a subscription too.
 */
export interface Rule {
  readonly id: `${Profile}.${string}`;
  readonly profile: Profile;
  readonly level: Level;
  readonly source: { readonly document: string; readonly section: string };
  readonly sentence: string;
  readonly of?: JudgedAlone;
  readonly check: Check | 'reading';
}

/** Creates the rules of one profile; `chapter` is the prefix of each section of its document. */
export function rulesOf(profile: Profile, document: string, chapter = '') {
  return (
    name: string,
    level: Level,
    section: string,
    sentence: string,
    check: Rule['check'],
    of?: JudgedAlone,
  ): Rule => ({
    id: `${profile}.${name}`,
    profile,
    level,
    source: { document, section: `${chapter}${section}` },
    sentence,
    check,
    ...(of && { of }),
  });
}

/** A fault whose `rule` is the id of a rule in a profile. */
export interface RuleBreach extends Fault<string> {
  level: Level;
  sentence: string;
}

export function breachOf(rule: Rule, pointer: string, detail = rule.sentence): RuleBreach {
  return { pointer, rule: rule.id, level: rule.level, sentence: rule.sentence, detail };
}

export function breachesOf(rule: Rule, event: EventParts, findings: readonly Violation[]): RuleBreach[] {
  return findings.map(({ member, below, detail }) => breachOf(rule, pointerTo(event, member, below), detail));
}

/** The result of most checks: one finding at one member. */
export function at(member: string | undefined, detail?: string): Violation[] {
  return [detail === undefined ? { member } : { member, detail }];
}

/** Whether the event has the attribute, valid or not. */
export function isGiven({ attributes, faulty }: EventParts, name: string): boolean {
  return attributes.has(name) || faulty?.has(name) === true;
}

/** The value of an attribute if it is a string; other types were checked before. */
export function ruleTextOf(event: EventParts, name: string): string | undefined {
  const value = event.attributes.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** A broken rule as responses show it. Problems have no level: only MUSTs become problems. */
export function presentBreach({ pointer, rule, level, detail }: RuleBreach): components['schemas']['RuleBreach'] {
  return { pointer, rule, level, detail };
}

export function faultOfBreach({ pointer, rule, detail }: RuleBreach): Fault<string> {
  return { pointer, rule, detail };
}
