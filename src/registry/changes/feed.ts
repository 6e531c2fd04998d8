import { RegistryError } from '../../base/errors.js';
import { everyTenant } from '../../matching/replica/blocks.js';
import { indexLoading } from '../../matching/replica/replica.js';
import { isEffectOfBlock } from '../../matching/replica/state.js';
import type { Query } from '../storage/database.js';
import { readCursor, writeCursor, type FeedPosition } from './cursor.js';
import type { Follower } from './follower.js';
import { isVisible, positionBefore, readLog, type FeedScope, type LogBounds, type LoggedChange } from './log.js';
import { readOwnLog, readStatuses, type OwnScope } from './own-log.js';
import { Ring, type RingLimits } from './ring.js';

export interface ChangePage {
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

type Wake = (before: bigint) => void;

/** The size of one read of the log; some changes are large. */
const maxOfLog = { rows: 500, bytes: 262_144 };
/** For a position that another process has already issued. */
const longestWaitMs = 5_000;

/**
 * The log as senders read it. The latest changes are in memory, as the follower applied them, and cost no query.
 * Readers that are further behind read pages of the log. A reader only moves forward, and never skips a change of its
 * scope.
 *
 * A subscriber reads the changes of its own subscriptions. Each carries their present statuses, from the database, instead
 * of the resource that senders get.
 */
export class Feed {
  readonly #settings: FeedSettings;
  readonly ring: Ring;
  /** Of the ring. */
  #epoch: string | undefined;
  /** How often the log was set back: each time begins another history, without a new epoch. */
  #setBacks = 0;
  /** For readers of the whole tenant, and for readers of one origin, whose cursors differ. */
  readonly #texts = {
    tenant: new WeakMap<LoggedChange, TextOfChange>(),
    origin: new WeakMap<LoggedChange, TextOfChange>(),
  };
  /** Readers that wait at the end, by `audienceOf`. Each is called with the position before the change that wakes it. */
  readonly #waiting = new Map<string, Set<Wake>>();

