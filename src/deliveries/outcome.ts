import { keyOfPair } from '../grants/grant.js';
import { parseRetryAfter } from '../handshake/backoff.js';
import { outcomeTexts, type OutcomeText } from '../texts/deliveries.js';

/**
 * What a delivery came to, by the status of the answer (webhook specification, section 2.2). It decides what follows:
 *
 *   delivered                the failures since the last success are forgotten
 *   gone                     410: so many in a row as the origin's policy says, and the webhook is retired
 *   throttled, unavailable   429, and 503 that names a time: every sender holds back until then
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
  'unanswered',
] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

/** Of the answer to a delivery; `error` if there was none. */
export type DeliveryStatus = number | 'error';

export function kindOf(status: DeliveryStatus): OutcomeKind {
  if (status === 'error') return 'unanswered';
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

/** One entry of a report that was read. `index` is its place. */
export interface Outcome {
  index: number;
  /** In lower case. */
  origin: string;
  sink: string;
  status: DeliveryStatus;
  kind: OutcomeKind;
  count: number;
  at: Date | undefined;
  /** How long ago the answer came; 0 if that was not said. */
  ageSeconds: number;
  /** What is left of the seconds that the webhook asked senders to hold; 0 if they are over. */
  holdSeconds: number | undefined;
}

/** For a 429 that names no time: twice as long each time, until a delivery succeeds. */
export const firstHoldSeconds = 10;
/** A webhook must not park its senders for years. */
const longestRetryAfterSeconds = 86_400;

/**
 * What is left of `Retry-After` (RFC 9110, section 10.2.3) in seconds: it was one at the least and a day at the most,
 * and runs from `at`, when the answer came, or from now; a date is measured against the same. 0 if it is over,
 * undefined if it is neither form.
 */
export function holdSecondsOf(retryAfter: string, at: Date | undefined, now: Date): number | undefined {
  const ms = parseRetryAfter(retryAfter, (at ?? now).toUTCString());
  if (ms === undefined) return undefined;
  const seconds = Math.max(1, Math.min(Math.ceil(ms / 1_000), longestRetryAfterSeconds));
  return Math.max(0, Math.ceil(seconds - ageOf(at, now)));
}

/** Seconds; what is said to come later than now came now. */
export function ageOf(at: Date | undefined, now: Date): number {
  return at === undefined ? 0 : Math.max(0, (now.getTime() - at.getTime()) / 1_000);
}

/** Everything that one report says of one pair. */
export interface PairReport {
  origin: string;
  sink: string;
  counts: Partial<Record<OutcomeKind, number>>;
  succeeded: boolean;
  /** Behind the last success, or all if there was none. */
  failures: number;
  gone: number;
  /** The latest time at which a 410 behind the last success came; undefined if one of them named none. */
  goneAt: Date | undefined;
  /** What is left of the longest hold that was asked for; 0 if nothing is. */
  holdSeconds: number;
  /** The age of the latest answer that calls for a hold and names no time. */
  unnamedHoldAge: number | undefined;
  lastKind: OutcomeKind;
  lastStatus: number | undefined;
}

/** Sums up by pair, sorted: everybody takes locks in this order. */
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
  lastKind: 'delivered' as const,
  lastStatus: undefined,
};

function add(before: PairReport, { kind, status, count, at, ageSeconds, holdSeconds }: Outcome): PairReport {
  const counts = { ...before.counts, [kind]: (before.counts[kind] ?? 0) + count };
  const last = { counts, lastKind: kind, lastStatus: status === 'error' ? undefined : status };
  // A hold that was asked for stands, whatever else got through.
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
