import { nextCursor, type Answered } from './api.js';

export interface Everything<T> {
  rows: T[];
  /** There are more than `most`, and they were not read. */
  isCut: boolean;
}

/** All pages of a list, but no further than `most` entries. */
export async function readAll<T>(
  most: number,
  readPage: (query: { limit: number; cursor?: string }) => Promise<Answered<T[]>>,
): Promise<Everything<T>> {
  const rows: T[] = [];
  let cursor: string | undefined;
  do {
    const { data, headers } = await readPage({ limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    rows.push(...data);
    cursor = nextCursor(headers);
  } while (cursor !== undefined && rows.length < most);
  return { rows, isCut: cursor !== undefined };
}
