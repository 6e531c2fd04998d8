import type { AuditEntry } from './read-audit.js';

const columns = [
  'at',
  'tenant',
  'actor',
  'action',
  'target',
  'subscriber',
  'reference',
  'reason',
  'changed',
  'detail',
  'requestid',
  'id',
] as const;

/** The header line (RFC 4180 section 2). */
export const auditCsvHeader = line(columns);

/** `changed` and `detail` are JSON. The reason has a column of its own, because people look for it. */
export function auditCsvLine(entry: AuditEntry): string {
  const { reason, ...detail } = entry.detail ?? {};
  const cells: Record<(typeof columns)[number], unknown> = { ...absent, ...entry, reason, detail };
  return line(columns.map((name) => textOf(cells[name])));
}

const absent = { subscriber: undefined, reference: undefined, changed: undefined, requestid: undefined };

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function line(cells: readonly string[]): string {
  return `${cells.map(cellOf).join()}\r\n`;
}

/**
 * An apostrophe in front of a text that a spreadsheet would run as a formula: clients choose their names, references and
 * reasons, and an admin opens the file.
 */
function cellOf(text: string): string {
  const safe = /^(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])/.test(text) ? `'${text}` : text;
  return /[",\r\n;]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
