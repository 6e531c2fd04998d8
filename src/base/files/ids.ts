import { NIL, v7 } from 'uuid';

/** A UUID of version 7 (RFC 9562). Within this process they ascend in the order of their creation. */
export function uuidv7(): string {
  return v7();
}

/** In lower case, as Postgres writes UUIDs. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** Sorts before every id, and is not an id. */
export const beforeAllIds: string = NIL;
