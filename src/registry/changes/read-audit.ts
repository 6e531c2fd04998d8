import type { components } from '../../base/contract/contract.gen.js';
import type { Database } from '../storage/database.js';
import { Prisma, type audit as AuditRow } from '../storage/generated/client.js';

export type AuditEntry = components['schemas']['AuditEntry'];

export interface AuditFilter {
  /** Undefined means every tenant. */
  tenants: readonly string[] | undefined;
  /** Milliseconds since 1970, from here and before there. */
  since?: number | undefined;
  until?: number | undefined;
  /** One action, or with a dot at its end, all that start with it. */
  action?: string | undefined;
  actor?: string | undefined;
  /** The id of a person, or the name that is shown. */
  person?: string | undefined;
  /** Only what a person did. */
  people?: boolean | undefined;
  target?: string | undefined;
  /** The caller bounds the time. */
  requestid?: string | undefined;
  subscriber?: string | undefined;
}

/** The place of an entry in the order of the record: its time in milliseconds since 1970, and its id. */
export interface AuditPlace {
  at: number;
  id: string;
}

interface AuditReader {
  /** The entries before a place, or the newest ones. */
  read(filter: AuditFilter, before: AuditPlace | undefined, limit: number): Promise<AuditEntry[]>;
  /** All of them, in pages: no statement takes long, however slowly they are read. */
  readAll(filter: AuditFilter): AsyncGenerator<AuditEntry[]>;
}

const pageOfAll = 500;
const recentEntries = 5_000;

export function createAuditReader({ sql }: Pick<Database, 'sql'>): AuditReader {
  const read = async (statement: Prisma.Sql) => (await sql.$queryRaw<AuditRow[]>`${statement}`).map(entryOf);
  return {
    async read(filter, before, limit) {
      if (filter.tenants === undefined) {
        // What happens in many tenants fills a page soon. Merging a share of each of them would take longer.
        const recent = await read(inOrder(filter, before, limit, recentEntries));
        if (recent.length === limit) return recent;
      }
      return read(merged(filter, before, limit));
    },

    async *readAll(filter) {
      // Merging would read every tenant's share of each page again.
      const statement = filter.tenants === undefined ? inOrder : merged;
      for (let before: AuditPlace | undefined; ;) {
        const entries: AuditEntry[] = await read(statement(filter, before, pageOfAll));
        if (entries.length > 0) yield entries;
        const last = entries.at(-1);
        if (last === undefined || entries.length < pageOfAll) return;
        before = placeOf(last);
      }
    },
  };
}

export function placeOf({ at, id }: AuditEntry): AuditPlace {
  return { at: Date.parse(at), id };
}

/**
 * The newest entries of each tenant and action that may match, merged. Each of them is a range of an index in order, so
 * neither the age of the record matters, nor how rare an entry is. A page has entries of the ranges whose newest ones are
 * the newest, at most one range for each entry. Only the keys are merged, and then looked up.
 */
function merged(filter: AuditFilter, before: AuditPlace | undefined, limit: number): Prisma.Sql {
  const { tenants, action, actor, person, people, target, subscriber } = filter;
  const isNarrow = people === true || [action, actor, person, subscriber].some((each) => each !== undefined);
  if (tenants === undefined && !isNarrow && target === undefined) return inOrder(filter, before, limit);
  const byAction = isNarrow && target === undefined;
  const newest = (range: string, maxRows: number) => Prisma.sql`
    select a.tenant, a.at, a.id from audit a
    where a.tenant = ${Prisma.raw(range)}.tenant
      ${byAction ? Prisma.sql`and a.action = ${Prisma.raw(range)}.action` : Prisma.empty}
      ${person === undefined ? Prisma.empty : Prisma.sql`and a.person = ${Prisma.raw(range)}.person`}
      and ${conditions({ ...filter, person: undefined }, before)}
    order by a.at desc, a.id desc limit ${maxRows}::int`;
  return Prisma.sql`
    select a.* from (
      select e.* from (
        select k.* from (
          select t.tenant ${byAction ? Prisma.sql`, each.action` : Prisma.empty}
            ${person === undefined ? Prisma.empty : Prisma.sql`, p.person`}
          from ${tenants === undefined ? allTenants : Prisma.sql`unnest(${[...tenants]}::text[]) as t (tenant)`}
          ${person === undefined ? Prisma.empty : Prisma.sql`cross join lateral (${personsOf(person)}) p`}
          ${byAction ? Prisma.sql`cross join lateral (${actionsOf(filter)}) each` : Prisma.empty}
        ) k cross join lateral (${newest('k', 1)}) head
        order by head.at desc, head.id desc limit ${limit}::int
      ) r cross join lateral (${newest('r', limit)}) e
      order by e.at desc, e.id desc limit ${limit}::int
    ) found join audit a on a.tenant = found.tenant and a.at = found.at and a.id = found.id
    order by a.at desc, a.id desc`;
}

