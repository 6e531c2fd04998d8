import type { ChildProcess } from 'node:child_process';

export interface PostgresServer {
  /** The URL of its maintenance database, as superuser. */
  url: string;
  process: ChildProcess;
  /** Ends immediately and without a checkpoint. */
  crash(): Promise<void>;
  /** Ends in good order: a checkpoint is its last record, and its standbys get all of it. */
  shutDown(): Promise<void>;
  /** Starts again after that, with the same data on the same port. */
  restart(): Promise<void>;
  /** Freezes all its processes until the thaw: connections stay open without responses. Linux only. */
  freeze(): void;
  thaw(): void;
}

export interface Postgres extends PostgresServer {
  /** A hot standby that streams from it; it is stopped with it. */
  startStandby(settings?: string[]): Promise<PostgresServer>;
  /** Ends it and deletes its data. */
  stop(): Promise<void>;
}

/** `settings` are lines of postgresql.conf, such as `fsync = off`; `files` are written to its data folder, by name. */
export function startPostgres(settings?: string[], files?: Record<string, string>): Promise<Postgres>;

/** A TCP port of loopback that was free a moment ago. */
export function freePort(): Promise<number>;
