import { readEventStream } from './event-stream.js';
import type { RegistryClient } from './registry-client.js';

/** What the feed has told at once. */
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

interface Place {
  client: RegistryClient;
  /** Behind `v1/changes`: the cursor and the scope. */
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
const silenceMs = 40_000;
/** A page has to be there before a call is given up. */
const waitSeconds = 8;

/** As Server-Sent Events, until the registry ends them. Throws HeldBack, and an Error for a stream without any. */
export async function* readStream({ client, query, signal }: Place): AsyncGenerator<Batch> {
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
export async function isStreamThrough(place: Place): Promise<boolean> {
  try {
    for await (const _batch of readStream(place)) return true;
  } catch {
    // It is tried again.
  }
  return false;
}

/** A page, as soon as there is something on it. */
export async function readPage({ client, query, signal }: Place): Promise<Batch> {
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
