import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface TableColumn<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Shown to the right, as numbers are. */
  isNumber?: boolean;
}

/** The height of a row in pixels; the stylesheet has it as `--row`. */
const rowHeight = 44;
const rowsAround = 12;
/** From here on only the rows near the window are drawn. */
const maxDrawn = 300;

/**
 * A table with a caption for screen readers. With many rows only those near the window are drawn, all of one height; the
 * table says how many there are (`aria-rowcount`).
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string;
  columns: ReadonlyArray<TableColumn<Row>>;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isLong = rows.length > maxDrawn;
  const [window, setWindow] = useState({ from: 0, to: 60 });
  useEffect(() => {
    if (!isLong) return undefined;
    const measure = () => {
      const above = -(body.current?.getBoundingClientRect().top ?? 0);
      const from = Math.max(0, Math.floor(above / rowHeight) - rowsAround);
      const to = Math.ceil((above + innerHeight) / rowHeight) + rowsAround;
      setWindow((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [isLong]);
  const from = isLong ? Math.min(window.from, Math.max(0, rows.length - 1)) : 0;
  const to = isLong ? Math.min(window.to, rows.length) : rows.length;
  const space = (count: number) =>
    count > 0 && (
      <tr aria-hidden="true" class="space">
        <td colSpan={columns.length} height={count * rowHeight} />
      </tr>
    );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class={isLong ? 'long' : ''} aria-rowcount={isLong ? rows.length + 1 : undefined}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ key, title, isNumber }) => (
              <th key={key} scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {space(from)}
          {rows.slice(from, to).map((row, place) => (
            <tr key={keyOf(row)} aria-rowindex={isLong ? from + place + 2 : undefined}>
              {columns.map(({ key, title, cell, isNumber }) => (
                <td key={key} data-title={title} class={isNumber ? 'number' : ''}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {space(rows.length - to)}
        </tbody>
      </table>
    </div>
  );
}
