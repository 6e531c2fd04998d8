import { api, type Schemas } from '../../app/api.js';
import { readAll } from '../../app/read-all.js';
import { useResource } from '../../app/resource.js';
import { href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { originsMessages as messages } from '../../texts/origins.js';
import { Loaded } from '../../ui/problem.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { formatDuration } from './origin-policy.js';
import { OneOrigin } from './origin.js';

type Origin = Schemas['Origin'];

const maxRows = 1_000;

export function Origins({ id }: { id?: string | undefined }) {
  return id === undefined ? <OriginList /> : <OneOrigin name={id} />;
}

function OriginList() {
  const list = useResource(
    'origins',
    (signal) => readAll(maxRows, api.pages('/origins', { signal })),
    ({ kind }) => kind.startsWith('origin.'),
  );
  const number = (value: string | number | undefined) => (typeof value === 'number' ? formatNumber(value) : value);
  return (
    <>
      <h1>{t(messages.title)}</h1>
      <p>{t(messages.lead)}</p>
      {isAdmin.value && (
        <p class="actions">
          <a class="button first" href={href('new-origin')}>
            {t(messages.create)}
          </a>
        </p>
      )}
      <Loaded of={list}>
        {({ rows, isCut }) => (
          <>
            {rows.length === 0 && <p>{t(messages.none)}</p>}
            {isCut && <p class="note">{t(messages.first).replace('{n}', formatNumber(rows.length))}</p>}
            {rows.length > 0 && (
              <Table
                caption={t(messages.title)}
                rows={rows}
                keyOf={({ name }) => name}
                columns={[
                  {
                    key: 'name',
                    title: t(messages.name),
                    cell: ({ name, isdefault }) => (
                      <>
                        <a href={href('origins', name)}>{name}</a> {isdefault && `(${t(messages.default)})`}
                      </>
                    ),
                  },
                  {
                    key: 'requested',
                    title: t(messages.requested),
                    isNumber: true,
                    cell: ({ requestedrate }) => number(requestedrate) ?? '–',
                  },
                  {
                    key: 'lifetime',
                    title: t(messages.lifetime),
                    cell: ({ leaseseconds }) => formatDuration(leaseseconds),
                  },
                  { key: 'profile', title: t(messages.profile), cell: ({ profile }) => profile },
                  ...(isAdmin.value
                    ? [
                        {
                          key: 'rules',
                          title: t(messages.rules),
                          cell: ({ subscriptionrules }: Origin) =>
                            subscriptionrules === undefined
                              ? t(messages.everyone)
                              : formatNumber(subscriptionrules.length),
                        },
                      ]
                    : []),
                  { key: 'updated', title: t(messages.updated), cell: ({ updatedat }) => <Time at={updatedat} /> },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
