import { useEffect, useState } from 'preact/hooks';
import { onChange, type Change } from '../app/live.js';
import { href } from '../app/route.js';
import { t } from '../app/text.js';
import { feedMessages as messages } from '../messages/feed.js';
import { Table } from '../ui/table.js';
import { Time } from '../ui/time.js';

const most = 500;

/** The changes since the page was opened, newest first. */
export function Feed() {
  const [changes, setChanges] = useState<readonly Change[]>([]);
  useEffect(() => onChange((change) => setChanges((before) => [change, ...before].slice(0, most))), []);
  return (
    <>
      <h1>{t(messages.title)}</h1>
      <p>{t(changes.length === 0 ? messages.waiting : messages.newestFirst)}</p>
      <Table
        caption={t(messages.title)}
        rows={changes}
        keyOf={({ revision }) => revision}
        columns={[
          { key: 'at', title: t(messages.at), cell: ({ at }) => <Time at={at} isExact /> },
          { key: 'kind', title: t(messages.kind), cell: ({ kind }) => <code>{kind}</code> },
          { key: 'origin', title: t(messages.origin), cell: ({ origin }) => origin },
          {
            key: 'about',
            title: t(messages.about),
            cell: ({ subscription, sink }) =>
              subscription === undefined ? sink : <a href={href('subscriptions', subscription)}>{sink}</a>,
          },
          { key: 'revision', title: t(messages.revision), isNumber: true, cell: ({ revision }) => revision },
        ]}
      />
    </>
  );
}
