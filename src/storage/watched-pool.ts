import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

const connectMs = 5_000;
const silenceMs = 10_000;
const beatMs = 500;
const patienceMs = 2_500;
const mostWaiting = 1_000;

/**
 * A pool that knows whether its server answers, so that nobody waits for one that does not.
 *
 *   there  connections are given out; whoever finds none free waits, and no more than a thousand do
 *   away   nobody gets one; who waited is told so at once, and what was under way is broken off, because a server that
 *          is frozen or cut off says nothing at all and no time limit of its own will ever be told
 *
 * Another connection asks for a sign of life twice a second, while `away` more often. About three seconds without one
 * lead out of `there`, the first one back.
 */
export class WatchedPool extends pg.Pool {
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #streams = new Set<Socket>();
  #isAway = false;

  constructor(config: pg.PoolConfig) {
    // Shorter than the silence, so that only a connection that is in use is ever found silent.
    super({ ...config, connectionTimeoutMillis: connectMs, idleTimeoutMillis: connectMs });
    // Without a listener the loss of an idle connection would end the process; the next query opens another one.
    this.on('error', () => undefined);
    this.on('connect', (connected) => {
      // The same for one that somebody holds between two statements; the next statement tells them.
      connected.on('error', () => undefined);
      const { stream } = (connected as pg.PoolClient & { connection: { stream: Socket } }).connection;
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      stream.setTimeout(silenceMs, () => stream.destroy());
    });
  }

  /** Every query and every transaction begins with it, also those of Prisma. */
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (error ? reject(error) : resolve(client as pg.PoolClient)));
      });
    }
    const refuse = (error: Error) => callback(error, undefined, () => undefined);
    if (this.#isAway || this.waitingCount >= mostWaiting) {
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
      // A file that the URL names is not there.
      if (this.#waiting.delete(refuse)) queueMicrotask(() => refuse(error as Error));
    }
  }

  /** Until the signal fires. */
  async watch(signal: AbortSignal): Promise<void> {
    const line = createLine(this.options.connectionString ?? '');
    while (!signal.aborted) {
      const isThere = await line.isThere();
      if (!signal.aborted && !isThere && !this.#isAway) this.#leave();
      this.#isAway = !isThere;
      await sleep(isThere ? beatMs : beatMs / 2, undefined, { signal }).catch(() => undefined);
    }
    line.hangUp();
  }

  /** Breaks off what is under way. */
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

/** The words are those of pg for a connection that cannot be had. */
function refusal(why: string): Error {
  return new Error(`Connection terminated: the database ${why}`);
}

/** One connection that is kept for asking whether somebody is there. */
function createLine(connectionString: string) {
  let line: pg.Client | undefined;

  async function ask(signal: AbortSignal): Promise<void> {
    // One lost connection is not yet a lost server.
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
      const pause = (ms: number) => sleep(ms, false, { signal: over.signal });
      // The second pause is for an answer that has come and was not read yet, because the process was busy.
      const late = pause(patienceMs).then(() => pause(patienceMs / 3));
      late.catch(() => undefined);
      const isThere = await Promise.race([ask(over.signal).then(yes, isAnswer), late]);
      over.abort();
      if (!isThere) hangUp();
      return isThere;
    },
  };
}

const yes = () => true;

/** Who says that there is no room, or that nobody of this name may come in, is there; who starts or stops is not. */
function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !error.code?.startsWith('57P');
}
