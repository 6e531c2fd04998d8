import { Prisma } from './generated/client.js';
import { beforeAllIds } from '../../base/files/ids.js';
import type { Sql } from './database.js';

/** Columns of an index, and a value for each. */
export type SearchKey = ReadonlyArray<readonly [column: Prisma.Sql, value: string]>;

/** A part of an index: the rows with these values, of those that the index has, if it does not have all. */
export interface Part {
  key: SearchKey;
  only?: Prisma.Sql;
}

/**
 * A condition that every entry meets, and an index for it. In a `Part` of an index of the table `t` that continues with
 * the id, the rows can be read in the order of their ids. `few` is a query with an index of its own, in any order, which
 * is of use only if it returns few rows. `ids` makes ids from the rows of `few`, if they are something else. With
 * `isUsuallyMany`, few are fewer: it is not worth much to find out.
 */
export type Way = Part | { few: Prisma.Sql; ids?: Prisma.Sql; isUsuallyMany?: boolean };

/** What searches of subscriptions, grants and handshakes have in common. */
export interface PairQuery {
  origin?: string | undefined;
  sink?: string | undefined;
  host?: string | undefined;
  /** A part of the sink. */
  sinkcontains?: string | undefined;
  /** Who has a subscription of the pair; of subscriptions, whose they are. */
  subscriber?: string | undefined;
}

/** Ids from one to another, both without a row of their own. */
interface Span {
  from: string;
  until: string;
}

export interface SearchPlan {
  /** The table, as `t`. */
  table: Prisma.Sql;
  /** Whether the newest entries are first. */
  newestFirst: boolean;
  /** In the order of preference, if all have many candidates. */
  ways: readonly Way[];
  /** The part of the table that the caller may see. */
  whole: Part;
  /** Bounds of the ids. */
  span: Span;
  /** Whether the row `t` matches, beyond the conditions of the parts. */
  test: Prisma.Sql;
  /** The test reads several tables for a row. */
  isCostly: boolean;
}

interface SearchPage {
  ids: string[];
  /** The id to continue after; undefined at the end. */
  next: string | undefined;
  /** How many entries were examined, if the page is not full because of that. */
  examined: number | undefined;
}

interface SearchCount {
  count: number;
  /** Counting stopped there: at least `count` entries match. */
  isAtLeast: boolean;
}

/** How many entries a search examines at most: in one statement, and for one request. */
const simple = { first: 500, chunk: 10_000, max: 100_000 };
const costly = { first: 500, chunk: 2_000, max: 20_000 };
const maxCounted = 10_000;
/** More candidates than this are not looked up one by one. */
const maxCandidates = { usually: 20_000, ifUsuallyMany: 2_000 };

/**
 * A page of the entries that match. However few do, a request examines a limited number of entries, in statements that
 * examine a limited number each, so that none comes near the statement timeout. A page can then have fewer entries than
 * `limit`, or none, and still have a next one.
 */
export async function findPage(
  sql: Sql,
  search: SearchPlan,
  after: string | undefined,
  limit: number,
): Promise<SearchPage> {
  const ids: string[] = [];
  for await (const found of walk<{ ids: string[] }>(sql, search, after, (candidates, test) => {
    const left = limit + 1 - ids.length;
    const chosen = Prisma.sql`select t.id from ${candidates} where ${test} order by t.id ${search.newestFirst ? Prisma.sql`desc` : Prisma.sql`asc`} limit ${left}`;
    return Prisma.sql`array(select f.id::text from (${chosen}) f) as ids`;
  })) {
    ids.push(...found.ids);
    if (ids.length > limit) return { ids: ids.slice(0, limit), next: ids[limit - 1], examined: undefined };
    if (found.last === undefined) return { ids, next: undefined, examined: undefined };
    if (found.isOver) return { ids, next: found.last, examined: found.examined };
  }
  throw new Error('A search has an end.');
}

/** How many entries match, over all pages. */
export async function countMatches(sql: Sql, search: SearchPlan): Promise<SearchCount> {
  let count = 0;
  for await (const found of walk<{ n: number }>(sql, search, undefined, (candidates, test) => {
    const left = maxCounted + 1 - count;
    return Prisma.sql`(select count(*)::int from (select 1 from ${candidates} where ${test} limit ${left}) f) as n`;
  })) {
    count += found.n;
    if (count > maxCounted) return { count: maxCounted, isAtLeast: true };
    if (found.last === undefined) return { count, isAtLeast: false };
    if (found.isOver) return { count, isAtLeast: true };
  }
  throw new Error('A search has an end.');
}

