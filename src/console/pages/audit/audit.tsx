import { Download } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { operations } from '../../../base/contract/contract.gen.js';
import { chunksOf } from '../../../base/formats/lines.js';
import { api, type Schemas } from '../../app/api.js';
import { saveFile } from '../../app/file.js';
import { useAction, useResource } from '../../app/live.js';
import { replaceQuery, route } from '../../app/route.js';
import { readsEveryTenant } from '../../app/session.js';
import { announce, formatNumber, language, t, type Text } from '../../app/text.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { commonTexts } from '../../texts/common.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Menu, MenuButton } from '../../ui/menu.js';
import { SearchBar, type SearchKey } from '../../ui/search.js';
import { Empty, Skeleton } from '../../ui/table.js';
import { AuditEntries } from './audit-entries.js';

type Entry = Schemas['AuditEntry'];
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
    <>
      {action.isBusy ? (
        <button type="button" onClick={() => stop.current.abort()}>
          {t(commonTexts.stop)}
        </button>
      ) : (
        <Menu
          button={
            <>
              <Icon of={Download} />
              {t(commonTexts.export)}
            </>
          }
        >
          <MenuButton onClick={() => void run('text/csv')}>{t(texts.csv)}</MenuButton>
          <MenuButton onClick={() => void run('application/jsonl')}>{t(texts.jsonl)}</MenuButton>
        </Menu>
      )}
      <div class="line-of" role="status">
        {progress !== undefined && (
          <>
            <progress aria-label={t(commonTexts.export)} /> {fill(texts.progress, progress)}
          </>
        )}
        {ended !== undefined && <p class={ended.end === 'complete' ? '' : 'problem'}>{fill(text[ended.end], ended)}</p>}
        {ended?.end === 'broken' && (
          <button type="button" onClick={() => saveFile(ended.file, nameOf(ended.form, '-incomplete'))}>
            {t(texts.saveIncomplete)}
          </button>
        )}
        <ProblemView problem={action.problem} isRead />
      </div>
    </>
  );
}

function nameOf(form: ExportForm, mark: string): string {
  const at = new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `audit-${at}${mark}.${form === 'text/csv' ? 'csv' : 'jsonl'}`;
}

const perPage = 50;
type AuditQuery = NonNullable<operations['listAuditRecords']['parameters']['query']>;
const times = ['since', 'until'] as const;
const names = ['action', 'actor', 'target', 'requestid', 'subscriber', 'tenant'] as const;
/** What is found by one of these is wanted whoever did it. */
const narrow = ['actor', 'person', 'target', 'requestid'] as const;
const words = 'person';

/** The beginning of the day so many days ago. */
function midnight(daysAgo: number): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  return day.toISOString();
}

function searchKeys(): SearchKey[] {
  return [
    ...names
      .filter((name) => name !== 'tenant' || readsEveryTenant.value)
      .map((name) => ({ name, title: t(texts.keys[name]) })),
    ...times.map((name) => ({ name, title: t(texts.keys[name]), type: 'datetime-local' })),
  ];
}

/** What was found so far: the newest, which follow the feed until somebody reads on. */
function useEntries(key: string, query: AuditQuery) {
  const [readOn, setReadOn] = useState<{ key: string; rows: Entry[]; cursor: string | undefined } | undefined>(
    undefined,
  );
  const action = useAction();
  const read = async (place: { cursor?: string }, signal?: AbortSignal) => {
    const parameters = { ...query, ...place, limit: perPage };
    return api.GET('/audit', { params: { query: parameters }, ...(signal && { signal }) });
  };
  const isMine = readOn?.key === key;
  const newest = useResource(
    key,
    async (signal) => {
      const { data, next } = await read({}, signal);
      return { rows: data, cursor: next };
    },
    () => !isMine && scrollY === 0 && document.querySelector('main [aria-expanded=true]') === null,
  );
  const present = isMine ? readOn : newest.data;
  const cursor = present?.cursor;
  const more = () =>
    action.run(async () => {
      const { data, next } = await read(cursor === undefined ? {} : { cursor });
      setReadOn({ key, rows: [...(present?.rows ?? []), ...data], cursor: next });
    });
  useEffect(() => action.clear(), [key]);
  return {
    newest,
    rows: present?.rows,
    problem: action.problem,
    more: cursor === undefined || action.isBusy || action.problem ? undefined : () => void more(),
    retry: () => void more(),
  };
}

/** Who did what, newest first. What is searched is in the address, so that a link shows the same. */
export function Audit() {
  const { query } = route.value;
  const given = [...names, ...times, words].filter((name) => query[name]);
  const isPeople = query['people'] === undefined ? narrow.every((name) => !query[name]) : query['people'] === 'true';
  const filter = {
    ...Object.fromEntries(given.map((name) => [name, query[name]])),
    ...(isPeople && { people: true }),
  } as AuditQuery;
  const { newest, rows, problem, more, retry } = useEntries(JSON.stringify(filter), filter);
  const show = (people: boolean) => replaceQuery({ ...query, people: String(people) });
  return (
    <>
      <div class="title">
        <h1>{t(texts.title)}</h1>
        <AuditExport query={filter} />
      </div>
      <SearchBar
        label={t(texts.search)}
        words={words}
        keys={searchKeys()}
        chips={([0, 6, 29] as const).map((days) => ({ title: t(texts.days[days]), query: { since: midnight(days) } }))}
      >
        <label class="choice">
          <input type="checkbox" checked={isPeople} onChange={() => show(!isPeople)} /> {t(texts.people)}
        </label>
      </SearchBar>
      <ProblemView problem={newest.problem} onRetry={newest.reload} />
      {rows === undefined && newest.isLoading && <Skeleton rows={14} />}
      {rows?.length === 0 &&
        (isPeople ? (
          <Empty title={t(texts.noPerson)} text={t(texts.noPersonHint)}>
            <button type="button" onClick={() => show(false)}>
              {t(texts.everyone)}
            </button>
          </Empty>
        ) : (
          <Empty title={t(commonTexts.nothing)} />
        ))}
      {rows !== undefined && rows.length > 0 && <AuditEntries caption={t(texts.title)} entries={rows} onEnd={more} />}
      <ProblemView problem={problem} onRetry={retry} />
    </>
  );
}
