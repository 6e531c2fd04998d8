import type { BlockKind } from '../blocks/block.js';
import type { Grant } from '../../consent/grant.js';
import type { HandshakeReason, HandshakeState, HeaderLine, RejectedCallback } from '../../consent/handshake.js';
import type { Status, StatusReason } from '../../consent/status.js';
import type { Verdict } from '../../consent/verdicts.js';
import type { Filter } from '../../matching/filters/filter.js';
import type { CallbackPolicy, Profile } from '../../consent/origin.js';
import type { PresentCredential } from './credential.js';

/** What a consumer asks for (CloudEvents Subscriptions API, section 3.2.1), validated. */
export interface Definition {
  sink: string;
  protocol: string;
  protocolSettings: Record<string, unknown> | undefined;
  source: string | undefined;
  types: string[] | undefined;
  subject: string | undefined;
  filters: Filter[] | undefined;
  /** The price of the filters, in steps; usually 0. It is derived from the other members (matching/price.ts). */
  price: number;
  config: Record<string, unknown> | undefined;
  /** Requests per minute to ask for; undefined means the rate of the origin. */
  requestedRate: number | undefined;
  /** The end of the subscription. */
  expiresAt: Date | undefined;
  /** Undefined means the policy of the origin. If the origin never offers a callback, `offer` has no effect. */
  callback: CallbackPolicy | undefined;
}

/**
 * A stored subscription. `generation` counts the pairs of origin and sink that it has had: handshakes of an earlier
 * generation no longer count. `version` counts all changes.
 */
export interface Subscription extends Definition, SubscriptionStatus {
  id: string;
  tenant: string;
  subscriber: string;
  origin: string;
  /** Of the origin. */
  profile: Profile;
  credential: PresentCredential | undefined;
  generation: number;
  version: number;
  /** Without a reason if it was registered as suspended. */
  suspended: { at: Date; by: SuspendedBy; reason: string | undefined } | undefined;
  /** What stops it, whatever else its state is. */
  block: { kind: BlockKind; value: string; reason: string; endsAt: Date | undefined } | undefined;
  /** Its end has passed. */
  isEnded: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export type SuspendedBy = 'subscriber' | 'admin';

/** The source of the status: the grant of the pair and the latest handshake. */
export interface SubscriptionStatus {
  status: Status;
  reason: StatusReason;
  handshake:
    | {
        id: string;
        reason: HandshakeReason;
        state: HandshakeState;
        /** As subscribers see it, for every reader. */
        verdict: Verdict | undefined;
        dueAt: Date | undefined;
        waitingUntil: Date | undefined;
        answer: HeaderLine[] | undefined;
        callbackOffered: boolean;
        rejectedCallback: RejectedCallback | undefined;
      }
    | undefined;
  grant:
    | (Pick<Grant, 'state' | 'basis' | 'allowedRate' | 'warnings' | 'expiresAt' | 'renewAt'> & { secondsLeft: number })
    | undefined;
}
