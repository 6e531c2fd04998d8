import { nextTexts } from '../base/texts/handshakes.js';
import { noticeTexts } from '../base/texts/notices.js';
import { statusLabels, statusTexts } from '../base/texts/status.js';
import type { VerdictText } from '../base/texts/verdicts.js';
import type { Basis } from './decision.js';
import { verdicts, type Course, type FixedBy, type Verdict } from './verdicts.js';

/** Where a subscription stands. The view `subscription_status` decides, with the code; nothing else does. */
export const statuses = [
  'pending',
  'active',
  'refused',
  'unreachable',
  'suspended',
  'blocked',
  'expired',
  'retired',
] as const;
export type Status = (typeof statuses)[number];

type PublicVerdict = Exclude<Verdict, 'name_not_found' | 'address_not_allowed'>;
type OwnCode = 'ended' | 'suspended' | 'agreement' | 'expired' | 'asking' | 'not_asked_yet';

/** Why a subscription has its status: a verdict as everyone sees it, or one of its own. */
export type StatusDetailCode = PublicVerdict | OwnCode;

interface CodeRow extends VerdictText {
  fixedBy: FixedBy;
  /** Someone has to act: neither Assent goes on by itself, nor did the subscriber choose it. */
  wantsAttention: boolean;
  /** The only status that it belongs to; undefined if a verdict belongs to several. */
  status?: Status;
  /** Of the grant that makes it active. */
  basis?: Basis;
}

const { name_not_found: _absent, address_not_allowed: _internal, ...publicVerdicts } = verdicts;

const ofVerdicts = Object.fromEntries(
  Object.entries(publicVerdicts).map(([verdict, { label, title, advice, fixedBy, outcome }]): [string, CodeRow] => [
    verdict,
    { label, title, ...(advice && { advice }), fixedBy, wantsAttention: fixedBy !== 'nobody' && outcome !== 'granted' },
  ]),
) as Record<PublicVerdict, CodeRow>;

const active = (basis: Basis) =>
  ({ title: statusTexts.bases[basis], fixedBy: 'nobody', wantsAttention: false, status: 'active', basis }) as const;

const { granted, callback_granted: callbackGranted } = ofVerdicts;

/** One row for every code. */
export const statusDetailCodes: Readonly<Record<StatusDetailCode, CodeRow>> = {
  ...ofVerdicts,
  granted: { label: granted.label, ...active('response') },
  callback_granted: { label: callbackGranted.label, ...active('callback') },
  agreement: { label: statusLabels.agreement, ...active('agreement') },
  granted_by_policy: { ...ofVerdicts.granted_by_policy, ...active('policy'), fixedBy: 'headers' },
  asking: {
    label: statusLabels.asking,
    title: nextTexts.asking,
    fixedBy: 'nobody',
    wantsAttention: false,
    status: 'pending',
  },
  not_asked_yet: {
    label: statusLabels.not_asked_yet,
    title: statusTexts.notAskedYet,
    fixedBy: 'nobody',
    wantsAttention: false,
    status: 'pending',
  },
  suspended: {
    label: statusLabels.suspended,
    title: noticeTexts.suspended,
    fixedBy: 'nobody',
    wantsAttention: false,
    status: 'suspended',
  },
  blocked: { ...ofVerdicts.blocked, wantsAttention: true, status: 'blocked' },
  // The operator of Assent has to act.
  proxy_unreachable: { ...ofVerdicts.proxy_unreachable, wantsAttention: true },
  proxy_authentication: { ...ofVerdicts.proxy_authentication, wantsAttention: true },
  proxy_malformed: { ...ofVerdicts.proxy_malformed, wantsAttention: true },
  proxy_refused: { ...ofVerdicts.proxy_refused, wantsAttention: true },
  secret_unavailable: { ...ofVerdicts.secret_unavailable, wantsAttention: true },
  revoked: { ...ofVerdicts.revoked, wantsAttention: true, status: 'refused' },
  expired: {
    label: statusLabels.expired,
    title: statusTexts.expired,
    fixedBy: 'nobody',
    wantsAttention: true,
    status: 'expired',
  },
  ended: {
    label: statusLabels.ended,
    title: statusTexts.ended,
    fixedBy: 'nobody',
    wantsAttention: false,
    status: 'expired',
  },
};

/** What happens after those that are no verdict. */
export const ownCourses: Readonly<Record<OwnCode, Course>> = {
  agreement: 'agreed',
  asking: 'asking',
  not_asked_yet: 'held',
  suspended: 'suspended',
  expired: 'expired',
  ended: 'ended',
};

export const isStatusDetailCode = (code: string): code is StatusDetailCode => Object.hasOwn(statusDetailCodes, code);
