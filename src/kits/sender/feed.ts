import { LinkedController } from '../../base/until.js';
import { readLines } from './lines.js';
import type { RegistryClient } from './registry-client.js';

/** Changes that arrived from the feed together. */
export interface Batch {
  /** The changes, each as JSON. */
  changes: string[];
  /** The feed continues after it. */
  cursor: string;
  /** Undefined if unknown. */
  revision: string | undefined;
  /** Whether more changes are available; undefined if unknown. */
  more: boolean | undefined;
  /** Seconds since the registry itself was known to be current; undefined if unknown. */
  age: number | undefined;
}

/** No event arrived: a proxy buffers the stream. */
export class HeldBack extends Error {
  override readonly name = 'HeldBack';
}

interface FeedRequest {
  client: RegistryClient;
  /** The query string of `v1/changes`: the cursor and the scope. */
  query: string;
  signal: AbortSignal;
}

interface Heartbeat {
  revision?: string;
  more?: boolean;
  age?: number;
}

/** A stream sends an event when it opens, then a heartbeat every 15 seconds. */
const firstMs = 8_000;
/** Milliseconds of silence that end a stream or a snapshot. */
export const silenceMs = 40_000;
/** Shorter than the time-out of a call. */
const waitSeconds = 8;

/** Reads Server-Sent Events until the registry ends the stream. Throws HeldBack, and an Error for an empty stream. */
export async function* readStream({ client, query, signal }: FeedRequest): AsyncGenerator<Batch> {
  const over = new LinkedController([signal]);
  const timer = setTimeout(
    () => over.abort(new HeldBack('No event arrives on the stream. Polling pages instead.')),
    firstMs,
  );
  try {
    const accept = 'text/event-stream';
    const path = `v1/changes?${query}`;
    const body = await client.call({ method: 'GET', path, accept, signal: over.signal, silenceMs, freshToken: true });
    let hasEvents = false;
    for await (const events of readEventStream(body)) {
      const last = events.at(-1);
      if (last === undefined) continue;
      clearTimeout(timer);
      hasEvents = true;
      const { revision, more, age = 0 } = JSON.parse(last.data) as Heartbeat;
      const isBeat = last.event === 'heartbeat';
      const changes = events.filter(({ event }) => event !== 'heartbeat').map(({ data }) => data);
      // Until a heartbeat says that there is no more, older changes are still to come.
      const status = isBeat ? { more: more !== false, age } : { more: undefined, age: undefined };
      yield { changes, cursor: last.id, revision, ...status };
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
export async function isStreamThrough(request: FeedRequest): Promise<boolean> {
  try {
    for await (const _batch of readStream(request)) return true;
  } catch {
    // The caller retries later.
  }
  return false;
}

/** Long-polls for the next page. */
export async function readPage({ client, query, signal }: FeedRequest): Promise<Batch> {
  let age = 0;
  const body = await client.call({
    method: 'GET',
    path: `v1/changes?${query}&wait=${waitSeconds}`,
    signal,
    onHeaders: (headers) => void (age = ageIn(headers)),
  });
  const page = (await body.json()) as { changes: Array<{ revision: string }>; cursor: string; more: boolean };
  const changes = page.changes.map((change) => JSON.stringify(change));
  return { changes, cursor: page.cursor, revision: page.changes.at(-1)?.revision, more: page.more, age };
}

/** Seconds. Ignores a malformed value; the first of several counts (RFC 9111, section 5.1). */
export function ageIn({ age }: Readonly<Record<string, string | string[] | undefined>>): number {
  return Number(/^\d+/.exec(String(age))?.[0] ?? 0);
}

interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * The events of a stream (HTML, section 9.2.6), in batches as they arrive. An incomplete last event is dropped.
 * EventSource cannot send a token, and hides why a stream was refused.
 */
async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent[]> {
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const lines of readLines(chunks)) {
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ id, event: event || 'message', data: data.join('\n') });
        event = '';
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const name = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (name === 'id' && !value.includes('\0')) id = value;
      else if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
    }
    yield events;
  }
}
