import { ask, nextCursor } from './api.js';

/** The pages of a list, one after another, up to so many entries. `isAll` is false if there are more. */
export async function readAll<Row>(
  most: number,
  read: (cursor: string | undefined) => Promise<{ data?: Row[]; error?: unknown; response: Response }>,
): Promise<{ rows: Row[]; isAll: boolean }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const { data, headers } = await ask(read(cursor));
    rows.push(...data);
    cursor = nextCursor(headers);
  } while (cursor !== undefined && rows.length < most);
  return { rows, isAll: cursor === undefined };
}
