import { LinkedController, sleep } from '../../base/until.js';
import { AssentError, connectionLost } from './assent-error.js';
import type { Answer, Schemas } from './operations.js';

export type Change = Schemas['Change'];

export interface FollowOptions {
  /** The cursor to continue from. If absent, the present end of the feed. */
  after?: string | undefined;
  /** Only changes of this origin. */
  origin?: string | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
  /** After each event, also after a heartbeat: where to continue after a restart. */
  onCursor?: ((cursor: string) => void) | undefined;
  /** `live` when the registry responds, `lost` before each reconnection. */
  onConnection?: ((state: 'live' | 'lost') => void) | undefined;
}

interface Query {
  after?: string;
  origin?: string;
  wait?: number;
}

export interface Feed {
  stream(query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  page(query: Query, signal: AbortSignal): Promise<Answer<Schemas['ChangePage']>>;
}

interface Batch {
  changes: Change[];
  cursor: string;
}

/** Milliseconds. A stream sends an event when it opens, and then at least every 15 seconds by default. */
const firstEventMs = 8_000;
const silenceMs = 40_000;
const firstRetryMs = 500;
const longestRetryMs = 15_000;
const waitSeconds = 20;

/** No event arrived: a proxy holds the stream back. */
class HeldBack extends Error {}

/**
 * The changes of the feed, in order, from a stream or, behind a proxy that holds streams back, from pages. It reconnects
 * until the signal fires. Throws an AssentError that waiting does not solve: 400, 401, 403, 410.
 */
export async function* followChanges(feed: Feed, options: FollowOptions): AsyncGenerator<Change, void> {
  const { origin, signal, onCursor, onConnection } = options;
  let cursor = options.after;
  let isHeldBack = false;
  let retryMs = firstRetryMs;
  while (!signal?.aborted) {
    // One for each connection, so that nothing adds up on the signal of the caller.
    const connection = new LinkedController([signal]);
    try {
      const query = { ...(cursor !== undefined && { after: cursor }), ...(origin !== undefined && { origin }) };
      const batches = (isHeldBack ? readPages : readStream)(feed, query, connection);
      for await (const batch of batches) {
        retryMs = firstRetryMs;
        onConnection?.('live');
        yield* batch.changes;
        cursor = batch.cursor;
        onCursor?.(cursor);
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (connection.signal.reason instanceof HeldBack) isHeldBack = true;
      else if (error instanceof AssentError && !isOutage(error)) throw error;
    } finally {
      connection.abort();
    }
    onConnection?.('lost');
    await sleep(retryMs * (0.5 + Math.random() / 2), signal);
    retryMs = Math.min(retryMs * 2, longestRetryMs);
  }
}

const isOutage = ({ code, status }: AssentError) => code === connectionLost || status === 429 || status >= 500;

async function* readStream(feed: Feed, query: Query, connection: AbortController): AsyncGenerator<Batch> {
  let timer = setTimeout(() => connection.abort(new HeldBack()), firstEventMs);
  try {
    for await (const { id, event, data } of eventsOf(await feed.stream(query, connection.signal))) {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(), silenceMs);
      yield { changes: event === 'heartbeat' ? [] : [JSON.parse(data) as Change], cursor: id };
    }
  } finally {
    clearTimeout(timer);
  }
}

async function* readPages(feed: Feed, query: Query, { signal }: AbortController): AsyncGenerator<Batch> {
  for (let after = query; ;) {
    const { data } = await feed.page({ ...after, wait: waitSeconds }, signal);
    yield data;
    after = { ...query, after: data.cursor };
  }
}

interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/** WHATWG HTML, section 9.2.6; each line of the registry ends with a newline. EventSource cannot send a token. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let id = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const lines = part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^[^:]*: ?/, '')]);
        const { data, event = 'message', id: next = id } = Object.fromEntries(lines) as Partial<ServerSentEvent>;
        id = next;
        if (data !== undefined) yield { id, event, data };
      }
    }
  } finally {
    // Also when the caller stops reading. A stream that broke off rejects.
    await reader.cancel().catch(() => undefined);
  }
}
