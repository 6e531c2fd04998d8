import { chunksOf, readLines } from '../../base/formats/lines.js';
import { LinkedController, sleep } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { AssentError } from './assent-error.js';
import { readEventStream, type ServerSentEvent } from './event-stream.js';
import type { ClientMethod, Schemas } from './operations.js';

export type Change = Schemas['Change'];

/** A position in the feed. */
export interface Checkpoint {
  cursor: string;
  /** The position in the change log, as in responses of the registry. */
  revision: string;
}

/** Changes that arrived together. */
export interface Batch {
  changes: Change[];
  /** The feed continues after it. */
  cursor: string;
  /** Undefined if unknown. */
  revision: string | undefined;
  /** Whether more changes are available; undefined if unknown. */
  more: boolean | undefined;
  /** Seconds since the registry itself was known to be current; undefined if unknown. */
  age: number | undefined;
}

export interface FollowOptions {
  /** The cursor to continue from. If absent, the present end of the feed. */
  after?: string | undefined;
  /** Only changes of this origin. */
  origin?: string | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
  /** After each change, and after a heartbeat: where to continue after a restart. */
  onCursor?: ((cursor: string) => void) | undefined;
  /** `live` when the registry responds, `lost` before each reconnection. */
  onConnection?: ((state: 'live' | 'lost') => void) | undefined;
}

interface BatchOptions extends Omit<FollowOptions, 'onCursor'> {
  /** Each change with the present status of its subscriptions. */
  statuses?: boolean;
  /** How long a page is waited for: less than the time-out of a request. 20 if absent. */
  waitSeconds?: number;
  /**
   * Reads a snapshot and resolves to its cursor: if there is no cursor to continue from, and when the registry refuses
   * it (400, 410).
   */
  load?: (signal: AbortSignal) => Promise<string>;
  /** Called with each error. Then every error is retried. */
  onFault?: (error: unknown) => void;
}

type Get = ClientMethod<'get'>;
interface Query {
  after?: string | undefined;
  origin?: string | undefined;
  statuses?: boolean | undefined;
}

/** Milliseconds. A stream sends an event when it opens, and then at least every 15 seconds by default. */
const firstEventMs = 8_000;
const silenceMs = 40_000;
const backoff = { firstMs: 100, maxMs: 10_000 };
/** A connection that lasted this long was not a failure. */
const steadyMs = 1_000;
/** When the registry refuses every new cursor. */
const reloadEveryMs = 300_000;
/** While pages are read. */
const tryStreamEveryMs = 600_000;

/** No event arrived: a proxy buffers the stream. */
class HeldBack extends Error {
  override readonly name = 'HeldBack';

  constructor() {
    super('No event arrives on the stream. Polling pages instead.');
  }
}

/**
 * The changes of the feed, in order. It reconnects until the signal fires. Throws an AssentError that waiting does not
 * solve: 400, 401, 403, 410.
 */
export async function* followChanges(get: Get, { onCursor, ...options }: FollowOptions): AsyncGenerator<Change, void> {
  for await (const { changes, cursor } of followBatches(get, options)) {
    for (const change of changes) {
      yield change;
      onCursor?.(change.cursor);
    }
    onCursor?.(cursor);
  }
}

/**
 * The changes of the feed in batches, from a stream or, behind a proxy that holds streams back, from pages. It reconnects
 * until the signal fires. Its states:
 *
 *   loading    a snapshot, because there is no cursor or the registry refused it. If it refuses the new cursor as well,
 *              that is an ordinary fault until the next snapshot is due
 *   streaming  until the registry ends the stream
 *   polling    pages, until a stream works, which is tried from time to time, or a page fails
 */
async function* followBatches(get: Get, options: BatchOptions): AsyncGenerator<Batch, void> {
  const { signal, load, onConnection, onFault } = options;
  let cursor = options.after;
  let mustLoad = load !== undefined && cursor === undefined;
  /** When the registry refused our cursor, if nothing has arrived since. */
  let forgottenAt = -Infinity;
  for (let failures = 0; !signal?.aborted; failures += 1) {
    // One for each connection, so that nothing adds up on the signal of the caller.
    const connection = new LinkedController([signal]);
    let liveAt = Infinity;
    try {
      if (mustLoad) cursor = await load?.(connection.signal);
      mustLoad = false;
      for await (const batch of connect(get, cursor, options, connection.signal)) {
        liveAt = Math.min(liveAt, performance.now());
        forgottenAt = -Infinity;
        onConnection?.('live');
        cursor = batch.cursor;
        yield batch;
      }
      if (performance.now() - liveAt >= steadyMs) failures = 0;
    } catch (error) {
      if (signal?.aborted) return;
      if (performance.now() - liveAt >= steadyMs) failures = 0;
      const isRefused = error instanceof AssentError && (error.status === 400 || error.status === 410);
      if (isRefused && load !== undefined && !mustLoad && performance.now() - forgottenAt > reloadEveryMs) {
        forgottenAt = performance.now();
        mustLoad = true;
        if (failures === 0) continue;
      } else if (onFault !== undefined) onFault(error);
      else if (error instanceof AssentError && !isOutage(error)) throw error;
    } finally {
      connection.abort();
    }
    onConnection?.('lost');
    await sleep(retryDelayMs(failures + 1, backoff), signal);
  }
}

