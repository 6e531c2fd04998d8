import { Prisma } from './generated/client.js';
import { beforeAllIds, isUuid } from '../../base/files/ids.js';
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

/** The order of entries: that of their ids, or of a time, and of the ids among those of one time. */
interface SearchOrder {
  /** Of the table `t`; never null in the whole. */
  time?: Prisma.Sql;
  isDescending: boolean;
}

/**
 * Where an entry is in the order: its id, or a time and the id. Bounds of a span have no entry of their own.
 */
type Place = string;

interface Span {
  from: Place;
  until: Place;
}

export interface SearchPlan {
  /** The table, as `t`. */
  table: Prisma.Sql;
  order: SearchOrder;
  /** In the order of preference, if all have many candidates. */
  ways: readonly Way[];
  /** The part of the table that the caller may see. Its index continues with the columns of the order. */
  whole: Part;
  /** Bounds of the places. */
  span: Span;
  /** Whether the row `t` matches, beyond the conditions of the parts. */
  test: Prisma.Sql;
  /** The test reads several tables for a row. */
  isCostly: boolean;
}

interface SearchPage {
  ids: string[];
  /** The place to continue after; undefined at the end. */
  next: Place | undefined;
  /** How many entries were examined, if the page is not full because of that. */
  examined: number | undefined;
}

