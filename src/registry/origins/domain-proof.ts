import { createHmac } from 'node:crypto';
import type { OriginProof, ProofFinding, ProofFindings, ProofPlace } from '../../consent/origin.js';
import { textOf, type Language, type Text } from '../../base/texts/text.js';
import { findingTexts, nameTexts, type FindingCode } from '../../base/texts/origins.js';
import type { DocumentResult } from '../../outbound/read-document.js';
import { keysIn } from '../../signatures/keys.js';
import { directoryPath } from '../../signatures/request-signature.js';

/*
 * Whether the owner of a name publishes one of the keys of its origin: in the directory at the name, or in a TXT record. The
 * states of an origin:
 *
 *   unverified   its tenant typed the name
 *   verified     the latest check found the proof
 *   failing      verified, and the latest check did not find the proof
 *
 *   unverified -> verified    a check finds the proof
 *   verified -> failing       a check does not
 *   failing -> verified       a check finds it again
 *   failing -> unverified     the third daily check in a row says clearly no, or seven days passed without a usable response
 *
 * Only what nobody else can have proves anything: a key that the registry made for this origin, since a public key can be brought by
 * anyone, or a token of the tenant and the name, which also says to whom an owner gives a name that another tenant holds.
 *
 * One outage ends nothing, and neither do checks that somebody asks for.
 */

/** `servesKeys`: verifiers find a key of the origin at its name, whatever proved it. */
export type Proved = { kind: 'proved'; place: ProofPlace; keyid?: string; servesKeys?: boolean };
/** A directory with a key of the origin; `isOwn` if this registry served it. */
type ServedKeys = { kind: 'served'; keyid: string; isOwn: boolean };
/** Tells a registry its own directories. */
export const markHeader = 'Assent-Registry';
export type CheckResult = Proved | { kind: 'unproved'; findings: ProofFindings };

export const directoryOf = (origin: string) => `https://${origin}${directoryPath}`;
export const recordNameOf = (origin: string) => `_assent.${origin}`;
const recordTextOf = (keyid: string) => `keyid=${keyid}`;

/** Binds a name to a tenant of this registry; not secret. `secret` is the registry's. */
export function tokenOf(secret: Uint8Array, tenant: string, origin: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['origin', tenant, origin]))
    .digest('base64url');
}

const tokenTextOf = (token: string) => `tenant=${token}`;

/** The line of a zone file that proves it, and gives a name to a tenant. */
export const tokenRecordOf = (origin: string, token: string) => `${recordNameOf(origin)}. TXT "${tokenTextOf(token)}"`;

/** The line of a zone file that proves it. */
export const recordOf = (origin: string, keyid: string) => `${recordNameOf(origin)}. TXT "${recordTextOf(keyid)}"`;

const maxRefusals = 3;
const dayMs = 86_400_000;
const maxSilenceMs = 7 * dayMs;
const silentAgainMs = dayMs / 4;

/** Nothing usable came back: it says nothing about the proof. */
const silent: ReadonlySet<FindingCode> = new Set(['record_unread', 'directory_unread']);

/** After a check at `now`; `dueAt` is when the next one is. `spread` is from 0 to 1, so that checks spread over the day. */
export function afterCheck(
  before: OriginProof,
  result: CheckResult,
  { now, isDaily, spread }: { now: Date; isDaily: boolean; spread: number },
): { proof: OriginProof; dueAt: Date | undefined } {
  const later = (ms: number) => new Date(now.getTime() + ms * (0.9 + 0.1 * spread));
  const checked = { ...before, checkedAt: now };
  if (result.kind === 'proved') {
    const { place: verifiedBy, keyid: verifiedKey } = result;
    const verifiedAt = before.verifiedAt ?? now;
    const servesKeys = result.servesKeys === true;
    const found = { verifiedBy, verifiedKey, verifiedAt, provedAt: now, servesKeys, findings: undefined, refusals: 0 };
    return { proof: { ...checked, ...found }, dueAt: later(dayMs) };
  }
  const { findings } = result;
  const { verifiedBy, provedAt } = before;
  if (verifiedBy === undefined) return { proof: { ...checked, findings, refusals: 0 }, dueAt: undefined };
  // Only the place that proved it can say no: an origin that is verified in DNS may have no web server.
  const isSilent = silent.has(findings[verifiedBy].code);
  const refusals = before.refusals + (isDaily && !isSilent ? 1 : 0);
  const isSilentTooLong = isSilent && isDaily && now.getTime() - (provedAt?.getTime() ?? 0) >= maxSilenceMs;
  if (refusals < maxRefusals && !isSilentTooLong) {
    return { proof: { ...checked, findings, refusals }, dueAt: later(isSilent ? silentAgainMs : dayMs) };
  }
  const none = {
    verifiedBy: undefined,
    verifiedKey: undefined,
    verifiedAt: undefined,
    provedAt: undefined,
    servesKeys: false,
  };
  return { proof: { ...checked, ...none, findings, refusals: 0 }, dueAt: undefined };
}

