import { type PrismaClient, Prisma } from './generated/client.js';
import { uuidv7 } from '../../base/files/ids.js';
import type { Person } from '../../base/contract/principal.js';
import { withoutQuery } from '../../base/formats/uri.js';
import type { Changed } from './columns.js';
import { recordset } from './rows.js';

/** Returns rows as objects. Prepared once for each connection, so the text must not contain values. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/**
 * Statements as templates, inside or outside a transaction. Postgres plans them each time: a plan for a small table
 * would scan all of it when it is large.
 */
export interface Sql {
  $queryRaw<Rows>(text: TemplateStringsArray, ...values: unknown[]): Promise<Rows>;
  /** Returns how many rows were written. */
  $executeRaw(text: TemplateStringsArray, ...values: unknown[]): Promise<number>;
}

/** Runs one statement with a driver. */
export type Run = (text: string, values: unknown[]) => Promise<{ rows: unknown[]; rowCount: number | null }>;

export function sqlOn(run: Run): Sql {
  const ask = (text: TemplateStringsArray, values: unknown[]) => {
    const statement = Prisma.sql(text, ...values);
    return run(statement.text, statement.values);
  };
  return {
    $queryRaw: async <Rows>(text: TemplateStringsArray, ...values: unknown[]) => (await ask(text, values)).rows as Rows,
    $executeRaw: async (text, ...values) => (await ask(text, values)).rowCount ?? 0,
  };
}

/**
 * Postgres, on a server or embedded in the process (PGlite in the data folder). The rest of the program sees one
 * interface for both. Lists are read through Prisma's methods. Every transition of a state machine is one conditional
 * SQL statement, because the condition must be checked in the database, not in this process.
 */
export interface Database {
  kind: 'server' | 'embedded';
  /** The location of the data, for people; without a password. */
  place: string;
  /** Prisma's, for reading. */
  client: PrismaClient;
  sql: Sql;
  /** The schema of the tables. */
  schema: string;
  /**
   * Makes a decision: one transaction, retried if Postgres cancelled it for another. No network call belongs inside.
   */
  write: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
  /** One statement without Prisma, for frequent queries where Prisma's overhead matters. */
  query: Query;
  /** Work that sees the data as of one moment and changes nothing. It may take long. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** For migrations: one transaction without Prisma and without a time limit. */
  exclusively<T>(work: (session: DatabaseSession) => Promise<T>): Promise<T>;
  /** Frees the disk space of deleted rows, which blocks everything else; a server does that on its own. */
  tidy: () => Promise<void>;
  /** Why the database refused the last change, such as a full disk; undefined if it accepted it. */
  refusesWrites(): string | undefined;
  close(): Promise<void>;
}

/**
 * The column `text` of a statement's rows, in pages. Postgres makes the next page while one is processed, and at most
 * two pages are in memory. One stream at a time, which must be read to its end.
 */
export type Stream = (statement: string, values: string[]) => AsyncGenerator<string[]>;

export interface Snapshot {
  query: Query;
  stream: Stream;
}

export interface DatabaseSession {
  query: Query;
  /** Several statements at once. */
  execute: (statements: string) => Promise<unknown>;
}

/** Who did it: a client with its token, a webhook with its callback, or the service itself. */
export interface Actor {
  tenant: string;
  name: string;
  /** Who acts through the client. */
  person?: Person | undefined;
  /** Of the client's token. */
  issuer?: string | undefined;
  requestId?: string;
  /** What the caller names as the cause, such as a ticket. */
  reference?: string;
  /** Of the request (W3C Trace Context); sent with the handshakes that the request causes. */
  traceparent?: string;
}

/** As a column has it. */
export const storedPerson = ({ person }: Pick<Actor, 'person'>) =>
  person === undefined ? null : JSON.stringify(person);

export const service = (tenant: string): Actor => ({ tenant, name: 'assent' });
export const callback = (tenant: string, requestId: string): Actor => ({ tenant, name: 'callback', requestId });

/**
 * The changes that matter to a sender; those of handshakes, what time alone does to a grant, and what a block does to a
 * subscription only to consumers.
 */
export type ChangeKind =
  | 'block.created'
  | 'block.lifted'
  | 'subscription.created'
  | 'subscription.replaced'
  | 'subscription.moved'
  | 'subscription.deleted'
  | 'subscription.suspended'
  | 'subscription.resumed'
  | 'subscription.expired'
  | 'subscription.blocked'
  | 'subscription.unblocked'
  | 'origin.changed'
  | 'grant.live'
  | 'grant.ended'
  | 'grant.revoked'
  | 'grant.held'
  | 'grant.released'
  | 'grant.expiring'
  | 'grant.expired'
  | 'handshake.refused'
  | 'handshake.unreachable'
  | 'handshake.retired';

interface Change {
  kind: ChangeKind;
  tenant: string;
  /** Empty for a change of a block. */
  origin: string;
  /** Empty for a change of the origin itself. */
  sink: string;
  /** The id of a block. */
  block?: string;
  subscription?: string | undefined;
  /** Whose subscription it is. If absent, that of its row, or all subscribers of the pair. */
  subscriber?: string;
  /** A code: why a grant ended, or the public verdict of a handshake. */
  cause?: string | undefined;
}

