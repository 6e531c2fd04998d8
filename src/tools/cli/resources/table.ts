import { visible } from '../printable.js';

/** A row of a response. */
export type Row = Record<string, unknown>;

export interface Column {
  title: string;
  of: (row: Row) => unknown;
}

export interface TableSettings {
  /** Characters of a line; Infinity if nothing is cut. */
  width: number;
  /** The least width of each column, from the rows before. */
  widths?: readonly number[] | undefined;
}

const gap = '  ';
const narrowest = 8;

/** Aligned lines, the titles first unless `widths` says that they were printed already. */
export function tableOf(columns: readonly Column[], rows: readonly Row[], { width, widths: before }: TableSettings) {
  const titles = columns.map(({ title }) => title.toUpperCase());
  const cells = rows.map((row) => columns.map(({ of }) => plain(of(row))));
  const all = before === undefined ? [titles, ...cells] : cells;
  const widths = columns.map((_column, at) => Math.max(before?.[at] ?? 0, ...all.map((line) => line[at]?.length ?? 0)));
  let excess = widths.reduce((sum, each) => sum + each + gap.length, -gap.length) - width;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  const lines = all.map((line) =>
    line
      .map((cell, at) => fit(cell, widths[at] ?? 0))
      .join(gap)
      .trimEnd(),
  );
  return { text: lines.map((line) => `${line}\n`).join(''), widths };
}

const fit = (cell: string, width: number) =>
  cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width);

/** One member on each line, those of objects with their path. */
export function detailsOf(row: Row): string {
  const lines = flat(row, '');
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}${gap}${value}\n`).join('');
}

function flat(row: Row, prefix: string): Array<[string, string]> {
  return Object.entries(row).flatMap(([name, value]): Array<[string, string]> => {
    if (isRow(value) && Object.keys(value).length > 0) return flat(value, `${prefix}${name}.`);
    if (Array.isArray(value) && value.length > 0 && value.every(isRow)) {
      return value.flatMap((each, at) => flat(each, `${prefix}${name}.${at}.`));
    }
    return [[prefix + visible(name), plain(value)]];
  });
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(plain).join(', ');
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}
