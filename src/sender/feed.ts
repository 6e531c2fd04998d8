import { readLines } from './lines.js';
import type { RegistryClient } from './registry-client.js';

/** What arrived from the feed together. */
export interface Batch {
  /** The changes, each as JSON. */
  changes: string[];
  /** What comes after it is not told yet. */
  cursor: string;
  /** Undefined where nothing told it. */
  revision: string | undefined;
  /** Whether there is more already; undefined where nothing told it. */
  more: boolean | undefined;
  /** How many seconds ago the registry itself was known to be current; undefined where nothing told it. */
  age: number | undefined;
}

/** Nothing came of the stream: something on the way holds it back until it ends. */
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

/** A stream is heard of when it is opened, and then every 15 seconds. */
const firstMs = 8_000;
/** How long an answer may be silent, of a stream and of a snapshot. */
export const silenceMs = 40_000;
/** A page has to be there before a call is given up. */
const waitSeconds = 8;

/** As Server-Sent Events, until the registry ends them. Throws HeldBack, and an Error for a stream without any. */
export async function* readStream({ client, query, signal }: FeedRequest): AsyncGenerator<Batch> {
  const over = new AbortController();
  const end = () => over.abort(signal.reason);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const timer = setTimeout(
    () => over.abort(new HeldBack('Nothing comes of the event stream: pages are read.')),
    firstMs,
  );
  try {
    const accept = 'text/event-stream';
    const path = `v1/changes?${query}`;
    const body = await client.call({ method: 'GET', path, accept, signal: over.signal, silenceMs, freshToken: true });
    let isTold = false;
    for await (const events of readEventStream(body)) {
      const last = events.at(-1);
      if (last === undefined) continue;
      clearTimeout(timer);
      isTold = true;
      const { revision, more, age = 0 } = JSON.parse(last.data) as Heartbeat;
      const isBeat = last.event === 'heartbeat';
      const changes = events.filter(({ event }) => event !== 'heartbeat').map(({ data }) => data);
      // Until a heartbeat has said that there is no more, changes of before are still to come.
      const told = isBeat ? { more: more !== false, age } : { more: undefined, age: undefined };
      yield { changes, cursor: last.id, revision, ...told };
    }
    // Something between here and the registry has answered.
    if (!isTold) throw new Error('The event stream ended without an event.');
  } catch (error) {
    throw over.signal.reason instanceof HeldBack ? over.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** Whether a stream tells anything now; what it tells is not taken in. */
export async function isStreamThrough(request: FeedRequest): Promise<boolean> {
  try {
    for await (const _batch of readStream(request)) return true;
  } catch {
    // It is tried again.
  }
  return false;
}

/** A page, as soon as there is something on it. */
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

/** Seconds. What is no number is passed over, and of several the first one counts (HTTP caching, section 5.1). */
export function ageIn({ age }: Readonly<Record<string, string | string[] | undefined>>): number {
  return Number(/^\d+/.exec(String(age))?.[0] ?? 0);
}

interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * The events of a stream (HTML, section 9.2.6), as many at a time as have come; one that is cut at the end of the
 * stream is none. EventSource would do this too, but takes no header and keeps to itself why a stream was refused.
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