/** Of every tenant. With `among`, those that match among so many. */
function inOrder(filter: AuditFilter, before: AuditPlace | undefined, limit: number, among?: number): Prisma.Sql {
  const { since, until } = filter;
  const audit =
    among === undefined
      ? Prisma.sql`audit`
      : Prisma.sql`(
          select * from audit a where ${conditions({ since, until }, before)}
          order by a.at desc, a.id desc limit ${among}::int)`;
  return Prisma.sql`
    select a.* from ${audit} a where ${conditions(filter, before)} order by a.at desc, a.id desc limit ${limit}::int`;
}

/** One probe of the index for each tenant. */
const allTenants = Prisma.sql`(
  with recursive known as (
    (select tenant from audit order by tenant limit 1)
    union all
    select (select a.tenant from audit a where a.tenant > known.tenant order by a.tenant limit 1)
    from known where known.tenant is not null
  ) select tenant from known where tenant is not null) t`;

/** The ids of the tenant `t` that may be meant: the text itself, and those shown by it, with one probe for each. */
function personsOf(text: string): Prisma.Sql {
  return Prisma.sql`
    with recursive known as (
      (select a.person from audit a where a.tenant = t.tenant and a.personname = ${text} order by a.person limit 1)
      union all
      select (
        select a.person from audit a
        where a.tenant = t.tenant and a.personname = ${text} and a.person > known.person order by a.person limit 1)
      from known where known.person is not null
    ) select person from known where person is not null union select ${text}::text collate "C"`;
}

/** The actions of the tenant `t`, or of one of its actors, persons or subscribers, with one probe of an index for each. */
function actionsOf({ action, actor, person, people, subscriber }: AuditFilter): Prisma.Sql {
  if (action !== undefined && !action.endsWith('.')) return Prisma.sql`select ${action}::text collate "C" as action`;
  const start = action ?? '';
  const whose =
    subscriber !== undefined
      ? Prisma.sql`and a.subscriber = ${subscriber}`
      : actor !== undefined
        ? Prisma.sql`and a.actor = ${actor}`
        : person !== undefined
          ? Prisma.sql`and a.person = p.person`
          : Prisma.empty;
  const byPeople = people === true ? Prisma.sql`and a.person is not null` : Prisma.empty;
  return Prisma.sql`
    with recursive known as (
      (select a.action from audit a where a.tenant = t.tenant ${whose} ${byPeople} and a.action >= ${start} order by a.action limit 1)
      union all
      select (
        select a.action from audit a where a.tenant = t.tenant ${whose} ${byPeople} and a.action > known.action
        order by a.action limit 1)
      from known where starts_with(known.action, ${start})
    ) select action from known where starts_with(action, ${start})`;
}

function conditions(filter: Omit<AuditFilter, 'tenants'>, before: AuditPlace | undefined): Prisma.Sql {
  const { since, until, action, actor, person, people, target, requestid, subscriber } = filter;
  const instant = (milliseconds: number) => Prisma.sql`to_timestamp(${milliseconds}::float8 / 1000)`;
  const all = [
    Prisma.sql`true`,
    ...(since === undefined ? [] : [Prisma.sql`a.at >= ${instant(since)}`]),
    ...(until === undefined ? [] : [Prisma.sql`a.at < ${instant(until)}`]),
    ...(before === undefined ? [] : [Prisma.sql`(a.at, a.id) < (${instant(before.at)}, ${before.id}::uuid)`]),
    ...(actor === undefined ? [] : [Prisma.sql`a.actor = ${actor}`]),
    ...(person === undefined ? [] : [Prisma.sql`(a.person = ${person} or a.personname = ${person})`]),
    ...(people === true ? [Prisma.sql`a.person is not null`] : []),
    ...(target === undefined ? [] : [Prisma.sql`a.target = ${target}`]),
    ...(requestid === undefined ? [] : [Prisma.sql`a.requestid = ${requestid.toLowerCase()}`]),
    ...(subscriber === undefined ? [] : [Prisma.sql`a.subscriber = ${subscriber}`]),
    ...(action === undefined
      ? []
      : [action.endsWith('.') ? Prisma.sql`starts_with(a.action, ${action})` : Prisma.sql`a.action = ${action}`]),
  ];
  return Prisma.join(all, ' and ');
}

function entryOf(row: AuditRow): AuditEntry {
  const { id, at, tenant, actor, person, personname, issuer, action, target, subscriber } = row;
  const { reference, changed, details, requestid } = row;
  return {
    id,
    at: at.toISOString(),
    tenant,
    actor,
    ...(person === null ? {} : { person: { id: person, ...(personname !== null && { name: personname }) } }),
    ...(issuer === null ? {} : { issuer }),
    action,
    target,
    ...(subscriber === null ? {} : { subscriber }),
    ...(reference === null ? {} : { reference }),
    ...(changed === null ? {} : { changed: inReadingOrder(changed as NonNullable<AuditEntry['changed']>) }),
    ...(details === null ? {} : { details: details as NonNullable<AuditEntry['details']> }),
    ...(requestid === null ? {} : { requestid }),
  };
}

/** The database sorts the names of members. */
function inReadingOrder(changed: NonNullable<AuditEntry['changed']>): NonNullable<AuditEntry['changed']> {
  return Object.fromEntries(Object.entries(changed).map(([name, { before, after }]) => [name, { before, after }]));
}
