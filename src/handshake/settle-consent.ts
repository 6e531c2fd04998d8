import { keyOfPair } from '../grants/grant.js';
import { consentColumns } from '../grants/write-grant.js';
import { identityOf } from '../origins/origin-memory.js';
import type { Origin } from '../origins/origin.js';
import { storedRate } from '../origins/rate.js';
import { service, withoutQuery } from '../storage/audit.js';
import { uuidv7 } from '../storage/ids.js';
import type { BatchWrites, SettledRow } from './batch-writes.js';
import { consentOf, givenByAnswer, type Granted } from './consent.js';
import type { Outcome } from './exchange.js';
import type { BegunAttempt, Claim, Settled } from './handshake.js';
import { outcomeColumns } from './record-outcome.js';

export interface Consented {
  claim: Claim;
  attempt: BegunAttempt;
  reply: Outcome;
  judgement: Granted;
  /** By whose policy it was judged. */
  origin: Origin;
}

/**
 * Writes what follows from a consent, which is what nearly every registration ends with, in a batch with the others of
 * this moment. Undefined, and nothing is written, if the origin is not as it was judged by.
 */
export type SettleConsent = (consented: Consented) => Promise<Settled | undefined>;

export function createSettleConsent(settings: { writes: BatchWrites; random: () => number }): SettleConsent {
  const { writes, random } = settings;

  return async (consented) => {
    const { claim, judgement } = consented;
    const row = await writes.settle({ columns: columnsOf(consented), pair: keyOfPair(claim) });
    if (row.state === 'origin_differs') return undefined;
    return { verdict: row.verdict ?? judgement.verdict, state: row.state ?? undefined, ...standingOf(row) };
  };

  function columnsOf({ claim, attempt, reply, judgement, origin }: Consented) {
    const consent = consentOf(claim, origin, givenByAnswer(judgement), random());
    return {
      ...consentColumns(service(claim.tenant), consent),
      ...outcomeColumns(attempt, reply, judgement),
      ...identityOf(origin),
      lease: claim.lease,
      number: attempt.number,
      auditsink: withoutQuery(claim.sink),
      // In this order: audit entries are read by their ids.
      grantaudit: uuidv7(),
      audit: uuidv7(),
    };
  }
}

function standingOf(row: SettledRow): Pick<Settled, 'standing'> {
  const { version, allowedrate, warnings, basis, expiresat, renewat } = row;
  if (version === null || allowedrate === null) return {};
  const grant = {
    basis,
    warnings,
    allowedRate: storedRate(allowedrate),
    expiresAt: new Date(expiresat),
    renewAt: renewat === null ? undefined : new Date(renewat),
  };
  return { standing: { subscriptionVersion: version, grant } };
}
