import type { Profile } from '../origins/origin.js';
import { limits } from '../limits.js';
import type { EventParts } from './cloud-event.js';
import { addText, finishDraft, startDraft } from './draft.js';
import { type JudgedAlone, type RuleBreach } from './rule.js';
import { validateEvent, type Breaches } from './validate-event.js';

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
  const { faults, warnings } = validateEvent(profile, 'event' in read ? read.event : (read.parts as EventParts), of);
  add(into.faults, faults, pointer);
  add(into.warnings, warnings, pointer);
}

function add(list: RuleBreach[], breaches: readonly RuleBreach[], pointer: string): void {
  for (const breach of breaches) if (list.length < limits.faults) list.push({ ...breach, pointer });
}
