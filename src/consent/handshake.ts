import type { TraceSpan } from '../base/tracing.js';
import type { Verdict } from './verdicts.js';

/**
 * One exchange with one sink for one origin (webhook specification, section 4). Its row is the queue. A process that
 * works on it has claimed it, and every transition is one statement that applies only in its state and under its claim.
 *
 *   due        to be sent at `dueat`: new, or retried after a failure that may pass; without a time while the subscription
 *              (for a renewal: every subscription of the pair) is suspended, or under a block
 *   asking     claimed by a process until `claimeduntil`; after that it is due again (the owner died)
 *   waiting    the response gave no consent, and the callback can still be called until `waitinguntil`
 *   granted    the response or the callback gave consent
 *   refused    the response refused, the callback expired, or the owner refused on the page of the callback
 *   retired    410
 *   unreachable   no response after all attempts
 *   cancelled  no longer needed: another sink, origin or rate, a deletion, a revocation, a newer consent
 *
 *   due -> asking                          a worker claims it
 *   asking -> due                          transport failure, 429, 5xx; held by a budget; handed back at a stop; its
 *                                          process died;
 *                                          no WebHook header at all: retried immediately without the callback;
 *                                          for a renewal, any response that is neither consent nor a clear refusal
 *   asking -> waiting | granted | refused | retired | unreachable
 *   waiting -> refused                     the callback expired, or the next renewal replaced this one
 *   waiting -> due                         the callback expired under a block
 *   any but cancelled and granted -> granted    the callback, before, during or after the response
 *   any but cancelled and granted -> refused    the owner, on the page of the callback
 *   due | asking | waiting -> cancelled
 *
 * A change of sink, origin or rate, a deletion, a revocation or the owner's refusal sets `callbackopen` to false in any
 * state of the handshake. Its callback is unknown from then on.
 *
 * True: it is open, and can be cancelled. Otherwise it is over.
 */
const states = {
  due: true,
  asking: true,
  waiting: true,
  granted: false,
  refused: false,
  unreachable: false,
  retired: false,
  cancelled: false,
} as const;
export type HandshakeState = keyof typeof states;
type OpenState = { [S in HandshakeState]: (typeof states)[S] extends true ? S : never }[HandshakeState];

export const isOpenState = (state: HandshakeState): state is OpenState => states[state];
export const openStates = (Object.keys(states) as HandshakeState[]).filter(isOpenState);

/** Why the webhook is asked: a new subscription; another sink, origin or rate; a client's request; an expiring grant. */
export type HandshakeTrigger = 'registration' | 'change' | 'request' | 'renewal';

export interface Question {
  id: string;
  tenant: string;
  origin: string;
  sink: string;
  /** Undefined for a renewal: it belongs to the pair. */
  subscription: string | undefined;
  generation: number | undefined;
  trigger: HandshakeTrigger;
  startedBy: string;
  /** Requests per minute. */
  requestedRate: number | undefined;
  /** Of the request that started it (W3C Trace Context). */
  traceparent: string | undefined;
}

/** A handshake that this process may work on until `claimeduntil`. */
export interface Claim extends Question {
  claimId: string;
  sinkHost: string;
  /** By the database's clock. A refused renewal does not end a newer grant. */
  createdAt: Date;
  /** CIDR: no address in them is asked (src/registry/blocks/block.ts). */
  blockedNetworks: readonly string[];
  /** What the origin shows to a webhook that asks for a certificate; undefined for none. */
  clientCertificate: ShownCertificate | undefined;
}

export interface ShownCertificate {
  id: string;
  /** SHA-256, in hexadecimal with colons. */
  fingerprint: string;
  endsAt: Date;
}

/** One OPTIONS request that is about to be sent. */
export interface BegunAttempt {
  number: number;
  callbackOffered: boolean;
  /** Headers as they are sent. */
  headers: Readonly<Record<string, string>>;
  /** It should be signed, and the key cannot be opened: it is not sent. */
  isWithheld: boolean;
  /** Undefined if nothing is traced. */
  span?: TraceSpan | undefined;
}

/** A claim with its attempt, which is recorded but not yet sent. */
export interface Begun {
  claim: Claim;
  attempt: BegunAttempt;
}

/** Sends the handshakes that `work` claims in its own transaction; `places` is how many it may claim. */
export type Adopt = <Result>(work: (places: number) => Promise<{ begun: Begun[]; result: Result }>) => Promise<Result>;

/** The outcome of an attempt. */
export interface Settled {
  /** What the response means by itself. */
  judged: Verdict;
  verdict: Verdict;
  /** The new state of the handshake; undefined if the claim was no longer ours. */
  state: HandshakeState | undefined;
  /** The same request must be sent again immediately, without a callback. */
  isDueNow: boolean;
  evidence: string | undefined;
}

export interface Attempt {
  number: number;
  startedAt: Date;
  finishedAt: Date | undefined;
  requestHeaders: HeaderLine[];
  responseHeaders: HeaderLine[] | undefined;
  statusCode: number | undefined;
  address: string | undefined;
  timing: Record<string, number> | undefined;
  verdict: Verdict | undefined;
  /** What made the verdict, if it does not say it all. */
  evidence: string | undefined;
  tolerated: string[];
}

export type HeaderLine = [name: string, value: string];

export type RejectionCode =
  'origin_mismatch' | 'origin_repeated' | 'rate_malformed' | 'callback_expired' | 'callback_closed' | 'blocked';

/** The latest call of a callback URL that granted nothing, as the row of the handshake keeps it. */
export interface RejectedCallback {
  /** RFC 3339. */
  at: string;
  code: RejectionCode;
  allowedorigin?: string | undefined;
  allowedrate?: string | undefined;
  /** The number of such calls. */
  count: number;
}

export interface Handshake {
  id: string;
  origin: string;
  sink: string;
  /** Undefined for a renewal. */
  subscription: string | undefined;
  trigger: HandshakeTrigger;
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
