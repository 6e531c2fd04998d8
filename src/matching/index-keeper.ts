import type { Profile } from '../origins/origin.js';
import { originOf } from '../origins/store.js';
import { parseRate, type Rate } from '../origins/rate.js';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type change as ChangeRow, type origin as OriginRow } from '../storage/generated/client.js';
import type { Filter } from './filter.js';
import type { MatchEvent } from './match-event.js';
import { createMatchIndex, type MatchIndex } from './match-index.js';
import type { Dialects } from './predicate.js';

/**
 * What this process knows by heart: origins, which subscriptions an event matches, and which pairs have a grant. Rows are
 * read first and applied afterwards without waiting, so that nobody ever sees half of them. Suspended subscriptions are
 * out; whether a pair has a live grant is looked at for every match, because leases end by themselves.
 */
export interface IndexKeeper {
  load(sql: Sql): Promise<void>;
  apply(changes: readonly ChangeRow[]): Promise<void>;
  /** Undefined for an origin that is not the tenant's. */
  origin(tenant: string, name: string): KnownOrigin | undefined;
  defaultOrigin(tenant: string): KnownOrigin | undefined;
  /** The pairs that get the event, each once, with the subscriptions that want it; oldest first. */
  match(origin: KnownOrigin, event: MatchEvent): MatchedPair[];
  size(): number;
}

export interface KnownOrigin {
  name: string;
  tenant: string;
  profile: Profile;
  isDefault: boolean;
}

export interface MatchedPair {
  sink: string;
  allowedRate: Rate;
  /** RFC 3339. */
  expiresAt: string;
  subscriptions: string[];
  protocolSettings: Record<string, unknown> | undefined;
  /** Of these subscriptions some has a sink credential. */
  hasCredential: boolean;
}

/** A pair of origin and sink: its grant, and how many subscriptions hold on to this. */
interface KnownPair {
  sink: string;
  subscriptions: number;
  /** Milliseconds since 1970 by the database's clock; -Infinity without a live grant. */
  liveUntil: number;
  allowedRate: Rate;
  expiresAt: string;
}

/** What belongs to a handle of an origin's index. */
interface Member {
  pair: KnownPair;
  protocolSettings: Record<string, unknown> | undefined;
  hasCredential: boolean;
}

interface OriginIndex {
  origin: KnownOrigin;
  index: MatchIndex;
  /** By handle. */
  members: (Member | undefined)[];
  pairs: Map<string, KnownPair>;
}

interface SubscriptionRow {
  id: string;
  origin: string;
  sink: string;
  source: string | null;
  types: string[] | null;
  subject: string | null;
  filters: Filter[] | null;
  protocolsettings: Record<string, unknown> | null;
  hascredential: boolean;
}

interface GrantRow {
  origin: string;
  sink: string;
  allowedrate: string;
  expiresat: Date;
}

const pageSize = 10_000;
const subscriptionColumns = Prisma.sql`
  id, origin, sink, source, types, subject, filters, protocolsettings, sinkcredential is not null as hascredential`;
const grantColumns = Prisma.sql`origin, sink, allowedrate, expiresat`;

export interface IndexKeeperSettings {
  database: Database;
  dialects: Dialects;
  /** Milliseconds since 1970 by the database's clock. */
  now: () => number;
}

