import { Pause, Plus } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { counts } from '../../app/counts.js';
import { isBlock } from '../../app/live.js';
import { useLiveList } from '../../app/live-list.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { type Chip, SearchBar, type SearchKey, totalText } from '../../ui/search.js';
import { Empty, Skeleton, Table, type TableColumn } from '../../ui/table.js';
import { Badge, shortRate, Sink, StatusBadge, Time } from '../../ui/value.js';
import { isHeld, readGrant } from './read-grant.js';

type Grant = Schemas['Grant'];
type GrantQuery = NonNullable<NonNullable<NonNullable<Parameters<typeof api.pages<'/grants'>>[1]>['params']>['query']>;

const dayMs = 86_400_000;

const words = 'sinkcontains';
const byEnd = ['expiresat', '-expiresat'] as const;
const choices = {
  state: ['live', 'expired', 'blocked', 'ended', 'revoked'],
  basis: ['response', 'callback', 'agreement', 'policy'],
  within: ['1', '7', '30', '90'],
  renews: ['true', 'false'],
  held: ['true', 'false'],
} as const;

function searchKeys(): SearchKey[] {
  const chosen = (Object.keys(choices) as Array<keyof typeof choices>).map((name) => ({
    name,
    title: t(texts.search[name]),
    values: choices[name],
  }));
  return [
    ...chosen.slice(0, 2),
    { name: 'host', title: t(texts.search.host) },
    { name: 'origin', title: t(texts.origin) },
    { name: 'sink', title: t(texts.sink) },
    ...(isAdmin.value ? [{ name: 'subscriber', title: t(texts.subscriber) }] : []),
    ...chosen.slice(2),
  ];
}

/** What the registry is asked for. A value in the address that is none of its choices asks for nothing. */
function asked(query: Readonly<Record<string, string>>): GrantQuery {
  const one = <Name extends keyof typeof choices>(name: Name) =>
    choices[name].find((each) => each === query[name]) as (typeof choices)[Name][number] | undefined;
  const [state, basis, within, renews, held] = [one('state'), one('basis'), one('within'), one('renews'), one('held')];
  const texts = ['host', 'origin', 'sink', 'subscriber', words].filter((name) => query[name]);
  return {
    ...Object.fromEntries(texts.map((name) => [name, query[name]])),
    ...(state && { state }),
    ...(basis && { basis }),
    ...(within && { expiresuntil: new Date(Date.now() + Number(within) * dayMs).toISOString() }),
    ...(renews && { renews: renews === 'true' }),
    ...(held && { held: held === 'true' }),
    ...(query['sort'] === '-expiresat' && { sort: '-expiresat' }),
  };
}

/**
 * What expires first comes first, and what has expired comes last, the latest first; or all in the opposite order. The
 * registry has this order, so it is that of all grants and not of those that were read.
 */
async function* pagesInOrder(query: GrantQuery, signal: AbortSignal) {
  const read = (part: GrantQuery) => api.pages('/grants', { params: { query: { ...query, ...part } }, signal });
  if (query.sort === '-expiresat') return yield* read({});
  const now = new Date().toISOString();
  const { expiresuntil: until = now } = query;
  yield* read({ sort: 'expiresat', expiressince: now });
  if (query.state !== 'live') yield* read({ sort: '-expiresat', expiresuntil: until < now ? until : now });
}

