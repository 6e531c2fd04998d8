import { randomUUID } from 'node:crypto';
import type { LoggedChange } from '../changes/log.js';
import type { Basis } from '../grants/grant.js';
import { createBatcher } from '../storage/batch.js';
import { callFunction, type Database } from '../storage/database.js';
import { perDomain } from './budgets.js';
import type { Adopt, Begun, HandshakeState } from './handshake.js';
import { leaseSecondsFor } from './queue.js';
import type { Verdict } from './verdicts.js';

/**
 * The writes that come in crowds: registrations, and the consents that nearly all of them end with. All of a moment are
 * one call of the function write_batch, which is one round trip, one commit and one notification.
 */
export interface BatchWrites {
  /** Both resolve when what was written is in this process's own index. */
  register(registration: Registration): Promise<RegisteredRow>;
  settle(consent: { columns: object; pair: string }): Promise<SettledRow>;
}

export interface Registration {
  /** As the function register_subscriptions takes them, but for the place. */
  columns: object;
  /** Who and which Idempotency-Key. */
  key: string | undefined;
  /** Makes of it what the worker goes on with, where it may be asked at once. */
  begin: (lease: string, at: Date) => Begun;
}

export interface RegisteredRow {
  place: number;
  outcome: 'created' | 'replayed' | 'reused' | 'origin_differs';
  resource: string | null;
  question: boolean;
  asked: boolean;
  /** RFC 3339. */
  at: string;
}

export interface SettledRow {
  place: number;
  state: HandshakeState | 'origin_differs' | null;
  verdict: Verdict | null;
  version: number | null;
  allowedrate: string | null;
  warnings: string[];
  basis: Basis;
  /** RFC 3339, both. */
  expiresat: string;
  renewat: string | null;
}

export interface BatchWriteSettings {
  database: Database;
  adopt: Adopt;
  /** Takes in what was logged right after a position; a promise where that takes time. */
  follow: (changes: LoggedChange[], after: bigint) => Promise<void> | undefined;
  callbackSeconds: number;
  deadlineMs: number;
  inFlight: { perHost: number; perTenant: number };
  perMinute: { perHost: number; perTenant: number };
}

/** What the function write_batch gives. */
interface Written {
  registered: RegisteredRow[];
  settled: SettledRow[];
  log: { after: string; changes: Array<Omit<LoggedChange, 'position'> & { position: string }> } | null;
}

interface Done {
  row: RegisteredRow | SettledRow;
  followed: Promise<void> | undefined;
}

type Member = { registration: Registration } | { consent: { columns: object; pair: string } };

export function createBatchWrites(settings: BatchWriteSettings): BatchWrites {
  const { database, adopt, follow, callbackSeconds, deadlineMs, inFlight, perMinute } = settings;
  const durations = [leaseSecondsFor(deadlineMs), callbackSeconds];
  const limits = [
    inFlight.perHost,
    inFlight.perTenant,
    perMinute.perTenant,
    perMinute.perHost,
    perDomain(perMinute.perHost),
  ];

  const run = (members: Member[]): Promise<Done[]> =>
    adopt(async (places) => {
      const lease = randomUUID();
      const registrations: Array<Registration & { at: number }> = [];
      const consents: Array<{ columns: object; at: number }> = [];
      members.forEach((member, at) => {
        if ('registration' in member) registrations.push({ ...member.registration, at });
        else consents.push({ ...member.consent, at });
      });
      const [answer] = await callFunction<{ written: Written }>(
        database,
        'select write_batch($1::jsonb, $2::jsonb, $3::uuid, $4, $5, $6::int, $7, $8, $9, $10, $11) as written',
        [toJson(registrations), toJson(consents), lease, ...durations, places, ...limits],
      );
      const { registered = [], settled = [], log = null } = answer?.written ?? {};
      const followed = log === null ? undefined : follow(log.changes.map(loggedOf), BigInt(log.after));
      const result = new Array<Done>(members.length);
      const begun: Begun[] = [];
      for (const each of registered) {
        const registration = registrations[each.place];
        if (registration === undefined) continue;
        result[registration.at] = { row: each, followed };
        if (each.asked) begun.push(registration.begin(lease, new Date(each.at)));
      }
      for (const each of settled) result[consents[each.place]?.at ?? -1] = { row: each, followed };
      return { begun, result };
    });

  const write = createBatcher({ run, most: 200, keyOf });
  async function writeAndFollow(member: Member): Promise<RegisteredRow | SettledRow> {
    const { row, followed } = await write(member);
    // It is written, and whoever cannot follow says so by itself.
    await followed?.catch(() => undefined);
    return row;
  }

  return {
    register: (registration) => writeAndFollow({ registration }) as Promise<RegisteredRow>,
    settle: (consent) => writeAndFollow({ consent }) as Promise<SettledRow>,
  };
}

function loggedOf(change: NonNullable<Written['log']>['changes'][number]): LoggedChange {
  return { ...change, position: BigInt(change.position) };
}

/** One statement writes no row twice. */
function keyOf(member: Member): string | undefined {
  return 'registration' in member ? member.registration.key : member.consent.pair;
}

function toJson(members: ReadonlyArray<{ columns: object }>): string {
  return JSON.stringify(members.map(({ columns }, place) => Object.assign(columns, { place })));
}
