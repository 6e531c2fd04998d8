import type { ComponentChildren } from 'preact';
import type { Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';
import { readsEveryTenant } from '../../app/session.js';
import { formatNumber, readableJson, t } from '../../app/text.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { addressOf, Happening, type Subject } from '../../ui/happening.js';
import { Table, type TableColumn } from '../../ui/table.js';
import { Time, Who } from '../../ui/value.js';

type Entry = Schemas['AuditEntry'];

const pages: Record<string, string | undefined> = {
  subscription: 'subscriptions',
  origin: 'origins',
  block: 'blocks',
  grant: 'grants',
};
/** From here on a value is folded. */
const longValue = 2_000;

/** One line for each entry: when, who, and what with a link; its reason and what it changed on demand. */
export function AuditEntries({
  caption,
  entries,
  onEnd,
}: {
  caption: string;
  entries: readonly Entry[];
  onEnd?: (() => void) | undefined;
}) {
  return (
    <Table
      caption={caption}
      rows={entries}
      keyOf={({ id }) => id}
      columns={columns()}
      onEnd={onEnd}
      detail={(entry) => <Details entry={entry} />}
    />
  );
}

function columns(): Array<TableColumn<Entry>> {
  return [
    { key: 'at', title: t(texts.when), width: '84px', cell: ({ at }) => <Time at={at} look="age" /> },
    {
      key: 'who',
      title: t(texts.who),
      width: '24%',
      from: 'tablet',
      cell: whoIn,
    },
    {
      key: 'what',
      title: t(texts.what),
      cell: (entry) => <Happening kind={entry.action} of={subjectOf(entry)} />,
    },
  ];
}

const whoIn = ({ actor, person, tenant }: Entry) => (
  <>
    <Who client={actor} person={person} />
    {readsEveryTenant.value && (
      <>
        {' · '}
        <bdi>{tenant}</bdi>
      </>
    )}
  </>
);

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

function subjectOf({ target, details = {}, changed = {} }: Entry): Subject {
  const place = target.indexOf(':');
  const [kind, id] = [target.slice(0, place), target.slice(place + 1)];
  const page = pages[kind];
  const { before, after } = changed['value'] ?? {};
  return {
    address: page === undefined ? undefined : addressOf(page, id),
    sink: textOf(details['sink']) ?? target,
    origin: kind === 'origin' ? id : textOf(details['origin']),
    block: textOf(details['value']) ?? textOf(after) ?? textOf(before) ?? target,
  };
}

/** What nobody knew before has one column. */
function Details({ entry }: { entry: Entry }) {
  const { id, at, action, target, subscriber, reference, requestid, issuer, changed = {}, details = {} } = entry;
  const { reason, ...others } = details;
  const rows = Object.entries(changed).filter(([, { before, after }]) => before !== null || after !== null);
  const isNew = rows.every(([, { before }]) => before === null);
  const text = (value: unknown) => value !== undefined && <Value value={value} />;
  const facts: Array<[string, ComponentChildren]> = [
    [t(texts.when), <Time at={at} look="exact" />],
    [t(texts.who), whoIn(entry)],
    [t(texts.reason), text(reason)],
    [t(texts.reference), text(reference)],
    [t(texts.keys.subscriber), text(subscriber)],
    [t(texts.keys.action), <code>{action}</code>],
    [
      t(texts.keys.target),
      <>
        <bdi>{target}</bdi> <a href={href('audit', undefined, { target })}>{t(texts.onlyThis)}</a>
      </>,
    ],
    [t(texts.keys.issuer), issuer],
    [t(texts.keys.requestid), requestid && <a href={href('audit', undefined, { requestid })}>{requestid}</a>],
    ...Object.entries(others)
      .filter(([name]) => !(name in changed))
      .map(([name, value]): [string, ComponentChildren] => [name, text(value)]),
  ];
  return (
    <>
      <dl class="facts">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`${action} ${id}`}>
          <table class="changes">
            <thead>
              <tr>
                <th scope="col">{t(texts.member)}</th>
                {!isNew && <th scope="col">{t(texts.before)}</th>}
                <th scope="col">{t(texts.after)}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([member, { before, after }]) => (
                <tr key={member}>
                  <th scope="row">
                    <bdi>{member}</bdi>
                  </th>
                  {!isNew && (
                    <td>
                      <Value value={before} />
                    </td>
                  )}
                  <td>
                    <Value value={after} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** A text as it is, everything else as JSON over several lines. */
function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span class="soft">–</span>;
  const text = typeof value === 'string' ? value : readableJson(value);
  if (text.length <= longValue) {
    return typeof value === 'object' ? <pre class="value">{text}</pre> : <bdi>{text}</bdi>;
  }
  return (
    <details>
      <summary>
        <bdi>{text.slice(0, 100)}…</bdi> {t(texts.long).replace('{n}', formatNumber(text.length))}
      </summary>
      <pre class="value" tabIndex={0}>
        {text}
      </pre>
    </details>
  );
}
