import type { Rate } from './rate.js';
import type { FaultRule } from '../base/errors.js';
import { isIpv6 } from '../base/formats/ip-address.js';
import { limits } from '../base/limits.js';
import { originNameTexts, type FindingCode } from '../base/texts/origins.js';
import type { Text } from '../base/texts/text.js';

/** How responses to OPTIONS are judged: by the MUSTs of the specification, or with the documented exceptions. */
export type JudgementPolicy = 'strict' | 'lenient';

/** Whether handshakes offer a callback URL (webhook specification, section 4.1.3). */
export type CallbackPolicy = 'offer' | 'never';

/** How what an origin sends is signed: the form of `Signature-Agent` (src/signatures/request-signature.ts), or not at all. */
export type SignaturePolicy = 'off' | 'string' | 'dictionary';

/** The event profiles that an origin can choose; events/ has their rules. */
export const profileNames = ['cloudevents', 'nl-gov', 'intg-std-015', 'belgif'] as const;
export type Profile = (typeof profileNames)[number];

/** An origin and its policy. Rates are requests per minute. */
export interface Origin extends OriginProof {
  /** The value of WebHook-Request-Origin. */
  name: string;
  tenant: string;
  /** For consumers who choose an origin. */
  description: string | undefined;
  isDefault: boolean;
  /** The rate that handshakes ask for; undefined means that they name none. */
  requestedRate: number | undefined;
  /** The rate of a grant if neither the request nor the response names one. */
  defaultRate: Rate;
  /** Requests at once after a pause, at most; undefined is four seconds of the rate (lease.ts). */
  burst: number | undefined;
  judgement: JudgementPolicy;
  callback: CallbackPolicy;
  /** Of handshakes and deliveries. */
  signatures: SignaturePolicy;
  /** The rate for webhooks without handshake support (webhook specification, section 4); undefined means no grant. */
  unsupportedRate: number | undefined;
  grantSeconds: number;
  profile: Profile;
  /** How often a webhook must respond 410 Gone before it counts as retired. */
  goneAfter: number;
  /** Notices about subscriptions come from it. */
  notices: boolean | undefined;
  /** Who may subscribe to what. Undefined means no limit; with an empty array no client may subscribe. */
  subscriptionRules: SubscriptionRule[] | undefined;
  /** The id under which anyone may read its public keys. */
  directory: string;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export type OriginPolicy = Omit<
  Origin,
  'name' | 'tenant' | 'directory' | keyof OriginProof | 'version' | 'createdAt' | 'updatedAt'
>;

/** Where the owner of a name publishes a key: at the name itself, or in DNS. */
export type ProofPlace = 'directory' | 'dns';

/** Whether the owner of the name publishes one of the keys of the origin, as far as it was checked. */
export interface OriginProof {
  /** It can have subscriptions only while it is verified. */
  mustVerify: boolean;
  /** Undefined: it is not verified. So are the next three. */
  verifiedBy: ProofPlace | undefined;
  /** The thumbprint of the key. */
  verifiedKey: string | undefined;
  verifiedAt: Date | undefined;
  /** The latest check that found the proof. */
  provedAt: Date | undefined;
  /** That check found a key of the origin in the directory at the name. */
  servesKeys: boolean;
  checkedAt: Date | undefined;
  /** What the latest check found instead of a proof. */
  findings: ProofFindings | undefined;
  /** Daily checks in a row that found a clear no. */
  refusals: number;
}

export interface ProofFinding {
  code: FindingCode;
  /** What was there, for people. */
  found?: string | undefined;
}

export type ProofFindings = Readonly<Record<ProofPlace, ProofFinding>>;

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

type ParsedOriginName = { ok: true; name: string } | { ok: false; rule: FaultRule; detail: Text };

const maxLabelLength = 63;
const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Parses the DNS expression that identifies an origin (webhook specification, section 4.1.2). Assent sends it in
 * WebHook-Request-Origin and compares it with the response, so it is one plain name: in lower case, and never
 * repaired. `rule` is stable.
 */
export function parseOriginName(text: string): ParsedOriginName {
  if (text === '') return fault('origin_empty', originNameTexts.empty);
  if (/[^!-~]/.test(text)) return fault('origin_not_ascii', originNameTexts.notAscii);
  if (text.includes('*')) return fault('origin_wildcard', originNameTexts.wildcard);
  if (text.includes('://')) return fault('origin_scheme', originNameTexts.scheme);
  const name = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const labels = name.split('.');
  // If the last label is a number, URL parsers read the whole name as an IPv4 address. An IPv6 address may have a zone.
  if (
    isIpv6(name.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '')) ||
    /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')
  ) {
    return fault('origin_address', originNameTexts.address);
  }
  if (/:\d*$/.test(name)) return fault('origin_port', originNameTexts.port);
  if (name.endsWith('.')) return fault('origin_trailing_dot', originNameTexts.trailingDot);
  if (name.length > limits.nameLength) return fault('origin_too_long', originNameTexts.tooLong(limits.nameLength));
  if (labels.some((part) => part.length > maxLabelLength)) {
    return fault('origin_label_too_long', originNameTexts.labelTooLong(maxLabelLength));
  }
  if (!labels.every((part) => label.test(part))) return fault('origin_malformed', originNameTexts.malformed);
  if (labels.length < 2) return fault('origin_single_label', originNameTexts.singleLabel);
  return { ok: true, name };
}

const fault = (rule: FaultRule, detail: Text): ParsedOriginName => ({ ok: false, rule, detail });
