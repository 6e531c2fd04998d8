import { LinkedController, sleep } from '../../base/until.js';
import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import { brokenParameters } from '../../base/contract/contract.js';
import { ageHeader, type OperationRequest, type Handlers } from '../http/handler.js';
import { parseOriginName } from '../../consent/origin.js';
import { asUnavailable } from '../storage/database-errors.js';
import { auditRoutes } from './audit-routes.js';
import { Feed, type ChangePage, type Reader } from './feed.js';
import type { FeedScope } from './log.js';
import { writeSnapshot, type Write } from './snapshot.js';

/** The latest changes, in memory. */
const feedMemory = { entries: 16_384, bytes: 33_554_432 };
const defaultLimit = 200;
/** How long a snapshot may take. Most of this is time for its reader. */
const snapshotMs = 900_000;
const retryMs = 1_000;
/** The pause after a failed read of the log. */
const awayMs = 2_000;

export function routes(context: Context): Handlers<'listChanges' | 'getSnapshot' | 'listAuditRecords'> {
  const { config, database, follower, freshness, metrics, readers, stopping } = context;
  const feed = new Feed({
    follower,
    query: database.query,
    memory: feedMemory,
    isStandby: config.database.replicaUrl !== undefined,
    onPage: (source, changes) => metrics.feedPage(source, changes),
  });
  const admit = (kind: 'stream' | 'poll', { tenant, subscriber }: FeedScope, signal: AbortSignal) =>
    readers.admit(subscriber === undefined ? kind : 'consumer', tenant, signal, subscriber);
  return {
    ...auditRoutes(context),

    listChanges: async (call) => {
      const { query, header, principal, signal, preferred } = call;
      const scope = ownScopeOf(call);
      const isStream = preferred('application/json', 'text/event-stream') === 'text/event-stream';
      const lastEvent = isStream ? header['last-event-id'] || undefined : undefined;
      const place = lastEvent === undefined ? 'query/after' : 'header/last-event-id';
      const headers = { Vary: 'Accept' };
      if (isStream) {
        admit('stream', scope, signal);
        const reader = await feed.open(scope, lastEvent ?? query.after, place, query.last);
        const over = new LinkedController([signal, stopping], principal.tokenExpiresAt - Date.now());
        return {
          status: 200,
          mediaType: 'text/event-stream',
          headers: { ...headers, 'X-Accel-Buffering': 'no' },
          stream: (write) => sendEvents(context, reader, write, over.signal),
        };
      }
      const waitMs = Math.min((query.wait ?? 0) * 1_000, principal.tokenExpiresAt - Date.now());
      if (waitMs > 0) admit('poll', scope, signal);
      const reader = await feed.open(scope, query.after, place, query.last);
      const over = new LinkedController([signal, stopping]);
      const page = await readWithin(reader, query.limit ?? defaultLimit, waitMs, over.signal);
      const changes = page.changes.map(({ json }) => json).join();
      return {
        status: 200,
        headers: { ...headers, ...ageHeader(freshness.age()) },
        json: `{"changes":[${changes}],"cursor":"${reader.cursor()}","more":${page.isMore}}`,
      };
    },

    getSnapshot: async (call) => {
      const scope = scopeOf(call);
      readers.admit('snapshot', call.principal.tenant, call.signal);
      const over = new LinkedController([call.signal, stopping], snapshotMs);
      return {
        status: 200,
        mediaType: 'application/jsonl',
        headers: ageHeader(freshness.ageOfDatabase()),
        stream: (write) => writeSnapshot(database, scope, write, over.signal, call.query.statuses === true),
      };
    },
  };
}

/** A consumer, which is neither a sender nor an admin, reads only what concerns its own subscriptions. */
function ownScopeOf(call: OperationRequest<'listChanges'>): FeedScope {
  const { scopes, subscriber } = call.principal;
  const seesAll = scopes.has('assent:deliver') || scopes.has('assent:admin');
  return seesAll ? { ...scopeOf(call), withStatuses: call.query.statuses } : { ...scopeOf(call), subscriber };
}

/** An origin with an invalid name is refused: it could never have a change. */
function scopeOf({ principal, query }: OperationRequest<'listChanges'> | OperationRequest<'getSnapshot'>): FeedScope {
  const origin = query.origin === undefined ? undefined : parseOriginName(query.origin);
  if (origin?.ok === false) {
    throw brokenParameters([{ pointer: 'query/origin', rule: origin.rule, detail: origin.detail }]);
  }
  return { tenant: principal.tenant, origin: origin?.name };
}

/**
 * A page with changes, or an empty page after the time. It waits again if all changes of the tenant are out of scope.
 */
async function readWithin(reader: Reader, limit: number, waitMs: number, signal: AbortSignal): Promise<ChangePage> {
  const until = performance.now() + waitMs;
  for (;;) {
    const page = await reader.read(limit);
    const left = until - performance.now();
    if (page.changes.length > 0 || (!page.isMore && (left <= 0 || !(await reader.wait(left, signal))))) return page;
  }
}

/**
 * Server-Sent Events (WHATWG HTML, section 9.2). A slow reader occupies only one page, because the next page is read
 * after this one was sent. If the cursor becomes invalid, the stream ends, and the next request returns the reason.
 */
async function sendEvents(
  { config, freshness }: Context,
  reader: Reader,
  write: Write,
  signal: AbortSignal,
): Promise<void> {
  const { heartbeatMs } = config.feed;
  let beatAt = performance.now();
  let isAtEnd = false;
  const leftMs = () => beatAt + heartbeatMs - performance.now();
  const heartbeat = (more: boolean) => {
    beatAt = performance.now();
    isAtEnd = !more;
    const data = JSON.stringify({ revision: reader.revision(), more, age: freshness.age() });
    return write(`id: ${reader.cursor()}\nevent: heartbeat\ndata: ${data}\n\n`);
  };
  // The first one shows that the stream is open, the next one that the reader has received everything.
  await write(`retry: ${retryMs}\n`);
  await heartbeat(true);
  while (!signal.aborted) {
    const page = await readOn(reader);
    if (page === 'lost') return;
    if (page === 'away') {
      await heartbeat(true);
      await sleep(Math.min(heartbeatMs, awayMs), signal);
      continue;
    }
    if (page.changes.length > 0) {
      await write(
        page.changes.map(({ cursor, kind, json }) => `id: ${cursor}\nevent: ${kind}\ndata: ${json}\n\n`).join(''),
      );
    }
    // Changes carry no age, so a steady flow of changes does not replace heartbeats.
    if (page.isMore) {
      if (leftMs() <= 0) await heartbeat(true);
      continue;
    }
    if (!isAtEnd) await heartbeat(false);
    const idleMs = leftMs();
    if (!(idleMs > 0 && (await reader.wait(idleMs, signal))) && !signal.aborted) await heartbeat(false);
  }
}

async function readOn(reader: Reader): Promise<ChangePage | 'lost' | 'away'> {
  try {
    return await reader.read(defaultLimit);
  } catch (thrown) {
    const error = asUnavailable(thrown);
    if (!(error instanceof RegistryError)) throw error;
    return error.code === 'database_unavailable' ? 'away' : 'lost';
  }
}