type Step<Found> = Found & {
  /** The last candidate of this step; undefined if there are no more. */
  last: string | undefined;
  /** How many candidates were examined so far. */
  examined: number;
  /** The request may not examine more. */
  isOver: boolean;
};

/** Goes through the candidates in the order of their ids. `ask` makes a column from a part of them. */
async function* walk<Found>(
  sql: Sql,
  search: SearchPlan,
  after: string | undefined,
  ask: (candidates: Prisma.Sql, test: Prisma.Sql) => Prisma.Sql,
): AsyncGenerator<Step<Found>> {
  const { table, ways, whole, newestFirst } = search;
  const { first, chunk, max } = search.isCostly ? costly : simple;
  const way = await chooseWay(sql, search, after);
  const parts = [...ways, whole].filter((each) => 'key' in each);
  const test = allOf([search.test, ...parts.map(conditionOf), isIn(search.span)]);
  let span = spanAfter(search, after);
  let size = first;
  for (let examined = 0; ;) {
    let candidates: Prisma.Sql;
    let last: Prisma.Sql;
    if (Array.isArray(way)) {
      const ids = way.slice(examined, examined + size);
      candidates = Prisma.sql`(select * from ${table} where t.id = any (${ids}::uuid[])) t`;
      last = Prisma.sql`${way.length > examined + size ? ids.at(-1) : null}::text`;
    } else {
      const rows = rowsOf(way, span, newestFirst);
      candidates = Prisma.sql`(select * from ${table} ${rows} limit ${size}) t`;
      last = Prisma.sql`(
        select t.id::text from (select * from ${table} ${rows} offset ${size - 1} limit 1) t
        where ${conditionOf(way)} and ${isIn(search.span)})`;
    }
    const [found] = await sql.$queryRaw<Array<Found & { last: string | null }>>`
      select ${last} as last, ${ask(candidates, test)}`;
    if (found === undefined) throw new Error('This query returns one row.');
    examined += size;
    yield { ...found, last: found.last ?? undefined, examined, isOver: examined >= max };
    span = spanAfter(search, found.last ?? undefined);
    size = Math.min(chunk, max - examined);
  }
}

/** The way with the fewest candidates; those of a `few` as their ids, in order. Only the beginning of each is counted. */
async function chooseWay(sql: Sql, search: SearchPlan, after: string | undefined): Promise<Part | string[]> {
  const { ways, whole, table, newestFirst } = search;
  const span = spanAfter(search, after);
  let best: { way: Part | string[]; count: number } = { way: whole, count: Infinity };
  // Of a subscriber, the whole may be few. Of a tenant, it has more than any other way.
  const all = whole.key.length > 1 ? [whole, ...ways] : ways;
  const [only] = all;
  if (only === undefined) return whole;
  if (all.length === 1 && 'key' in only) return only;
  for (const way of all) {
    if ('key' in way) {
      const max = Math.min(best.count, maxCandidates.usually + 1);
      const firstRows = async (limit: number) => {
        const [row] = await sql.$queryRaw<Array<{ n: number }>>`
          select count(*)::int as n from (select * from ${table} ${rowsOf(way, span, newestFirst)} limit ${limit}) t
          where ${conditionOf(way)} and ${isIn(span)}`;
        return row?.n ?? 0;
      };
      // The rows behind the part are read, too, hence not many at first.
      let n = await firstRows(Math.min(max, simple.first));
      if (n === simple.first) n = await firstRows(max);
      if (n < best.count) best = { way, count: n };
    } else {
      const { usually, ifUsuallyMany } = maxCandidates;
      // Fewer than the best way has, or else this one is of no use.
      const max = Math.min(best.count, (way.isUsuallyMany ? ifUsuallyMany : usually) + 1);
      const [row] = await sql.$queryRaw<Array<{ ids: string[] | null }>>`
        with few as materialized (select * from (${way.few}) f limit ${max})
        select case when (select count(*) from few) < ${max} then
          array(select t.id::text from (${way.ids ?? Prisma.sql`select id from few`}) t
            where t.id > ${span.from}::uuid and t.id < ${span.until}::uuid limit ${max}) end as ids`;
      const ids = row?.ids ?? undefined;
      if (ids !== undefined && ids.length < max) {
        const inOrder = [...new Set(ids)].sort();
        best = { way: newestFirst ? inOrder.reverse() : inOrder, count: ids.length };
      }
    }
    if (best.count === 0) break;
  }
  return best.way;
}

