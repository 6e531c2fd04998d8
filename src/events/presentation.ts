import type { Fault } from '../errors.js';
import type { components } from '../http/contract.gen.js';
import type { RuleBreach } from './rule.js';

/** A broken rule as answers show it; problems have no place for the level, and only MUSTs become problems. */
export function presentBreach({ pointer, rule, level, detail }: RuleBreach): components['schemas']['RuleBreach'] {
  return { pointer, rule, level, detail };
}

export function faultOfBreach({ pointer, rule, detail }: RuleBreach): Fault {
  return { pointer, rule, detail };
}
