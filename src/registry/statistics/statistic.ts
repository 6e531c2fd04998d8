import type { OutcomeKind } from '../../consent/outcome.js';
import type { Verdict } from '../../consent/verdicts.js';

/**
 * What is counted, for each origin:
 *
 *   handshake   attempts to ask a webhook, and decisions by callback, by verdict
 *   delivery    deliveries that senders reported, by kind of outcome
 *   lease       `leased`: requests that leases allowed. `allowed`: the rates of the pairs, once for each minute in which a
 *               sender asked for a lease. So the two can be compared. Pairs without a limit have no leases.
 */
const statisticKinds = ['handshake', 'delivery', 'lease'] as const;
export type StatisticKind = (typeof statisticKinds)[number];

type LeaseCode = 'leased' | 'allowed';

export type Counted =
  { kind: 'handshake'; code: Verdict } | { kind: 'delivery'; code: OutcomeKind } | { kind: 'lease'; code: LeaseCode };

/** A day by minute and a year by hour are kept; days are made of hours, in UTC. */
const steps = ['minute', 'hour', 'day'] as const;
export type Step = (typeof steps)[number];
export type StoredStep = Exclude<Step, 'day'>;

export const stepMs: Readonly<Record<Step, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
