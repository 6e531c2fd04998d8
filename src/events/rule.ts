import type { Fault } from '../errors.js';
import type { components } from '../http/contract.gen.js';
import type { Profile } from '../origins/origin.js';
import { pointerTo, type EventParts } from './cloud-event.js';

/** REQUIRED counts as MUST, RECOMMENDED as SHOULD (RFC 2119). */
export type Level = 'MUST' | 'SHOULD';

/**
 * Where in the event (undefined: the whole of it), and, if the sentence of the rule does not say it all, what exactly.
 */
export interface Finding {
  member: string | undefined;
  below?: string;
  detail?: string;
}

/** Undefined when the event keeps the rule, which costs no allocation. */
export type Check = (event: EventParts) => readonly Finding[] | undefined;

/** What of an event a subscription asks for too. */
export type JudgedAlone = 'type' | 'source' | 'subject';

/**
 * A rule as data. `check` is 'reading' where an event that breaks the rule cannot be read at all: the reader holds it
 * then. `of` names the only attribute that the rule looks at; such a rule can judge a subscription too.
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

/** Writes the rules of one profile; `chapter` stands in front of each section of its document. */
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

export function breachesOf(rule: Rule, event: EventParts, findings: readonly Finding[]): RuleBreach[] {
  return findings.map(({ member, below, detail }) => breachOf(rule, pointerTo(event, member, below), detail));
}

/** What most checks give back: one finding at one member. */
export function at(member: string | undefined, detail?: string): Finding[] {
  return [detail === undefined ? { member } : { member, detail }];
}

/** Does the event have the attribute, be its value at fault or not? */
export function isGiven({ attributes, faulty }: EventParts, name: string): boolean {
  return attributes.has(name) || faulty?.has(name) === true;
}

/** The value of an attribute where it is a string; everything else has been judged by then. */
export function textOf(event: EventParts, name: string): string | undefined {
  const value = event.attributes.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** A broken rule as answers show it; problems have no place for the level, and only MUSTs become problems. */
export function presentBreach({ pointer, rule, level, detail }: RuleBreach): components['schemas']['RuleBreach'] {
  return { pointer, rule, level, detail };
}

export function faultOfBreach({ pointer, rule, detail }: RuleBreach): Fault<string> {
  return { pointer, rule, detail };
}
