import { useEffect, useRef, useState } from 'preact/hooks';
import { api, AssentError, type Problem, type Schemas } from '../../app/api.js';
import { connection, onChange, type Change } from '../../app/live.js';

export type Row = Schemas['Subscription'];
export type Query = Readonly<Record<string, string>>;

export interface Search {
  rows: readonly Row[];
  /** As `X-Total-Count` says it: `10000+` is at least that many. */
  total: string | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  /** There are more than were loaded. */
  hasMore: boolean;
  stop(): void;
  /** Continues after a failure, or after it was stopped. */
  resume(): void;
}

interface Loaded {
  rows: readonly Row[];
  total?: string | undefined;
  cursor?: string | undefined;
}

const pageSize = 200;
export const maxRows = 10_000;
const livePauseMs = 300;
/** More changed rows than this are read as a list. */
const maxSingleReads = 20;
/** Without the feed, the list is read again after this time, if it is short. */
const withoutFeedMs = 20_000;
const maxWithoutFeed = 1_000;

/** Reads page after page. `show` gets everything so far. */
async function readPages(query: Query, from: Loaded, signal: AbortSignal, show: (loaded: Loaded) => void) {
  let { rows, total, cursor } = from;
  do {
    const place = cursor === undefined ? { count: true } : { cursor };
    const parameters = { ...query, limit: pageSize, ...place };
    const { data, headers, next } = await api.GET('/subscriptions', { params: { query: parameters }, signal });
    rows = [...rows, ...data];
    total ??= headers.get('X-Total-Count') ?? undefined;
    cursor = next;
    show({ rows, total, cursor });
  } while (cursor !== undefined && rows.length < maxRows);
}

/**
 * The subscriptions that match, oldest first: a page at once and the others behind it. A row that the feed names is read
 * again and stays in its place, even if its new status is not the one that was searched for, so that nothing moves below
 * the pointer of the user.
 */
export function useSearch(query: Query): Search {
  const key = JSON.stringify(query);
  const [state, setState] = useState<Loaded & { problem?: Problem; isLoading: boolean }>({ rows: [], isLoading: true });
  const latest = useRef(state);
  latest.current = state;
  const running = useRef(new AbortController());

  const start = (from: Loaded, isQuiet = false) => {
    running.current.abort();
    running.current = new AbortController();
    const { signal } = running.current;
    let found = from;
    if (!isQuiet)
      setState((before) => ({ rows: before.rows, total: before.total, cursor: before.cursor, isLoading: true }));
    readPages(query, from, signal, (loaded) => {
      found = loaded;
      if (!isQuiet && !signal.aborted) setState({ ...loaded, isLoading: true });
    }).then(
      () => !signal.aborted && setState({ ...found, isLoading: false }),
      (error: unknown) => {
        if (signal.aborted) return;
        if (!(error instanceof AssentError)) throw error;
        setState({ ...(isQuiet ? latest.current : found), problem: error.problem, isLoading: false });
      },
    );
  };

  useEffect(() => {
    start({ rows: [] });
    return () => running.current.abort();
  }, [key]);

  useEffect(() => {
    const changed = new Set<string>();
    let isListStale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async () => {
      timer = undefined;
      const ids = [...changed];
      if (latest.current.isLoading) return void schedule();
      if (isListStale || ids.length > maxSingleReads) {
        isListStale = false;
        changed.clear();
        return start({ rows: [] }, true);
      }
      for (const id of ids) {
        changed.delete(id);
        const data = await readIfThere(id);
        setState((before) => ({ ...before, rows: patched(before, id, data) }));
        // The feed has no entry for a response that leaves it pending.
        if (data?.status === 'pending' && data.statusdetails.nextat === undefined) changed.add(id);
      }
      if (changed.size > 0) schedule(3_000);
    };
    const schedule = (ms = livePauseMs) => (timer ??= setTimeout(() => void refresh().catch(() => undefined), ms));
    const leave = onChange((change) => {
      const ids = idsOf(change, latest.current.rows);
      // It may match: the registry decides.
      isListStale ||= change.kind === 'subscription.created' || change.kind.startsWith('origin.');
      ids.forEach((id) => changed.add(id));
      if (ids.length > 0 || isListStale) schedule();
    });
    const clock = setInterval(() => {
      const { rows, isLoading } = latest.current;
      if (connection.value === 'off' && !isLoading && rows.length <= maxWithoutFeed) start({ rows: [] }, true);
    }, withoutFeedMs);
    return () => {
      leave();
      clearTimeout(timer);
      clearInterval(clock);
    };
  }, [key]);

  const { rows, total, cursor, problem, isLoading } = state;
  return {
    rows,
    total,
    problem,
    isLoading,
    hasMore: cursor !== undefined,
    stop() {
      running.current.abort();
      setState((before) => ({ ...before, isLoading: false }));
    },
    resume: () => start(state),
  };
}

function idsOf({ kind, subscription, origin, sink }: Change, rows: readonly Row[]): string[] {
  if (kind.startsWith('subscription.')) return subscription === undefined ? [] : [subscription];
  // A grant or a handshake is about every subscription of its origin to its sink.
  return rows.filter((row) => row.sink === sink && row.origin === origin).map(({ id }) => id);
}

/** Undefined: it was deleted. */
async function readIfThere(id: string): Promise<Row | undefined> {
  try {
    return (await api.GET('/subscriptions/{id}', { params: { path: { id } } })).data;
  } catch (error) {
    if (error instanceof AssentError && error.status === 404) return undefined;
    throw error;
  }
}

function patched({ rows }: Loaded, id: string, data: Row | undefined): readonly Row[] {
  return rows.flatMap((row) => (row.id === id ? (data ?? []) : row));
}
