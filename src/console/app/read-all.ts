import type { Answer } from '../../kits/client/index.js';

export interface Everything<T> {
  rows: T[];
  /** There are more than `most`, and they were not read. */
  isCut: boolean;
}

/** All pages of a list, but no further than `most` entries. */
export async function readAll<T>(max: number, pages: AsyncIterable<Answer<T[]>>): Promise<Everything<T>> {
  const rows: T[] = [];
  for await (const { data, next } of pages) {
    rows.push(...data);
    if (rows.length >= max) return { rows, isCut: next !== undefined };
  }
  return { rows, isCut: false };
}
