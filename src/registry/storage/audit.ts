import { isDeepStrictEqual } from 'node:util';
import { withoutQuery } from '../../base/formats/uri.js';

/** Members that changed, by their names in the API; null is a member without a value. */
export type Changed = Record<string, { before: unknown; after: unknown }>;

type Members = Readonly<Record<string, unknown>>;

/** Undefined if nothing changed. The order of the members of an object is no change. */
export function changedMembers(before: Members, after: Members): Changed | undefined {
  const changed: Changed = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[name] === after[name]) continue;
    const [was, is] = [asJson(before[name]), asJson(after[name])];
    if (!isDeepStrictEqual(was, is)) changed[name] = { before: recorded(name, was), after: recorded(name, is) };
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** As the database returns it: no undefined members, and times as text. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null)) as unknown;
}

function recorded(name: string, value: unknown): unknown {
  return name === 'sink' && typeof value === 'string' ? withoutQuery(value) : value;
}
