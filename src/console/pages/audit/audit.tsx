import { saveFile } from '../../app/file.js';
import { api, type Schemas } from '../../app/api.js';
import { formatNumber, language, readableJson, t, type Text, announce } from '../../app/text.js';
import { href, route } from '../../app/route.js';
import { isAdmin, readsEveryTenant } from '../../app/session.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { Time } from '../../ui/value.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction, useResource } from '../../app/live.js';
import { commonTexts } from '../../texts/common.js';
import { ProblemView, Loaded } from '../../ui/form.js';
import { AuditFilters, type AuditQuery, filterNames } from './audit-filters.js';
import { chunksOf } from '../../../base/formats/lines.js';

type ExportForm = 'text/csv' | 'application/jsonl';

interface Progress {
  entries: number;
  bytes: number;
}

/** How an export ended. What arrived is a file, also if it is incomplete. */
type Exported = Progress & { end: 'complete' | 'stopped' | 'broken'; file: Blob };

const foldBytes = 4_000_000;
const [newline, quote] = [10, 34];

/**
 * Reads a whole export of the audit record. A link could not send the token. Throws `AssentError` if the registry refuses it.
 */
async function exportAudit(
  query: AuditQuery,
  form: ExportForm,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Exported> {
  const isCsv = form === 'text/csv';
  const headers = { Accept: form };
  const answer = await api.GET('/audit', { params: { query }, headers, parseAs: 'stream', signal });
  // The first line of CSV names the columns.
  let [entries, bytes, isQuoted] = [isCsv ? -1 : 0, 0, false];
  let file = new Blob([], { type: form });
  let parts: BlobPart[] = [];
  let partBytes = 0;
  const fold = () => {
    file = new Blob([file, ...parts], { type: form });
    [parts, partBytes] = [[], 0];
  };
  const finish = (end: Exported['end']): Exported => {
    fold();
    return { end, file, bytes, entries: Math.max(0, entries) };
  };
  try {
    for await (const chunk of chunksOf(answer.data)) {
      for (const byte of chunk) {
        if (isCsv && byte === quote) isQuoted = !isQuoted;
        else if (byte === newline && !isQuoted) entries += 1;
      }
      bytes += chunk.byteLength;
      parts.push(chunk as Uint8Array<ArrayBuffer>);
      partBytes += chunk.byteLength;
      if (partBytes > foldBytes) fold();
      onProgress({ entries: Math.max(0, entries), bytes });
    }
    return finish('complete');
  } catch {
    return finish(signal.aborted ? 'stopped' : 'broken');
  }
}

type Entry = Schemas['AuditEntry'];

const pages: Record<string, string | undefined> = {
  subscription: 'subscriptions',
  origin: 'origins',
  block: 'blocks',
  grant: 'grants',
};
/** From here on a change is folded, and a value. */
const longChange = 600;
const longValue = 2_000;

/** One change: what, when, who, and each changed member before and after. */
function AuditEntry({ entry }: { entry: Entry }) {
  const { at, tenant, actor, person, action, target, subscriber, reference, changed, requestid } = entry;
  const { reason, ...details } = entry.details ?? {};
  const isLong = JSON.stringify(changed ?? {}).length > longChange;
  return (
    <li class="card entry">
      <p>
        <Time at={at} look="exact" /> · <code>{action}</code> {t(texts.by)}{' '}
        {person !== undefined && (
          <>
            <a href={href('audit', undefined, { person: person.id })} title={person.id}>
              <bdi>{person.name ?? person.id}</bdi>
            </a>
            {' · '}
          </>
        )}
        <a href={href('audit', undefined, { actor })}>
          <bdi>{actor}</bdi>
        </a>
        {readsEveryTenant.value && (
          <>
            {' · '}
            <bdi>{tenant}</bdi>
          </>
        )}
      </p>
      <p>
        <Target target={target} /> ·{' '}
        <a href={href('audit', undefined, { target })} aria-label={`${t(texts.onlyThis)}: ${target}`}>
          {t(texts.onlyThis)}
        </a>
      </p>
      <dl class="facts">
        {facts({ subscriber, reason, reference, requestid }).map(({ key, value }) => (
          <>
            <dt key={key}>{t(texts[key])}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </>
        ))}
      </dl>
      {changed !== undefined && (
        <details open={!isLong}>
          <summary>
            {t(texts.changed)}: {Object.keys(changed).join(', ')}
          </summary>
          <div class="scroll" tabIndex={0} role="region" aria-label={`${t(texts.changed)}: ${target}, ${at}`}>
            <table class="changes">
              <thead>
                <tr>
                  <th scope="col">{t(texts.member)}</th>
                  <th scope="col">{t(texts.before)}</th>
                  <th scope="col">{t(texts.after)}</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(changed).map(([member, { before, after }]) => (
                  <tr key={member}>
                    <th scope="row">
                      <bdi>{member}</bdi>
                    </th>
                    <td>
                      <Value value={before} />
                    </td>
                    <td>
                      <Value value={after} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      {Object.keys(details).length > 0 && (
        <details>
          <summary>{t(texts.details)}</summary>
          <Value value={details} />
        </details>
      )}
    </li>
  );
}

function facts(given: Record<'subscriber' | 'reason' | 'reference' | 'requestid', unknown>) {
  const keys = ['subscriber', 'reason', 'reference', 'requestid'] as const;
  return keys.filter((key) => given[key] !== undefined).map((key) => ({ key, value: given[key] }));
}

/** Operators who only read the audit record see no other page. */
function Target({ target }: { target: string }) {
  const place = target.indexOf(':');
  const page = pages[target.slice(0, place)];
  const text = <bdi>{target}</bdi>;
  return page !== undefined && isAdmin.value ? <a href={href(page, target.slice(place + 1))}>{text}</a> : text;
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

const drawMs = 200;

function fill(text: Text, { entries, bytes }: Progress): string {
  const [unit, size] = bytes < 1e6 ? ['kilobyte', 1e3] : ['megabyte', 1e6];
  const format = new Intl.NumberFormat(language.value, { style: 'unit', unit: String(unit), maximumFractionDigits: 1 });
  return t(text)
    .replace('{entries}', formatNumber(entries))
    .replace('{size}', format.format(bytes / Number(size)));
}

/** A complete export is saved. An incomplete one says so, and is saved only if the user wants it, under another name. */
function AuditExport({ query }: { query: AuditQuery }) {
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const [ended, setEnded] = useState<(Exported & { form: ExportForm }) | undefined>(undefined);
  const stop = useRef(new AbortController());
  const action = useAction();
  useEffect(() => () => stop.current.abort(), []);

  const run = (form: ExportForm) =>
    action.run(async () => {
      stop.current = new AbortController();
      setEnded(undefined);
      setProgress({ entries: 0, bytes: 0 });
      announce(t(texts.exporting));
      let drawnAt = 0;
      try {
        const exported = await exportAudit(query, form, stop.current.signal, (now) => {
          if (Date.now() - drawnAt < drawMs) return;
          drawnAt = Date.now();
          setProgress(now);
        });
        if (exported.end === 'complete') saveFile(exported.file, nameOf(form, ''));
        setEnded({ ...exported, form });
      } catch (error) {
        if (!stop.current.signal.aborted) throw error;
      } finally {
        setProgress(undefined);
      }
    });

  const text = { complete: texts.done, stopped: texts.stopped, broken: texts.broken };
  return (
    <details>
      <summary>{t(texts.export)}</summary>
      <p>{t(texts.exportText)}</p>
      <div class="actions">
        <button type="button" disabled={action.isBusy} onClick={() => void run('text/csv')}>
          {t(texts.csv)}
        </button>
        <button type="button" disabled={action.isBusy} onClick={() => void run('application/jsonl')}>
          {t(texts.jsonl)}
        </button>
        {action.isBusy && (
          <button type="button" onClick={() => stop.current.abort()}>
            {t(commonTexts.stop)}
          </button>
        )}
      </div>
      {progress !== undefined && (
        <p>
          <progress aria-label={t(texts.export)} /> {fill(texts.progress, progress)}
        </p>
      )}
      <div role="status">
        {ended !== undefined && <p class={ended.end === 'complete' ? '' : 'problem'}>{fill(text[ended.end], ended)}</p>}
      </div>
      {ended?.end === 'broken' && (
        <button type="button" onClick={() => saveFile(ended.file, nameOf(ended.form, '-incomplete'))}>
          {t(texts.saveIncomplete)}
        </button>
      )}
      <ProblemView problem={action.problem} isRead />
    </details>
  );
}

function nameOf(form: ExportForm, mark: string): string {
  const at = new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `audit-${at}${mark}.${form === 'text/csv' ? 'csv' : 'jsonl'}`;
}

const perPage = 50;

/** The filters and the place in the list are in the address, so that a link shows the same. */
export function Audit() {
  const { query } = route.value;
  const filter = Object.fromEntries(
    filterNames.filter((name) => query[name]).map((name) => [name, query[name]]),
  ) as AuditQuery;
  const { cursor } = query;
  const key = JSON.stringify([filter, cursor]);
  const list = useResource(
    key,
    async (signal) => {
      const parameters = { ...filter, limit: perPage, ...(cursor && { cursor }) };
      const { data, next } = await api.GET('/audit', { params: { query: parameters }, signal });
      return { entries: data, next };
    },
    // The newest page only: an older one does not change, and must not while it is read.
    () => cursor === undefined && scrollY === 0,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      heading.current?.focus();
      heading.current?.scrollIntoView();
    }
    isFirst.current = false;
  }, [key]);
  return (
    <>
      <h1>{t(texts.title)}</h1>
      <p>{t(texts.lead)}</p>
      <AuditFilters key={JSON.stringify(filter)} filter={filter} problem={list.problem} />
      <AuditExport query={filter} />
      <h2 ref={heading} tabIndex={-1}>
        {t(texts.entries)}
      </h2>
      <Loaded of={list}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 && <p>{t(commonTexts.nothing)}</p>}
            <ol class="entries">
              {entries.map((entry) => (
                <AuditEntry key={entry.id} entry={entry} />
              ))}
            </ol>
            <div class="actions">
              {cursor !== undefined && (
                <a class="button" href={href('audit', undefined, filter as Record<string, string>)}>
                  {t(texts.newest)}
                </a>
              )}
              {next !== undefined && (
                <a
                  class="button"
                  rel="next"
                  href={href('audit', undefined, { ...(filter as Record<string, string>), cursor: next })}
                >
                  {t(texts.older)}
                </a>
              )}
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}
