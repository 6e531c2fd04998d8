import { RegistryError } from '../../base/errors.js';
import { indexLoading } from '../../matching/replica/replica.js';
import type { Query } from '../storage/sql.js';
import { readCursor, writeCursor } from './cursor.js';
import type { Follower } from './follower.js';
import { readLog, type LoggedChange, type FeedScope } from './log.js';
import { readOwnLog, readStatuses, type OwnScope } from './own-log.js';
import { createRing, type RingLimits } from './ring.js';

/**
 * The log as senders read it. The latest changes are in memory, as the follower applied them, and cost no query.
 * Readers that are further behind read pages of the log. A reader only moves forward, and never skips a change of its
 * scope.
 *
 * A subscriber reads the changes of its own subscriptions. Each carries their present status, from the database, instead
 * of the state that senders get.
 */
interface Feed {
  /**
   * A reader that continues from a cursor, or from the current end. RegistryErrors: `invalid_request` with the place,
   * for a cursor of another tenant, subscriber or origin; `cursor_too_old`, `cursor_of_other_history`, `index_loading`;
   * `revision_not_reached` if a replica of the database is behind the cursor.
   */
  open(scope: FeedScope, cursor: string | undefined, place: string): Promise<Reader>;
}

export interface Reader {
  /** The next page, empty at the end. Rejects with `cursor_too_old` or `cursor_of_other_history`. */
  read(limit: number): Promise<Page>;
  /**
   * Resolves to true when there is something to read, and to false after the time or when the signal fires.
   */
  wait(milliseconds: number, signal: AbortSignal): Promise<boolean>;
  /** The current position. */
  cursor(): string;
  revision(): string;
}

export interface Page {
  changes: readonly TextOfChange[];
  /** The process knows that more changes follow. */
  isMore: boolean;
}

/** A change in the form that is sent. */
interface TextOfChange {
  kind: string;
  cursor: string;
  json: string;
}

interface FeedSettings {
  follower: Pick<Follower, 'subscribe' | 'bounds' | 'position' | 'catchUp' | 'waitFor'>;
  query: Query;
  /** The process follows a standby. Other processes see changes earlier, so cursors may be ahead. */
  isStandby: boolean;
  memory: RingLimits;
  onPage: (source: 'memory' | 'log', changes: number) => void;
}

/** The size of one read of the log; some changes are large. */
const maxOfLog = { rows: 500, bytes: 262_144 };
/** For a position that another process has already issued. */
const longestWaitMs = 5_000;

