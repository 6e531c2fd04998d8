import { useEffect, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { isBlock, readAll, useResource } from '../../app/live.js';
import { go, href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { commonTexts } from '../../texts/common.js';
import { Loaded, SelectField } from '../../ui/form.js';
import { Time, Who } from '../../ui/value.js';
import { BlockEffectCard, type ApiBlockKind, LiftBlock } from './block-effect.js';

const announcingPauseMs = 2_000;

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

/** One block with what it stops now. */
function OneBlock({ id }: { id: string }) {
  const read = useBlock(id);
  const back = (
    <p>
      <a href={href('blocks')}>{t(texts.back)}</a>
    </p>
  );
  if (read.problem?.code === 'block_not_found') {
    return (
      <>
        <h1>{t(texts.title)}</h1>
        <p class="note">{t(texts.gone)}</p>
        {isAdmin.value && (
          <p>
            <a href={href('audit', undefined, { target: `block:${id}` })}>{t(texts.history)}</a>
          </p>
        )}
        {back}
      </>
    );
  }
  return (
    <>
      <Loaded of={read}>
        {(block) => (
          <>
            <h1>
              {t(texts.kinds[block.kind])} <bdi>{block.value}</bdi>
            </h1>
            <BlockFacts block={block} />
            <h2>{t(texts.effectNow)}</h2>
            {block.effect !== undefined && <BlockEffectCard block={block} effect={block.effect} />}
            {block.announcement !== undefined && <Announced announcement={block.announcement} />}
            <div class="actions">
              <LiftBlock block={block} onLifted={() => go(href('blocks'))} />
              {isAdmin.value && (
                <a class="button" href={href('audit', undefined, { target: `block:${id}` })}>
                  {t(texts.history)}
                </a>
              )}
            </div>
          </>
        )}
      </Loaded>
      {back}
    </>
  );
}

/** How far consumers were told. */
function Announced({ announcement: { state, subscriptioncount } }: { announcement: Schemas['BlockAnnouncement'] }) {
  return (
    <p class="soft" role="status">
      {t(state === 'running' ? texts.announcing : texts.announced).replace('{n}', formatNumber(subscriptioncount))}
    </p>
  );
}

/** Who, why, since when and until when. */
function BlockFacts({ block }: { block: Schemas['Block'] }) {
  return (
    <dl class="facts">
      <dt>{t(commonTexts.reason)}</dt>
      <dd>
        <bdi>{block.reason}</bdi>
      </dd>
      <dt>{t(texts.by)}</dt>
      <dd>
        <Who client={block.createdby} person={block.createdbyperson} />
        {block.byoperator && ` (${t(texts.operator)})`}
      </dd>
      <dt>{t(texts.tenant)}</dt>
      <dd>{block.tenant === '*' ? t(texts.everyTenant) : <bdi>{block.tenant}</bdi>}</dd>
      <dt>{t(texts.since)}</dt>
      <dd>
        <Time at={block.createdat} look="exact" />
      </dd>
      <dt>{t(texts.until)}</dt>
      <dd>{block.expiresat === undefined ? t(texts.untilLifted) : <Time at={block.expiresat} look="exact" />}</dd>
    </dl>
  );
}

/** Counting is work for the registry, so a list counts only for blocks that are opened. */
function BlockEffectOf({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t(texts.effect)}</summary>
      {isOpen && <EffectNow id={id} />}
    </details>
  );
}

function EffectNow({ id }: { id: string }) {
  const read = useBlock(id);
  return (
    <Loaded of={read}>
      {(block) => block.effect !== undefined && <BlockEffectCard block={block} effect={block.effect} />}
    </Loaded>
  );
}

const maxRows = 1_000;
export const blockKinds = Object.keys(texts.kinds) as ApiBlockKind[];

export function Blocks({ id }: { id?: string | undefined }) {
  return id === undefined ? <BlockList /> : <OneBlock id={id} />;
}

function BlockList() {
  const kind = blockKinds.find((each) => each === route.value.query['kind']);
  const list = useResource(
    `blocks ${kind}`,
    (signal) => readAll(maxRows, api.pages('/blocks', { params: { query: { ...(kind && { kind }) } }, signal })),
    isBlock,
  );
  return (
    <>
      <h1>{t(texts.title)}</h1>
      <p>{t(texts.lead)}</p>
      <p class="actions">
        <a class="button first" href={href('new-block')}>
          {t(texts.create)}
        </a>
      </p>
      <div class="filters">
        <SelectField
          label={t(texts.kind)}
          none={t(commonTexts.all)}
          value={kind ?? ''}
          options={blockKinds}
          textOf={(each) => t(texts.kinds[each])}
          onChange={(value) => replaceQuery({ kind: value })}
        />
      </div>
      <Loaded of={list}>
        {({ rows, isCut }) => (
          <>
            {rows.length === 0 && <p>{t(kind === undefined ? texts.none : commonTexts.nothing)}</p>}
            {isCut && <p class="note">{t(texts.first).replace('{n}', formatNumber(rows.length))}</p>}
            <ol class="entries">
              {rows.map((block) => (
                <li key={block.id} class="card entry">
                  <h2>
                    {t(texts.kinds[block.kind])}{' '}
                    <a href={href('blocks', block.id)}>
                      <bdi>{block.value}</bdi>
                    </a>
                  </h2>
                  <BlockFacts block={block} />
                  <BlockEffectOf id={block.id} />
                  <div class="actions">
                    <LiftBlock block={block} onLifted={list.reload} />
                  </div>
                </li>
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </>
  );
}
