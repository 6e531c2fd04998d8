import { NIL, v7 } from 'uuid';

/** A UUID of version 7 (RFC 9562), in the order of their making within this process. */
export function uuidv7(): string {
  return v7();
}

/** As Postgres writes one: in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** Comes before every id, and is none. */
export const beforeAllIds: string = NIL;