export function createFeed({ follower, query, isStandby, memory, onPage }: FeedSettings): Feed {
  const ring = createRing(memory);
  /** The history of the ring. */
  let ringEpoch: string | undefined;
  /** How often the log was set back: each time begins another history, without a new epoch. */
  let setBacks = 0;
  /** For readers of the whole tenant, and for readers of one origin, whose cursors differ. */
  const texts = {
    tenant: new WeakMap<LoggedChange, TextOfChange>(),
    origin: new WeakMap<LoggedChange, TextOfChange>(),
  };
  /** Readers that wait at the end, by `audienceOf`. Each is called with the position before the change that wakes it. */
  const waiting = new Map<string, Set<(before: bigint) => void>>();

  follower.subscribe((changes, after) => {
    const present = follower.bounds()?.epoch;
    const isOther = present !== ringEpoch || after !== ring.end;
    if (after < ring.end) setBacks += 1;
    if (isOther) ring.reset(after);
    ringEpoch = present;
    ring.append(changes);
    for (const audience of isOther ? [...waiting.keys()] : audiencesOf(changes)) {
      const readers = waiting.get(audience);
      waiting.delete(audience);
      readers?.forEach((wake) => wake(isOther ? 0n : after));
    }
  });

  function bounds() {
    const present = follower.bounds();
    if (present !== undefined) return present;
    throw indexLoading();
  }

  function textOf(change: LoggedChange, scope: FeedScope): TextOfChange {
    const made = scope.origin === undefined ? texts.tenant : texts.origin;
    const known = made.get(change);
    if (known !== undefined) return known;
    const { epoch, secret } = bounds();
    const text = textWith(change, writeCursor(secret, scope, { epoch, position: change.position }), change.state);
    made.set(change, text);
    return text;
  }

  /** Made for each reader: the status is the present one. */
  async function ownTexts(changes: readonly LoggedChange[], scope: OwnScope): Promise<TextOfChange[]> {
    const statuses = await readStatuses(query, changes, scope);
    const { epoch, secret } = bounds();
    return changes.map((change, place) => {
      const { position, kind } = change;
      const own =
        kind === 'subscription.moved'
          ? []
          : (statuses[place] ?? []).map(({ id, status, reason }) => ({ id, status, reason }));
      const state = own.length === 0 ? null : JSON.stringify({ subscriptions: own });
      return textWith(change, writeCursor(secret, scope, { epoch, position }), state);
    });
  }

  /** The state that every sender gets, on request with the present statuses behind it. */
  async function textsOf(changes: readonly LoggedChange[], scope: FeedScope): Promise<TextOfChange[]> {
    if (!scope.withStatus) return changes.map((change) => textOf(change, scope));
    const statuses = await readStatuses(query, changes, scope);
    return changes.map((change, place) => {
      const text = textOf(change, scope);
      return { ...text, json: `${text.json.slice(0, -1)},"subscriptions":${JSON.stringify(statuses[place] ?? [])}}` };
    });
  }

  function createReader(scope: FeedScope, own: { epoch: string; position: bigint }): Reader {
    const audience = audienceOf(scope);
    const known = setBacks;
    const goTo = (position: bigint) => {
      if (position > own.position) own.position = position;
    };
    const check = (now: { epoch: string; horizon: bigint }) => {
      if (now.epoch !== own.epoch || known !== setBacks) throw otherHistory();
      if (own.position < now.horizon) throw tooOld();
    };
    async function readOwn(limit: number, whose: OwnScope): Promise<Page> {
      check(bounds());
      const { from, end } = ring;
      const isInMemory = own.position >= from;
      const maxRows = Math.min(limit, maxOfLog.rows);
      const page = isInMemory
        ? { ...ring.read(whose, own.position, maxRows), end }
        : await readOwnLog(query, own.position, maxRows, whose);
      if ('bounds' in page) check(page.bounds);
      if (page.end < from) throw otherHistory();
      const changes = await ownTexts(page.changes, whose);
      // Not before: if the query fails, the reader reads these changes again.
      goTo(page.position);
      onPage(isInMemory ? 'memory' : 'log', changes.length);
      return { changes, isMore: own.position < page.end };
    }

    return {
      async read(limit) {
        const { subscriber } = scope;
        if (subscriber !== undefined) return readOwn(limit, { ...scope, subscriber });
        check(bounds());
        if (own.position >= ring.from) {
          const page = ring.read(scope, own.position, limit);
          const changes = await textsOf(page.changes, scope);
          goTo(page.position);
          onPage('memory', page.changes.length);
          return { changes, isMore: own.position < ring.end };
        }
        const { from } = ring;
        const limits = { ...maxOfLog, rows: Math.min(limit, maxOfLog.rows) };
        const page = await readLog(query, own.position, limits, scope);
        check(page.bounds);
        // A log that ends before a position that was already read is another log.
        if (page.end < from) throw otherHistory();
        const { isMore } = page;
        const changes = await textsOf(page.changes, scope);
        goTo((isMore ? page.changes.at(-1)?.position : page.end) ?? own.position);
        onPage('log', page.changes.length);
        return { changes, isMore: isMore && own.position < page.end };
      },

      wait: (milliseconds, signal) =>
        new Promise((resolve) => {
          if (own.position < ring.end || signal.aborted) return resolve(!signal.aborted);
          const readers = waiting.get(audience) ?? new Set();
          waiting.set(audience, readers.add(wake));
          const timer = setTimeout(end, milliseconds, false);
          signal.addEventListener('abort', abort);
          function end(isThere: boolean) {
            clearTimeout(timer);
            signal.removeEventListener('abort', abort);
            readers.delete(wake);
            if (readers.size === 0 && waiting.get(audience) === readers) waiting.delete(audience);
            // Not called so far, so there was no change for it.
            if (!isThere && own.epoch === ringEpoch) goTo(ring.end);
            resolve(isThere);
          }
          function abort() {
            end(false);
          }
          function wake(before: bigint) {
            goTo(before);
            end(true);
          }
        }),
      cursor: () => writeCursor(bounds().secret, scope, own),
      revision: () => String(own.position),
    };
  }

  return {
    async open(scope, cursor, place) {
      const { epoch, secret } = bounds();
      if (cursor === undefined) return createReader(scope, { epoch, position: ring.end });
      const own = readCursor(secret, scope, cursor);
      if (own === undefined) throw unknownCursor(place);
      if (own === 'of_other_origin') throw cursorOfOtherOrigin(place);
      // A process that is ahead of this one may have issued the cursor.
      if (own.epoch !== epoch || own.position > ring.end) await follower.catchUp();
      if (isStandby && own.epoch === bounds().epoch && own.position > ring.end) {
        if (!(await follower.waitFor(own.position, longestWaitMs))) throw notReached();
      }
      const present = bounds();
      if (own.epoch !== present.epoch || own.position > ring.end) throw otherHistory();
      if (own.position < present.horizon) throw tooOld();
      return createReader(scope, own);
    },
  };
}

