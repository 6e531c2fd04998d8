import { UsageError } from '../../base/errors.js';
import type { Case, Level, Side } from './case.js';
import { receiverCases, senderCases } from './cases.js';

/** The lowest level to run, each with the levels above it. */
export const lowestLevels = ['must', 'should', 'info'] as const satisfies readonly Level[];

export const casesOf: Record<Side, readonly Case[]> = { receiver: receiverCases, sender: senderCases };

/** Without ids, every case of the level and above. Throws a UsageError for ids that are not cases of this side. */
export function selectCases(side: Side, ids: readonly string[], lowest: Level): Case[] {
  checkIds(side, ids);
  const levels = lowestLevels.slice(0, lowestLevels.indexOf(lowest) + 1);
  return casesOf[side].filter(({ id, level }) => (ids.length === 0 ? levels.includes(level) : ids.includes(id)));
}

export function checkIds(side: Side, ids: readonly string[]): void {
  const unknown = ids.find((id) => !casesOf[side].some((each) => each.id === id));
  if (unknown === undefined) return;
  throw new UsageError(`${unknown} is not a case of a ${side}. List them with "assent conformance list".`);
}
