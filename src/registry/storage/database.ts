import type { PrismaClient } from './generated/client.js';
import type { Query, Sql } from './sql.js';
import type { Stream } from './stream-rows.js';
import type { Transaction } from './transaction.js';

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
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** One statement without Prisma, for frequent queries where Prisma's overhead matters. */
  query: Query;
  /** Work that sees the data as of one moment and changes nothing. It may take long. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** For migrations: one transaction without Prisma and without a time limit. */
  exclusively<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Frees the disk space of deleted rows, which blocks everything else; a server does that on its own. */
  tidy(): Promise<void>;
  /** Why the database refused the last change, such as a full disk; undefined if it accepted it. */
  refusesWrites(): string | undefined;
  close(): Promise<void>;
}

export interface Snapshot {
  query: Query;
  stream: Stream;
}

export interface Session {
  query: Query;
  /** Several statements at once. */
  execute(statements: string): Promise<unknown>;
}
