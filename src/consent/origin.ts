import type { Rate } from './rate.js';

/** How responses to OPTIONS are judged: by the MUSTs of the specification, or with the documented exceptions. */
export type JudgementPolicy = 'strict' | 'lenient';

/** Whether handshakes offer a callback URL (webhook specification, section 4.1.3). */
export type CallbackPolicy = 'offer' | 'never';

/** The event profiles that an origin can choose; events/ has their rules. */
export const profileNames = ['cloudevents', 'nl-gov', 'intg-std-015', 'belgif'] as const;
export type Profile = (typeof profileNames)[number];

/** An origin and its policy. Rates are requests per minute. */
export interface Origin {
  /** The value of WebHook-Request-Origin. */
  name: string;
  tenant: string;
  isDefault: boolean;
  /** The rate that handshakes ask for; undefined means that they name none. */
  requestedRate: number | undefined;
  /** The rate of a grant if neither the request nor the response names one. */
  defaultRate: Rate;
  judgement: JudgementPolicy;
  callback: CallbackPolicy;
  /** The rate for webhooks without handshake support (webhook specification, section 4); undefined means no grant. */
  unsupportedRate: number | undefined;
  leaseSeconds: number;
  profile: Profile;
  /** How often a webhook must respond 410 Gone before it counts as retired. */
  goneAfter: number;
  /** Who may subscribe to what. Undefined means no limit; with an empty array no client may subscribe. */
  subscriptionRules: readonly SubscriptionRule[] | undefined;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export type OriginPolicy = Omit<Origin, 'name' | 'tenant' | 'version' | 'createdAt' | 'updatedAt'>;

/** `name` is for people: clients that the rule is about see it when it refuses something. */
export interface SubscriptionRule {
  name: string;
  /** Client ids, exactly. */
  subscribers?: string[] | undefined;
  /** The claims that a token must have, with the accepted values. */
  claims?: Record<string, ClaimValue | ClaimValue[]> | undefined;
  types?: string[] | undefined;
  sources?: string[] | undefined;
  subjects?: string[] | undefined;
}

type ClaimValue = string | number | boolean;
