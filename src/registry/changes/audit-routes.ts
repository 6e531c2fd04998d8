import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import { csvOf, exportOf } from '../http/export.js';
import type { OperationRequest, Handlers } from '../http/handler.js';
import { pageHeaders, pageOf, readListCursor } from '../http/page.js';
import type { Principal } from '../../base/contract/principal.js';
import { isUuid, timeIn } from '../../base/files/ids.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import { createAuditReader, placeOf, type AuditEntry, type AuditFilter, type AuditPlace } from './read-audit.js';

/** Between the start of a request and its entries, with clocks that differ. */
const longestRequestMs = 600_000;

export function auditRoutes(context: Context): Handlers<'listAuditRecords'> {
  const audit = createAuditReader(context.database);
  return {
    listAuditRecords: async (call) => {
      const { query, address, preferred } = call;
      const filter = filterOf(call);
      const headers = { Vary: 'Accept' };
      const mediaType = preferred('application/json', 'application/jsonl', 'text/csv');
      if (mediaType === 'application/jsonl' || mediaType === 'text/csv') {
        const form = mediaType === 'text/csv' ? csv : jsonLines;
        return { status: 200, mediaType, headers, stream: exportOf(context, call, audit.readAll(filter), form) };
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

/** `changed` and `details` are JSON. The reason has a column of its own, because people look for it. */
const csv = csvOf<AuditEntry, (typeof columns)[number]>(columns, (entry) => {
  const { reason, ...details } = entry.details ?? {};
  const { id: person, name: personname } = entry.person ?? {};
  return { ...absent, ...entry, person, personname, reason, details };
});
const jsonLines = { head: '', lineOf: (entry: AuditEntry) => `${JSON.stringify(entry)}\n` };

const absent = {
  issuer: undefined,
  subscriber: undefined,
  reference: undefined,
  changed: undefined,
  requestid: undefined,
};
