import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import {
  exportAudit,
  saveFile,
  type AuditQuery,
  type Exported,
  type ExportForm,
  type Progress,
} from '../../app/export.js';
import { useAction } from '../../app/resource.js';
import { formatNumber, language, t, type Text } from '../../app/text.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { commonTexts } from '../../texts/common.js';
import { ProblemView } from '../../ui/problem.js';

const drawMs = 200;

function fill(text: Text, { entries, bytes }: Progress): string {
  const [unit, size] = bytes < 1e6 ? ['kilobyte', 1e3] : ['megabyte', 1e6];
  const format = new Intl.NumberFormat(language.value, { style: 'unit', unit: String(unit), maximumFractionDigits: 1 });
  return t(text)
    .replace('{entries}', formatNumber(entries))
    .replace('{size}', format.format(bytes / Number(size)));
}

/** A complete export is saved. An incomplete one says so, and is saved only if the user wants it, under another name. */
export function AuditExport({ query }: { query: AuditQuery }) {
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
      <ProblemView problem={action.problem} />
    </details>
  );
}

function nameOf(form: ExportForm, mark: string): string {
  const at = new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `audit-${at}${mark}.${form === 'text/csv' ? 'csv' : 'jsonl'}`;
}
