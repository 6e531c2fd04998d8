import { ChevronDown } from 'lucide';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { Icon } from './icon.js';

export interface TableColumn<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Shown to the right, as numbers are. */
  isNumber?: boolean;
  /** Of the stylesheet, such as `18%`. The others share what is left. */
  width?: string;
  /** Left out below this width of the window: the page of the row has it, too. */
  from?: 'tablet' | 'desktop';
  /** The values of `sort` that this column stands for; the first one at the first click. */
  sorts?: readonly string[];
}

interface Selection {
  has: (key: string) => boolean;
  toggle: (keys: readonly string[], isOn: boolean) => void;
}

/** The height of a row in pixels; the stylesheet has it as `--row`. */
const rowHeight = 40;
const rowsAround = 12;
/** As in the stylesheet. */
const widths = { tablet: 800, desktop: 1024 };
/** From here on only the rows near the window are drawn. */
const maxDrawn = 300;

/**
 * A table with a line for each row, and a caption for screen readers. A click on a row opens its first link. With many rows
 * only those near the window are drawn; the table says how many there are (`aria-rowcount`).
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  nameOf = keyOf,
  sort,
  onSort,
  onEnd,
  selection,
  detail,
}: {
  caption: string;
  columns: ReadonlyArray<TableColumn<Row>>;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** What the box that chooses a row is called. */
  nameOf?: (row: Row) => string;
  /** The present order, and how another one is chosen. */
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  /** Called when the user comes near the last row. */
  onEnd?: (() => void) | undefined;
  selection?: Selection | undefined;
  /** What a row opens below itself, on demand. A click on the row opens it, too. */
  detail?: (row: Row) => ComponentChildren;
}) {
  const opened = useSelection();
  const body = useRef<HTMLTableSectionElement>(null);
  const isLong = rows.length > maxDrawn;
  const [window, setWindow] = useState({ from: 0, to: 60 });
  const [screen, setScreen] = useState(innerWidth);
  useEffect(() => {
    const measure = () => {
      const above = -(body.current?.getBoundingClientRect().top ?? 0);
      const from = Math.max(0, Math.floor(above / rowHeight) - rowsAround);
      const to = Math.ceil((above + innerHeight) / rowHeight) + rowsAround;
      if (isLong) setWindow((before) => (before.from === from && before.to === to ? before : { from, to }));
      if (to >= rows.length) onEnd?.();
      setScreen(innerWidth);
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [isLong, rows.length, onEnd]);
  const from = isLong ? Math.min(window.from, Math.max(0, rows.length - 1)) : 0;
  const to = isLong ? Math.min(window.to, rows.length) : rows.length;
  const isWithin = (limit: TableColumn<Row>['from']) => limit === undefined || screen >= widths[limit];
  const others = [selection, detail].filter((each) => each !== undefined).length;
  const width = columns.filter(({ from: limit }) => isWithin(limit)).length + others;
  const space = (count: number) =>
    count > 0 && (
      <tr aria-hidden="true" class="space">
        <td colSpan={width} height={count * rowHeight} />
      </tr>
    );
  const keys = rows.map(keyOf);
  const areAll = selection !== undefined && keys.length > 0 && keys.every(selection.has);
  return (
    <table class="list" aria-rowcount={isLong ? rows.length + 1 : undefined}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {selection !== undefined && (
            <th scope="col" class="choice">
              <input
                type="checkbox"
                aria-label={t(commonTexts.chooseAll)}
                checked={areAll}
                onChange={() => selection.toggle(keys, !areAll)}
              />
            </th>
          )}
          {columns.map((column) => (
            <Heading key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
          {detail !== undefined && (
            <th scope="col" class="choice">
              <span class="unseen">{t(commonTexts.details)}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody ref={body}>
        {space(from)}
        {rows.slice(from, to).map((row, place) => {
          const key = keyOf(row);
          return (
            <Fragment key={key}>
              <tr aria-rowindex={isLong ? from + place + 2 : undefined} onClick={openRow}>
                {selection !== undefined && (
                  <td class="choice">
                    <input
                      type="checkbox"
                      aria-label={t(commonTexts.choose(nameOf(row)))}
                      checked={selection.has(key)}
                      onChange={() => selection.toggle([key], !selection.has(key))}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.key} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
                {detail !== undefined && (
                  <td class="choice">
                    <button
                      type="button"
                      class="quiet"
                      aria-label={t(commonTexts.details)}
                      aria-expanded={opened.has(key)}
                      onClick={() => opened.toggle([key], !opened.has(key))}
                    >
                      <Icon of={ChevronDown} />
                    </button>
                  </td>
                )}
              </tr>
              {detail !== undefined && opened.has(key) && (
                <tr class="detail">
                  <td colSpan={width}>{detail(row)}</td>
                </tr>
              )}
            </Fragment>
          );
        })}
        {space(rows.length - to)}
      </tbody>
    </table>
  );
}

const classOf = ({ isNumber, from }: { isNumber?: boolean; from?: string }) =>
  [isNumber ? 'number' : '', from === undefined ? '' : `from-${from}`].join(' ').trim();

function Heading<Row>({
  column,
  sort,
  onSort,
}: {
  column: TableColumn<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const { title, width, sorts = [] } = column;
  const place = sort === undefined ? -1 : sorts.indexOf(sort);
  const next = sorts[(place + 1) % sorts.length];
  const isDown = sort?.startsWith('-');
  return (
    <th
      scope="col"
      class={classOf(column)}
      style={width === undefined ? undefined : { width }}
      aria-sort={place === -1 ? undefined : isDown ? 'descending' : 'ascending'}
    >
      {next === undefined || onSort === undefined ? (
        title
      ) : (
        <button type="button" class="quiet" onClick={() => onSort(next)}>
          {title}
          <span aria-hidden="true">{place === -1 ? '↕' : isDown ? '↓' : '↑'}</span>
        </button>
      )}
    </th>
  );
}

/** Unless the click was on a control of the row, or ended a selection of text. */
function openRow({ currentTarget, target }: MouseEvent): void {
  const isControl = (target as Element).closest('a, button, input, label, summary, dialog, [popover]') !== null;
  if (isControl || getSelection()?.isCollapsed === false) return;
  const find = (what: string) => (currentTarget as Element).querySelector<HTMLElement>(what);
  (find('[aria-expanded]') ?? find('a[href]'))?.click();
}

/** The place of rows that are still to come. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={t(commonTexts.loading)}>
      {Array.from({ length: rows }, (_, place) => (
        <span key={place} />
      ))}
    </div>
  );
}

/** What a list says when it has no rows: what it is for, and the next step. */
export function Empty({ title, text, children }: { title: string; text?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {text !== undefined && <p class="soft">{text}</p>}
      {children}
    </div>
  );
}

/** The rows that the user chose, by their keys. */
export function useSelection(): Selection & { clear: () => void } {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return {
    has: (key) => chosen.has(key),
    clear: () => setChosen(new Set()),
    toggle: (keys, isOn) =>
      setChosen((before) => {
        const after = new Set(before);
        for (const key of keys)
          if (isOn) after.add(key);
          else after.delete(key);
        return after;
      }),
  };
}
