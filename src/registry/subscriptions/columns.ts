import type { Person } from '../../base/contract/principal.js';
import type { BlockKind } from '../blocks/block.js';
import type { Grant } from '../../consent/grant.js';
import type { HandshakeTrigger, HandshakeState, HeaderLine, RejectedCallback } from '../../consent/handshake.js';
import type { Status, StatusDetailCode } from '../../consent/status.js';
import type { Verdict } from '../../consent/verdicts.js';
import type { Filter } from '../../matching/filters/filter.js';
import type { CallbackPolicy, Profile } from '../../consent/origin.js';
import { changedMembers, type Changed, storedMembers, trusted } from '../storage/columns.js';
import type { subscription as SubscriptionRow } from '../storage/generated/client.js';
import { ownerOf } from './read-secrets.js';
import type { Vault } from '../storage/vault.js';
import type { AuditedSecret, PresentSecrets, SecretName } from './secrets.js';

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
  secrets: PresentSecrets;
  generation: number;
  version: number;
  /** Without a reason if it was registered as suspended. */
  suspension: { at: Date; by: SuspendedBy; person?: Person | undefined; reason: string | undefined } | undefined;
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
  code: StatusDetailCode;
  /** When what stops it began; undefined while it is active. */
  since: Date | undefined;
  handshake:
    | {
        id: string;
        trigger: HandshakeTrigger;
        /** That of the subscription when it was asked, or of its origin. */
        requestedRate: number | undefined;
        state: HandshakeState;
        /** When its latest attempt began. */
        askedAt: Date | undefined;
        /** As subscribers see it, for every reader. */
        verdict: Verdict | undefined;
        dueAt: Date | undefined;
        waitingUntil: Date | undefined;
        responseHeaders: HeaderLine[] | undefined;
        evidence: string | undefined;
        callbackOffered: boolean;
        rejectedCallback: RejectedCallback | undefined;
      }
    | undefined;
  grant:
    | (Pick<Grant, 'state' | 'basis' | 'allowedRate' | 'tolerated' | 'expiresAt' | 'renewAt'> & { secondsLeft: number })
    | undefined;
}

/** What follows from a definition in the database, in the API and in audit records. */
export const definitionMembers = storedMembers<Definition, SubscriptionRow>()({
  source: { column: 'source' },
  types: { column: 'types', read: orNone, write: (types) => types ?? [] },
  subject: { column: 'subject' },
  filters: { column: 'filters', read: trusted },
  sink: { column: 'sink' },
  protocol: { column: 'protocol' },
  protocolSettings: { column: 'protocolsettings', read: trusted },
  config: { column: 'config', read: trusted },
  requestedRate: { column: 'requestedrate' },
  callback: { column: 'callback', read: trusted },
  expiresAt: { column: 'endsat', member: 'expiresat' },
  price: { column: 'price', audited: false },
});

function orNone(types: string[] | null): string[] | undefined {
  return types?.length ? types : undefined;
}

/** A subscription, or one that is about to be written, as the audit record compares it. */
export interface Audited extends Definition {
  origin: string;
  secrets: Partial<Record<SecretName, AuditedSecret>>;
}

/**
 * The members that changed, without a secret: of each secret, the fingerprint. The values of headers may be secrets
 * too, so each is a fingerprint of the same kind.
 */
export function changedSubscription(
  vault: Pick<Vault, 'fingerprint'>,
  { id, tenant }: Pick<Subscription, 'id' | 'tenant'>,
  before: Audited | undefined,
  after: Audited | undefined,
): Changed | undefined {
  const fingerprint = (value: string) => vault.fingerprint({ value }, ownerOf(tenant, id));
  return changedMembers(membersOf(before, fingerprint), membersOf(after, fingerprint));
}

function membersOf(of: Audited | undefined, fingerprint: (value: string) => string): Record<string, unknown> {
  if (of === undefined) return {};
  return {
    origin: of.origin,
    ...definitionMembers.audited(of),
    sink: withFingerprint(of.sink, fingerprint),
    protocolsettings: withoutHeaderValues(of.protocolSettings, fingerprint),
    ...Object.fromEntries(Object.entries(of.secrets).map(([name, secret]) => [name, withoutTimeOfSetting(secret)])),
  };
}

/** Webhooks keep secrets in the query. A change of it is seen. */
function withFingerprint(sink: string, fingerprint: (value: string) => string): string {
  const query = sink.indexOf('?');
  return query === -1 ? sink : `${sink.slice(0, query)}?[fingerprint ${fingerprint(sink.slice(query))}]`;
}

function withoutHeaderValues(settings: Definition['protocolSettings'], fingerprint: (value: string) => string) {
  const headers = settings?.['headers'] as Record<string, string> | undefined;
  if (headers === undefined) return settings;
  const hidden = Object.entries(headers).map(([name, value]) => [name, { fingerprint: fingerprint(value) }]);
  return { ...settings, headers: Object.fromEntries(hidden) as object };
}

function withoutTimeOfSetting({ credentialtype, expiresat, fingerprint, previous }: AuditedSecret) {
  const old = previous && { fingerprint: previous.fingerprint, until: previous.until };
  return { credentialtype, expiresat, fingerprint, previous: old };
}

/** Who suspended it, and why. */
export function changedSuspension(before: Suspension | undefined, after: Suspension | undefined): Changed | undefined {
  const membersOf = (of: Suspension | undefined) => ({ suspension: of && { by: of.by, reason: of.reason } });
  return changedMembers(membersOf(before), membersOf(after));
}

type Suspension = Pick<NonNullable<Subscription['suspension']>, 'by' | 'reason'>;
