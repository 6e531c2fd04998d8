import { ChevronRight, CircleX, Ellipsis, Play, Plus, ScrollText, Webhook } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { isBlock, useResource } from '../../app/live.js';
import { missingScopes } from '../../app/places.js';
import { go, href, route, useName } from '../../app/route.js';
import { formatNumber, t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { commonTexts } from '../../texts/common.js';
import { Loaded, ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Menu, MenuButton } from '../../ui/menu.js';
import { SearchBar } from '../../ui/search.js';
import { Empty, Skeleton, Table, useSelection } from '../../ui/table.js';
import { Badge, FactsCard, Time, Who } from '../../ui/value.js';
import { BlockEffect, queryOf, stoppedText } from './block-effect.js';
import { canLift, LiftButton, LiftDialog, useBlocks } from './lift-block.js';

type Block = Schemas['Block'];
export type BlockKind = keyof typeof texts.kinds;

export const blockKinds = Object.keys(texts.kinds) as BlockKind[];
const announcingPauseMs = 2_000;
/** Counting is work for the registry: a longer list does not count. */
const maxCounted = 30;

/** While consumers are told of it, it is read again and again: the feed of admins does not say that. */
function useBlock(id: string) {
  const resource = useResource(
    `block ${id}`,
    async (signal) => (await api.GET('/blocks/{id}', { params: { path: { id } }, signal })).data,
    (change) => change.kind.startsWith('subscription.') || isBlock(change),
  );
  const { data, reload } = resource;
  useEffect(() => {
    if (data?.announcement?.state !== 'running') return undefined;
    const timer = setTimeout(reload, announcingPauseMs);
    return () => clearTimeout(timer);
  }, [data]);
  return resource;
}

const History = ({ id, look }: { id: string; look: string }) =>
  missingScopes('audit').length > 0 ? null : (
    <a class={`button ${look}`} href={href('audit', undefined, { target: `block:${id}` })}>
      <Icon of={ScrollText} />
      {t(texts.history)}
    </a>
  );

/** One block with what it stops now. */
export function OneBlock({ id }: { id: string }) {
  const read = useBlock(id);
  const { data: block } = read;
  const isGone = read.problem?.code === 'block_not_found';
  useName(block?.value);
  return (
    <>
      <nav class="path" aria-label={t(commonTexts.path)}>
        <a href={href('blocks')}>{t(texts.title)}</a>
        <Icon of={ChevronRight} size={14} />
        {block === undefined ? t(texts.one) : t(texts.kinds[block.kind])}
      </nav>
      <div class="title">
        <h1>{block === undefined ? t(texts.one) : <bdi>{block.value}</bdi>}</h1>
        {block !== undefined && !isGone && (
          <Badge look="bad" icon={CircleX}>
            {t(commonTexts.statuses.blocked)}
          </Badge>
        )}
        <span class="grow" />
        <History id={id} look="" />
        {block !== undefined && !isGone && (
          <LiftButton block={block} look="first" onLifted={() => go(href('blocks'))} />
        )}
      </div>
      {isGone ? (
        <p class="note off">{t(texts.gone)}</p>
      ) : (
        <Loaded of={read}>
          {(found) => (
            <div class="split">
              <section class="note bad" aria-labelledby="effect">
                <Icon of={CircleX} size={20} />
                <div>
                  <h2 id="effect">{t(texts.effectNow)}</h2>
                  {found.effect !== undefined && <BlockEffect block={found} effect={found.effect} />}
                  {found.announcement !== undefined && <Announced announcement={found.announcement} />}
                </div>
              </section>
              <BlockFacts block={found} />
            </div>
          )}
        </Loaded>
      )}
    </>
  );
}

/** How far consumers were told. */
function Announced({ announcement: { state, subscriptioncount } }: { announcement: Schemas['BlockAnnouncement'] }) {
  return (
    <p class="soft" role="status">
      {t((state === 'running' ? texts.announcing : texts.announced)(formatNumber(subscriptioncount)))}
    </p>
  );
}

const Until = ({ block: { expiresat }, look }: { block: Block; look: 'relative' | 'exact' }) =>
  expiresat === undefined ? <>{t(texts.ends.lifted)}</> : <Time at={expiresat} look={look} />;

/** Who, why, since when and until when. */
function BlockFacts({ block }: { block: Block }) {
  const by = (
    <>
      <Who client={block.createdby} person={block.createdbyperson} />
      {block.byoperator && ` (${t(texts.operator)})`}
    </>
  );
  return (
    <FactsCard
      title={t(texts.one)}
      facts={[
        [t(commonTexts.reason), <bdi>{block.reason}</bdi>],
        [t(texts.until), <Until block={block} look="exact" />],
        [t(texts.by), by],
        [t(texts.since), <Time at={block.createdat} look="exact" />],
        [t(texts.tenant), block.tenant === '*' ? t(texts.everyTenant) : <bdi>{block.tenant}</bdi>],
      ]}
    />
  );
}

/** How many subscriptions a block of the list stops. */
function Stopped({ id }: { id: string }) {
  const { data } = useResource(
    `stopped ${id}`,
    async (signal) => (await api.GET('/blocks/{id}', { params: { path: { id } }, signal })).data.effect,
  );
  return <>{data === undefined ? '–' : stoppedText(data)}</>;
}

/** What can be done with a block of the list. */
function RowMenu({ block, onLift }: { block: Block; onLift: () => void }) {
  const query = queryOf(block);
  return (
    <Menu look="quiet" label={`${t(commonTexts.more)}: ${block.value}`} button={<Icon of={Ellipsis} />}>
      {canLift(block) && (
        <MenuButton icon={Play} onClick={onLift}>
          {t(texts.lift)}
        </MenuButton>
      )}
      {query !== undefined && (
        <a class="button quiet" href={href('subscriptions', undefined, query)}>
          <Icon of={Webhook} />
          {t(texts.showSubscriptions)}
        </a>
      )}
      <History id={block.id} look="quiet" />
    </Menu>
  );
}

export function BlockList() {
  const list = useBlocks();
  const { kind, text = '' } = route.value.query;
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const wanted = { kind, text, ...typed };
  const selection = useSelection();
  const [lifting, setLifting] = useState<readonly Block[]>();
  const rows = (list.data?.rows ?? []).filter(
    (block) =>
      (!wanted.kind || block.kind === wanted.kind) &&
      `${block.value} ${block.reason} ${block.createdby}`.toLowerCase().includes(wanted.text.toLowerCase()),
  );
  const chosen = rows.filter((block) => selection.has(block.id) && canLift(block));
  return (
    <>
      <div class="title">
        <h1>{t(texts.title)}</h1>
        <a class="button first" href={href('new-block')}>
          <Icon of={Plus} />
          {t(texts.create)}
        </a>
      </div>
      <ProblemView problem={list.problem} onRetry={list.reload} />
      {list.data === undefined && list.isLoading && <Skeleton />}
      {list.data?.rows.length === 0 && (
        <Empty title={t(texts.none)} text={t(texts.lead)}>
          <a class="button first" href={href('new-block')}>
            {t(texts.create)}
          </a>
        </Empty>
      )}
      {list.data !== undefined && list.data.rows.length > 0 && (
        <>
          <SearchBar
            label={t(texts.searchLabel)}
            words="text"
            keys={[{ name: 'kind', title: t(texts.kind), values: blockKinds }]}
            onTyped={({ kind: name = '', text: words = '' }) => setTyped({ kind: name, text: words })}
          />
          {list.data.isCut && <p class="note open">{t(texts.first(formatNumber(list.data.rows.length)))}</p>}
          {chosen.length > 0 && (
            <div class="bulk" role="region" aria-label={t(texts.one)}>
              <b>{t(commonTexts.chosen(formatNumber(chosen.length)))}</b>
              <button type="button" onClick={() => setLifting(chosen)}>
                <Icon of={Play} />
                {t(texts.lift)}
              </button>
              <button type="button" class="quiet" onClick={selection.clear}>
                {t(commonTexts.cancel)}
              </button>
            </div>
          )}
          {rows.length === 0 && <Empty title={t(commonTexts.nothing)} />}
        </>
      )}
      {rows.length > 0 && (
        <Table
          caption={t(texts.title)}
          rows={rows}
          keyOf={({ id }) => id}
          nameOf={({ value }) => value}
          selection={selection}
          columns={[
            {
              key: 'kind',
              title: t(texts.kind),
              width: '108px',
              from: 'tablet',
              cell: (block) => t(texts.kinds[block.kind]),
            },
            {
              key: 'value',
              title: t(texts.value),
              cell: ({ id, value }) => (
                <a class="plain" href={href('blocks', id)}>
                  <b title={value}>
                    <bdi>{value}</bdi>
                  </b>
                </a>
              ),
            },
            {
              key: 'reason',
              title: t(commonTexts.reason),
              width: '30%',
              from: 'tablet',
              cell: ({ reason }) => <bdi title={reason}>{reason}</bdi>,
            },
            {
              key: 'by',
              title: t(texts.by),
              width: '15%',
              from: 'desktop',
              cell: ({ createdby, createdbyperson, byoperator }) =>
                byoperator ? t(texts.operator) : <Who client={createdby} person={createdbyperson} />,
            },
            {
              key: 'until',
              title: t(texts.until),
              width: '112px',
              cell: (block) => <Until block={block} look="relative" />,
            },
            ...(rows.length > maxCounted
              ? []
              : [
                  {
                    key: 'stopped',
                    title: t(texts.stops),
                    width: '92px',
                    isNumber: true,
                    from: 'tablet' as const,
                    cell: ({ id }: Block) => <Stopped id={id} />,
                  },
                ]),
            {
              key: 'menu',
              title: '',
              width: '52px',
              cell: (block) => <RowMenu block={block} onLift={() => setLifting([block])} />,
            },
          ]}
        />
      )}
      {lifting !== undefined && (
        <LiftDialog
          blocks={lifting}
          onLifted={() => {
            selection.clear();
            list.reload();
          }}
          onClose={() => setLifting(undefined)}
        />
      )}
    </>
  );
}
