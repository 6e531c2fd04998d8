import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { SetupError } from '../errors.js';
import { isOutage, refusalOfWrite, sqlState, unlessVictim } from './database-errors.js';
import type { Database, Session, Snapshot } from './database.js';
import { PrismaClient } from './generated/client.js';
import { sqlOn, type Query } from './sql.js';
import { streamOn } from './stream-rows.js';
import { inTransaction, type Transaction } from './transaction.js';
import { WatchedPool } from './watched-pool.js';

const statementMs = 8_000;
/**
 * For a process that is frozen or cut off within a transaction. So much shorter than a statement may take that those of
 * other processes that wait for its locks are not over before.
 */
const idleMs = 5_000;
const mostConnections = 20;
/**
 * How long a refused change makes the process not ready. No change comes to a process that is not ready, so it has to be
 * ready again by itself.
 */
const refusedForMs = 60_000;
/** The user lacks a privilege; the server is a standby, or reads only. */
const unmigratable = ['42501', '25006'];

/** SetupError for a server that cannot be reached, or whose database is unfit. */
export async function openServer(url: string, readsOnly: boolean): Promise<Database> {
  const unusable = ({ message, code }: Error & { code?: string }) => {
    const advice = code === protocolViolation ? `. ${withoutPooler}` : '';
    return new SetupError(`${readsOnly ? 'DATABASE_REPLICA_URL' : 'DATABASE_URL'}: ${message || code}${advice}`);
  };
  const named = new URL(url).searchParams.get('schema') ?? undefined;
  const settings = [
    mark,
    ...inOneForm,
    patient,
    seesCommits,
    ...(named === undefined ? [] : [`search_path="${named.replaceAll('"', '""')}"`]),
    // Also where the replica has become a primary: whoever reads it was told not to write.
    ...(readsOnly ? ['default_transaction_read_only=on'] : []),
  ];
  const patientUrl = withOptions(url, [...settings, ...unlimited]);
  const alone = <T>(work: (session: Session) => Promise<T>) => onOwnConnection(patientUrl, work);
  const schema = await alone((session) => prepareSchema(session, named, readsOnly)).catch((error: Error) => {
    throw unusable(error);
  });
  const pool = new WatchedPool({ connectionString: withOptions(url, [...settings, ...limited]), max: mostConnections });
  const closing = new AbortController();
  const watching = pool.watch(closing.signal);
  const client = new PrismaClient({ adapter: new PrismaPg(pool, { schema, disposeExternalPool: true }) });
  const nameOf = createStatementNames();
  let refused: { why: string; at: number } | undefined;
  const write: Database['write'] = async (work) => {
    try {
      return await unlessVictim(() => transactOn(pool, work, () => (refused = undefined)));
    } catch (error) {
      const why = isOutage(error) ? refusalOfWrite((error as Error).cause) : undefined;
      if (why !== undefined) refused = { why, at: performance.now() };
      throw error;
    }
  };
  const { host, pathname } = new URL(url);
  return {
    kind: 'server',
    place: `Postgres at ${host}${pathname}${named === undefined ? '' : `, schema ${schema}`}${readsOnly ? ', read only' : ''}`,
    client,
    sql: sqlOn((text, values) => pool.query(text, values)),
    schema,
    write,
    query: unlessOutdated(queryOn(pool, nameOf)),
    snapshot: (work) => readAsOfNow(pool, nameOf, work),
    exclusively: (work) =>
      alone(work).catch((error: Error) => {
        throw unmigratable.includes(sqlState(error) ?? '') ? unusable(error) : error;
      }),
    tidy: async () => undefined,
    refusesWrites: () => (refused && performance.now() - refused.at < refusedForMs ? refused.why : undefined),
    close: async () => {
      closing.abort();
      const hangUp = setTimeout(() => pool.hangUp(), 2_000);
      await Promise.all([client.$disconnect(), watching]);
      clearTimeout(hangUp);
    },
  };
}

/**
 * The schema that the tables are in, which is the first of the search path that is there. One that the URL names is made
 * if it is missing.
 */
async function prepareSchema(
  { query, execute }: Session,
  named: string | undefined,
  readsOnly: boolean,
): Promise<string> {
  await execute(refuseUnfit);
  const find = async () =>
    (await query<{ schema: string | null }>('select current_schema()::text as schema'))[0]?.schema ?? undefined;
  const found = await find();
  if (found !== undefined) return found;
  if (named === undefined) throw new Error('no schema of the search_path exists');
  if (readsOnly) throw new Error(`there is no schema ${named}`);
  await execute(`create schema if not exists "${named.replaceAll('"', '""')}"`);
  return named;
}

/**
 * A setting without a meaning, by which the others are seen to arrive: a pooler, which gives one session of the server
 * to many clients, refuses settings, or drops them where it is told to.
 */
const mark = 'assent.settings=kept';
/** As PgBouncer refuses them. */
const protocolViolation = '08P01';
const withoutPooler = 'Where a pooler is in between, name the server itself';

