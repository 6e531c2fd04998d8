import { effect, signal } from '@preact/signals';
import { AssentError, type Change } from '../../kits/client/index.js';
import { api } from './api.js';
import { isExpired, session } from './session.js';

export type { Change };

/** `off` without a token that may follow the feed. */
export const connection = signal<'off' | 'connecting' | 'live' | 'lost'>('off');
const listeners = new Set<(change: Change) => void>();

/** Calls back for each change until the returned function is called. */
export function onChange(listener: (change: Change) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Follows the feed for as long as the user is signed in. */
export function follow(): void {
  let stop = new AbortController();
  effect(() => {
    stop.abort();
    stop = new AbortController();
    const token = isExpired.value ? undefined : session.value?.token;
    connection.value = token === undefined ? 'off' : 'connecting';
    if (token !== undefined) void run(stop.signal);
  });
}

async function run(signal: AbortSignal): Promise<void> {
  const onConnection = (state: 'live' | 'lost') => void (signal.aborted || (connection.value = state));
  try {
    for await (const change of api.changes({ signal, onConnection })) listeners.forEach((listener) => listener(change));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof AssentError && error.status === 403) return void (connection.value = 'off');
    connection.value = 'lost';
    // The cursor is no longer known: it continues from the present end.
    if (error instanceof AssentError && error.status === 410) return run(signal);
  }
}
