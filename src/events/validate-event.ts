import type { Profile } from '../origins/origin.js';
import { limits } from '../limits.js';
import type { EventParts } from './cloud-event.js';
import type { ReadEvent } from './draft.js';
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
export function validateEvent(profile: Profile, event: EventParts, of?: JudgedAlone): Breaches {
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
  if ('event' in read) return validateEvent(profile, read.event);
  if (!read.parts) return { faults: read.faults, warnings: [] };
  const { faults, warnings } = validateEvent(profile, read.parts);
  // The first that the profile finds has a place, whatever the reader found.
  const own = faults.slice(0, Math.max(1, limits.faults - read.faults.length));
  return { faults: [...read.faults.slice(0, limits.faults - own.length), ...own], warnings };
}

/** Judges a batch as a whole; `bytes` is the size of its body. */
export function validateBatch(profile: Profile, batch: { count: number; bytes: number }): Breaches {
  const breaches: Breaches = { faults: [], warnings: [] };
  for (const rule of batchRules) {
    if (rule.profile !== profile || !rule.isBroken(batch)) continue;
    (rule.level === 'MUST' ? breaches.faults : breaches.warnings).push(breachOf(rule, ''));
  }
  return breaches;
}
