import type { Socket } from 'node:net';
import pg from 'pg';
import { sleep } from '../../base/until.js';

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

const connectMs = 5_000;
const silenceMs = 10_000;
const beatMs = 500;
const patienceMs = 2_500;
const maxWaiting = 1_000;

/**
 * A pool that knows whether its server responds, so that no request waits for a server that does not.
 *
 *   there  the pool hands out connections; if none is free, up to a thousand callers wait
 *   away   the pool refuses all callers, waiting ones too, and aborts running statements: a server that is frozen or
 *          disconnected sends nothing at all, not even its own timeouts
 *
 * A separate connection sends a heartbeat twice a second, and more often while `away`. About three seconds without a
 * response lead to `away`; the first response leads back to `there`.
 */
export class WatchedPool extends pg.Pool {
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #streams = new Set<Socket>();
  #isAway = false;

  constructor(config: pg.PoolConfig) {
    // Shorter than silenceMs, so that only a connection in use can reach that limit.
    super({ ...config, connectionTimeoutMillis: connectMs, idleTimeoutMillis: connectMs });
    // Without a listener, losing an idle connection would end the process. The next query opens another one.
    this.on('error', () => undefined);
    this.on('connect', (connected) => {
      // The same for a connection that a caller holds between two statements; the next statement fails.
      connected.on('error', () => undefined);
      const { stream } = (connected as pg.PoolClient & { connection: { stream: Socket } }).connection;
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      stream.setTimeout(silenceMs, () => stream.destroy());
    });
  }

  /** Every query and every transaction starts with it, also those of Prisma. */
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (error ? reject(error) : resolve(client as pg.PoolClient)));
      });
    }
    const refuse = (error: Error) => callback(error, undefined, () => undefined);
    if (this.#isAway || this.waitingCount >= maxWaiting) {
      const why = refusal(this.#isAway ? 'is away' : 'has too many waiting for it');
      queueMicrotask(() => refuse(why));
      return;
    }
    this.#waiting.add(refuse);
    try {
      super.connect((error, client, release) => {
        if (this.#waiting.delete(refuse)) callback(error, client, release);
        else if (client !== undefined) release();
      });
    } catch (error) {
      // A file in the URL is missing.
      if (this.#waiting.delete(refuse)) queueMicrotask(() => refuse(error as Error));
    }
  }

  /** Watches the server until the signal fires. */
  async watch(signal: AbortSignal): Promise<void> {
    const line = createLine(this.options.connectionString ?? '');
    while (!signal.aborted) {
      const isThere = await line.isThere();
      if (!signal.aborted && !isThere && !this.#isAway) this.#leave();
      this.#isAway = !isThere;
      await sleep(isThere ? beatMs : beatMs / 2, signal);
    }
    line.hangUp();
  }

  /** Aborts everything in progress. */
  hangUp(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  #leave(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const refuse of waiting) refuse(refusal('is away'));
    this.hangUp();
  }
}

/** Uses pg's words for a failed connection. */
function refusal(why: string): Error {
  return new Error(`Connection terminated: the database ${why}`);
}

/** One connection, kept for heartbeats. */
function createLine(connectionString: string) {
  let line: pg.Client | undefined;

  async function ask(signal: AbortSignal): Promise<void> {
    // One lost connection does not mean that the server is lost.
    if (line !== undefined && (await line.query('select 1').then(yes, hangUp))) return;
    if (signal.aborted) return;
    const fresh = new pg.Client({ connectionString, keepAlive: true });
    fresh.on('error', () => undefined);
    line = fresh;
    await fresh.connect();
    await fresh.query('select 1');
  }

  function hangUp(): false {
    line?.connection.stream.destroy();
    line = undefined;
    return false;
  }

  return {
    hangUp,
    async isThere(): Promise<boolean> {
      const over = new AbortController();
      // The second pause is for a response that has arrived but was not read yet because the process was busy.
      const late = sleep(patienceMs, over.signal).then(() => sleep(patienceMs / 3, over.signal));
      const isThere = await Promise.race([ask(over.signal).then(yes, isAnswer), late.then(() => false)]);
      over.abort();
      if (!isThere) hangUp();
      return isThere;
    },
  };
}

const yes = () => true;

/** A server that refuses a connection or a login is there; one that is starting or stopping is not. */
function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !error.code?.startsWith('57P');
}
