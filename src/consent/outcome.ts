import { keyOfPair } from './grant.js';
import { parseRetryAfter } from './backoff.js';
import { outcomeTexts, type OutcomeText } from '../base/texts/deliveries.js';

/**
 * The outcome of a delivery, by the status of the response (webhook specification, section 2.2). It decides what follows:
 *
 *   delivered                resets the count of failures
 *   gone                     410: after as many in a row as the origin's policy says, the webhook is retired
 *   throttled, unavailable   429, and 503 with Retry-After: a hold for every sender
 *   the others               counted, and shown to the subscriber with advice
 */
export const outcomeKinds = [
  'delivered',
  'gone',
  'throttled',
  'unavailable',
  'mediarefused',
  'unauthorized',
  'redirected',
  'rejected',
  'failed',
  'no_response',
] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

/** The status code of the response to a delivery; undefined if there was no response. */
type DeliveryStatus = number | undefined;

export function kindOf(status: DeliveryStatus): OutcomeKind {
  if (status === undefined) return 'no_response';
  if (status < 300) return 'delivered';
  if (status < 400) return 'redirected';
  return kindsByStatus[status] ?? (status < 500 ? 'rejected' : 'failed');
}

const kindsByStatus: Record<number, OutcomeKind> = {
  401: 'unauthorized',
  403: 'unauthorized',
  410: 'gone',
  415: 'mediarefused',
  429: 'throttled',
  503: 'unavailable',
};

/** One row for each kind, with a stable code and texts for people. */
export const outcomes: Readonly<Record<OutcomeKind, OutcomeText>> = outcomeTexts;

/** One valid entry of a report. `index` is its position. */
export interface Outcome {
  index: number;
  /** In lower case. */
  origin: string;
  sink: string;
  statusCode: DeliveryStatus;
  kind: OutcomeKind;
  count: number;
  at: Date | undefined;
  /** How long ago the response arrived; 0 if unknown. */
  ageSeconds: number;
  /** The rest of the hold that the webhook asked for, in seconds; 0 if it is over. */
  holdSeconds: number | undefined;
}

/** For a 429 without Retry-After. Doubles each time until a delivery succeeds. */
export const firstHoldSeconds = 10;
/** A webhook must not stop its senders for years. */
const longestRetryAfterSeconds = 86_400;

/**
 * The rest of `Retry-After` (RFC 9110, section 10.2.3) in seconds. It is at least a second and at most a day, from `at`,
 * when the response arrived, or from now; a date is measured against the same. 0 if it is over, undefined if it has
 * neither form.
 */
export function holdSecondsOf(retryAfter: string, at: Date | undefined, now: Date): number | undefined {
  const ms = parseRetryAfter(retryAfter, (at ?? now).toUTCString());
  if (ms === undefined) return undefined;
  const seconds = Math.max(1, Math.min(Math.ceil(ms / 1_000), longestRetryAfterSeconds));
  return Math.max(0, Math.ceil(seconds - ageOf(at, now)));
}

/** Seconds; a time in the future counts as now. */
export function ageOf(at: Date | undefined, now: Date): number {
  return at === undefined ? 0 : Math.max(0, (now.getTime() - at.getTime()) / 1_000);
}

/** Everything that one report contains about one pair. */
export interface PairReport {
  origin: string;
  sink: string;
  counts: Partial<Record<OutcomeKind, number>>;
  succeeded: boolean;
  /** After the last success, or all if there was none. */
  failures: number;
  gone: number;
  /** The latest time of a 410 after the last success; undefined if one of them has no time. */
  goneAt: Date | undefined;
  /** The rest of the longest hold that was asked for; 0 if there is none. */
  holdSeconds: number;
  /** The age of the latest 429 without Retry-After. */
  unnamedHoldAge: number | undefined;
  lastOutcome: OutcomeKind;
  lastStatusCode: number | undefined;
}

/** Sums up by pair, sorted: all transactions lock in this order. */
export function pairReports(outcomes: readonly Outcome[]): PairReport[] {
  const byPair = new Map<string, PairReport>();
  for (const outcome of outcomes) {
    const key = keyOfPair(outcome);
    const before = byPair.get(key) ?? { ...nothing, origin: outcome.origin, sink: outcome.sink, counts: {} };
    byPair.set(key, add(before, outcome));
  }
  return [...byPair.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, report]) => report);
}

const nothing = {
  succeeded: false,
  failures: 0,
  gone: 0,
  goneAt: undefined,
  holdSeconds: 0,
  unnamedHoldAge: undefined,
  lastOutcome: 'delivered' as const,
  lastStatusCode: undefined,
};

function add(before: PairReport, { kind, statusCode, count, at, ageSeconds, holdSeconds }: Outcome): PairReport {
  const counts = { ...before.counts, [kind]: (before.counts[kind] ?? 0) + count };
  const last = { counts, lastOutcome: kind, lastStatusCode: statusCode };
  // A later success does not end a hold.
  if (kind === 'delivered') {
    return { ...before, ...last, succeeded: true, failures: 0, gone: 0, goneAt: undefined };
  }
  const isUnnamed = kind === 'throttled' && holdSeconds === undefined;
  return {
    ...before,
    ...last,
    failures: before.failures + count,
    ...(kind === 'gone'
      ? { gone: before.gone + count, goneAt: before.gone === 0 ? at : later(before.goneAt, at) }
      : {}),
    holdSeconds: Math.max(before.holdSeconds, holdSeconds ?? 0),
    ...(isUnnamed ? { unnamedHoldAge: Math.min(before.unnamedHoldAge ?? Infinity, ageSeconds) } : {}),
  };
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one > other ? one : other;
}
