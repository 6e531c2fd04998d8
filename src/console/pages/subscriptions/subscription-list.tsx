import { useEffect, useMemo, useState } from 'preact/hooks';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { commonTexts, subscriptionStatusNames } from '../../texts/common.js';
import { subscriptionsTexts as texts } from '../../texts/subscriptions.js';
import { Field } from '../../ui/field.js';
import { ProblemView } from '../../ui/problem.js';
import { StatusBadge } from '../../ui/status.js';
import { Table, type Column } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { maxRows, useSearch, type Query, type Row } from './subscription-search.js';

const textFilters = ['sinkcontains', 'host', 'origin', 'subscriber', 'reason'] as const;
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
  reason: ({ statusdetails }, typed) => startsWith(statusdetails.reason, typed),
};

/** Only by what the registry was not asked for yet. */
function narrow(rows: readonly Row[], typed: Query, asked: Query): readonly Row[] {
  const open = Object.entries(typed).filter(([name, value]) => value !== '' && asked[name] !== value);
  return open.length === 0 ? rows : rows.filter((row) => open.every(([name, value]) => narrowings[name]?.(row, value)));
}

/** Members of the query that this page knows, without empty ones. */
function askedIn(query: Query): Query {
  return Object.fromEntries(Object.entries(query).filter(([name, value]) => name in narrowings && value !== ''));
}

export function SubscriptionList() {
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
    <Field key={name} label={t(texts[name])}>
      {(attributes) => (
        <input
          {...attributes}
          type="search"
          autocomplete="off"
          spellcheck={false}
          value={typed[name] ?? ''}
          onInput={(event) => set(name, event.currentTarget.value)}
          onChange={() => replaceQuery(typed)}
        />
      )}
    </Field>
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
        <Field label={t(texts.status)}>
          {(attributes) => (
            <select
              {...attributes}
              value={typed['status'] ?? ''}
              onChange={({ currentTarget: { value } }) => {
                set('status', value);
                replaceQuery({ ...typed, status: value });
              }}
            >
              <option value="">{t(commonTexts.all)}</option>
              {subscriptionStatusNames.map((status) => (
                <option key={status} value={status}>
                  {t(commonTexts.statuses[status])}
                </option>
              ))}
            </select>
          )}
        </Field>
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

function columns(): Array<Column<Row>> {
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
