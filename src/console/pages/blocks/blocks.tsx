import { api } from '../../app/api.js';
import { readAll } from '../../app/read-all.js';
import { useResource } from '../../app/resource.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { formatNumber, t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { commonTexts } from '../../texts/common.js';
import { Field } from '../../ui/field.js';
import { Loaded } from '../../ui/problem.js';
import { BlockEffectOf, BlockFacts, OneBlock } from './block.js';
import type { BlockKind } from './block-effect.js';
import { LiftBlock } from './block-lift.js';

const maxRows = 1_000;
export const blockKinds = Object.keys(texts.kinds) as BlockKind[];

export function Blocks({ id }: { id?: string | undefined }) {
  return id === undefined ? <BlockList /> : <OneBlock id={id} />;
}

function BlockList() {
  const kind = blockKinds.find((each) => each === route.value.query['kind']);
  const list = useResource(
    `blocks ${kind}`,
    (signal) => readAll(maxRows, api.pages('/blocks', { params: { query: { ...(kind && { kind }) } }, signal })),
    (change) => change.kind.endsWith('blocked'),
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
        <Field label={t(texts.kind)}>
          {(attributes) => (
            <select
              {...attributes}
              value={kind ?? ''}
              onChange={({ currentTarget }) => replaceQuery({ kind: currentTarget.value })}
            >
              <option value="">{t(commonTexts.all)}</option>
              {blockKinds.map((each) => (
                <option key={each} value={each}>
                  {t(texts.kinds[each])}
                </option>
              ))}
            </select>
          )}
        </Field>
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