/**
 * A session without its settings has other times, and no limits. What a database in another encoding has no letter for
 * would be a fault of the service whenever somebody sends it.
 */
const refuseUnfit = `do $block$ begin
  if current_setting('assent.settings', true) is distinct from 'kept' then
    raise 'the settings of the session got lost on the way. ${withoutPooler}';
  end if;
  if current_setting('server_encoding') not in ('UTF8', 'SQL_ASCII') then
    raise 'the encoding of the database is %, and has to be UTF8', current_setting('server_encoding');
  end if;
end $block$`;

/**
 * Prisma ignores the offset of a time that it reads and writes times without one; pg reads only dates of ISO. In an
 * array, null would be a word. Times that are numbers have all their digits.
 */
const inOneForm = ['timezone=UTC', 'datestyle=ISO', 'array_nulls=on', 'extra_float_digits=1'];

/** Locks are waited for as long as the statement may take. */
const patient = 'lock_timeout=0';
/** Migrations wait for each other. */
const unlimited = ['statement_timeout=0'];
/** A statement or a transaction that hangs must not hold its locks for ever. */
const limited = [`statement_timeout=${statementMs}`, `idle_in_transaction_session_timeout=${idleMs}`];

/** For this transaction. It cannot stand among the settings, for Postgres has it from version 17 on only. */
const takesItsTime = `select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;

/**
 * Who has waited for a lock has to see what was committed meanwhile: otherwise a change tells a state of before, which
 * everybody who follows the log then takes for the last one.
 */
const seesCommits = 'default_transaction_isolation=read committed';

/** Said last, so that nothing else holds that the server, the user of the database or the URL may be set to. */
function withOptions(url: string, settings: readonly string[]): string {
  const parsed = new URL(url);
  const given = encodeURIComponent(parsed.searchParams.get('options') ?? '');
  const options = [given, ...settings.map((setting) => `-c+${encodeURIComponent(escaped(setting))}`)].join('+');
  parsed.search += `${parsed.search === '' ? '?' : '&'}options=${options}`;
  return parsed.href;
}

/** Options are parted by spaces (libpq, section 34.1.2). */
const escaped = (setting: string) => setting.replace(/[\\\s]/g, '\\$&');

/** Names statements by their text. There are as many as the program has, for none of them has values in it. */
function createStatementNames(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = createHash('sha1').update(text).digest('base64');
    names.set(text, name);
    return name;
  };
}

/** Named, which is how pg knows that the connection has the statement prepared already. */
function queryOn(connection: pg.Pool | pg.PoolClient, nameOf: (text: string) => string): Query {
  return async <Row extends object>(text: string, values: unknown[] = []) =>
    (await connection.query<Row>({ name: nameOf(text), text, values })).rows;
}

/**
 * A migration of a newer version may change what a function gives while this one runs on. Every connection that has the
 * statement prepared then refuses it before it does anything, and is closed by the pool; another one is asked then.
 */
function unlessOutdated(query: Query): Query {
  return async <Row extends object>(text: string, values?: unknown[]) => {
    for (let left = mostConnections; ; left -= 1) {
      try {
        return await query<Row>(text, values);
      } catch (error) {
        // The message is in the language of the server.
        const isOutdated = (error as { routine?: string }).routine === 'RevalidateCachedQuery';
        if (!isOutdated || left === 0) throw error;
      }
    }
  };
}

async function readAsOfNow<T>(
  pool: pg.Pool,
  nameOf: (text: string) => string,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const connection = await pool.connect();
  try {
    // A stream is one statement, and takes as long as there are rows.
    const limits = `set local statement_timeout to 0; ${takesItsTime}`;
    await connection.query(`begin isolation level repeatable read read only; set local timezone to 'UTC'; ${limits}`);
    const result = await work({ query: queryOn(connection, nameOf), stream: streamOn(connection) });
    await connection.query('commit');
    connection.release();
    return result;
  } catch (error) {
    // Closed rather than rolled back: it may be the connection that failed.
    connection.release(true);
    throw error;
  }
}

/** A migration may take its time, and wait for another process that migrates. */
async function onOwnConnection<T>(url: string, work: (session: Session) => Promise<T>): Promise<T> {
  const connection = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    await connection.query(`begin; ${takesItsTime}`);
    const result = await work({
      query: async <Row extends object>(text: string, values?: unknown[]) =>
        (await connection.query<Row>(text, values)).rows,
      execute: (statements) => connection.query(statements),
    });
    await connection.query('commit');
    return result;
  } finally {
    await connection.end();
  }
}

async function transactOn<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>, onRecorded: () => void): Promise<T> {
  const connection = await pool.connect();
  try {
    await connection.query('begin');
    const sql = sqlOn((text, values) => connection.query(text, values));
    const { result, isRecorded } = await inTransaction(sql, work);
    await connection.query('commit');
    connection.release();
    // One that wrote no row needs no room on the disk.
    if (isRecorded) onRecorded();
    return result;
  } catch (error) {
    // One that fails at this is closed.
    await connection.query('rollback').then(
      () => connection.release(),
      () => connection.release(true),
    );
    throw error;
  }
}
