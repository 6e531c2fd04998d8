import { api, type Schemas } from '../app/api.js';
import { readAll } from '../app/read-all.js';
import { useResource } from '../app/resource.js';
import { href, replaceQuery, route } from '../app/route.js';
import { isOperator } from '../app/session.js';
import { formatNumber, t } from '../app/text.js';
import { blocksMessages as messages } from '../messages/blocks.js';
import { commonMessages } from '../messages/common.js';
import { Field } from '../ui/field.js';
import { Loaded } from '../ui/problem.js';
import { Table } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { BlockEffectOf, OneBlock } from './block.js';
import type { BlockKind } from './block-effect.js';
import { LiftBlock } from './block-lift.js';

type Block = Schemas['Block'];

const mostRows = 1_000;
export const blockKinds = Object.keys(messages.kinds) as BlockKind[];

export function Blocks({ id }: { id?: string | undefined }) {
  return id === undefined ? <BlockList /> : <OneBlock id={id} />;
}

function BlockList() {
  const kind = blockKinds.find((each) => each === route.value.query['kind']);
  const list = useResource(
    `blocks ${kind}`,
    (signal) =>
      readAll<Block>(mostRows, (cursor) =>
        api.GET('/blocks', {
          params: { query: { limit: 200, ...(kind && { kind }), ...(cursor && { cursor }) } },
          signal,
        }),
      ),
    (change) => change.kind.endsWith('blocked'),
  );
  const who = ({ createdby, byoperator }: Block) => (
    <>
      <bdi>{createdby}</bdi>
      {byoperator && ` (${t(messages.operator)})`}
    </>
  );
  return (
    <>
      <h1>{t(messages.title)}</h1>
      <p>{t(messages.lead)}</p>
      <p class="actions">
        <a class="button first" href={href('new-block')}>
          {t(messages.create)}
        </a>
      </p>
      <div class="filters">
        <Field label={t(messages.kind)}>
          {(attributes) => (
            <select
              {...attributes}
              value={kind ?? ''}
              onChange={({ currentTarget }) => replaceQuery({ kind: currentTarget.value })}
            >
              <option value="">{t(commonMessages.all)}</option>
              {blockKinds.map((each) => (
                <option key={each} value={each}>
                  {t(messages.kinds[each])}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Loaded of={list}>
        {({ rows, isAll }) => (
          <>
            {rows.length === 0 && <p>{t(kind === undefined ? messages.none : commonMessages.nothing)}</p>}
            {!isAll && <p class="note">{t(messages.first).replace('{n}', formatNumber(rows.length))}</p>}
            {rows.length > 0 && (
              <Table
                caption={t(messages.title)}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    key: 'value',
                    title: t(messages.value),
                    cell: (block) => (
                      <>
                        {t(messages.kinds[block.kind])}{' '}
                        <a href={href('blocks', block.id)}>
                          <bdi>{block.value}</bdi>
                        </a>
                      </>
                    ),
                  },
                  ...(isOperator.value
                    ? [{ key: 'tenant', title: t(messages.tenant), cell: ({ tenant }: Block) => <bdi>{tenant}</bdi> }]
                    : []),
                  { key: 'reason', title: t(commonMessages.reason), cell: ({ reason }) => <bdi>{reason}</bdi> },
                  { key: 'by', title: t(messages.by), cell: who },
                  { key: 'since', title: t(messages.since), cell: ({ createdat }) => <Time at={createdat} /> },
                  {
                    key: 'until',
                    title: t(messages.until),
                    cell: ({ expiresat }) =>
                      expiresat === undefined ? t(messages.untilLifted) : <Time at={expiresat} isExact />,
                  },
                  { key: 'effect', title: t(messages.effectNow), cell: ({ id }) => <BlockEffectOf id={id} /> },
                  {
                    key: 'lift',
                    title: t(messages.lift),
                    cell: (block) => <LiftBlock block={block} onLifted={list.reload} />,
                  },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
