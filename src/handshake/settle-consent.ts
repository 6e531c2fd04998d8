import { v7 as uuidv7 } from 'uuid';
import type { Basis } from '../grants/grant.js';
import { consentColumns } from '../grants/write-grant.js';
import { identityOf } from '../origins/origin-memory.js';
import type { Origin } from '../origins/origin.js';
import { parseRate } from '../origins/rate.js';
import { service, withoutQuery } from '../storage/audit.js';
import { createBatcher } from '../storage/batch.js';
import { callFunction, type Database } from '../storage/database.js';
import type { Judgement } from './exchange.js';
import type { BegunAttempt, Claim, HandshakeState } from './handshake.js';
import { outcomeColumns, type Outcome } from './record-outcome.js';
import type { Settled } from './settle.js';

export interface Consented {
  claim: Claim;
  attempt: BegunAttempt;
  reply: Outcome;
  judgement: Extract<Judgement, { kind: 'granted' }>;
  /** By whose policy it was judged. */
  origin: Origin;
}

/**
 * Writes what follows from a consent, which is what nearly every registration ends with, in a batch with the others of
 * this moment. Undefined, and nothing is written, if the origin is not as it was judged by.
 */
export type SettleConsent = (consented: Consented) => Promise<Settled | undefined>;

interface Row {
  place: number;
  state: HandshakeState | 'origin_differs' | null;
  verdict: Settled['verdict'] | null;
  version: number | null;
  allowedrate: string | null;
  warnings: string[];
  basis: Basis;
  expiresat: Date;
  renewat: Date | null;
}

export function createSettleConsent(settings: { database: Database; random: () => number }): SettleConsent {
  const { database, random } = settings;

  async function run(members: Consented[]): Promise<Array<Settled | undefined>> {
    const rows = await callFunction<Row>(database, 'select * from settle_consents($1::jsonb)', [
      JSON.stringify(members.map(columnsOf)),
    ]);
    const settled: Array<Settled | undefined> = members.map(() => undefined);
    for (const row of rows) {
      const member = members[row.place];
      if (member === undefined || row.state === 'origin_differs') continue;
      const verdict = row.verdict ?? member.judgement.verdict;
      settled[row.place] = { verdict, state: row.state ?? undefined, ...standingOf(row) };
    }
    return settled;
  }

  function columnsOf({ claim, attempt, reply, judgement, origin }: Consented, place: number) {
    const consent = {
      ...{ tenant: claim.tenant, origin: claim.origin, sink: claim.sink, handshake: claim.id, reference: undefined },
      ...{ basis: 'response' as const, ...judgement, requestedRate: claim.requestedRate },
      lease: { seconds: origin.leaseSeconds },
      jitter: random(),
    };
    return {
      place,
      ...consentColumns(service(claim.tenant), consent),
      ...outcomeColumns(reply, judgement),
      ...identityOf(origin),
      ...{ lease: claim.lease, number: attempt.number, auditsink: withoutQuery(claim.sink) },
      // In this order: audit entries are read by their ids.
      ...{ grantaudit: uuidv7(), audit: uuidv7() },
    };
  }

  return createBatcher({ run, most: 100, keyOf: ({ claim }) => `${claim.origin} ${claim.sink}` });
}

function standingOf({ version, allowedrate, warnings, basis, expiresat, renewat }: Row): Pick<Settled, 'standing'> {
  if (version === null || allowedrate === null) return {};
  const allowedRate = parseRate(allowedrate) ?? 1;
  const grant = { basis, allowedRate, warnings, expiresAt: expiresat, renewAt: renewat ?? undefined };
  return { standing: { subscriptionVersion: version, grant } };
}
