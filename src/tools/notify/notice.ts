import type { GrantState } from '../../matching/replica/state.js';
import { noticeTexts } from '../../base/texts/notices.js';
import { statusNextTexts, statusTexts, untilAsked } from '../../base/texts/status.js';
import type { Language, Text } from '../../base/texts/text.js';
import { verdictTexts, withValues, type VerdictText } from '../../base/texts/verdicts.js';
import { isStatusDetailCode, statusDetailCodes } from '../../consent/status.js';

/** The types of the events: what happened to a subscription, or to the grant that it depends on. */
export const noticeTypes = [
  'subscription.active',
  'subscription.refused',
  'subscription.unreachable',
  'subscription.expiring',
  'subscription.expired',
  'subscription.retired',
  'subscription.suspended',
  'subscription.blocked',
  'subscription.deleted',
  'grant.held',
  'grant.released',
] as const;
export type NoticeType = (typeof noticeTypes)[number];

/** Something that a subscriber should hear about one of its subscriptions. */
export interface Notice {
  /** The same whenever the same change is read, so that receivers can deduplicate. */
  id: string;
  type: NoticeType;
  /** RFC 3339. */
  at: string;
  subscriber: string;
  subscription: string;
  origin: string;
  sink: string;
  status: string;
  /** The same code as in `statusdetails`. */
  code: string;
  grant: Pick<GrantState, 'allowedrate' | 'expiresat' | 'helduntil'> | undefined;
}

export interface EventSettings {
  /** The `source` of the events. */
  source: string;
  /** Before each type, for profiles that want a name in reverse domain notation; may be empty. */
  typePrefix: string;
  language: Language;
}

/** The notice as a CloudEvent: only what its subscriber can read with `GET /subscriptions/{id}`. */
export function eventOf(notice: Notice, { source, typePrefix, language }: EventSettings): object {
  const { id, type, at, subscription, origin, sink, status, code, grant } = notice;
  const { message, advice, next } = textsOf(notice);
  const isLive = type === 'subscription.expiring' || status === 'active' || (status === 'expired' && code !== 'ended');
  return {
    specversion: '1.0',
    id,
    source,
    type: `${typePrefix}${type}`,
    subject: subscription,
    time: at,
    datacontenttype: 'application/json',
    data: {
      subscription,
      origin,
      sink,
      status,
      code,
      message: message[language],
      advice: advice && advice[language],
      next: next && next[language],
      ...(grant === undefined || !isLive ? {} : { grantexpiresat: grant.expiresat }),
      ...(type === 'grant.held' && grant?.helduntil ? { helduntil: grant.helduntil } : {}),
    },
  };
}

function textsOf({ type, subscription, origin, code, grant }: Notice): {
  message: Text;
  advice?: Text | undefined;
  next?: Text | undefined;
} {
  // A newer registry may have codes that this version does not know.
  const row: Omit<VerdictText, 'label'> = isStatusDetailCode(code)
    ? statusDetailCodes[code]
    : { title: verdictTexts.no_consent_headers.title };
  switch (type) {
    case 'subscription.active': {
      const [basis, may] = [row.title, statusTexts.maySend(origin, grant?.allowedrate ?? '*')];
      return { message: { en: `${basis.en} ${may.en}`, nl: `${basis.nl} ${may.nl}` } };
    }
    case 'subscription.expiring':
      return { message: noticeTexts.expiring(grant?.expiresat ?? '') };
    case 'subscription.expired':
      return {
        message: row.title,
        next: code === 'ended' ? statusNextTexts.untilExtended : untilAsked(subscription),
      };
    case 'subscription.suspended':
      return { message: noticeTexts.suspended, next: statusNextTexts.untilResumed };
    case 'subscription.blocked':
      return { message: noticeTexts.blocked, next: noticeTexts.untilLifted };
    case 'subscription.deleted':
      return { message: noticeTexts.deleted };
    case 'grant.held':
      return { message: noticeTexts.held(grant?.helduntil ?? '') };
    case 'grant.released':
      return { message: noticeTexts.released };
    default: {
      const { title, advice } = row;
      const next = code === 'revoked' ? statusNextTexts.untilAdminAsks : untilAsked(subscription);
      return { message: title, advice: advice && withValues(advice, { origin }), next };
    }
  }
}
