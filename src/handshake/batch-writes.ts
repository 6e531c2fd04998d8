import { randomUUID } from 'node:crypto';
import type { Basis } from '../grants/grant.js';
import { createBatcher } from '../storage/batch.js';
import { callFunction, type Database } from '../storage/database.js';
import type { Begun, HandshakeState } from './handshake.js';
import { leaseSecondsFor } from './queue.js';
import type { Verdict } from './verdicts.js';
import type { Worker } from './worker.js';

/**
 * The writes that come in crowds: registrations, and the consents that nearly all of them end with. Here raw SQL begins:
 * all of a moment are one call of the function write_batch, which is one round trip, one commit and one notification.
 */
export interface BatchWrites {
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
  adopt: Worker['adopt'];
  callbackSeconds: number;
  deadlineMs: number;
  inFlight: { perHost: number; perTenant: number };
  perMinute: { perHost: number; perTenant: number };
}

type Member = { registration: Registration } | { consent: { columns: object; pair: string } };

export function createBatchWrites(settings: BatchWriteSettings): BatchWrites {
  const { database, adopt, callbackSeconds, deadlineMs, inFlight, perMinute } = settings;
  const limits = [
    ...[leaseSecondsFor(deadlineMs), callbackSeconds, inFlight.perHost, inFlight.perTenant],
    ...[perMinute.perTenant, perMinute.perHost, perMinute.perHost * 2],
  ];

  const run = (members: Member[]): Promise<Array<RegisteredRow | SettledRow>> =>
    adopt(async (places) => {
      const lease = randomUUID();
      const registrations: Array<Registration & { at: number }> = [];
      const consents: Array<{ columns: object; at: number }> = [];
      members.forEach((member, at) => {
        if ('registration' in member) registrations.push({ ...member.registration, at });
        else consents.push({ ...member.consent, at });
      });
      const [row] = await callFunction<{ written: { registered: RegisteredRow[]; settled: SettledRow[] } }>(
        database,
        'select write_batch($1::jsonb, $2::jsonb, $3::uuid, $5, $6, $4::int, $7, $8, $9, $10, $11) as written',
        [toJson(registrations), toJson(consents), lease, places, ...limits],
      );
      const result = new Array<RegisteredRow | SettledRow>(members.length);
      const begun: Begun[] = [];
      for (const each of row?.written.registered ?? []) {
        const registration = registrations[each.place];
        if (registration === undefined) continue;
        result[registration.at] = each;
        if (each.asked) begun.push(registration.begin(lease, new Date(each.at)));
      }
      for (const each of row?.written.settled ?? []) result[consents[each.place]?.at ?? -1] = each;
      return { begun, result };
    });

  const write = createBatcher({ run, most: 200, keyOf });
  return {
    register: (registration) => write({ registration }) as Promise<RegisteredRow>,
    settle: (consent) => write({ consent }) as Promise<SettledRow>,
  };
}

/** One statement writes no row twice. */
function keyOf(member: Member): string | undefined {
  return 'registration' in member ? member.registration.key : member.consent.pair;
}

function toJson(members: ReadonlyArray<{ columns: object }>): string {
  return JSON.stringify(members.map(({ columns }, place) => Object.assign(columns, { place })));
}