/**
 * What an entry says besides who, what and when. Three members have columns of their own. Without `subscriber`, an entry
 * about a subscription gets the one of its row.
 */
interface AuditDetail {
  sink?: string;
  changed?: Changed | undefined;
  subscriber?: string;
  [member: string]: unknown;
}

/** Wakes followers, with the schema and the new position. Only a hint: the log is the truth. */
export const changeChannel = 'assent_change';

/**
 * A decision: what it writes with `sql`, the audit records that say who decided, and the changes for the feed. All of
 * it is committed together. Entries and changes are written at the end, because the change log stays locked until the
 * commit (see append_changes in the migration).
 */
export interface Transaction {
  sql: Sql;
  /** `target` is a kind and an id, `subscription:...`. */
  audit: (actor: Actor, action: string, target: string, detail?: AuditDetail) => void;
  change(change: Change): void;
}

/**
 * Runs the work, then writes its audit records and changes, and commits. `isRecorded` says whether there were any. The last
 * three are sent together: while the change log is locked, nobody waits for this process. If one of them fails, Postgres
 * does not commit.
 */
export async function inTransaction<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<T>,
  commit?: () => Promise<unknown>,
): Promise<{ result: T; isRecorded: boolean }> {
  const entries: AuditEntry[] = [];
  const changes: Change[] = [];
  const result = await work({
    sql,
    audit: (actor, action, target, detail = {}) => void entries.push(auditEntry(actor, action, target, detail)),
    change: (change) => void changes.push(change),
  });
  await Promise.all([
    entries.length > 0 ? writeAudit(sql, entries) : undefined,
    changes.length > 0 ? appendChanges(sql, changes) : undefined,
    commit?.(),
  ]);
  return { result, isRecorded: entries.length + changes.length > 0 };
}

class RolledBack extends Error {}

/** The result of work whose writes are undone: what a decision would come to. Nothing of it is seen outside. */
export async function rehearse<T>(
  { write }: Pick<Database, 'write'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let result: { value: T } | undefined;
  try {
    await write(async (tx) => {
      result = { value: await work(tx) };
      throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack) || result === undefined) throw error;
  }
  return (result as { value: T }).value;
}

function auditEntry(actor: Actor, action: string, target: string, all: AuditDetail) {
  const { changed, subscriber, ...detail } = all;
  return {
    id: uuidv7(),
    tenant: actor.tenant,
    actor: actor.name,
    person: actor.person?.id,
    personname: actor.person?.name,
    issuer: actor.issuer,
    action,
    target,
    subscriber,
    reference: actor.reference,
    changed,
    details: detail.sink === undefined ? detail : { ...detail, sink: withoutQuery(detail.sink) },
    requestid: actor.requestId,
  };
}

type AuditEntry = ReturnType<typeof auditEntry>;

/** A query of its own looks up the subscribers: Citus cannot insert a join of rows and values. */
async function writeAudit(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  const about = entries.flatMap(({ subscriber, target }) =>
    subscriber ? [] : (/^subscription:(.+)/.exec(target)?.[1] ?? []),
  );
  await sql.$executeRaw`
    with known as materialized (select id, subscriber from subscription where id = any (${about}::uuid[]))
    insert into audit (
      id, tenant, actor, person, personname, issuer, action, target, subscriber, reference, changed, details, requestid)
    select a.id, a.tenant, a.actor, a.person, a.personname, a.issuer, a.action, a.target,
      coalesce(a.subscriber, known.subscriber), a.reference, a.changed, a.details, a.requestid
    from ${recordset('audit', entries)} a left join known on a.target = 'subscription:' || known.id`;
}

async function appendChanges(sql: Sql, changes: readonly Change[]): Promise<void> {
  const list = (member: (change: Change) => string | null | undefined) =>
    changes.map((change) => member(change) ?? null);
  await sql.$queryRaw`select append_changes(
    ${list(({ tenant }) => tenant)}::text[], ${list(({ origin }) => origin)}::text[], ${list(({ kind }) => kind)}::text[],
    ${list(({ sink }) => sink)}::text[], ${list(({ subscription }) => subscription)}::uuid[],
    ${list(({ cause }) => cause)}::text[], ${list(({ subscriber }) => subscriber)}::text[],
    ${list(({ block }) => block)}::uuid[])::text`;
}

/**
 * The time by the database's clock, to the millisecond. Statements that write receive times as values, because Citus
 * allows no clock function next to a column or inside a CASE.
 */
export async function databaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql.$queryRaw<Array<{ now: number }>>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  return new Date(row?.now ?? NaN);
}

/** Halfway from a time to the time in a column. */
export function halfWay(from: Date, column: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`to_timestamp(${from.getTime() / 1_000}::float8 + extract(epoch from ${column} - ${from}::timestamptz)::float8 / 2)`;
}

/** Acquires locks of this registry in the order of their names, until the transaction ends. */
export async function lockRegistry(sql: Sql, ...names: string[]): Promise<void> {
  await sql.$queryRaw`
    select lock_registry(l.name)::text from unnest(${[...new Set(names)].sort()}::text[]) with ordinality as l (name, place)
    order by l.place`;
}