/**
 * Applies batches until the signal fires. A batch that `apply` rejects is a fault, too. After that, and if `apply` returns
 * true, it connects again and continues after the cursor that `after` returns.
 */
export async function applyBatches(
  get: Get,
  options: Omit<BatchOptions, 'after'> & { signal: AbortSignal; after: () => string | undefined },
  apply: (batch: Batch) => boolean | Promise<boolean>,
): Promise<void> {
  const { signal, onConnection, onFault } = options;
  for (let failures = 0; !signal.aborted;) {
    try {
      for await (const batch of followBatches(get, { ...options, after: options.after() })) {
        if (await apply(batch)) break;
        failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      onFault?.(error);
      failures += 1;
      await sleep(retryDelayMs(failures, backoff), signal);
    }
    onConnection?.('lost');
  }
}

/** Status 0: there is no response. */
const isOutage = ({ status }: AssentError) => status === 0 || status === 429 || status >= 500;

async function* connect(get: Get, from: string | undefined, options: BatchOptions, signal: AbortSignal) {
  const { origin, statuses, waitSeconds = 20, onFault } = options;
  let query: Query = { after: from, origin, statuses };
  try {
    return yield* readStream(get, query, signal);
  } catch (error) {
    if (!(error instanceof HeldBack)) throw error;
    onFault?.(error);
  }
  let triedAt = performance.now();
  let isThrough = false;
  while (!signal.aborted && !isThrough) {
    if (performance.now() - triedAt > tryStreamEveryMs) {
      triedAt = performance.now();
      void isStreamThrough(get, query, signal).then((is) => (isThrough = is));
    }
    const page = await get('/changes', { params: { query: { ...query, wait: waitSeconds } }, signal });
    const { changes, cursor, more } = page.data;
    query = { ...query, after: cursor };
    yield { changes, cursor, more, revision: changes.at(-1)?.revision, age: ageIn(page.headers) };
  }
}

/** Until the registry ends the stream. Throws HeldBack, and an Error for an empty stream. */
async function* readStream(get: Get, query: Query, signal: AbortSignal): AsyncGenerator<Batch, void> {
  const over = new LinkedController([signal]);
  let timer = setTimeout(() => over.abort(new HeldBack()), firstEventMs);
  try {
    const headers = { Accept: 'text/event-stream' };
    const { data } = await get('/changes', { params: { query }, headers, parseAs: 'stream', signal: over.signal });
    let hasEvents = false;
    for await (const events of readEventStream(chunksOf(data))) {
      clearTimeout(timer);
      hasEvents = true;
      const last = events.at(-1) as ServerSentEvent;
      const { revision, more, age = 0 } = JSON.parse(last.data) as { revision?: string; more?: boolean; age?: number };
      const changes = events.filter(({ event }) => event !== 'heartbeat').map(({ data }) => JSON.parse(data) as Change);
      // Until a heartbeat says that there is no more, older changes are still to come.
      const status = last.event === 'heartbeat' ? { more: more !== false, age } : { more: undefined, age: undefined };
      yield { changes, cursor: last.id, revision, ...status };
      timer = setTimeout(() => over.abort(), silenceMs);
    }
    // Something between here and the registry has answered.
    if (!hasEvents) throw new Error('The event stream ended without an event.');
  } catch (error) {
    throw over.signal.reason instanceof HeldBack ? over.signal.reason : error;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

/** Whether a stream delivers events now. Its events are dropped. */
async function isStreamThrough(get: Get, query: Query, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _batch of readStream(get, query, signal)) return true;
  } catch {
    // The caller retries later.
  }
  return false;
}

/** The lines of a snapshot, as they arrive: parsed, and as texts. */
type Put<Line> = (lines: Line[], texts: string[]) => void | Promise<void>;

/**
 * Reads the state of everything that a sender can follow. Resolves to its position, with the seconds since the registry
 * itself was known to be current. Throws an Error if it is incomplete.
 */
export async function readSnapshot<Line extends { kind: string }>(
  get: Get,
  query: Omit<Query, 'after'>,
  signal: AbortSignal,
  put: Put<Line>,
): Promise<Checkpoint & { age: number }> {
  const init = { params: { query }, headers: { Accept: 'application/jsonl' }, signal };
  const { data, headers } = await get('/snapshot', { ...init, parseAs: 'stream' });
  let end: Checkpoint | undefined;
  for await (const texts of readLines(chunksOf(data))) {
    const lines = texts.map((text) => JSON.parse(text) as Line | ({ kind: 'end' } & Checkpoint));
    if (lines.at(-1)?.kind === 'end') end = (texts.pop(), lines.pop() as Checkpoint);
    await put(lines as Line[], texts);
  }
  if (end === undefined) throw new Error('The snapshot is incomplete.');
  return { cursor: end.cursor, revision: end.revision, age: ageIn(headers) };
}

/** Seconds. Ignores a malformed value; the first of several counts (RFC 9111, section 5.1). */
function ageIn(headers: Headers): number {
  return Number(/^\d+/.exec(headers.get('Age') ?? '')?.[0] ?? 0);
}
