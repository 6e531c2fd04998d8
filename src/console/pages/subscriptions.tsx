import { api, ask } from '../app/api.js';
import { useResource } from '../app/resource.js';
import { href } from '../app/route.js';
import { t } from '../app/text.js';
import { subscriptionsMessages as messages } from '../messages/subscriptions.js';
import { Loaded } from '../ui/problem.js';
import { StatusBadge } from '../ui/status.js';
import { Table } from '../ui/table.js';

export function Subscriptions() {
  const list = useResource(
    'subscriptions',
    async (signal) => (await ask(api.GET('/subscriptions', { params: { query: { limit: 200 } }, signal }))).data,
    ({ kind }) => !kind.startsWith('origin.'),
  );
  return (
    <>
      <h1>{t(messages.title)}</h1>
      <Loaded of={list}>
        {(rows) => (
          <Table
            caption={t(messages.title)}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                key: 'sink',
                title: t(messages.sink),
                cell: ({ id, sink }) => <a href={href('subscriptions', id)}>{sink}</a>,
              },
              { key: 'status', title: t(messages.status), cell: ({ status }) => <StatusBadge status={status} /> },
              { key: 'origin', title: t(messages.origin), cell: ({ origin }) => origin },
              { key: 'why', title: t(messages.why), cell: ({ statusdetails }) => statusdetails.message },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