function textWith(change: LoggedChange, cursor: string, state: string | null): TextOfChange {
  const { position, at, kind, origin, sink, subscription, reason } = change;
  const members = {
    cursor,
    revision: String(position),
    at,
    kind,
    origin,
    ...(sink === '' ? {} : { sink }),
    ...(subscription === null ? {} : { subscription }),
    ...(reason === null ? {} : { reason }),
  };
  return { kind, cursor, json: `${JSON.stringify(members).slice(0, -1)},"state":${state ?? 'null'}}` };
}

/** Readers that the same changes wake. A tenant's name contains no NUL. */
function audienceOf({ tenant, subscriber }: FeedScope): string {
  return subscriber === undefined ? tenant : `${tenant}\0${subscriber}`;
}

function audiencesOf(changes: readonly LoggedChange[]): Set<string> {
  const audiences = new Set<string>();
  for (const { tenant, subscribers } of changes) {
    audiences.add(tenant);
    for (const subscriber of subscribers ?? []) audiences.add(audienceOf({ tenant, subscriber }));
  }
  return audiences;
}

function unknownCursor(place: string): RegistryError {
  return new RegistryError('invalid_request', 'This cursor was not issued to this caller.', {
    faults: [{ pointer: place, rule: 'cursor_unknown', detail: 'Use the cursor of a snapshot, a page or an event.' }],
  });
}

function cursorOfOtherOrigin(place: string): RegistryError {
  const detail =
    'Continue with the `origin` that it was issued for. A cursor from a snapshot without `origin` works with any.';
  return new RegistryError(
    'invalid_request',
    'This cursor belongs to a single origin, which is not the requested one.',
    {
      faults: [{ pointer: place, rule: 'cursor_of_other_origin', detail }],
    },
  );
}

function notReached(): RegistryError {
  return new RegistryError('revision_not_reached', 'The replica of the database is behind this cursor. Try again.', {
    retryAfterSeconds: 1,
  });
}

function tooOld(): RegistryError {
  return new RegistryError(
    'cursor_too_old',
    'Changes after this cursor were deleted. Get a new snapshot and continue from its cursor.',
  );
}

function otherHistory(): RegistryError {
  return new RegistryError(
    'cursor_of_other_history',
    'The database was restored or failed over since this cursor was issued. Get a new snapshot and continue from its cursor.',
  );
}