export interface SearchCount {
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
  after: Place | undefined,
  limit: number,
): Promise<SearchPage> {
  const { order } = search;
  const places: Place[] = [];
  const page = (next: Place | undefined, examined?: number) => {
    return { ids: places.slice(0, limit).map((place) => idAt(place)), next, examined };
  };
  for await (const found of walk<{ places: Place[] }>(sql, search, after, (candidates, test) => {
    const left = limit + 1 - places.length;
    const chosen = Prisma.sql`select ${placeText(order)} as place from ${candidates} where ${test} ${inOrder(order)} limit ${left}`;
    return Prisma.sql`array(select f.place from (${chosen}) f) as places`;
  })) {
    places.push(...found.places);
    if (places.length > limit) return page(places[limit - 1]);
    if (found.last === undefined) return page(undefined);
    if (found.isOver) return page(found.last, found.examined);
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

/** How many match among the first candidates, and which of them are the first. */
interface FirstMatches {
  ids: string[];
  count: number;
  /** How many of them have begun to match within the last day. */
  recent: number;
  /** There may be more: counting stopped, or not every candidate was examined. */
  isAtLeast: boolean;
}

/** For a summary, in which no part may take long: so many are counted at most, of so many candidates. */
export const summary = { each: 1_000, counted: 500, examined: 1_000, shown: 3 };

/** The newest ids of a part of an index that continues with the id, few enough to look at each. */
export async function newestIds(sql: Sql, table: Prisma.Sql, part: Part): Promise<{ ids: string[]; areAll: boolean }> {
  const rows = firstIn(table, part, allIds, { isDescending: true }, summary.each + 1);
  const [found] = await sql.$queryRaw<Array<{ ids: string[] }>>`select array(select t.id::text from ${rows}) as ids`;
  const ids = found?.ids ?? [];
  return { ids: ids.slice(0, summary.each), areAll: ids.length <= summary.each };
}

/** How many rows there are in a part of an index that continues with the id. */
export function countPart(sql: Sql, table: Prisma.Sql, part: Part): Promise<SearchCount> {
  return countRows(sql, firstIn(table, part, allIds, { isDescending: false }, maxCounted + 1));
}

/** How many rows these are, as far as counting goes. */
export async function countRows(sql: Sql, rows: Prisma.Sql): Promise<SearchCount> {
  const [found] = await sql.$queryRaw<Array<{ n: number }>>`
    select count(*)::int as n from (select from ${rows} limit ${maxCounted + 1}) t`;
  const { n } = found ?? { n: 0 };
  return { count: Math.min(n, maxCounted), isAtLeast: n > maxCounted };
}

/** Which rows `t` match, and since when. */
interface FirstTest extends Pick<SearchPlan, 'table' | 'test'> {
  /** A query of one row, as `d`: what costs too much for rows that fail the test. With the column `since`. */
  details: Prisma.Sql;
  /** A condition on `d`. */
  detailsTest?: Prisma.Sql;
}

/**
 * `candidates` is a query of ids, in the order of preference. `gate` is a condition on the candidate `c` that is cheaper than
 * the test. One statement, whose cost has this limit at any size.
 */
export async function countFirst(
  sql: Sql,
  { table, test, details, detailsTest = Prisma.sql`true` }: FirstTest,
  candidates: Prisma.Sql,
  gate = Prisma.sql`true`,
): Promise<FirstMatches> {
  const [found] = await sql.$queryRaw<Array<{ examined: number; ids: string[]; recent: number }>>`
    with candidate as materialized (
      select c.*, row_number() over () as place from (${candidates}) c limit ${summary.examined}
    ), known as materialized (
      select distinct on (id) * from candidate order by id, place
    ), found as materialized (
      select t.id::text, d.since, row_number() over () as place from (
        select t.* from (select * from known order by place) c
        cross join lateral (select * from ${table} where t.id = c.id and ${gate} offset 0) t
        where ${test} offset 0) t
      cross join lateral (${details}) d
      where ${detailsTest} limit ${summary.counted + 1}
    )
    select (select count(*)::int from candidate) as examined, array(select id from found) as ids,
      (select count(*)::int from found where place <= ${summary.counted} and since >= now() - interval '1 day') as recent`;
  const { examined, ids, recent } = found ?? { examined: 0, ids: [], recent: 0 };
  return {
    ids: ids.slice(0, summary.shown),
    count: Math.min(ids.length, summary.counted),
    recent,
    isAtLeast: ids.length > summary.counted || examined >= summary.examined,
  };
}

/** Candidates for `countFirst`: the first of what a search would go through. */
export function firstOfSearch({ table, whole, span, order }: SearchPlan): Prisma.Sql {
  return Prisma.sql`select t.id from ${firstIn(table, whole, span, order, summary.examined)}`;
}

/** The newest rows of a part of an index that continues with the id. `select` says what is wanted of `t`. */
export function newestOf(select: Prisma.Sql, table: Prisma.Sql, part: Part): Prisma.Sql {
  return Prisma.sql`select ${select} from ${firstIn(table, part, allIds, { isDescending: true }, summary.examined)}`;
}

type Step<Found> = Found & {
  /** The place of the last candidate of this step; undefined if there are no more. */
  last: Place | undefined;
  /** How many candidates were examined so far. */
  examined: number;
  /** The request may not examine more. */
  isOver: boolean;
};

/** Goes through the candidates in their order. `ask` makes a column from a part of them. */
async function* walk<Found>(
  sql: Sql,
  search: SearchPlan,
  after: Place | undefined,
  ask: (candidates: Prisma.Sql, test: Prisma.Sql) => Prisma.Sql,
): AsyncGenerator<Step<Found>> {
  const { table, ways, whole, order } = search;
  const { first, chunk, max } = search.isCostly ? costly : simple;
  const parts = [...ways, whole].filter((each) => 'key' in each);
  const test = allOf([search.test, ...parts.map(conditionOf), isIn(order, search.span)]);
  let span = spanAfter(search, after);
  // Only the whole is in the order of a time. If many match, its first rows are enough.
  let way = order.time === undefined ? await chooseWay(sql, search, span) : whole;
  let size = first;
  for (let examined = 0, taken = 0; ;) {
    let candidates: Prisma.Sql;
    let last: Prisma.Sql;
    if (Array.isArray(way)) {
      const places = way.slice(taken, taken + size);
      candidates = Prisma.sql`(select * from ${table} where t.id = any (${places.map(idAt)}::uuid[])) t`;
      last = Prisma.sql`${way.length > taken + size ? places.at(-1) : null}::text`;
      taken += size;
    } else {
      const rows = rowsOf(way, span, order);
      candidates = Prisma.sql`(select * from ${table} ${rows} limit ${size}) t`;
      last = Prisma.sql`(
        select ${placeText(order)} from (select * from ${table} ${rows} offset ${size - 1} limit 1) t
        where ${conditionOf(way)} and ${isIn(order, search.span)})`;
    }
    const [found] = await sql.$queryRaw<Array<Found & { last: Place | null }>>`
      select ${last} as last, ${ask(candidates, test)}`;
    if (found === undefined) throw new Error('This query returns one row.');
    const isFirst = examined === 0;
    examined += size;
    yield { ...found, last: found.last ?? undefined, examined, isOver: examined >= max };
    span = spanAfter(search, found.last ?? undefined);
    if (isFirst && order.time !== undefined) way = await chooseWay(sql, search, span);
    size = Math.min(chunk, max - examined);
  }
}

/** The way with the fewest candidates; those of a `few` as their places, in order. Only the beginning of each is counted. */
async function chooseWay(sql: Sql, search: SearchPlan, span: Span): Promise<Part | Place[]> {
  const { whole, table, order } = search;
  const isById = order.time === undefined;
  let best: { way: Part | string[]; count: number } = { way: whole, count: Infinity };
  // Of a subscriber, the whole may be few. Of a tenant, it has more than any other way.
  const all = whole.key.length > 1 ? [whole, ...search.ways] : search.ways;
  const [only] = all;
  if (only === undefined) return whole;
  if (isById && all.length === 1 && 'key' in only) return only;
  for (const way of all) {
    const { usually, ifUsuallyMany } = maxCandidates;
    // Fewer than the best way has, or else this one is of no use.
    const max = Math.min(best.count, ('few' in way && way.isUsuallyMany ? ifUsuallyMany : usually) + 1);
    if ('key' in way && isById) {
      const firstRows = async (limit: number) => {
        const [row] = await sql.$queryRaw<Array<{ n: number }>>`
          select count(*)::int as n from ${firstIn(table, way, span, order, limit)}`;
        return row?.n ?? 0;
      };
      // The rows behind the part are read, too, hence not many at first.
      let n = await firstRows(Math.min(max, simple.first));
      if (n === simple.first) n = await firstRows(max);
      if (n < best.count) best = { way, count: n };
    } else if ('key' in way) {
      // It continues with the id, and is of use only if it has few rows.
      const firstIds = async (limit: number) => {
        const [row] = await sql.$queryRaw<Array<{ ids: string[] }>>`
          select array(select t.id::text from ${firstIn(table, way, allIds, { isDescending: false }, limit)}) as ids`;
        return row?.ids ?? [];
      };
      let ids = await firstIds(Math.min(max, simple.first));
      if (ids.length === simple.first) ids = await firstIds(max);
      if (ids.length < max) best = { way: ids, count: ids.length };
    } else {
      const isWanted = isById ? isIn(order, span) : Prisma.sql`true`;
      const [row] = await sql.$queryRaw<Array<{ ids: string[] | null }>>`
        with few as materialized (select * from (${way.few}) f limit ${max})
        select case when (select count(*) from few) < ${max} then
          array(select t.id::text from (${way.ids ?? Prisma.sql`select id from few`}) t
            where ${isWanted} limit ${max}) end as ids`;
      const ids = row?.ids ?? undefined;
      if (ids !== undefined && ids.length < max) best = { way: [...new Set(ids)], count: ids.length };
    }
    if (best.count === 0) break;
  }
  if (!Array.isArray(best.way)) return best.way;
  if (!isById) return placesOf(sql, search, span, best.way);
  return order.isDescending ? best.way.sort().reverse() : best.way.sort();
}

/** The first rows of a part of an index within a span. */
function firstIn(table: Prisma.Sql, part: Part, span: Span, order: SearchOrder, limit: number): Prisma.Sql {
  const rows = rowsOf(part, span, order);
  return Prisma.sql`(
    select * from (select * from ${table} ${rows} limit ${limit}) t where ${conditionOf(part)} and ${isIn(order, span)}) t`;
}

/** The places of these ids within a span, in order. */
async function placesOf(sql: Sql, { table, order }: SearchPlan, span: Span, ids: string[]): Promise<Place[]> {
  const [row] = await sql.$queryRaw<Array<{ places: Place[] }>>`
    select array(
      select ${placeText(order)} from ${table} where t.id = any (${ids}::uuid[]) and ${isIn(order, span)} ${inOrder(order)}
    ) as places`;
  return row?.places ?? [];
}

/**
 * The rows of a part of an index, in order, and then those behind it: pass a limit, and leave them out
 * by `conditionOf`. Rows are compared, not columns. With equal columns the planner could take another index in the order
 * of ids, such as the primary key, and pass by millions of other rows. With an end of the part, Postgres before 18 would
 * look for it in the rest of the index.
 */
function rowsOf({ key, only }: Part, { from, until }: Span, order: SearchOrder): Prisma.Sql {
  const columns = [...key.map(([column]) => column), ...columnsOf(order)];
  const at = (place: Place) => row([...key.map(([, value]) => Prisma.sql`${value}`), ...valuesAt(order, place)]);
  const isBehind = order.isDescending
    ? Prisma.sql`${row(columns)} < ${at(until)}`
    : Prisma.sql`${row(columns)} > ${at(from)}`;
  return Prisma.sql`where ${only ?? Prisma.sql`true`} and ${isBehind} order by ${inDirection(columns, order)}`;
}

function isIn(order: SearchOrder, { from, until }: Span): Prisma.Sql {
  const place = row(columnsOf(order));
  return Prisma.sql`${place} > ${row(valuesAt(order, from))} and ${place} < ${row(valuesAt(order, until))}`;
}

const inOrder = (order: SearchOrder) => Prisma.sql`order by ${inDirection(columnsOf(order), order)}`;

function inDirection(columns: readonly Prisma.Sql[], { isDescending }: SearchOrder): Prisma.Sql {
  const direction = isDescending ? Prisma.sql`desc` : Prisma.sql`asc`;
  return Prisma.join(columns.map((column) => Prisma.sql`${column} ${direction}`));
}

const columnsOf = ({ time }: SearchOrder) => [...(time === undefined ? [] : [time]), Prisma.sql`t.id`];

function valuesAt({ time }: SearchOrder, place: Place): Prisma.Sql[] {
  const id = Prisma.sql`${idAt(place)}::uuid`;
  return time === undefined ? [id] : [Prisma.sql`${place.split(' ')[0]}::timestamptz`, id];
}

/** The place of the row `t`. Times have milliseconds. */
const placeText = ({ time }: SearchOrder) =>
  time === undefined
    ? Prisma.sql`t.id::text`
    : Prisma.sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || t.id`;

const idAt = (place: Place) => place.slice(place.indexOf(' ') + 1);

/** By when entries expire, from the first or from the last. */
export type ExpirySort = 'expiresat' | '-expiresat';
/** In the order of the ids, or from the last. */
export type CreationSort = 'createdat' | '-createdat';

/** Whether a text is a place in this order. */
export const isPlace = (sort: CreationSort | ExpirySort | undefined) => (text: string) => {
  if (sort !== 'expiresat' && sort !== '-expiresat') return isUuid(text);
  const [at = '', id = '', ...more] = text.split(' ');
  const time = new Date(at);
  return more.length === 0 && isUuid(id) && !Number.isNaN(time.getTime()) && time.toISOString() === at;
};

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

/** Places compare as their texts do. */
function spanAfter({ order, span }: SearchPlan, place: Place | undefined): Span {
  if (place === undefined) return span;
  if (order.isDescending) return { ...span, until: place < span.until ? place : span.until };
  return { ...span, from: place > span.from ? place : span.from };
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

/** Places in the order of a time, from one time until before another. */
export function timesWithin(since: Date | undefined, until: Date | undefined): Span {
  const [first, last] = [new Date(0), new Date(Date.UTC(9999, 0))];
  return {
    from: `${(since ?? first).toISOString()} ${beforeAllIds}`,
    until: `${(until ?? last).toISOString()} ${beforeAllIds}`,
  };
}

function firstIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
