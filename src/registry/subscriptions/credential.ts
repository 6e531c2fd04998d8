import type { Fault } from '../../base/errors.js';
import { isTimestamp, timeOf } from '../../base/formats/timestamp.js';
import type { SealContext, Vault } from '../storage/vault.js';
import type { SinkCredential } from './read-secrets.js';
import { checkLine, fault, type CheckText } from './rules.js';
import { credentialTexts } from '../../base/texts/credentials.js';

// `sinkcredential` (Subscriptions API, section 3.2.3). Senders may use the previous credential for a while after a new
// one is set, because a webhook and the registry rarely switch to a new secret at the same moment.

/** Metadata of a credential, stored next to it in plain text. It reveals nothing of the secret. */
export interface CredentialInfo {
  credentialtype: SinkCredential['credentialtype'];
  /** RFC 3339; so is `expiresat`, the expiry of the access token. */
  setat: string;
  expiresat?: string;
  fingerprint: string;
}

/** A credential to store. The writer adds the time of the database's clock. */
export interface SealedCredential {
  text: string;
  info: Omit<CredentialInfo, 'setat'>;
}

/** The credential of a subscription, and the previous one while senders may still use it. */
export interface PresentCredential extends CredentialInfo {
  previous?: CredentialInfo & { until: string };
}

/** As the audit record compares it. */
export type AuditedCredential = Pick<CredentialInfo, 'credentialtype' | 'expiresat' | 'fingerprint'> & {
  previous?: { fingerprint: string; until: string } | undefined;
};

/** What a request does to the credential. `kept`: only the type was sent, so the stored credential stays. */
export type RequestedCredential =
  | { kind: 'absent' }
  | { kind: 'kept'; type: SinkCredential['credentialtype']; overlapSeconds: number | undefined }
  | { kind: 'given'; value: SinkCredential; overlapSeconds: number | undefined };

type FaultOfSink = (sink: string) => Omit<Fault, 'pointer'> | undefined;

const checkToken: CheckText = (value, at) => {
  const faults = checkLine(value, at);
  if (faults.length > 0 || /^[!-~]+$/.test(value)) return faults;
  return fault(at, 'token_malformed', credentialTexts.tokenMalformed);
};

const checkInstant: CheckText = (value, at) => {
  if (isTimestamp(value) && /(?:z|[+-]00:00)$/i.test(value)) return [];
  return fault(at, 'not_a_utc_instant', credentialTexts.notUtc);
};

const accessToken = { accesstoken: checkToken, accesstokenexpiresutc: checkInstant, accesstokentype: checkToken };
const membersOf: Record<SinkCredential['credentialtype'], Record<string, CheckText>> = {
  PLAIN: { identifier: checkLine, secret: checkLine },
  ACCESSTOKEN: accessToken,
  // The endpoint is checked as a sink.
  REFRESHTOKEN: { ...accessToken, refreshtoken: checkLine, refreshtokenendpoint: () => [] },
};
/** Optional in the draft's schema; the default is "bearer". */
const optionalMember = 'accesstokentype';

/** Checks the rules that the contract cannot express; returns all faults at once. No detail repeats a secret. */
export function readSinkCredential(
  sent: SinkCredential | undefined,
  at: string,
  faultOfSink: FaultOfSink,
): { faults: Fault[]; credential: RequestedCredential } {
  if (sent === undefined) return { faults: [], credential: { kind: 'absent' } };
  const { setat: _at, expiresat: _expires, fingerprint: _print, previous: _previous, overlapseconds, ...value } = sent;
  const given = new Map(Object.entries(value).filter(([name]) => name !== 'credentialtype'));
  if (given.size === 0) {
    return { faults: [], credential: { kind: 'kept', type: value.credentialtype, overlapSeconds: overlapseconds } };
  }
  const faults = Object.entries(membersOf[value.credentialtype]).flatMap(([name, check]) => {
    const member = given.get(name);
    if (member !== undefined) return check(member, `${at}/${name}`);
    return name === optionalMember ? [] : fault(`${at}/${name}`, 'required', credentialTexts.required);
  });
  const endpoint = 'refreshtokenendpoint' in value ? value.refreshtokenendpoint : undefined;
  const ofEndpoint = endpoint === undefined ? undefined : faultOfSink(endpoint);
  if (ofEndpoint !== undefined) {
    const detail = credentialTexts.endpoint(ofEndpoint.detail);
    faults.push({ pointer: `${at}/refreshtokenendpoint`, rule: ofEndpoint.rule, detail });
  }
  return { faults, credential: { kind: 'given', value, overlapSeconds: overlapseconds } };
}

/** Undefined unless the request has a credential. */
export async function sealCredential(
  vault: Pick<Vault, 'seal' | 'fingerprint'>,
  credential: RequestedCredential,
  context: SealContext,
): Promise<SealedCredential | undefined> {
  if (credential.kind !== 'given') return undefined;
  const { value } = credential;
  const endsAt = value.credentialtype === 'PLAIN' ? undefined : value.accesstokenexpiresutc;
  const info = {
    credentialtype: value.credentialtype,
    ...(endsAt !== undefined && { expiresat: timeOf(endsAt).toISOString() }),
    fingerprint: vault.fingerprint(value, context),
  };
  return { text: await vault.seal(value, context), info };
}
