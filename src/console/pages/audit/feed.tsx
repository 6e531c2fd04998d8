import { useEffect, useRef, useState } from 'preact/hooks';
import { formatNumber, readableJson, t } from '../../app/text.js';
import { type Change, connection, onChange } from '../../app/live.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin, isConsumer } from '../../app/session.js';
import { commonTexts } from '../../texts/common.js';
import { feedTexts as texts } from '../../texts/audit.js';
import { TextField, SelectField } from '../../ui/form.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/value.js';

const maxChanges = 300;

const kinds = [
  ...['subscription.', 'subscription.created', 'subscription.replaced', 'subscription.moved', 'subscription.deleted'],
  ...['subscription.suspended', 'subscription.resumed', 'subscription.expired', 'subscription.blocked'],
  ...['subscription.unblocked', 'origin.', 'origin.changed', 'block.', 'block.created', 'block.lifted'],
  ...[
    'grant.',
    'grant.live',
    'grant.ended',
    'grant.revoked',
    'grant.held',
    'grant.released',
    'grant.expiring',
    'grant.expired',
  ],
  ...['handshake.', 'handshake.refused', 'handshake.unreachable', 'handshake.retired'],
];

/**
 * The changes since the page was opened, newest first. What is read does not move: new ones wait while the page is
 * paused or scrolled, or while a change is open or has the focus. It is no live region, which would read without end.
 */
export function FeedPage() {
  const [shown, setShown] = useState<readonly Change[]>([]);
  const [waiting, setWaiting] = useState<readonly Change[]>([]);
  const [isPaused, setPaused] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const paused = useRef(false);
  paused.current = isPaused;
  const add = (changes: readonly Change[]) => (before: readonly Change[]) =>
    [...changes, ...before].slice(0, maxChanges);

  useEffect(
    () =>
      onChange((change) => {
        const isRead =
          paused.current ||
          scrollY > 0 ||
          list.current?.contains(document.activeElement) === true ||
          list.current?.querySelector('details[open]') != null;
        (isRead ? setWaiting : setShown)(add([change]));
      }),
    [],
  );
  const showWaiting = () => {
    setShown(add(waiting));
    setWaiting([]);
  };

  const { kind = '', origin = '' } = route.value.query;
  const isWanted = (change: Change) =>
    (kind.endsWith('.') ? change.kind.startsWith(kind) : kind === '' || change.kind === kind) &&
    (change.origin ?? '').includes(origin.trim().toLowerCase());
  const rows = shown.filter(isWanted);
  const count = waiting.filter(isWanted).length;

  return (
    <>
      <h1>{t(texts.title)}</h1>
      <p>{t(connection.value === 'off' ? texts.off : shown.length === 0 ? texts.waiting : texts.newestFirst)}</p>
      <div class="filters">
        <SelectField
          label={t(texts.kind)}
          none={t(commonTexts.all)}
          value={kind}
          options={kinds}
          textOf={(each) => (each.endsWith('.') ? `${each}*` : each)}
          onChange={(value) => replaceQuery({ kind: value, origin })}
        />
        <TextField
          label={t(texts.origin)}
          type="search"
          value={origin}
          onInput={(value) => replaceQuery({ kind, origin: value })}
        />
        <button
          type="button"
          onClick={() => {
            if (isPaused) showWaiting();
            setPaused(!isPaused);
          }}
        >
          {t(isPaused ? texts.continue : texts.pause)}
        </button>
        <button type="button" disabled={count === 0} onClick={showWaiting}>
          {t(texts.showWaiting).replace('{n}', formatNumber(count))}
        </button>
      </div>
      {shown.length > 0 && rows.length === 0 && <p>{t(commonTexts.nothing)}</p>}
      <div ref={list} hidden={rows.length === 0}>
        <Table caption={t(texts.title)} rows={rows} keyOf={({ revision }) => revision} columns={columns()} />
      </div>
    </>
  );
}

const columns = () => [
  { key: 'at', title: t(texts.at), cell: ({ at }: Change) => <Time at={at} look="exact" /> },
  {
    key: 'kind',
    title: t(texts.kind),
    cell: ({ kind, cause }: Change) => (
      <>
        <code>{kind}</code> {cause}
      </>
    ),
  },
  {
    key: 'origin',
    title: t(texts.origin),
    cell: ({ origin }: Change) => (isAdmin.value ? <a href={href('origins', origin)}>{origin}</a> : origin),
  },
  { key: 'about', title: t(texts.about), cell: (change: Change) => <About change={change} /> },
  {
    key: 'now',
    title: t(texts.state),
    cell: ({ kind, resource, statuses = [] }: Change) =>
      resource === undefined && statuses.length === 0 ? (
        kind.startsWith('handshake.') ? (
          '–'
        ) : (
          t(texts.gone)
        )
      ) : (
        <details>
          <summary>{t(texts.showState)}</summary>
          <pre>
            <code>{readableJson(resource ?? statuses)}</code>
          </pre>
        </details>
      ),
  },
];

function About({ change: { kind, origin, sink, subscription, block, resource } }: { change: Change }) {
  const text = <bdi>{sink ?? origin ?? (resource && 'value' in resource ? String(resource.value) : block)}</bdi>;
  if (kind === 'block.created') return isAdmin.value ? <a href={href('blocks', block)}>{text}</a> : text;
  if (subscription !== undefined) {
    return isAdmin.value || isConsumer.value ? <a href={href('subscriptions', subscription)}>{text}</a> : text;
  }
  const grant = isAdmin.value && kind.startsWith('grant.') && resource && 'id' in resource ? resource.id : undefined;
  return typeof grant === 'string' ? <a href={href('grants', grant)}>{text}</a> : text;
}
