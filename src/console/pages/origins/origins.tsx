import { Plus } from 'lucide';
import { useState } from 'preact/hooks';
import type { Schemas } from '../../app/api.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { SearchBar, totalText } from '../../ui/search.js';
import { Empty, Skeleton, type TableColumn, Table } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { shortRate } from '../../ui/value.js';
import { useBlocks } from '../blocks/lift-block.js';
import {
  BlockedBadge,
  blockOn,
  type Count,
  DefaultBadge,
  isBlocked,
  isVerified,
  maxCounted,
  numberColumns,
  type NumberedRow,
  stopColumn,
  useSubscriptionCounts,
  useTotals,
  VerifiedBadge,
} from './origin-numbers.js';
import { formatDuration } from './origin-policy.js';
import { useOrigins } from './use-origins.js';

type Row = NumberedRow & { origin: Schemas['Origin'] };

const bySubscriptions = '-subscriptions';

/** What sends, by origin, and where it goes, by host. */
export function OriginsPage() {
  const lists = [
    { name: 'origins' as const, title: t(texts.byOrigin) },
    { name: 'hosts' as const, title: t(texts.byHost) },
  ];
  return (
    <>
      <div class="title">
        <h1>{t(texts.title)}</h1>
        {isAdmin.value && (
          <a class="button first" href={href('new-origin')}>
            <Icon of={Plus} />
            {t(texts.create)}
          </a>
        )}
      </div>
      {isAdmin.value ? (
        <Tabs label={t(texts.title)} of={lists}>
          {(name) => (name === 'hosts' ? <HostList /> : <OriginList />)}
        </Tabs>
      ) : (
        <OriginList />
      )}
    </>
  );
}

const has = (words: string, ...texts: Array<string | undefined>) =>
  texts.join(' ').toLowerCase().includes(words.toLowerCase());

function OriginList() {
  const { sort = '-failures', name: asked = '' } = route.value.query;
  const [words, setWords] = useState(asked);
  const list = useOrigins();
  const totals = useTotals('origin', { sort });
  const blocks = useBlocks();
  const counts = useSubscriptionCounts(list.data?.rows.map(({ name }) => name) ?? []);
  const entries = totals.data?.entries ?? [];
  /** Those of which nothing was counted come last, by name. */
  const placeOf = ({ name, total }: Row) => {
    if (sort === bySubscriptions) return -(counts?.get(name)?.count ?? 0);
    return total === undefined ? entries.length : entries.indexOf(total);
  };
  const rows = (list.data?.rows ?? [])
    .filter(({ name, description }) => has(words, name, description))
    .map((origin): Row => {
      const { name } = origin;
      return {
        name,
        origin,
        total: entries.find((entry) => entry.name === name),
        block: blockOn(blocks.data?.rows, 'origin', name),
      };
    })
    .sort((a, b) => placeOf(a) - placeOf(b));
  return (
    <>
      <ProblemView problem={list.problem ?? totals.problem} onRetry={list.problem ? list.reload : totals.reload} />
      {list.data === undefined && list.isLoading && <Skeleton />}
      {list.data?.rows.length === 0 && (
        <Empty title={t(texts.none)} text={t(texts.lead)}>
          {isAdmin.value && (
            <a class="button first" href={href('new-origin')}>
              {t(texts.create)}
            </a>
          )}
        </Empty>
      )}
      {list.data?.isCut && <p class="note open">{t(texts.first(formatNumber(list.data.rows.length)))}</p>}
      {(rows.length > 0 || words !== '') && (
        <SearchBar label={t(texts.searchLabel)} words="name" keys={[]} onTyped={({ name = '' }) => setWords(name)} />
      )}
      {rows.length === 0 && words !== '' && <Empty title={t(commonTexts.nothing)} />}
      {rows.length > 0 && (
        <Table
          caption={t(texts.title)}
          rows={rows}
          keyOf={({ name }) => name}
          sort={sort}
          onSort={(next) => replaceQuery({ ...route.value.query, sort: next })}
          columns={[
            { key: 'name', title: t(texts.name), cell: OriginCell },
            ...(isAdmin.value
              ? [
                  ...((list.data?.rows.length ?? 0) > maxCounted ? [] : [subscriptionsColumn(counts)]),
                  ...numberColumns<Row>(),
                  stopColumn<Row>('origin', blocks.reload),
                ]
              : policyColumns()),
          ]}
        />
      )}
    </>
  );
}

