import { changedMembers, type Changed } from '../storage/audit.js';
import type { CredentialInfo, PresentCredential, SealedCredential } from './credential.js';
import type { CredentialVault } from './credential-vault.js';
import type { Definition, Subscription } from './subscription.js';

/** A subscription, or one that is about to be written, as the audit record compares it. */
export interface Audited extends Omit<Definition, 'price'> {
  origin: string;
  credential: AuditedCredential | undefined;
}

type AuditedCredential = Pick<CredentialInfo, 'credentialtype' | 'endsat' | 'fingerprint'> & {
  previous?: { fingerprint: string; until: string } | undefined;
};

/**
 * The members that changed, without a secret: of a credential, the fingerprint. The values of headers may be secrets
 * too, so each is a fingerprint of the same kind.
 */
export function changedSubscription(
  vault: Pick<CredentialVault, 'fingerprint'>,
  { id, tenant }: Pick<Subscription, 'id' | 'tenant'>,
  before: Audited | undefined,
  after: Audited | undefined,
): Changed | undefined {
  const fingerprint = (value: string) => vault.fingerprint({ value }, { tenant, subscription: id });
  return changedMembers(membersOf(before, fingerprint), membersOf(after, fingerprint));
}

function membersOf(of: Audited | undefined, fingerprint: (value: string) => string): Record<string, unknown> {
  if (of === undefined) return {};
  const { origin, sink, protocol, source, types, subject, filters, config, callback, credential } = of;
  return {
    origin,
    sink,
    protocol,
    protocolsettings: withoutHeaderValues(of.protocolSettings, fingerprint),
    source,
    types,
    subject,
    filters,
    config,
    requestedrate: of.requestedRate,
    callback,
    expiresat: of.expiresAt?.toISOString(),
    sinkcredential: credential && withoutTimeOfSetting(credential),
  };
}

function withoutHeaderValues(settings: Definition['protocolSettings'], fingerprint: (value: string) => string) {
  const headers = settings?.['headers'] as Record<string, string> | undefined;
  if (headers === undefined) return settings;
  const hidden = Object.entries(headers).map(([name, value]) => [name, { fingerprint: fingerprint(value) }]);
  return { ...settings, headers: Object.fromEntries(hidden) as object };
}

/** A repeated rotation sets the same credential again. That is no change. */
function withoutTimeOfSetting({ credentialtype, endsat, fingerprint, previous }: AuditedCredential) {
  const old = previous && { fingerprint: previous.fingerprint, until: previous.until };
  return { credentialtype, endsat, fingerprint, previous: old };
}

/** The credential after a request: what is sealed now, or what was there, beside the previous one as `overlapOf` says. */
export function credentialAfter(
  present: PresentCredential | undefined,
  sealed: SealedCredential | undefined,
  { isKept, keeps, overlaps, until }: { isKept: boolean; keeps: boolean; overlaps: boolean; until: Date | null },
): AuditedCredential | undefined {
  const info = isKept ? present : sealed?.info;
  if (info === undefined) return undefined;
  const old = keeps ? present?.previous?.fingerprint : overlaps ? present?.fingerprint : undefined;
  const previous = old === undefined || until === null ? undefined : { fingerprint: old, until: until.toISOString() };
  return { ...info, previous };
}

/** Who suspended it, and why. */
export function changedSuspension(before: Suspension | undefined, after: Suspension | undefined): Changed | undefined {
  const membersOf = (of: Suspension | undefined) => ({ suspended: of && { by: of.by, reason: of.reason } });
  return changedMembers(membersOf(before), membersOf(after));
}

type Suspension = Pick<NonNullable<Subscription['suspended']>, 'by' | 'reason'>;
