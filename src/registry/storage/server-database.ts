import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { SetupError } from '../../base/errors.js';
import { isOutage, refusalOfWrite, sqlState, unlessVictim } from './database-errors.js';
import {
  type Database,
  type DatabaseSession,
  type Snapshot,
  sqlOn,
  type Query,
  inTransaction,
  type Transaction,
} from './database.js';
import { PrismaClient } from './generated/client.js';
import { asOwner } from './rights.js';
import { streamBy } from './stream-rows.js';
import { WatchedPool } from './watched-pool.js';

const statementMs = 8_000;
/**
 * For a process that is frozen or disconnected within a transaction. Shorter than the statement timeout, so that the
 * statements of other processes that wait for its locks do not time out first.
 */
const idleMs = 5_000;
const maxConnections = 20;
/**
 * How long a refused change makes the process not ready. A process that is not ready receives no changes, so only time
 * can make it ready again.
 */
const refusedForMs = 60_000;
const notAllowed = '42501';
/** The user lacks a privilege; the server is a standby or read-only. */
const unmigratable = [notAllowed, '25006'];

/** SetupError if the server cannot be reached, or its database is unsuitable. `setting` is what its message names. */
export async function openServer(url: string, setting: string, readsOnly: boolean): Promise<Database> {
  const unusable = (error: Error & { code?: string }) => {
    const advice = { [protocolViolation]: withoutPooler, [notAllowed]: asOwner }[error.code ?? ''];
    return new SetupError(`${setting}: ${error.message || error.code}${advice === undefined ? '' : `. ${advice}`}`);
  };
  const named = new URL(url).searchParams.get('schema') ?? undefined;
  const settings = [
    mark,
    ...inOneForm,
    patient,
    seesCommits,
    uncompiled,
    ...(named === undefined ? [] : [`search_path="${named.replaceAll('"', '""')}"`]),
    // Also applies if the replica has become a primary: this process is configured not to write.
    ...(readsOnly ? ['default_transaction_read_only=on'] : []),
  ];
  const patientUrl = withOptions(url, [...settings, ...unlimited]);
  const alone = <T>(work: (session: DatabaseSession) => Promise<T>) => onOwnConnection(patientUrl, work);
  const schema = await alone((session) => prepareSchema(session, named, readsOnly)).catch((error: Error) => {
    throw unusable(error);
  });
  const pool = new WatchedPool({
    connectionString: withOptions(url, [...settings, ...limited]),
    max: maxConnections,
    // Statements that do not wait for each other's results are sent together.
    pipeline: true,
  });
  const closing = new AbortController();
  const watching = pool.watch(closing.signal);
  const client = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
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
    place: `Postgres at ${host}${pathname}${named === undefined ? '' : `, schema ${schema}`}${setting === 'DATABASE_REPLICA_URL' ? ', read only' : ''}`,
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
      // The client would end the pool only if it was used itself.
      await Promise.all([client.$disconnect().then(() => pool.end()), watching]);
      clearTimeout(hangUp);
    },
  };
}

/**
 * The schema of the tables: the first one of the search path that exists. If the URL names a schema that is missing,
 * this creates it.
 */
