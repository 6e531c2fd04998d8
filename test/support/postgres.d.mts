import type { ChildProcess } from 'node:child_process';

export interface PostgresServer {
  /** Of its maintenance database, as superuser. */
  url: string;
  process: ChildProcess;
  /** Ends at once and without a checkpoint. */
  crash(): Promise<void>;
  /** Starts again after a crash, with the same data on the same port. */
  restart(): Promise<void>;
  /** All its processes stand still until the thaw: connections stay open and nothing is answered. Linux only. */
  freeze(): void;
  thaw(): void;
}

export interface Postgres extends PostgresServer {
  /** A hot standby that streams from it; it is stopped with it. */
  startStandby(settings?: string[]): Promise<PostgresServer>;
  /** Ends it and forgets its data. */
  stop(): Promise<void>;
}

/** `settings` are lines of postgresql.conf, such as `fsync = off`; `files` are put among its data, by their names. */
export function startPostgres(settings?: string[], files?: Record<string, string>): Promise<Postgres>;

/** A TCP port of loopback that nobody listened on a moment ago. */
export function freePort(): Promise<number>;
