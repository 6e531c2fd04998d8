import { LinkedController } from '../../base/until.js';
import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import type { OperationRequest, Handlers } from '../http/handler.js';
import { pageHeaders, pageOf, readListCursor } from '../http/page.js';
import type { Principal } from '../../base/contract/principal.js';
import { isUuid, timeIn } from '../../base/files/ids.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import { createAuditReader, placeOf, type AuditEntry, type AuditFilter, type AuditPlace } from './read-audit.js';
import type { Write } from './snapshot.js';

/** Between the start of a request and its entries, with clocks that differ. */
const longestRequestMs = 600_000;
/** How long an export may take. Most of this is time for its reader. */
const exportMs = 900_000;

export function auditRoutes({ database, readers, stopping }: Context): Handlers<'listAuditRecords'> {
  const audit = createAuditReader(database);
  return {
    listAuditRecords: async (call) => {
      const { query, principal, address, signal, preferred } = call;
      const filter = filterOf(call);
      const headers = { Vary: 'Accept' };
      const mediaType = preferred('application/json', 'application/jsonl', 'text/csv');
      if (mediaType === 'application/jsonl' || mediaType === 'text/csv') {
        readers.admit('export', principal.tenant, signal);
        const over = new LinkedController(
          [signal, stopping],
          Math.min(exportMs, principal.tokenExpiresAt - Date.now()),
        );
        return {
          status: 200,
          mediaType,
          headers,
          stream: (write) => writeExport(audit.readAll(filter), mediaType === 'text/csv', write, over.signal),
        };
      }
      const limit = query.limit ?? 50;
      const entries = await audit.read(filter, placeIn(readListCursor(query.cursor, address, isPlace)), limit + 1);
      const page = pageOf(entries, limit, keyOf);
      return { status: 200, headers: { ...headers, ...pageHeaders(address, query, page.next) }, body: page.entries };
    },
  };
}

function filterOf({ query, principal }: OperationRequest<'listAuditRecords'>): AuditFilter {
  const { since, until, action, actor, person, people, target, requestid, subscriber, tenant } = query;
  // No index has the ids of requests. They begin with the time, and the entries have nearly the same.
  const [from, to] = requestid === undefined ? [] : [-1, 1].map((side) => timeIn(requestid) + side * longestRequestMs);
  const begin = since === undefined ? from : Math.max(timeOf(since).getTime(), from ?? 0);
  const end = until === undefined ? to : Math.min(timeOf(until).getTime(), to ?? Infinity);
  return {
    tenants: tenantsOf(principal, tenant),
    since: begin,
    until: end,
    requestid,
    action,
    actor,
    person,
    // A person is one of them.
    people: people === true && person === undefined,
    target,
    subscriber,
  };
}

/**
 * An operator reads every tenant that the issuer of the token may name, and an admin the own one. RegistryError
 * `scope_missing` for another one: an empty list would look as if nothing had happened there.
 */
function tenantsOf({ scopes, tenant, tenants }: Principal, wanted: string | undefined): readonly string[] | undefined {
  const all = scopes.has('assent:audit') ? tenants : [tenant];
  if (wanted === undefined) return all;
  if (all === undefined || all.includes(wanted)) return [wanted];
  throw new RegistryError('scope_missing', tokenTexts.auditOfTenant);
}

function keyOf(entry: AuditEntry): string {
  const { at, id } = placeOf(entry);
  return `${at} ${id}`;
}

function isPlace(key: string): boolean {
  const [at = '', id = '', ...others] = key.split(' ');
  return /^\d{1,15}$/.test(at) && isUuid(id) && others.length === 0;
}

function placeIn(key: string | undefined): AuditPlace | undefined {
  if (key === undefined) return undefined;
  const [at, id = ''] = key.split(' ');
  return { at: Number(at), id };
}

/** One page is in memory at a time. An export that ends early is cut off, so that its reader sees that it is incomplete. */
async function writeExport(
  pages: AsyncIterable<AuditEntry[]>,
  isCsv: boolean,
  write: Write,
  over: AbortSignal,
): Promise<void> {
  let head = isCsv ? auditCsvHeader : '';
  const lineOf = isCsv ? auditCsvLine : (entry: AuditEntry) => `${JSON.stringify(entry)}\n`;
  for await (const entries of pages) {
    if (over.aborted) throw new RegistryError('stopping', 'The export took too long.', { retryAfterSeconds: 5 });
    await write(head + entries.map(lineOf).join(''));
    head = '';
  }
  if (head !== '') await write(head);
}

const columns = [
  'at',
  'tenant',
  'actor',
  'person',
  'personname',
  'issuer',
  'action',
  'target',
  'subscriber',
  'reference',
  'reason',
  'changed',
  'details',
  'requestid',
  'id',
] as const;

/** The header line (RFC 4180 section 2). */
const auditCsvHeader = line(columns);

/** `changed` and `details` are JSON. The reason has a column of its own, because people look for it. */
function auditCsvLine(entry: AuditEntry): string {
  const { reason, ...details } = entry.details ?? {};
  const { id: person, name: personname } = entry.person ?? {};
  const cells: Record<(typeof columns)[number], unknown> = {
    ...absent,
    ...entry,
    person,
    personname,
    reason,
    details,
  };
  return line(columns.map((name) => textOf(cells[name])));
}

const absent = {
  issuer: undefined,
  subscriber: undefined,
  reference: undefined,
  changed: undefined,
  requestid: undefined,
};

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
