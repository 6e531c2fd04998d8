import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { go, href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { commonTexts } from '../../texts/common.js';
import { Loaded } from '../../ui/problem.js';
import { Time } from '../../ui/time.js';
import { BlockEffect } from './block-effect.js';
import { LiftBlock } from './block-lift.js';

function useBlock(id: string) {
  return useResource(
    `block ${id}`,
    async (signal) => (await api.GET('/blocks/{id}', { params: { path: { id } }, signal })).data,
    ({ kind }) => kind.startsWith('subscription.') || kind.endsWith('blocked'),
  );
}

/** One block with what it stops now. */
export function OneBlock({ id }: { id: string }) {
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
            {block.effect !== undefined && <BlockEffect block={block} effect={block.effect} />}
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

/** Who, why, since when and until when. */
export function BlockFacts({ block }: { block: Schemas['Block'] }) {
  return (
    <dl class="facts">
      <dt>{t(commonTexts.reason)}</dt>
      <dd>
        <bdi>{block.reason}</bdi>
      </dd>
      <dt>{t(texts.by)}</dt>
      <dd>
        <bdi>{block.createdby}</bdi>
        {block.byoperator && ` (${t(texts.operator)})`}
      </dd>
      <dt>{t(texts.tenant)}</dt>
      <dd>{block.tenant === '*' ? t(texts.everyTenant) : <bdi>{block.tenant}</bdi>}</dd>
      <dt>{t(texts.since)}</dt>
      <dd>
        <Time at={block.createdat} isExact />
      </dd>
      <dt>{t(texts.until)}</dt>
      <dd>{block.expiresat === undefined ? t(texts.untilLifted) : <Time at={block.expiresat} isExact />}</dd>
    </dl>
  );
}

/** Counting is work for the registry, so a list counts only for blocks that are opened. */
export function BlockEffectOf({ id }: { id: string }) {
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
      {(block) => block.effect !== undefined && <BlockEffect block={block} effect={block.effect} />}
    </Loaded>
  );
}
