import { NIL, v7 } from 'uuid';

/** A UUID of version 7 (RFC 9562). Within this process they ascend in the order of their creation. */
export function uuidv7(): string {
  return v7();
}

/** In lower case, as Postgres writes UUIDs. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** When a UUID of version 7 was made, in milliseconds since 1970. */
export function timeIn(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);
}

/** Sorts before every id, and is not an id. */
export const beforeAllIds: string = NIL;