  constructor(settings: FeedSettings) {
    this.#settings = settings;
    this.ring = new Ring(settings.memory);
    settings.follower.subscribe((changes, after) => this.#append(changes, after));
  }

  /**
   * A reader that continues from a cursor, or from the current end, or `last` changes before it. RegistryErrors:
   * `invalid_request` with the place, for a cursor of another tenant, subscriber or origin; `cursor_too_old`,
   * `cursor_of_other_history`, `index_loading`; `revision_not_reached` if a replica of the database is behind the cursor.
   */
  async open(scope: FeedScope, cursor: string | undefined, place: string, last?: number): Promise<Reader> {
    const { follower, query, isStandby, onPage } = this.#settings;
    const { epoch, secret } = this.bounds();
    if (cursor === undefined) {
      const { end } = this.ring;
      const before = last === undefined ? end : await positionBefore(query, scope, last);
      return new Reader(this, query, onPage, scope, { epoch, position: before < end ? before : end });
    }
    const own = readCursor(secret, scope, cursor);
    if (own === undefined) throw unknownCursor(place);
    if (own === 'of_other_origin') throw cursorOfOtherOrigin(place);
    // A process that is ahead of this one may have issued the cursor.
    if (own.epoch !== epoch || own.position > this.ring.end) await follower.catchUp();
    if (isStandby && own.epoch === this.bounds().epoch && own.position > this.ring.end) {
      if (!(await follower.waitFor(own.position, longestWaitMs))) throw notReached();
    }
    const present = this.bounds();
    if (own.epoch !== present.epoch || own.position > this.ring.end) throw otherHistory();
    if (own.position < present.horizon) throw tooOld();
    return new Reader(this, query, onPage, scope, own);
  }

  get history() {
    return { epoch: this.#epoch, setBacks: this.#setBacks };
  }

  bounds() {
    const present = this.#settings.follower.bounds();
    if (present !== undefined) return present;
    throw indexLoading();
  }

  /** The resource that every sender gets, on request with the present statuses behind it. */
  async textsOf(changes: readonly LoggedChange[], scope: FeedScope): Promise<TextOfChange[]> {
    if (!scope.withStatuses) return changes.map((change) => this.#textOf(change, scope));
    const statuses = await readStatuses(this.#settings.query, changes, scope);
    return changes.map((change, place) => withStatuses(this.#textOf(change, scope), statuses[place] ?? []));
  }

  /** Made for each reader: the status is the present one. */
  async ownTextsOf(changes: readonly LoggedChange[], scope: OwnScope): Promise<TextOfChange[]> {
    const statuses = await readStatuses(this.#settings.query, changes, scope);
    const { epoch, secret } = this.bounds();
    return changes.map((change, place) => {
      const { position, kind } = change;
      const own =
        kind === 'subscription.moved'
          ? []
          : (statuses[place] ?? []).map(({ id, status, code }) => ({ id, status, code }));
      return withStatuses(
        textWith({ ...change, resource: null }, writeCursor(secret, scope, { epoch, position })),
        own,
      );
    });
  }

  /** Calls back at the next change of the scope, unless the returned function is called before. */
  atNext(scope: FeedScope, wake: Wake): () => void {
    const audience = audienceOf(scope);
    const readers = this.#waiting.get(audience) ?? new Set();
    this.#waiting.set(audience, readers.add(wake));
    return () => {
      readers.delete(wake);
      if (readers.size === 0 && this.#waiting.get(audience) === readers) this.#waiting.delete(audience);
    };
  }

  #append(changes: readonly LoggedChange[], after: bigint): void {
    const present = this.#settings.follower.bounds()?.epoch;
    const isOther = present !== this.#epoch || after !== this.ring.end;
    if (after < this.ring.end) this.#setBacks += 1;
    if (isOther) this.ring.reset(after);
    this.#epoch = present;
    this.ring.append(changes);
    for (const audience of isOther || changes.some(isForAll) ? [...this.#waiting.keys()] : audiencesOf(changes)) {
      const readers = this.#waiting.get(audience);
      this.#waiting.delete(audience);
      readers?.forEach((wake) => wake(isOther ? 0n : after));
    }
  }

  #textOf(change: LoggedChange, scope: FeedScope): TextOfChange {
    const made = scope.origin === undefined ? this.#texts.tenant : this.#texts.origin;
    const known = made.get(change);
    if (known !== undefined) return known;
    const { epoch, secret } = this.bounds();
    const text = textWith(change, writeCursor(secret, scope, { epoch, position: change.position }));
    made.set(change, text);
    return text;
  }
}

/** One position in the feed. */
export class Reader {
  readonly #feed: Feed;
  readonly #query: Query;
  readonly #onPage: FeedSettings['onPage'];
  readonly #scope: FeedScope;
  readonly #epoch: string;
  #position: bigint;
  readonly #setBacks: number;

  constructor(feed: Feed, query: Query, onPage: FeedSettings['onPage'], scope: FeedScope, from: FeedPosition) {
    this.#feed = feed;
    this.#query = query;
    this.#onPage = onPage;
    this.#scope = scope;
    this.#epoch = from.epoch;
    this.#position = from.position;
    this.#setBacks = feed.history.setBacks;
  }

  /** The next page, empty at the end. Rejects with `cursor_too_old` or `cursor_of_other_history`. */
  async read(limit: number): Promise<ChangePage> {
    const { subscriber } = this.#scope;
    if (subscriber !== undefined) return this.#readOwn(limit, { ...this.#scope, subscriber });
    const { ring } = this.#feed;
    this.#check(this.#feed.bounds());
    if (this.#position >= ring.from) {
      const page = ring.read(this.#scope, this.#position, limit);
      const changes = await this.#feed.textsOf(page.changes, this.#scope);
      this.#goTo(page.position);
      this.#onPage('memory', page.changes.length);
      return { changes, isMore: this.#position < ring.end };
    }
    const { from } = ring;
    const limits = { ...maxOfLog, rows: Math.min(limit, maxOfLog.rows) };
    const page = await readLog(this.#query, this.#position, limits, this.#scope);
    this.#check(page.bounds);
    // A log that ends before a position that was already read is another log.
    if (page.end < from) throw otherHistory();
    const { isMore } = page;
    const visible = page.changes.filter((change) => isVisible(change, this.#scope));
    const changes = await this.#feed.textsOf(visible, this.#scope);
    this.#goTo((isMore ? page.changes.at(-1)?.position : page.end) ?? this.#position);
    this.#onPage('log', changes.length);
    return { changes, isMore: isMore && this.#position < page.end };
  }

  /**
   * Resolves to true when there is something to read, and to false after the time or when the signal fires.
   */
  wait(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#position < this.#feed.ring.end || signal.aborted) return resolve(!signal.aborted);
      const end = (isThere: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        leave();
        // Not called so far, so there was no change for it.
        if (!isThere && this.#epoch === this.#feed.history.epoch) this.#goTo(this.#feed.ring.end);
        resolve(isThere);
      };
      const abort = () => end(false);
      const leave = this.#feed.atNext(this.#scope, (before) => {
        this.#goTo(before);
        end(true);
      });
      const timer = setTimeout(end, milliseconds, false);
      signal.addEventListener('abort', abort);
    });
  }

  /** The current position. */
  cursor(): string {
    return writeCursor(this.#feed.bounds().secret, this.#scope, { epoch: this.#epoch, position: this.#position });
  }

  revision(): string {
    return String(this.#position);
  }

  async #readOwn(limit: number, scope: OwnScope): Promise<ChangePage> {
    this.#check(this.#feed.bounds());
    const { ring } = this.#feed;
    const { from, end } = ring;
    const isInMemory = this.#position >= from;
    const maxRows = Math.min(limit, maxOfLog.rows);
    const page = isInMemory
      ? { ...ring.read(scope, this.#position, maxRows), end }
      : await readOwnLog(this.#query, this.#position, maxRows, scope);
    if ('bounds' in page) this.#check(page.bounds);
    if (page.end < from) throw otherHistory();
    const changes = await this.#feed.ownTextsOf(page.changes, scope);
    // Not before: if the query fails, the reader reads these changes again.
    this.#goTo(page.position);
    this.#onPage(isInMemory ? 'memory' : 'log', changes.length);
    return { changes, isMore: this.#position < page.end };
  }

  #goTo(position: bigint): void {
    if (position > this.#position) this.#position = position;
  }

  #check(now: LogBounds): void {
    if (now.epoch !== this.#epoch || this.#setBacks !== this.#feed.history.setBacks) throw otherHistory();
    if (this.#position < now.horizon) throw tooOld();
  }
}

function textWith(change: LoggedChange, cursor: string): TextOfChange {
  const { position, at, kind, origin, sink, subscription, cause, block, resource } = change;
  const members = {
    cursor,
    revision: String(position),
    at,
    kind,
    ...(origin === '' ? {} : { origin }),
    ...(sink === '' ? {} : { sink }),
    ...(subscription === null ? {} : { subscription }),
    ...(cause === null ? {} : { cause }),
    ...(block === null ? {} : { block }),
  };
  const json = JSON.stringify(members);
  return { kind, cursor, json: resource === null ? json : `${json.slice(0, -1)},"resource":${resource}}` };
}

function withStatuses(text: TextOfChange, statuses: readonly object[]): TextOfChange {
  return { ...text, json: `${text.json.slice(0, -1)},"statuses":${JSON.stringify(statuses)}}` };
}

/** Readers that the same changes wake. A tenant's name contains no NUL. */
function audienceOf({ tenant, subscriber, withStatuses }: FeedScope): string {
  return subscriber === undefined ? (withStatuses ? `${tenant}\0\0` : tenant) : `${tenant}\0${subscriber}`;
}

function audiencesOf(changes: readonly LoggedChange[]): Set<string> {
  const audiences = new Set<string>();
  for (const { kind, tenant, subscribers } of changes) {
    if (!isEffectOfBlock(kind)) audiences.add(tenant);
    audiences.add(audienceOf({ tenant, withStatuses: true }));
    for (const subscriber of subscribers ?? []) audiences.add(audienceOf({ tenant, subscriber }));
  }
  return audiences;
}

function isForAll({ tenant }: LoggedChange): boolean {
  return tenant === everyTenant;
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
