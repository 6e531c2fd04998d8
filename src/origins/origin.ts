import type { Rate } from './rate.js';

/** How answers to OPTIONS are read: the text's MUSTs, or with the mercy that the table in the README lists. */
export type JudgementPolicy = 'strict' | 'lenient';

/** Whether questions offer a callback (webhook specification, section 4.1.3). */
export type CallbackPolicy = 'offer' | 'never';

/** What rules there are that an origin's events may keep: events/ has them. */
export const profileNames = ['cloudevents', 'nl-gov', 'intg-std-015', 'belgif'] as const;
export type Profile = (typeof profileNames)[number];

/** A sending system and its policy. Rates are requests per minute. */
export interface Origin {
  /** The value of WebHook-Request-Origin. */
  name: string;
  tenant: string;
  isDefault: boolean;
  /** What handshakes ask for; undefined means that they name no rate. */
  requestedRate: number | undefined;
  /** What holds when no rate was asked for and none was answered. */
  defaultRate: Rate;
  judgement: JudgementPolicy;
  callback: CallbackPolicy;
  /** What targets get that do not support the handshake (webhook specification, section 4); undefined means nothing. */
  unsupportedRate: number | undefined;
  leaseSeconds: number;
  profile: Profile;
  /** How often a webhook answers 410 Gone before it counts as retired. */
  goneAfter: number;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export type OriginPolicy = Omit<Origin, 'name' | 'tenant' | 'version' | 'createdAt' | 'updatedAt'>;
