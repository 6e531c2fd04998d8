import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, AssentError, type Problem, type Schemas } from '../../app/api.js';
import { type Change, connection, isBlock, onChange, useOutageEnd } from '../../app/live.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { commonTexts, subscriptionStatusNames } from '../../texts/common.js';
import { subscriptionsTexts as texts } from '../../texts/subscriptions.js';
import { ProblemView, TextField, SelectField } from '../../ui/form.js';
import { StatusBadge, Time } from '../../ui/value.js';
import { type TableColumn, Table } from '../../ui/table.js';
import { OneSubscription } from './subscription.js';

type Row = Schemas['Subscription'];
type Query = Readonly<Record<string, string>>;

interface Search {
  rows: readonly Row[];
  /** `10,000+` is at least that many. */
  total: string | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  /** There are more than were loaded. */
  hasMore: boolean;
  stop: () => void;
  /** Continues after a failure, or after it was stopped. */
  resume: () => void;
}

interface Loaded {
  rows: readonly Row[];
  total?: string | undefined;
  cursor?: string | undefined;
}

const pageSize = 200;
const maxRows = 10_000;
const livePauseMs = 300;
/** More changed rows than this are read as a list. */
const maxSingleReads = 20;
/** Without the feed, the list is read again after this time, if it is short. */
const withoutFeedMs = 20_000;
const maxWithoutFeed = 1_000;

function totalOf(headers: Headers): string | undefined {
  const count = headers.get('X-Total-Count');
  if (count === null) return undefined;
  return `${formatNumber(Number(count))}${headers.get('X-Total-Count-At-Least') === null ? '' : '+'}`;
}

/** Reads page after page. `show` gets everything so far. */
async function readPages(query: Query, from: Loaded, signal: AbortSignal, show: (loaded: Loaded) => void) {
  let { rows, total, cursor } = from;
  do {
    const place = cursor === undefined ? { count: true } : { cursor };
    const parameters = { ...query, limit: pageSize, ...place };
    const { data, headers, next } = await api.GET('/subscriptions', { params: { query: parameters }, signal });
    rows = [...rows, ...data];
    total ??= totalOf(headers);
    cursor = next;
    show({ rows, total, cursor });
  } while (cursor !== undefined && rows.length < maxRows);
}

/**
 * The subscriptions that match, oldest first: a page at once and the others behind it. A row that the feed names is read
 * again and stays in its place, even if its new status is not the one that was searched for, so that nothing moves below
 * the pointer of the user.
 */
