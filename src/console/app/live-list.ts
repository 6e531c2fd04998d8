import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiResponse, Change } from '../../kits/client/index.js';
import { AssentError, type Problem } from './api.js';
import { connection, onChange, restarts, useOutageEnd } from './live.js';
import { isExpired } from './session.js';
import { formatNumber } from './text.js';

interface ListSource<Row> {
  pages: (signal: AbortSignal) => AsyncGenerator<ApiResponse<Row[]>, void>;
  readRow: (id: string) => Promise<Row>;
  /** The shown rows that a change is about, and whether others may match now: the registry decides. */
  about: (change: Change, rows: readonly Row[]) => { ids: readonly string[]; isStale: boolean };
  /** A row that changes without an entry in the feed. */
  isUnsettled?: (row: Row) => boolean;
}

interface Shown<Row> {
  rows: readonly Row[];
  /** `10,000+` is at least that many. Undefined if nobody counted. */
  total?: string | undefined;
  isEnd: boolean;
  problem?: Problem;
  isLoading: boolean;
}

interface Running<Row> {
  stop: AbortController;
  pages: AsyncGenerator<ApiResponse<Row[]>, void>;
}

export interface LiveList<Row> extends Omit<Shown<Row>, 'isEnd'> {
  /** Reads again what is shown. */
  again: () => void;
  /** Reads the next page. Undefined if there is none, while one is read, and after a failure. */
  more: (() => void) | undefined;
}

const livePauseMs = 300;
const unsettledMs = 3_000;
/** Without the feed, the list is read again after this time. */
const withoutFeedMs = 20_000;
/** More changed rows than this are read as a list. */
const maxSingleReads = 20;
/** A longer list is not read again as a whole. */
const maxRead = 1_000;

/**
 * A list of the registry, a page at once and the next ones as the user scrolls. A row that the feed names is read again and
 * stays in its place, even if it no longer matches, so that nothing moves below the pointer of the user.
 *
 * @param key of what is asked for: another one begins again
 */
export function useLiveList<Row extends { id: string }>(key: string, source: ListSource<Row>): LiveList<Row> {
  const [state, setState] = useState<Shown<Row>>({ rows: [], isEnd: false, isLoading: true });
  const latest = useRef({ state, source });
  latest.current = { state, source };
  const running = useRef<Running<Row> | undefined>(undefined);
  const shownKey = useRef<string | undefined>(undefined);

  /** Reads on until there are `least` more rows. */
  const read = async (from: Running<Row>, least: number, isMore: boolean) => {
    setState(({ problem: _, ...before }) => ({ ...before, isLoading: true }));
    const found: Row[] = [];
    let total: string | undefined;
    try {
      for (let isEnd = false; !isEnd && found.length < least;) {
        const page = await from.pages.next();
        if (running.current !== from) return;
        isEnd = page.done === true;
        if (page.done !== true) {
          found.push(...page.value.data);
          total ??= totalOf(page.value.headers);
        }
        if (!isEnd && found.length < least) continue;
        setState((before) => ({
          rows: isMore ? [...before.rows, ...found] : found,
          total: isMore ? before.total : total,
          isEnd,
          isLoading: false,
        }));
      }
    } catch (error) {
      if (running.current !== from) return;
      if (!(error instanceof AssentError)) throw error;
      setState((before) => ({ ...before, problem: error.problem, isLoading: false }));
    }
  };
  const stop = () => {
    running.current?.stop.abort();
    running.current = undefined;
  };
  const start = (least: number) => {
    stop();
    const controller = new AbortController();
    running.current = { stop: controller, pages: latest.current.source.pages(controller.signal) };
    void read(running.current, least, false);
  };
  const again = () => start(Math.max(1, latest.current.state.rows.length));
  useEffect(() => {
    if (shownKey.current === key) again();
    else start(1);
    shownKey.current = key;
    return stop;
  }, [key, restarts.value]);

  useEffect(() => {
    const changed = new Set<string>();
    let isStale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async () => {
      timer = undefined;
      const { rows, isLoading } = latest.current.state;
      if (isLoading) return schedule();
      if ((isStale || changed.size > maxSingleReads) && rows.length <= maxRead) {
        isStale = false;
        changed.clear();
        return again();
      }
      for (const id of [...changed]) {
        const row = await latest.current.source.readRow(id).catch(noneIfDeleted);
        changed.delete(id);
        setState((before) => ({
          ...before,
          rows: before.rows.flatMap((each) => (each.id === id ? (row ?? []) : each)),
        }));
        if (row !== undefined && latest.current.source.isUnsettled?.(row)) changed.add(id);
      }
      if (changed.size > 0) schedule(unsettledMs);
    };
    const schedule = (ms = livePauseMs) => void (timer ??= setTimeout(() => void refresh().catch(() => undefined), ms));
    const leave = onChange((change) => {
      const found = latest.current.source.about(change, latest.current.state.rows);
      isStale ||= found.isStale;
      found.ids.forEach((id) => changed.add(id));
      if (found.ids.length > 0 || found.isStale) schedule();
    });
    const clock = setInterval(() => {
      const { rows, isLoading } = latest.current.state;
      const mayRead = connection.value === 'off' && !isExpired.value && !isLoading;
      if (mayRead && rows.length <= maxRead) again();
    }, withoutFeedMs);
    return () => {
      leave();
      clearTimeout(timer);
      clearInterval(clock);
    };
  }, [key]);

  const { isEnd, ...shown } = state;
  useOutageEnd(shown, again);
  const more = () => {
    if (running.current !== undefined) void read(running.current, 1, true);
  };
  return { ...shown, again, more: shown.isLoading || isEnd || shown.problem !== undefined ? undefined : more };
}

function noneIfDeleted(error: unknown): undefined {
  if (error instanceof AssentError && error.status === 404) return undefined;
  throw error;
}

function totalOf(headers: Headers): string | undefined {
  const count = headers.get('X-Total-Count');
  if (count === null) return undefined;
  return `${formatNumber(Number(count))}${headers.get('X-Total-Count-At-Least') === null ? '' : '+'}`;
}