/** All grants, or those that were searched for. */
export function GrantList() {
  const { query } = route.value;
  const { sort: _, ...narrowed } = query;
  const [typed, setTyped] = useState('');
  useEffect(() => setTyped(query[words] ?? ''), [query[words]]);
  const list = useLiveList<Grant>(JSON.stringify(query), {
    pages: (signal) => pagesInOrder(asked(query), signal),
    readRow: async (id) => (await readGrant(id)).value,
    about(change, shown) {
      const isOfGrant = change.kind.startsWith('grant.');
      const row = shown.find(({ origin, sink }) => isOfGrant && origin === change.origin && sink === change.sink);
      if (row !== undefined) return { ids: [row.id], isStale: false };
      return { ids: [], isStale: isOfGrant || change.kind.startsWith('origin.') || isBlock(change) };
    },
  });
  const rows = list.rows.filter(({ sink }) => sink.includes(typed));
  const isEmpty = rows.length === 0 && !list.isLoading && list.problem === undefined;
  const agree = isAdmin.value && (
    <a class="button first" href={href('new-grant')}>
      <Icon of={Plus} />
      {t(texts.agree)}
    </a>
  );
  return (
    <>
      <div class="title">
        <h1>{t(commonTexts.menu.grants)}</h1>
        {agree}
      </div>
      <SearchBar
        label={t(texts.searchLabel)}
        words={words}
        keys={searchKeys()}
        chips={chips()}
        onTyped={(found) => setTyped(found[words] ?? '')}
      />
      <ProblemView problem={list.problem} onRetry={list.again} />
      {list.isLoading && list.rows.length === 0 && <Skeleton rows={14} />}
      {isEmpty && Object.keys(narrowed).length > 0 && (
        <Empty title={t(commonTexts.nothing)}>
          <a class="button" href={href('grants')}>
            {t(texts.showAll)}
          </a>
        </Empty>
      )}
      {isEmpty && Object.keys(narrowed).length === 0 && (
        <Empty title={t(texts.none)} text={t(texts.noneHint)}>
          {agree}
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <Table
            caption={t(commonTexts.menu.grants)}
            rows={rows}
            keyOf={({ id }) => id}
            columns={columns()}
            sort={query['sort'] === byEnd[1] ? byEnd[1] : byEnd[0]}
            onSort={(sort) => replaceQuery({ ...narrowed, sort: sort === byEnd[0] ? undefined : sort })}
            onEnd={list.more}
          />
          <p class="soft foot" role="status">
            {list.isLoading
              ? t(commonTexts.loading)
              : t(texts.shown(formatNumber(rows.length), list.more !== undefined))}
          </p>
        </>
      )}
    </>
  );
}

function chips(): Chip[] {
  const count = (name: string) => counts.value[name] && totalText(counts.value[name]);
  return [
    { title: t(texts.chips.live), query: { state: 'live' }, count: count('grants') },
    {
      title: t(texts.chips.ending),
      query: { state: 'live', renews: 'false', within: '30' },
      count: count('ending'),
    },
    { title: t(texts.chips.held), query: { state: 'live', held: 'true' }, count: count('held') },
  ];
}

function columns(): Array<TableColumn<Grant>> {
  return [
    {
      key: 'state',
      title: t(texts.state),
      width: '122px',
      cell: ({ state, helduntil }) =>
        state === 'live' && isHeld(helduntil) ? (
          <Badge look="open" icon={Pause}>
            <span class="unseen">{t(commonTexts.statuses.live)}, </span>
            {t(texts.onHold)}
          </Badge>
        ) : (
          <StatusBadge status={state} />
        ),
    },
    {
      key: 'sink',
      title: t(texts.sink),
      cell: ({ id, sink }) => (
        <a class="plain" href={href('grants', id)}>
          <Sink sink={sink} />
        </a>
      ),
    },
    { key: 'origin', title: t(texts.origin), width: '18%', from: 'tablet', cell: ({ origin }) => <bdi>{origin}</bdi> },
    {
      key: 'basis',
      title: t(texts.basis),
      width: '17%',
      from: 'desktop',
      cell: ({ basis, agreement }) => (
        <span title={agreement}>
          {t(texts.bases[basis])} <bdi>{agreement}</bdi>
        </span>
      ),
    },
    {
      key: 'rate',
      title: t(texts.shortRate),
      width: '78px',
      isNumber: true,
      from: 'tablet',
      cell: ({ allowedrate }) => shortRate(allowedrate),
    },
    {
      key: 'end',
      title: t(texts.ends),
      width: '98px',
      isNumber: true,
      sorts: byEnd,
      cell: ({ expiresat }) => <Time at={expiresat} />,
    },
  ];
}