function useSearch(query: Query): Search {
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
      // It may match: the registry decides. It is the newest, so it can appear only if all older ones are loaded.
      const mayAppear = change.kind === 'subscription.created' && latest.current.cursor === undefined;
      isListStale ||= mayAppear || change.kind.startsWith('origin.') || isBlock(change);
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
  useOutageEnd({ problem, isLoading }, () => start(latest.current));
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

const textFilters = ['sinkcontains', 'host', 'origin', 'subscriber', 'code'] as const;
/** The search narrows what is loaded at once, and asks the registry when the user pauses. */
const typingPauseMs = 500;

const hostOf = (sink: string) => (URL.canParse(sink) ? new URL(sink).hostname : '');
const startsWith = (text: string, start: string) => text.toLowerCase().startsWith(start.toLowerCase());

const narrowings: Record<string, (row: Row, typed: string) => boolean> = {
  sinkcontains: ({ sink }, typed) => sink.includes(typed),
  host: ({ sink }, typed) => startsWith(hostOf(sink), typed),
  origin: ({ origin }, typed) => startsWith(origin, typed),
  subscriber: ({ subscriber }, typed) => startsWith(subscriber, typed),
  status: ({ status }, typed) => status === typed,
  code: ({ statusdetails }, typed) => startsWith(statusdetails.code, typed),
};

/** Only by what the registry was not asked for yet. */
function narrow(rows: readonly Row[], typed: Query, asked: Query): readonly Row[] {
  const open = Object.entries(typed).filter(([name, value]) => value !== '' && asked[name] !== value);
  return open.length === 0 ? rows : rows.filter((row) => open.every(([name, value]) => narrowings[name]?.(row, value)));
}

/** Members of the query that this page knows, without empty ones. */
function askedIn(query: Query): Query {
  return Object.fromEntries(
    Object.entries(query).filter(([name, value]) => Object.hasOwn(narrowings, name) && value !== ''),
  );
}

function SubscriptionList() {
  const asked = askedIn(route.value.query);
  const key = JSON.stringify(asked);
  const [typed, setTyped] = useState<Query>(asked);
  // A link to this page, or the button of the browser to go back.
  useEffect(() => setTyped(asked), [key]);
  useEffect(() => {
    if ((typed['sinkcontains'] ?? '') === (asked['sinkcontains'] ?? '')) return undefined;
    const timer = setTimeout(() => replaceQuery({ ...asked, sinkcontains: typed['sinkcontains'] }), typingPauseMs);
    return () => clearTimeout(timer);
  }, [typed['sinkcontains'], key]);
  const search = useSearch(asked);
  const rows = useMemo(() => narrow(search.rows, typed, asked), [search.rows, typed, key]);
  const set = (name: string, value: string) => setTyped((before) => ({ ...before, [name]: value }));
  const input = (name: (typeof textFilters)[number]) => (
    <TextField
      key={name}
      label={t(texts[name])}
      type="search"
      autocomplete="off"
      spellcheck={false}
      value={typed[name] ?? ''}
      onChange={() => replaceQuery(typed)}
      onInput={(value) => set(name, value)}
    />
  );
  return (
    <>
      <h1>{t(texts.title)}</h1>
      <form
        class="filters"
        role="search"
        aria-label={t(texts.filters)}
        onSubmit={(event) => {
          event.preventDefault();
          replaceQuery(typed);
        }}
      >
        {textFilters.filter((name) => name !== 'subscriber' || isAdmin.value).map(input)}
        <SelectField
          label={t(texts.status)}
          none={t(commonTexts.all)}
          value={typed['status'] ?? ''}
          options={subscriptionStatusNames}
          textOf={(status) => t(commonTexts.statuses[status])}
          onChange={(status) => {
            set('status', status);
            replaceQuery({ ...typed, status });
          }}
        />
        <button type="submit">{t(commonTexts.search)}</button>
        <button type="button" onClick={() => (setTyped({}), replaceQuery({}))}>
          {t(texts.clear)}
        </button>
      </form>
      <ProblemView problem={search.problem} onRetry={search.resume} />
      <div class="actions">
        <p role="status">
          {search.isLoading && search.rows.length === 0
            ? t(commonTexts.loading)
            : t(texts.count(formatNumber(rows.length), formatNumber(search.rows.length), search.total ?? ''))}
          {search.hasMore && search.rows.length >= maxRows && ` ${t(texts.tooMany)}`}
        </p>
        {search.isLoading && search.hasMore && (
          <button type="button" onClick={search.stop}>
            {t(commonTexts.stop)}
          </button>
        )}
        {!search.isLoading && search.hasMore && search.rows.length < maxRows && (
          <button type="button" onClick={search.resume}>
            {t(texts.resume)}
          </button>
        )}
        <a href={href('register')}>{t(texts.register)}</a>
      </div>
      {rows.length === 0 && !search.isLoading && search.problem === undefined && <p>{t(texts.none)}</p>}
      {rows.length > 0 && <Table caption={t(texts.title)} rows={rows} keyOf={({ id }) => id} columns={columns()} />}
    </>
  );
}

function columns(): Array<TableColumn<Row>> {
  return [
    {
      key: 'sink',
      title: t(texts.sink),
      cell: ({ id, sink }) => (
        <a href={href('subscriptions', id)}>
          <bdi>{sink}</bdi>
        </a>
      ),
    },
    { key: 'status', title: t(texts.status), cell: ({ status }) => <StatusBadge status={status} /> },
    { key: 'why', title: t(texts.why), cell: ({ statusdetails }) => <bdi>{statusdetails.message}</bdi> },
    { key: 'origin', title: t(texts.origin), cell: ({ origin }) => origin },
    ...(isAdmin.value
      ? [{ key: 'subscriber', title: t(texts.subscriber), cell: ({ subscriber }: Row) => <bdi>{subscriber}</bdi> }]
      : []),
    { key: 'created', title: t(texts.created), cell: ({ createdat }) => <Time at={createdat} /> },
  ];
}

/** All of them, or the one that the place names. */
export function SubscriptionsPage({ id }: { id?: string | undefined }) {
  return id === undefined ? <SubscriptionList /> : <OneSubscription id={id} />;
}