const subscriptionsColumn = (counts: ReadonlyMap<string, Count> | undefined): TableColumn<Row> => ({
  key: 'subscriptions',
  title: t(texts.subscriptions),
  width: '122px',
  isNumber: true,
  from: 'tablet',
  sorts: [bySubscriptions],
  cell: ({ name }) => {
    const count = counts?.get(name);
    return count === undefined ? (
      '–'
    ) : (
      <a href={href('subscriptions', undefined, { origin: name })}>{totalText(count)}</a>
    );
  },
});

/** What a token without numbers sees. */
const policyColumns = (): Array<TableColumn<Row>> => [
  {
    key: 'requested',
    title: t(texts.requested),
    width: '128px',
    isNumber: true,
    cell: ({ origin: { requestedrate } }) => (requestedrate === undefined ? '–' : shortRate(requestedrate)),
  },
  {
    key: 'lifetime',
    title: t(texts.lifetime),
    width: '128px',
    from: 'tablet',
    cell: ({ origin: { grantseconds } }) => formatDuration(grantseconds),
  },
  {
    key: 'profile',
    title: t(texts.profile),
    width: '128px',
    from: 'tablet',
    cell: ({ origin: { profile } }) => profile,
  },
];

function OriginCell(row: Row) {
  const { name, isdefault, description } = row.origin;
  return (
    <>
      {isBlocked(row) && <BlockedBadge />}{' '}
      <a class="plain" href={href('origins', name)}>
        <b title={name}>{name}</b>
      </a>{' '}
      {isVerified(row.origin) && <VerifiedBadge />} {isdefault && <DefaultBadge />}{' '}
      <bdi title={description}>{description}</bdi>
    </>
  );
}

/** What happened at the hosts of the sinks, whichever origin sent it. */
function HostList() {
  const { sort = '-failures', name: asked = '' } = route.value.query;
  const [words, setWords] = useState(asked);
  const totals = useTotals('host', { sort });
  const blocks = useBlocks();
  const rows = (totals.data?.entries ?? [])
    .filter(({ name }) => has(words, name))
    .map((total): NumberedRow => ({ name: total.name, total, block: blockOn(blocks.data?.rows, 'host', total.name) }));
  return (
    <>
      <ProblemView problem={totals.problem} onRetry={totals.reload} />
      {totals.data === undefined && totals.isLoading && <Skeleton />}
      {totals.data?.entries.length === 0 && <Empty title={t(texts.noHosts)} text={t(texts.noHostsHint)} />}
      {totals.data?.more && <p class="note open">{t(texts.first(formatNumber(totals.data.entries.length)))}</p>}
      {(rows.length > 0 || words !== '') && (
        <SearchBar label={t(texts.searchHosts)} words="name" keys={[]} onTyped={({ name = '' }) => setWords(name)} />
      )}
      {rows.length === 0 && words !== '' && <Empty title={t(commonTexts.nothing)} />}
      {rows.length > 0 && (
        <Table
          caption={t(texts.byHost)}
          rows={rows}
          keyOf={({ name }) => name}
          sort={sort}
          onSort={(next) => replaceQuery({ ...route.value.query, sort: next })}
          columns={[
            {
              key: 'name',
              title: t(texts.host),
              cell: (row) => (
                <>
                  {isBlocked(row) && <BlockedBadge />}{' '}
                  <a class="plain" href={href('subscriptions', undefined, { host: row.name })}>
                    <b title={row.name}>{row.name}</b>
                  </a>
                </>
              ),
            },
            ...numberColumns(),
            stopColumn('host', blocks.reload),
          ]}
        />
      )}
    </>
  );
}
