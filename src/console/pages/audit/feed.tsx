import { Pause } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../../app/api.js';
import { type Change, connection, onChange, useResource } from '../../app/live.js';
import { route } from '../../app/route.js';
import { formatNumber, readableJson, t } from '../../app/text.js';
import { feedTexts as texts, happenings } from '../../texts/audit.js';
import { commonTexts } from '../../texts/common.js';
import { ProblemView } from '../../ui/form.js';
import { addressOf, Happening, type Subject } from '../../ui/happening.js';
import { Icon } from '../../ui/icon.js';
import { SearchBar } from '../../ui/search.js';
import { Empty, Skeleton, Table, type TableColumn } from '../../ui/table.js';
import { Time } from '../../ui/value.js';

const maxChanges = 300;
const lastChanges = 50;
const words = 'origin';

/** Of the audit record only. */
const audited = ['announced', 'created', 'replaced', 'removed', 'granted', 'requested', 'callback_rejected', 'asked'];
const isAudited = (kind: string) =>
  !/^(subscription|block)\.(created|replaced)$/.test(kind) && audited.includes(kind.slice(kind.indexOf('.') + 1));
/** One alone, or all of a family by its first part with a dot. */
const kinds = Object.keys(happenings).filter((kind) => !isAudited(kind));
const families = [...new Set(kinds.map((kind) => kind.slice(0, kind.indexOf('.') + 1)))];

/**
 * The last changes and those since the page was opened, newest first. What is read does not move: new ones wait while the
 * page is paused or scrolled, or while a change is open or has the focus. It is no live region, which would read without end.
 */
export function FeedPage() {
  const [shown, setShown] = useState<readonly Change[]>([]);
  const [waiting, setWaiting] = useState<readonly Change[]>([]);
  const [isPaused, setPaused] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const paused = useRef(false);
  // What comes after one that waits, waits too.
  paused.current = isPaused || waiting.length > 0;
  const last = useResource(
    'feed',
    async (signal) => (await api.GET('/changes', { params: { query: { last: lastChanges } }, signal })).data.changes,
  );
  useEffect(
    () =>
      onChange((change) => {
        const isRead =
          paused.current ||
          scrollY > 0 ||
          list.current?.contains(document.activeElement) === true ||
          list.current?.querySelector('[aria-expanded=true]') != null;
        (isRead ? setWaiting : setShown)((before) => [change, ...before].slice(0, maxChanges));
      }),
    [],
  );
  const showWaiting = () => {
    setShown([...waiting, ...shown].slice(0, maxChanges));
    setWaiting([]);
  };
  const { kind = '', origin = '' } = route.value.query;
  const isWanted = (change: Change) =>
    (kind.endsWith('.') ? change.kind.startsWith(kind) : kind === '' || change.kind === kind) &&
    (change.origin ?? '').includes(origin.trim().toLowerCase());
  const live = new Set([...shown, ...waiting].map(({ revision }) => revision));
  const before = (last.data ?? []).filter(({ revision }) => !live.has(revision)).reverse();
  const rows = [...shown, ...before].filter(isWanted);
  const count = waiting.filter(isWanted).length;
  return (
    <>
      <div class="title">
        <h1>{t(texts.title)}</h1>
        {count > 0 && (
          <button type="button" onClick={showWaiting}>
            {t(texts.showWaiting).replace('{n}', formatNumber(count))}
          </button>
        )}
        <button
          type="button"
          aria-pressed={isPaused}
          onClick={() => {
            if (isPaused) showWaiting();
            setPaused(!isPaused);
          }}
        >
          <Icon of={Pause} />
          {t(texts.pause)}
        </button>
      </div>
      {connection.value === 'off' && <p class="note">{t(texts.off)}</p>}
      <SearchBar
        label={t(texts.search)}
        words={words}
        keys={[{ name: 'kind', title: t(texts.kind), values: [...families, ...kinds] }]}
      />
      <ProblemView problem={last.problem} onRetry={last.reload} />
      {rows.length === 0 &&
        (last.isLoading ? (
          <Skeleton rows={14} />
        ) : kind + origin === '' ? (
          <Empty title={t(texts.waiting)} text={t(texts.waitingHint)} />
        ) : (
          <Empty title={t(commonTexts.nothing)} />
        ))}
      <div ref={list} hidden={rows.length === 0}>
        <Table
          caption={t(texts.title)}
          rows={rows}
          keyOf={({ revision }) => revision}
          columns={columns()}
          detail={(change) => (
            <pre tabIndex={0}>
              <code>{readableJson(change)}</code>
            </pre>
          )}
        />
      </div>
    </>
  );
}

const columns = (): Array<TableColumn<Change>> => [
  { key: 'what', title: t(texts.kind), cell: (change) => <Happening kind={change.kind} of={subjectOf(change)} /> },
  {
    key: 'cause',
    title: t(texts.cause),
    width: '18%',
    from: 'desktop',
    cell: ({ cause }) => cause,
  },
  { key: 'at', title: t(commonTexts.time), width: '84px', cell: ({ at }) => <Time at={at} look="age" /> },
];

function subjectOf({ kind, origin, sink, subscription, block, resource }: Change): Subject {
  const id = resource !== undefined && 'id' in resource ? resource.id : undefined;
  const address =
    kind === 'block.created' && block !== undefined
      ? addressOf('blocks', block)
      : subscription !== undefined
        ? addressOf('subscriptions', subscription)
        : kind.startsWith('grant.') && id !== undefined
          ? addressOf('grants', id)
          : undefined;
  const value = resource !== undefined && 'value' in resource ? String(resource.value) : block;
  return { sink, origin, block: value, address };
}
