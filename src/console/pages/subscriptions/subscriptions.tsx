import { Plus } from 'lucide';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { counts } from '../../app/counts.js';
import { type Change, isBlock } from '../../app/live.js';
import { useLiveList } from '../../app/live-list.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { capital, formatNumber, t } from '../../app/text.js';
import { commonTexts, subscriptionStatusNames } from '../../texts/common.js';
import { subscriptionsTexts as texts } from '../../texts/subscriptions.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { type Chip, SearchBar, type SearchKey, totalText } from '../../ui/search.js';
import { Empty, Skeleton, type TableColumn, Table, useSelection } from '../../ui/table.js';
import { shortRate, Sink, StatusBadge, Time } from '../../ui/value.js';
import { BulkActions, ExportButton } from './bulk-actions.js';

type Row = Schemas['Subscription'];
type Query = Readonly<Record<string, string>>;

const pageSize = 200;

/** The registry counts once. */
async function* pagesOf(query: Query, signal: AbortSignal) {
  let cursor: string | undefined;
  do {
    const place = cursor === undefined ? { count: true } : { cursor };
    const page = await api.GET('/subscriptions', {
      params: { query: { ...query, limit: pageSize, ...place } },
      signal,
    });
    yield page;
    cursor = page.next;
  } while (cursor !== undefined);
}

function idsOf({ kind, subscription, origin, sink }: Change, rows: readonly Row[]): string[] {
  if (kind.startsWith('subscription.')) return subscription === undefined ? [] : [subscription];
  // A grant or a handshake is about every subscription of its origin to its sink.
  return rows.filter((row) => row.sink === sink && row.origin === origin).map(({ id }) => id);
}

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

const words = 'sinkcontains';
const newestFirst = '-createdat';

function searchKeys(): SearchKey[] {
  return [
    { name: 'status', title: t(texts.status), values: subscriptionStatusNames },
    { name: 'host', title: t(texts.host) },
    { name: 'origin', title: t(texts.origin) },
    ...(isAdmin.value ? [{ name: 'subscriber', title: t(texts.subscriber) }] : []),
    { name: 'code', title: t(texts.code) },
  ];
}

/** Members of the query that the registry is asked for. */
function askedIn(query: Query): Query {
  const known = (name: string) => Object.hasOwn(narrowings, name) || name === 'sort';
  return Object.fromEntries(Object.entries(query).filter(([name, value]) => known(name) && value !== ''));
}

/** All subscriptions, or those that were searched for. */
export function SubscriptionList() {
  const { query } = route.value;
  const asked = askedIn({ sort: newestFirst, ...query });
  const key = JSON.stringify(asked);
  const [typed, setTyped] = useState<Query>(asked);
  useEffect(() => setTyped(asked), [key]);
  const search = useLiveList<Row>(key, {
    pages: (signal) => pagesOf(asked, signal),
    readRow: async (id) => (await api.GET('/subscriptions/{id}', { params: { path: { id } } })).data,
    about(change, shown) {
      const ids = idsOf(change, shown);
      // One that is not shown may begin to have the status that is searched for.
      const isOther = ids.length === 0 && (asked['status'] ?? asked['code']) !== undefined;
      const isNew = change.kind === 'subscription.created' || change.kind.startsWith('origin.');
      return { ids, isStale: isOther || isNew || isBlock(change) };
    },
    // The feed has no entry for a response that leaves it pending.
    isUnsettled: ({ status, statusdetails: { nextat } }) => status === 'pending' && nextat === undefined,
  });
  const rows = useMemo(() => narrow(search.rows, typed, asked), [search.rows, typed, key]);
  const selection = useSelection();
  const chosen = rows.filter(({ id }) => selection.has(id));
  const isEmpty = rows.length === 0 && !search.isLoading && search.problem === undefined;
  const isSearched = Object.keys(asked).some((name) => name !== 'sort');
  return (
    <>
      <div class="title">
        <h1>{t(texts.title)}</h1>
        <ExportButton query={asked} />
        <a class="button first" href={href('register')}>
          <Icon of={Plus} />
          {t(texts.register)}
        </a>
      </div>
      <SearchBar label={t(texts.searchLabel)} words={words} keys={searchKeys()} chips={chips()} onTyped={setTyped} />
      <p class="unseen" role="status">
        {search.isLoading
          ? t(commonTexts.loading)
          : t(texts.count(formatNumber(rows.length), formatNumber(search.rows.length), search.total ?? ''))}
      </p>
      <ProblemView problem={search.problem} onRetry={search.again} />
      {chosen.length > 0 && <BulkActions rows={chosen} onDone={selection.clear} />}
      {search.isLoading && search.rows.length === 0 && <Skeleton rows={14} />}
      {isEmpty &&
        (isSearched ? (
          <Empty title={t(commonTexts.nothing)}>
            <a class="button" href={href('subscriptions')}>
              {t(texts.clear)}
            </a>
          </Empty>
        ) : (
          <Empty title={t(texts.none)} text={t(texts.noneHint)}>
            <a class="button first" href={href('register')}>
              {t(texts.register)}
            </a>
          </Empty>
        ))}
      {rows.length > 0 && (
        <Table
          caption={t(texts.title)}
          rows={rows}
          keyOf={({ id }) => id}
          columns={columns()}
          sort={asked['sort']}
          onSort={(sort) => replaceQuery({ ...query, sort: sort === newestFirst ? '' : sort })}
          onEnd={search.more}
          selection={selection}
        />
      )}
      {rows.length > 0 && (
        <p class="soft foot">
          {t(texts.count(formatNumber(rows.length), formatNumber(search.rows.length), search.total ?? ''))}
        </p>
      )}
    </>
  );
}

function chips(): Chip[] {
  return (['refused', 'pending', 'active'] as const).map((status) => {
    const found = counts.value[status];
    return {
      title: capital(t(commonTexts.statuses[status])),
      query: { status },
      count: found === undefined ? undefined : totalText(found),
    };
  });
}

function columns(): Array<TableColumn<Row>> {
  return [
    { key: 'status', title: t(texts.status), width: '126px', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'sink',
      title: t(texts.sink),
      cell: ({ id, sink }) => (
        <a class="plain" href={href('subscriptions', id)}>
          <Sink sink={sink} />
        </a>
      ),
    },
    { key: 'origin', title: t(texts.origin), width: '14%', from: 'tablet', cell: ({ origin }) => origin },
    {
      key: 'why',
      title: t(texts.why),
      width: '17%',
      from: 'desktop',
      cell: ({ status, statusdetails: { label, message } }) =>
        status === 'active' ? '' : <bdi title={message}>{label}</bdi>,
    },
    ...(isAdmin.value
      ? [
          {
            key: 'subscriber',
            title: t(texts.subscriber),
            width: '10%',
            from: 'tablet' as const,
            cell: ({ subscriber }: Row) => <bdi>{subscriber}</bdi>,
          },
        ]
      : []),
    {
      key: 'rate',
      title: t(texts.rate),
      width: '74px',
      isNumber: true,
      from: 'desktop',
      cell: ({ statusdetails: { allowedrate } }) => (allowedrate === undefined ? '–' : shortRate(allowedrate)),
    },
    {
      key: 'created',
      title: t(texts.created),
      sorts: [newestFirst, 'createdat'],
      width: '92px',
      isNumber: true,
      from: 'tablet',
      cell: ({ createdat }) => <Time at={createdat} look="age" />,
    },
  ];
}
