import type { PrismaClient } from './generated/client.js';
import type { Query, Sql } from './sql.js';
import type { Stream } from './stream-rows.js';
import type { Transaction } from './transaction.js';

/**
 * Postgres, on a server or embedded in the process (PGlite in the data folder). The rest of the program sees one
 * interface and does not know which. Lists are read through Prisma's methods; every arrow of a state machine is one
 * conditional SQL statement, because what it guards must hold in the database and not in this process.
 */
export interface Database {
  kind: 'server' | 'embedded';
  /** Where the data is, for people; without a password. */
  place: string;
  /** Prisma's, for reading. */
  client: PrismaClient;
  sql: Sql;
  /** Where the tables are. */
  schema: string;
  /** Takes a decision: one transaction, again if Postgres broke it off for another. No network call belongs inside. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** One statement on the short way, without Prisma: for what is asked so often that the way matters. */
  query: Query;
  /** Work that sees the data as of one moment and changes nothing, for as long as it takes. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** For migrations: one transaction that may take its time, without Prisma. */
  exclusively<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Gives back the room of what was deleted; a server does that by itself. Nothing else is done meanwhile. */
  tidy(): Promise<void>;
  /** Why the last change was refused although the database answers, such as a full disk; undefined if it was not. */
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
