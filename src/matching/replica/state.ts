import type { Basis, reportedStates } from '../../consent/decision.js';
import type { Profile, SignaturePolicy } from '../../consent/origin.js';
import type { Rate } from '../../consent/rate.js';
import type { Filter } from '../filters/filter.js';

/**
 * The subjects of changes, and their states in the form of the database views `block_state`, `origin_state`, `subscription_state`
 * and `grant_state`, and of the feed and snapshots. States have everything that matching and permissions need, and no
 * secret.
 */
export type Subject =
  | { kind: 'block'; tenant: string; id: string }
  | { kind: 'origin'; tenant: string; origin: string }
  | { kind: 'subscription'; origin: string; id: string }
  | { kind: 'grant'; origin: string; sink: string };

export type State = BlockState | OriginState | SubscriptionState | GrantState;

export type StateLine =
  | { kind: 'block'; resource: BlockState }
  | { kind: 'origin'; resource: OriginState }
  | { kind: 'subscription'; resource: SubscriptionState }
  | { kind: 'grant'; resource: GrantState };

/** Undefined for a kind that this version does not know. */
export function subjectOfState({ kind, resource }: StateLine, tenant: string): Subject | undefined {
  switch (kind) {
    case 'block':
      return { kind, tenant, id: resource.id };
    case 'origin':
      return { kind, tenant, origin: resource.name };
    case 'subscription':
      return { kind, origin: resource.origin, id: resource.id };
    case 'grant':
      return { kind, origin: resource.origin, sink: resource.sink };
    default:
      return undefined;
  }
}

/** What a block does to subscriptions, for their consumers. To followers the block itself says it. */
export const isEffectOfBlock = (kind: string) => kind === 'subscription.blocked' || kind === 'subscription.unblocked';

/**
 * For example, the subject of `grant.revoked` is a grant. Undefined for a change that is none for followers, and for a
 * kind that this version does not know.
 */
export function subjectOfChange(
  change: {
    kind: string;
    origin?: string;
    sink?: string;
    subscription?: string | null;
    block?: string | null;
  },
  tenant: string,
): Subject | undefined {
  const { origin, sink, subscription, block } = change;
  const kind = change.kind.slice(0, change.kind.indexOf('.'));
  if (kind === 'block' && block) return { kind, tenant, id: block };
  if (!origin || isEffectOfBlock(change.kind)) return undefined;
  if (kind === 'origin') return { kind, tenant, origin };
  if (kind === 'subscription' && subscription) return { kind, origin, id: subscription };
  return kind === 'grant' && sink ? { kind, origin, sink } : undefined;
}

/** In force until it is null. `kind` may be one of a later version. */
export interface BlockState {
  id: string;
  kind: string;
  value: string;
}

export interface OriginState {
  name: string;
  isdefault: boolean;
  profile: Profile;
  signatures?: SignaturePolicy;
  /** Its tenant has proved that the name is its own. */
  verified?: boolean;
  /** Those whose signatures receivers accept. */
  keys?: KeyState[];
  /** The fingerprint of its client certificate. Absent if it has none. */
  certificatefingerprint?: string;
}

export interface KeyState {
  /** Its thumbprint. */
  keyid: string;
  /** RFC 3339. */
  startsat: string;
  endsat?: string;
}

export interface SubscriptionState {
  id: string;
  subscriber?: string;
  origin: string;
  sink: string;
  source?: string;
  types?: string[];
  subject?: string;
  filters?: Filter[];
  protocolsettings?: Record<string, unknown>;
  hascredential: boolean;
  /** Absent if it has none. */
  hassigningsecret?: boolean;
  suspended: boolean;
  /** RFC 3339: the end that its consumer named. */
  expiresat?: string;
}

export interface GrantState {
  id: string;
  origin: string;
  sink: string;
  state: (typeof reportedStates)[number];
  basis: Basis;
  allowedrate: Rate;
  /** RFC 3339. */
  expiresat: string;
  helduntil?: string;
  /** Of the webhook, when it was last asked for this consent. */
  address?: string;
}
