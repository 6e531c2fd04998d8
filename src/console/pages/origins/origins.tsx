import type { Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { Loaded } from '../../ui/form.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/value.js';
import { formatDuration } from './origin-policy.js';
import { OneOrigin } from './origin.js';
import { useOrigins } from './use-origins.js';

type Origin = Schemas['Origin'];

export function OriginsPage({ id }: { id?: string | undefined }) {
  return id === undefined ? <OriginList /> : <OneOrigin name={id} />;
}

function OriginList() {
  const list = useOrigins();
  const number = (value: string | number | undefined) => (typeof value === 'number' ? formatNumber(value) : value);
  return (
    <>
      <h1>{t(texts.title)}</h1>
      <p>{t(texts.lead)}</p>
      {isAdmin.value && (
        <p class="actions">
          <a class="button first" href={href('new-origin')}>
            {t(texts.create)}
          </a>
        </p>
      )}
      <Loaded of={list}>
        {({ rows, isCut }) => (
          <>
            {rows.length === 0 && <p>{t(texts.none)}</p>}
            {isCut && <p class="note">{t(texts.first).replace('{n}', formatNumber(rows.length))}</p>}
            {rows.length > 0 && (
              <Table
                caption={t(texts.title)}
                rows={rows}
                keyOf={({ name }) => name}
                columns={[
                  {
                    key: 'name',
                    title: t(texts.name),
                    cell: ({ name, description, isdefault }) => (
                      <>
                        <a href={href('origins', name)}>{name}</a> {isdefault && `(${t(texts.default)})`}
                        {description !== undefined && <div class="soft">{description}</div>}
                      </>
                    ),
                  },
                  {
                    key: 'requested',
                    title: t(texts.requested),
                    isNumber: true,
                    cell: ({ requestedrate }) => number(requestedrate) ?? '–',
                  },
                  {
                    key: 'lifetime',
                    title: t(texts.lifetime),
                    cell: ({ grantseconds }) => formatDuration(grantseconds),
                  },
                  { key: 'profile', title: t(texts.profile), cell: ({ profile }) => profile },
                  ...(isAdmin.value
                    ? [
                        {
                          key: 'rules',
                          title: t(texts.rules),
                          cell: ({ subscriptionrules }: Origin) =>
                            subscriptionrules === undefined
                              ? t(texts.everyone)
                              : formatNumber(subscriptionrules.length),
                        },
                      ]
                    : []),
                  { key: 'updated', title: t(texts.updated), cell: ({ updatedat }) => <Time at={updatedat} /> },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
