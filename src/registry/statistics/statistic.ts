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
export const statisticKinds = ['handshake', 'delivery', 'lease'] as const;
export type StatisticKind = (typeof statisticKinds)[number];

export type LeaseCode = 'leased' | 'allowed';

export type Counted =
  { kind: 'handshake'; code: Verdict } | { kind: 'delivery'; code: OutcomeKind } | { kind: 'lease'; code: LeaseCode };

/** A day by minute and a year by hour are kept; days are made of hours, in UTC. */
export const steps = ['minute', 'hour', 'day'] as const;
export type Step = (typeof steps)[number];
export type StoredStep = Exclude<Step, 'day'>;

export const stepMs: Readonly<Record<Step, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/**
 * What an attempt came to, for people who look at many. `no_answer`: the webhook decided nothing, so Assent retries.
 * `not_asked`: Assent itself did not send it, or did not wait for the response.
 */
export type HandshakeOutcome = 'granted' | 'refused' | 'no_answer' | 'not_asked';

export const outcomeOfVerdict: Readonly<Record<Verdict, HandshakeOutcome>> = {
  granted: 'granted',
  granted_any_origin: 'granted',
  no_consent_headers: 'refused',
  cors_answer: 'refused',
  allow_only: 'refused',
  unsupported: 'refused',
  authentication_required: 'refused',
  not_found_at_target: 'refused',
  server_error: 'no_answer',
  request_origin_echoed: 'refused',
  origin_missing: 'refused',
  redirected: 'refused',
  origin_mismatch: 'refused',
  origin_repeated: 'refused',
  rate_missing: 'refused',
  rate_malformed: 'refused',
  rate_repeated: 'refused',
  gone: 'refused',
  throttled: 'no_answer',
  unavailable: 'no_answer',
  name_not_found: 'no_answer',
  name_lookup_failed: 'no_answer',
  connection_refused: 'no_answer',
  connection_failed: 'no_answer',
  connection_closed: 'no_answer',
  tls_failed: 'no_answer',
  certificate_invalid: 'no_answer',
  deadline_exceeded: 'no_answer',
  not_http: 'no_answer',
  headers_too_large: 'no_answer',
  too_many_informational: 'no_answer',
  aborted: 'not_asked',
  name_not_public: 'no_answer',
  address_not_allowed: 'not_asked',
  sink_not_allowed: 'not_asked',
  callback_granted: 'granted',
  refused_by_owner: 'refused',
  callback_expired: 'no_answer',
  granted_by_policy: 'granted',
  revoked: 'refused',
  interrupted: 'not_asked',
  blocked: 'not_asked',
  held_by_budget: 'not_asked',
};