/**
 * The rows of a part of an index, in the order of their ids, and then those behind it: pass a limit, and leave them out
 * by `conditionOf`. Rows are compared, not columns. With equal columns the planner could take another index in the order
 * of ids, such as the primary key, and pass by millions of other rows. With an end of the part, Postgres before 18 would
 * look for it in the rest of the index.
 */
function rowsOf({ key, only }: Part, { from, until }: Span, newestFirst: boolean): Prisma.Sql {
  const columns = [...key.map(([column]) => column), Prisma.sql`t.id`];
  const at = (id: string) => row([...key.map(([, value]) => Prisma.sql`${value}`), Prisma.sql`${id}::uuid`]);
  const isBehind = newestFirst ? Prisma.sql`${row(columns)} < ${at(until)}` : Prisma.sql`${row(columns)} > ${at(from)}`;
  const order = newestFirst ? Prisma.sql`desc` : Prisma.sql`asc`;
  return Prisma.sql`where ${only ?? Prisma.sql`true`} and ${isBehind}
    order by ${Prisma.join(columns.map((column) => Prisma.sql`${column} ${order}`))}`;
}

const isIn = ({ from, until }: Span) => Prisma.sql`t.id > ${from}::uuid and t.id < ${until}::uuid`;

const row = (values: readonly Prisma.Sql[]) => Prisma.sql`(${Prisma.join([...values])})`;

function conditionOf({ key, only }: Part): Prisma.Sql {
  return allOf([...key.map(([column, value]) => Prisma.sql`${column} = ${value}`), only]);
}

/**
 * A query for a way: the first rows of a part of an index, of which `select` says what is wanted. For indexes that have
 * few rows, or of one column: see `rowsOf`.
 */
export function firstOf(select: Prisma.Sql, { key, only }: Part): Prisma.Sql {
  const columns = key.map(([column]) => column);
  const values = row(key.map(([, value]) => Prisma.sql`${value}`));
  // As in `rowsOf`. Without the order, the planner could read the whole table.
  return Prisma.sql`(${select} where ${only ?? Prisma.sql`true`} and ${row(columns)} >= ${values} and ${row(columns)} <= ${values}
    order by ${Prisma.join(columns)} limit ${maxCandidates.usually + 1})`;
}

function spanAfter({ newestFirst, span }: SearchPlan, id: string | undefined): Span {
  if (id === undefined) return span;
  if (newestFirst) return { ...span, until: id < span.until ? id : span.until };
  return { ...span, from: id > span.from ? id : span.from };
}

/** All of these conditions; those that are undefined are left out. */
export function allOf(conditions: ReadonlyArray<Prisma.Sql | undefined | false>): Prisma.Sql {
  const given = conditions.filter((each) => each !== undefined && each !== false);
  return given.length === 0 ? Prisma.sql`true` : Prisma.join(given, ' and ');
}

/** A condition or a way, if there is a value for it. */
export function given<T, Result>(value: T | undefined, make: (value: T) => Result): Result | undefined {
  return value === undefined ? undefined : make(value);
}

/** Whether the sink of `t` has this text in it, in the same case. */
export function sinkContains(part: string): Prisma.Sql {
  return Prisma.sql`strpos(t.sink, ${part}) > 0`;
}

/** `createdat` is from `since` until before `until`. */
export function createdWithin(since: Date | undefined, until: Date | undefined): Prisma.Sql {
  return allOf([
    given(since, (at) => Prisma.sql`t.createdat >= ${at.toISOString()}::timestamptz`),
    given(until, (at) => Prisma.sql`t.createdat < ${at.toISOString()}::timestamptz`),
  ]);
}

/** An id has the time of the process that made it, whose clock may have been a day off. */
const slackMs = 86_400_000;

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
export const allIds: Span = { from: beforeAllIds, until: lastId };

/** The ids of what was created then: they begin with the milliseconds since 1970 (UUID version 7). */
export function idsWithin(since: Date | undefined, until: Date | undefined): Span {
  return {
    from: since === undefined ? beforeAllIds : firstIdAt(since.getTime() - slackMs),
    until: until === undefined ? lastId : firstIdAt(until.getTime() + slackMs),
  };
}

function firstIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