export function createIndexKeeper({ database, dialects, now }: IndexKeeperSettings): IndexKeeper {
  let origins = new Map<string, OriginIndex>();
  /** The default origin by tenant. */
  let defaults = new Map<string, KnownOrigin>();

  function findDefaults(): void {
    const all = [...origins.values()].map(({ origin }) => origin);
    defaults = new Map(all.filter(({ isDefault }) => isDefault).map((origin) => [origin.tenant, origin]));
  }

  function indexOf(row: OriginRow): OriginIndex {
    const { name, tenant, profile, isDefault } = originOf(row);
    const origin = { name, tenant, profile, isDefault };
    return { origin, index: createMatchIndex(dialects), members: [], pairs: new Map() };
  }

  function pairOf(home: OriginIndex, sink: string): KnownPair {
    const known = home.pairs.get(sink);
    if (known) return known;
    const pair = { sink, subscriptions: 0, liveUntil: -Infinity, allowedRate: 1, expiresAt: '' };
    home.pairs.set(sink, pair);
    return pair;
  }

  function put(row: SubscriptionRow): void {
    const home = origins.get(row.origin);
    if (home === undefined) return;
    drop(row.id);
    const handle = home.index.add({
      id: row.id,
      source: row.source ?? undefined,
      types: row.types ?? undefined,
      subject: row.subject ?? undefined,
      filters: row.filters ?? undefined,
    });
    const pair = pairOf(home, row.sink);
    pair.subscriptions += 1;
    home.members[handle] = {
      pair,
      protocolSettings: row.protocolsettings ?? undefined,
      hasCredential: row.hascredential,
    };
  }

  /** Wherever it is: it may have been moved to another origin. */
  function drop(id: string): void {
    for (const home of origins.values()) {
      const handle = home.index.remove(id);
      if (handle === undefined) continue;
      const member = home.members[handle];
      home.members[handle] = undefined;
      if (member) release(home, member.pair, -1);
      return;
    }
  }

  function release(home: OriginIndex, pair: KnownPair, subscriptions: number): void {
    pair.subscriptions += subscriptions;
    if (pair.subscriptions === 0 && pair.liveUntil === -Infinity) home.pairs.delete(pair.sink);
  }

  function grant(home: OriginIndex, sink: string, row: GrantRow | undefined): void {
    const pair = pairOf(home, sink);
    pair.liveUntil = row === undefined ? -Infinity : row.expiresat.getTime();
    pair.allowedRate = parseRate(row?.allowedrate ?? '') ?? 1;
    pair.expiresAt = row?.expiresat.toISOString() ?? '';
    release(home, pair, 0);
  }

  return {
    async load(sql) {
      const rows = await sql.origin.findMany();
      origins = new Map(rows.map((row) => [row.name, indexOf(row)]));
      findDefaults();
      for (let last = '00000000-0000-0000-0000-000000000000', isMore = true; isMore;) {
        const page = await sql.$queryRaw<SubscriptionRow[]>`
          select ${subscriptionColumns} from subscription
          where suspendedat is null and id > ${last}::uuid order by id limit ${pageSize}`;
        for (const row of page) put(row);
        last = page.at(-1)?.id ?? last;
        isMore = page.length === pageSize;
      }
      for (let [origin, sink] = ['', ''], isMore = true; isMore;) {
        const page = await sql.$queryRaw<GrantRow[]>`
          select ${grantColumns} from "grant"
          where state = 'live' and (origin, sink) > (${origin}, ${sink}) order by origin, sink limit ${pageSize}`;
        for (const row of page) {
          const home = origins.get(row.origin);
          if (home) grant(home, row.sink, row);
        }
        [origin, sink] = [page.at(-1)?.origin ?? origin, page.at(-1)?.sink ?? sink];
        isMore = page.length === pageSize;
      }
    },

    async apply(changes) {
      const { client } = database;
      const names = [...new Set(changes.filter(({ kind }) => kind === 'origin.changed').map(({ origin }) => origin))];
      const ids = [...new Set(changes.flatMap(({ subscription }) => subscription ?? []))];
      const pairs = changes.filter(({ kind }) => kind.startsWith('grant.'));
      const [originRows, subscriptionRows, grantRows] = await Promise.all([
        names.length === 0 ? [] : client.origin.findMany({ where: { name: { in: names } } }),
        ids.length === 0
          ? []
          : client.$queryRaw<SubscriptionRow[]>`
              select ${subscriptionColumns} from subscription where suspendedat is null and id = any(${ids}::uuid[])`,
        pairs.length === 0
          ? []
          : client.$queryRaw<GrantRow[]>`
              select ${grantColumns} from "grant" where state = 'live' and (origin, sink) in (
                select * from unnest(${pairs.map(({ origin }) => origin)}::text[], ${pairs.map(({ sink }) => sink)}::text[]))`,
      ]);

      // From here on nothing waits.
      for (const name of names) {
        const row = originRows.find((each) => each.name === name);
        const home = origins.get(name);
        if (row === undefined) origins.delete(name);
        else if (home === undefined) origins.set(name, indexOf(row));
        else home.origin = indexOf(row).origin;
      }
      if (names.length > 0) findDefaults();
      const byId = new Map(subscriptionRows.map((row) => [row.id, row]));
      for (const id of ids) {
        const row = byId.get(id);
        if (row) put(row);
        else drop(id);
      }
      const live = new Map(grantRows.map((row) => [`${row.origin} ${row.sink}`, row]));
      for (const { origin, sink } of pairs) {
        const home = origins.get(origin);
        if (home) grant(home, sink, live.get(`${origin} ${sink}`));
      }
    },

    origin(tenant, name) {
      const origin = origins.get(name)?.origin;
      return origin?.tenant === tenant ? origin : undefined;
    },

    defaultOrigin: (tenant) => defaults.get(tenant),

    match({ name }, event) {
      const home = origins.get(name);
      if (home === undefined) return [];
      const found = new Map<KnownPair, MatchedPair>();
      const time = now();
      for (const handle of home.index.match(event)) {
        const member = home.members[handle];
        if (member === undefined || member.pair.liveUntil <= time) continue;
        const { pair } = member;
        let matched = found.get(pair);
        if (matched === undefined) {
          const { sink, allowedRate, expiresAt } = pair;
          matched = {
            sink,
            allowedRate,
            expiresAt,
            subscriptions: [],
            protocolSettings: undefined,
            hasCredential: false,
          };
          found.set(pair, matched);
        }
        const id = home.index.idOf(handle);
        // Ids begin with the time of their making (UUID version 7): the smallest is the oldest.
        if (member.protocolSettings !== undefined && matched.subscriptions.every((other) => id < other)) {
          matched.protocolSettings = member.protocolSettings;
        }
        matched.subscriptions.push(id);
        matched.hasCredential ||= member.hasCredential;
      }
      const pairs = [...found.values()];
      for (const { subscriptions } of pairs) if (subscriptions.length > 1) subscriptions.sort();
      return pairs;
    },

    size: () => [...origins.values()].reduce((sum, { index }) => sum + index.size, 0),
  };
}