async function prepareSchema(
  { query, execute }: DatabaseSession,
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
 * A setting without a meaning. It shows whether the other settings arrived: a pooler shares one session of the server
 * between clients, and refuses settings or, if configured to, drops them.
 */
const mark = 'assent.settings=kept';
/** PgBouncer refuses settings with this code. */
const protocolViolation = '08P01';
const withoutPooler = 'If a pooler is in between, connect to the server directly';

/**
 * A session without its settings has a different time zone and no limits. Migrations need Postgres 15. In another encoding,
 * a character that the database cannot store would cause an internal error whenever a client sends it; SQL_ASCII stores all,
 * and counts and compares bytes.
 */
const refuseUnfit = `do $block$ begin
  if current_setting('assent.settings', true) is distinct from 'kept' then
    raise 'the settings of the session were lost on the way. ${withoutPooler}';
  end if;
  if current_setting('server_version_num')::int < 150000 then
    raise 'the server is Postgres %, but must be 15 or later', current_setting('server_version');
  end if;
  if current_setting('server_encoding') <> 'UTF8' then
    raise 'the encoding of the database is %, but must be UTF8. Create another one: createdb --template=template0 --encoding=UTF8 NAME',
      current_setting('server_encoding');
  end if;
end $block$`;

/**
 * Prisma ignores the offset of a time when it reads, and writes times without one. pg parses only ISO dates. Without
 * array_nulls, null in an array would be a string. Times as numbers need all their digits.
 */
const inOneForm = ['timezone=UTC', 'datestyle=ISO', 'array_nulls=on', 'extra_float_digits=1'];

/** A statement may wait for locks until its own timeout. */
const patient = 'lock_timeout=0';
/** Migrations wait for each other. */
const unlimited = ['statement_timeout=0'];
/** A statement or a transaction that hangs must not hold its locks forever. */
const limited = [`statement_timeout=${statementMs}`, `idle_in_transaction_session_timeout=${idleMs}`];

/** For this transaction. It cannot be one of the settings, because only Postgres 17 and later have it. */
const takesItsTime = `select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;

/**
 * A transaction that has waited for a lock must see what was committed in the meantime. Otherwise its change contains
 * an old state, and every follower of the log takes that for the latest one.
 */
const seesCommits = 'default_transaction_isolation=read committed';

/**
 * Every statement is short or bounded, and planned each time. Compiling one takes longer than running it: seconds where an
 * estimate is far off. Set like the other settings, so whatever keeps those keeps this; a role or a database may be shared.
 */
const uncompiled = 'jit=off';

/** Appended last, so that they override the settings of the server, the database user and the URL. */
function withOptions(url: string, settings: readonly string[]): string {
  const parsed = new URL(url);
  const given = encodeURIComponent(parsed.searchParams.get('options') ?? '');
  const options = [given, ...settings.map((setting) => `-c+${encodeURIComponent(escaped(setting))}`)].join('+');
  parsed.search += `${parsed.search === '' ? '?' : '&'}options=${options}`;
  return parsed.href;
}

/** Options are separated by spaces (libpq, section 34.1.2). */
const escaped = (setting: string) => setting.replace(/[\\\s]/g, '\\$&');

/** Names statements by their text. Their number is limited, because no text contains values. */
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

/** Named statements, because pg prepares those only once for each connection. */
function queryOn(connection: pg.Pool | pg.PoolClient, nameOf: (text: string) => string): Query {
  return async <Row extends object>(text: string, values: unknown[] = []) =>
    (await connection.query<Row>({ name: nameOf(text), text, values })).rows;
}

/**
 * A migration of a newer version may change the result type of a function while this version is running. Every
 * connection that has the statement prepared then refuses to run it, and the pool closes the connection. This retries
 * on another one.
 */
function unlessOutdated(query: Query): Query {
  return async <Row extends object>(text: string, values?: unknown[]) => {
    for (let left = maxConnections; ; left -= 1) {
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
    // A stream is one statement, which runs until the last row is read.
    const limits = `set local statement_timeout to 0; ${takesItsTime}`;
    await connection.query(`begin isolation level repeatable read read only; set local timezone to 'UTC'; ${limits}`);
    // Statements of a stream have no name: few of them come twice.
    const stream = streamBy(
      async <Row extends object>(text: string, values: unknown[] = []) =>
        (await connection.query<Row>(text, values)).rows,
    );
    const result = await work({ query: queryOn(connection, nameOf), stream });
    await connection.query('commit');
    connection.release();
    return result;
  } catch (error) {
    // Closed rather than rolled back: it may be the connection that failed.
    connection.release(true);
    throw error;
  }
}

/** Without time limits: a migration may take long, and may wait for another process that migrates. */
async function onOwnConnection<T>(url: string, work: (session: DatabaseSession) => Promise<T>): Promise<T> {
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
    const { result, isRecorded } = await inTransaction(sql, work, () => connection.query('commit'));
    connection.release();
    // A transaction that wrote no row says nothing about the disk.
    if (isRecorded) onRecorded();
    return result;
  } catch (error) {
    // If the rollback fails, the connection is closed.
    await connection.query('rollback').then(
      () => connection.release(),
      () => connection.release(true),
    );
    throw error;
  }
}
