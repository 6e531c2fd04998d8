import type { RejectedCallback } from './rejected-callback.js';
import type { Verdict } from './verdicts.js';

/**
 * One conversation with one sink for one origin (webhook specification, section 4). Its row is the queue: whoever works
 * on it holds a lease, and every arrow is one statement that holds only in the state and under the lease that it names.
 *
 *   due        to be asked at `dueat`: new, or again after a failure that may pass; not while the subscription, or for
 *              a renewal every one of the pair, is suspended
 *   asking     claimed by a process until `leaseduntil`; past that anybody may claim it (the process died)
 *   waiting    answered without consent, and the callback may still be called until `waitinguntil`
 *   granted    the answer, or the callback, gave consent
 *   refused    the answer was no, the callback was not called in time, or the owner refused on its page
 *   retired    410
 *   unreachable   no answer after all attempts
 *   cancelled  the question lost its meaning: another sink, origin or rate, a deletion, a revocation, a newer consent
 *
 *   due -> asking                          a worker claims it
 *   asking -> due                          transport failure, 429, 5xx; held by a budget; handed back when stopping;
 *                                          no WebHook header at all: once more without the callback, at once;
 *                                          at a renewal whatever is neither consent nor a clear refusal
 *   asking -> waiting | granted | refused | retired | unreachable
 *   waiting -> refused                     the callback expired, or a renewal was overtaken by the next one
 *   any but cancelled and granted -> granted    the callback: it may come before, during and after the answer
 *   any but cancelled and granted -> refused    the owner, on the page of the callback
 *   due | asking | waiting -> cancelled
 *
 * `callbackopen` turns false with a change of sink, origin or rate, a deletion, a revocation or a refusal of the owner,
 * in whatever state the handshake is; its callback is unknown from then on.
 */
export type HandshakeState =
  'due' | 'asking' | 'waiting' | 'granted' | 'refused' | 'unreachable' | 'retired' | 'cancelled';

/**
 * Why the webhook is asked: a new subscription, another sink, origin or rate, somebody's wish, or the end of a lease.
 */
export type HandshakeReason = 'registration' | 'change' | 'request' | 'renewal';

export interface Question {
  id: string;
  tenant: string;
  origin: string;
  sink: string;
  /** Undefined for a renewal, which belongs to the pair. */
  subscription: string | undefined;
  generation: number | undefined;
  reason: HandshakeReason;
  startedBy: string;
  /** Requests per minute. */
  requestedRate: number | undefined;
  /** Of the request that asked for it (W3C Trace Context). */
  traceparent: string | undefined;
}

/** A handshake that this process may work on until `leaseduntil`. */
export interface Claim extends Question {
  lease: string;
  sinkHost: string;
  /** By the database's clock; a renewal that is refused takes no grant that is newer. */
  createdAt: Date;
}

/** One OPTIONS request that is about to be sent. */
export interface BegunAttempt {
  number: number;
  callbackOffered: boolean;
  /** Header lines as they are sent. */
  headers: Readonly<Record<string, string>>;
}

/** A claim with the attempt that is recorded already, to be made. */
export interface Begun {
  claim: Claim;
  attempt: BegunAttempt;
}

/** Asks what `work` has claimed by itself; it is told how many that may be. */
export type Adopt = <Result>(work: (places: number) => Promise<{ begun: Begun[]; result: Result }>) => Promise<Result>;

/** What came of an attempt. */
export interface Settled {
  verdict: Verdict;
  /** Where the handshake went; undefined if it was not ours to move any more. */
  state: HandshakeState | undefined;
  /** The same question is to be put at once, without a callback. */
  isDueNow: boolean;
}

export interface Attempt {
  number: number;
  startedAt: Date;
  finishedAt: Date | undefined;
  requestHeaders: HeaderLine[];
  answerHeaders: HeaderLine[] | undefined;
  status: number | undefined;
  remoteAddress: string | undefined;
  timing: Record<string, number> | undefined;
  verdict: Verdict | undefined;
  warnings: string[];
}

export type HeaderLine = [name: string, value: string];

export interface Handshake {
  id: string;
  origin: string;
  sink: string;
  reason: HandshakeReason;
  requestedRate: number | undefined;
  state: HandshakeState;
  verdict: Verdict | undefined;
  dueAt: Date | undefined;
  waitingUntil: Date | undefined;
  createdAt: Date;
  finishedAt: Date | undefined;
  rejectedCallback: RejectedCallback | undefined;
  attempts: Attempt[];
}
