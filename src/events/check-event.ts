import { limits } from '../base/limits.js';
import type { Profile } from '../consent/origin.js';
import type { EventParts } from './cloud-event.js';
import { type ReadEvent, addText, finishDraft, startDraft } from './draft.js';
import { belgifRules } from './profiles/belgif.js';
import { cloudeventsRules } from './profiles/cloudevents.js';
import { batchRules, intgStd015Rules } from './profiles/intg-std-015.js';
import { nlGovRules } from './profiles/nl-gov.js';
import { breachesOf, breachOf, type Check, type JudgedAlone, type Rule, type RuleBreach } from './rule.js';

/** A broken MUST is a fault, a broken SHOULD a warning; at most fifty of each. */
export interface Breaches {
  faults: RuleBreach[];
  warnings: RuleBreach[];
}

export const profiles: Readonly<Record<Profile, readonly Rule[]>> = {
  cloudevents: cloudeventsRules,
  'nl-gov': nlGovRules,
  'intg-std-015': intgStd015Rules,
  belgif: belgifRules,
};

/** Every rule once, those on batches included. */
export const allRules: readonly Rule[] = [...new Set([...Object.values(profiles).flat(), ...batchRules])];

interface Checked {
  rule: Rule;
  check: Check;
}

const checksOf = (rules: readonly Rule[]) =>
  rules.flatMap((rule): Checked[] => (rule.check === 'reading' ? [] : [{ rule, check: rule.check }]));

const checks: Readonly<Record<Profile, readonly Checked[]>> = {
  cloudevents: checksOf(cloudeventsRules),
  'nl-gov': checksOf(nlGovRules),
  'intg-std-015': checksOf(intgStd015Rules),
  belgif: checksOf(belgifRules),
};

/**
 * Judges an event by the rules of a profile. The MUSTs of CloudEvents itself are not looked at again: the reader has
 * held them. `of` narrows it to the rules that look at one attribute only.
 */
function checkEvent(profile: Profile, event: EventParts, of?: JudgedAlone): Breaches {
  const breaches: Breaches = { faults: [], warnings: [] };
  for (const { rule, check } of checks[profile]) {
    if (of !== undefined && rule.of !== of) continue;
    const findings = check(event);
    if (findings === undefined) continue;
    const list = rule.level === 'MUST' ? breaches.faults : breaches.warnings;
    for (const breach of breachesOf(rule, event, findings)) if (list.length < limits.faults) list.push(breach);
  }
  return breaches;
}

/** All breaches of what was read: what the reader found, and what the profile says of all that could be read. */
export function judgeEvent(profile: Profile, read: ReadEvent): Breaches {
  if ('event' in read) return checkEvent(profile, read.event);
  if (!read.parts) return { faults: read.faults, warnings: [] };
  const { faults, warnings } = checkEvent(profile, read.parts);
  // The first that the profile finds has a place, whatever the reader found.
  const own = faults.slice(0, Math.max(1, limits.faults - read.faults.length));
  return { faults: [...read.faults.slice(0, limits.faults - own.length), ...own], warnings };
}

/** Judges a batch as a whole; `bytes` is the size of its body. */
export function checkBatch(profile: Profile, batch: { count: number; bytes: number }): Breaches {
  const breaches: Breaches = { faults: [], warnings: [] };
  for (const rule of batchRules) {
    if (rule.profile !== profile || !rule.isBroken(batch)) continue;
    (rule.level === 'MUST' ? breaches.faults : breaches.warnings).push(breachOf(rule, ''));
  }
  return breaches;
}

/**
 * Judges what a subscription asks for by the profile of its origin: a type, source or subject that no valid event can
 * have is a fault, one that breaks a SHOULD a warning. Pointers are into the subscription (`/types/2`, `/source`).
 */
export function lintSubscription(
  profile: Profile,
  {
    types = [],
    ...asked
  }: Partial<Record<'source' | 'subject', string | undefined>> & { types?: readonly string[] | undefined },
): Breaches {
  const breaches: Breaches = { faults: [], warnings: [] };
  for (const [index, type] of types.entries()) judgeAttribute(breaches, profile, 'type', type, `/types/${index}`);
  for (const name of ['source', 'subject'] as const) {
    const value = asked[name];
    if (value !== undefined) judgeAttribute(breaches, profile, name, value, `/${name}`);
  }
  return breaches;
}

function judgeAttribute(into: Breaches, profile: Profile, of: JudgedAlone, value: string, pointer: string): void {
  const draft = startDraft('structured', '');
  addText(draft, of, value, false);
  add(into.faults, draft.faults, pointer);
  // Of an event with this attribute alone, the rules that look at nothing else are the ones that count.
  const read = finishDraft(draft, 0);
  const { faults, warnings } = checkEvent(profile, 'event' in read ? read.event : (read.parts as EventParts), of);
  add(into.faults, faults, pointer);
  add(into.warnings, warnings, pointer);
}

function add(list: RuleBreach[], breaches: readonly RuleBreach[], pointer: string): void {
  for (const breach of breaches) if (list.length < limits.faults) list.push({ ...breach, pointer });
}
