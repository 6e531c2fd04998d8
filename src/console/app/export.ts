import { api } from './api.js';
import type { operations } from '../../base/contract/contract.gen.js';

export type AuditQuery = NonNullable<operations['getAudit']['parameters']['query']>;
export type ExportForm = 'text/csv' | 'application/jsonl';

export interface Progress {
  entries: number;
  bytes: number;
}

/** How an export ended. What arrived is a file, also if it is incomplete. */
export type Exported = Progress & { end: 'complete' | 'stopped' | 'broken'; file: Blob };

const foldBytes = 4_000_000;
const [newline, quote] = [10, 34];

/**
 * Reads a whole export of the audit record. A link could not send the token. Throws `AssentError` if the registry refuses it.
 */
export async function exportAudit(
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
  const reader = (answer.data as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return finish('complete');
      for (const byte of value) {
        if (isCsv && byte === quote) isQuoted = !isQuoted;
        else if (byte === newline && !isQuoted) entries += 1;
      }
      bytes += value.byteLength;
      parts.push(value);
      partBytes += value.byteLength;
      if (partBytes > foldBytes) fold();
      onProgress({ entries: Math.max(0, entries), bytes });
    }
  } catch {
    return finish(signal.aborted ? 'stopped' : 'broken');
  }
}

/** Hands a file to the browser, as a download does. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