/** What the TXT records say. */
export function readRecords(texts: readonly string[], keyids: readonly string[], token: string): Proved | ProofFinding {
  if (texts.some((text) => text.trim() === tokenTextOf(token))) return { kind: 'proved', place: 'dns' };
  const keyid = keyids.find((each) => texts.some((text) => text.trim() === recordTextOf(each)));
  if (keyid !== undefined) return { kind: 'proved', place: 'dns', keyid };
  if (texts.length === 0) return { code: 'record_missing' };
  return { code: 'record_without_key', found: shortened(texts.join(', ')) };
}

/** What a server of the name returned for its directory. */
export async function readDirectory(
  read: DocumentResult,
  keyids: readonly string[],
  mark: string,
): Promise<ServedKeys | ProofFinding> {
  if (!read.ok) return findingOf(read);
  const published = ((await keysIn(read.body.toString())) ?? []).map(({ kid }) => kid);
  if (published.length === 0) return { code: 'directory_malformed' };
  const keyid = keyids.find((each) => published.includes(each));
  const isOwn = read.headers.some(([name, value]) => name.toLowerCase() === markHeader.toLowerCase() && value === mark);
  if (keyid !== undefined) return { kind: 'served', keyid, isOwn };
  return { code: 'directory_without_key', found: shortened(published.join(', ')) };
}

/** A response other than 200 says clearly no, unless the server says that it can't respond now. So does a name without a server. */
function findingOf({ code, status }: Extract<DocumentResult, { ok: false }>): ProofFinding {
  if (code === 'sink_not_allowed' || code === 'address_not_allowed') return { code: 'directory_not_allowed' };
  if (code === 'body_unusable') return { code: 'directory_malformed' };
  if (code === 'name_not_found') return { code: 'directory_missing', found: code };
  if (status === undefined) return { code: 'directory_unread', found: code };
  const found = String(status);
  if (status >= 500 || status === 408 || status === 429) return { code: 'directory_unread', found };
  return { code: status >= 300 && status < 400 ? 'directory_redirected' : 'directory_missing', found };
}

/** Foreign text: only what can be shown. */
const shortened = (text: string) => text.replace(/[^ -~]/g, '?').slice(0, 200);

/**
 * The directory first: then verifiers find the keys of the origin at its name. What the registry itself serves there proves
 * nothing to it: the name would be proved for ever.
 */
export function resultOf(directory: ServedKeys | ProofFinding, dns: Proved | ProofFinding): CheckResult {
  const servesKeys = 'kind' in directory;
  if (servesKeys && !directory.isOwn) return { kind: 'proved', place: 'directory', keyid: directory.keyid, servesKeys };
  if ('kind' in dns) return { ...dns, servesKeys };
  return { kind: 'unproved', findings: { directory: servesKeys ? { code: 'directory_of_registry' } : directory, dns } };
}

const rank = Object.keys(findingTexts);

/** The finding that says most. */
export function codeOf({ dns, directory }: ProofFindings): FindingCode {
  return rank.indexOf(dns.code) <= rank.indexOf(directory.code) ? dns.code : directory.code;
}

/** What was looked for, what was there instead, and what to do. */
export function explainFindings(origin: string, findings: ProofFindings, keyid: string | undefined): Text {
  const { dns, directory } = findings;
  const places = { record: recordNameOf(origin), directory: directoryOf(origin), name: origin };
  const said = [...new Set([dns, directory].map(({ code, found }) => findingTexts[code](places, found ?? '')))];
  const isHelped = keyid !== undefined && dns.code !== 'name_not_public';
  const help = isHelped ? [nameTexts.publish(recordOf(origin, keyid))] : [];
  return textOf((language: Language) => [...new Set([...said, ...help].map((text) => text[language]))].join(' '));
}
