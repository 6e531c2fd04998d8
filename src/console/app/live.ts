import { effect, signal } from '@preact/signals';
import { apiUrl, type Schemas } from './api.js';
import { isExpired, session } from './session.js';

export type Change = Schemas['Change'];

/** `off` without a token that may follow the feed. */
export const connection = signal<'off' | 'connecting' | 'live' | 'lost'>('off');
const listeners = new Set<(change: Change) => void>();

/** Calls back for each change until the returned function is called. */
export function onChange(listener: (change: Change) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const firstRetryMs = 1_000;
const longestRetryMs = 15_000;

/** Follows the feed for as long as the user is signed in. EventSource cannot send a token, so it reads the stream itself. */
export function follow(): void {
  let stop = new AbortController();
  effect(() => {
    stop.abort();
    stop = new AbortController();
    const token = isExpired.value ? undefined : session.value?.token;
    connection.value = token === undefined ? 'off' : 'connecting';
    if (token !== undefined) void run(token, stop.signal);
  });
}

async function run(token: string, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    try {
      const url = new URL('changes', apiUrl);
      if (cursor !== undefined) url.searchParams.set('after', cursor);
      const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${token}` };
      const response = await fetch(url, { headers, signal });
      if (response.status === 403) return void (connection.value = 'off');
      // A cursor that is no longer known: what is shown is read again.
      if (response.status === 410 || response.status === 400) cursor = undefined;
      if (!response.ok || response.body === null) throw new Error(String(response.status));
      retryMs = firstRetryMs;
      for await (const { id, event, data } of eventsOf(response.body)) {
        connection.value = 'live';
        cursor = id ?? cursor;
        if (event === 'heartbeat') continue;
        const change = JSON.parse(data) as Change;
        listeners.forEach((listener) => listener(change));
      }
    } catch {
      if (signal.aborted) return;
    }
    connection.value = 'lost';
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    retryMs = Math.min(retryMs * 2, longestRetryMs);
  }
}

interface ServerSentEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/** WHATWG HTML, section 9.2.6; each line of the registry ends with a newline. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(
        part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      if (fields.has('data')) {
        yield { id: fields.get('id'), event: fields.get('event') ?? 'message', data: fields.get('data') ?? '' };
      }
    }
  }
}
