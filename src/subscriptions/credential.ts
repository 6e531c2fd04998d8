import type { Fault } from '../errors.js';
import type { components } from '../http/contract.gen.js';
import { isTimestamp } from '../http/timestamp.js';
import type { CredentialContext, CredentialVault } from './credential-vault.js';
import { checkLine, fault, type CheckText } from './rules.js';
import { textIn, textOf } from '../texts/text.js';

// `sinkcredential` (Subscriptions API, section 3.2.3). A new one may leave the one before it to senders for a while, because
// a webhook rarely learns of a new secret at the moment in which the registry does.

export type SinkCredential = components['schemas']['SinkCredential'];

/** Metadata of a credential, stored beside it in clear text. No secret can be derived from it. */
export interface CredentialInfo {
  credentialtype: SinkCredential['credentialtype'];
  /** RFC 3339, as is the end of its access token. */
  setat: string;
  endsat?: string;
  fingerprint: string;
}

/** To be written, with the time by the database's clock. */
export interface SealedCredential {
  text: string;
  info: Omit<CredentialInfo, 'setat'>;
}

/** That of a subscription, and the one before it while senders may still use it. */
export interface PresentCredential extends CredentialInfo {
  previous?: CredentialInfo & { until: string };
}

/** What a request says of the credential. `kept` is one with nothing but its type: what is stored stays. */
export type RequestedCredential =
  | { kind: 'absent' }
  | { kind: 'kept'; type: SinkCredential['credentialtype']; overlapSeconds: number | undefined }
  | { kind: 'given'; value: SinkCredential; overlapSeconds: number | undefined };

type FaultOfSink = (sink: string) => Omit<Fault, 'pointer'> | undefined;

const checkToken: CheckText = (value, at) => {
  const faults = checkLine(value, at);
  if (faults.length > 0 || /^[!-~]+$/.test(value)) return faults;
  return fault(at, 'token_malformed', 'This goes into a header: only visible ASCII without spaces is allowed.');
};

const checkInstant: CheckText = (value, at) => {
  if (isTimestamp(value) && /(?:z|\+00:00)$/i.test(value)) return [];
  return fault(at, 'not_a_utc_instant', 'This is an RFC 3339 instant in UTC, such as 2026-11-20T12:00:00Z.');
};

const accessToken = { accesstoken: checkToken, accesstokenexpiresutc: checkInstant, accesstokentype: checkToken };
const membersOf: Record<SinkCredential['credentialtype'], Record<string, CheckText>> = {
  PLAIN: { identifier: checkLine, secret: checkLine },
  ACCESSTOKEN: accessToken,
  // The faults of the endpoint are those of a sink.
  REFRESHTOKEN: { ...accessToken, refreshtoken: checkLine, refreshtokenendpoint: () => [] },
};
/** The draft's schema lets it be absent, and then it means "bearer". */
const optionalMember = 'accesstokentype';

/** What the contract cannot say of a credential: all faults at once. No detail repeats what was sent. */
export function readSinkCredential(
  sent: SinkCredential | undefined,
  at: string,
  faultOfSink: FaultOfSink,
): { faults: Fault[]; credential: RequestedCredential } {
  if (sent === undefined) return { faults: [], credential: { kind: 'absent' } };
  const { setat: _at, endsat: _ends, fingerprint: _print, previous: _previous, overlapseconds, ...value } = sent;
  const given = new Map(Object.entries(value).filter(([name]) => name !== 'credentialtype'));
  if (given.size === 0) {
    return { faults: [], credential: { kind: 'kept', type: value.credentialtype, overlapSeconds: overlapseconds } };
  }
  const faults = Object.entries(membersOf[value.credentialtype]).flatMap(([name, check]) => {
    const member = given.get(name);
    if (member !== undefined) return check(member, `${at}/${name}`);
    return name === optionalMember
      ? []
      : fault(`${at}/${name}`, 'required', 'A credential of this type has this member.');
  });
  const endpoint = 'refreshtokenendpoint' in value ? value.refreshtokenendpoint : undefined;
  const ofEndpoint = endpoint === undefined ? undefined : faultOfSink(endpoint);
  if (ofEndpoint !== undefined) {
    const detail = textOf((language) => `An endpoint keeps the rules of sinks. ${textIn(ofEndpoint.detail, language)}`);
    faults.push({ pointer: `${at}/refreshtokenendpoint`, rule: ofEndpoint.rule, detail });
  }
  return { faults, credential: { kind: 'given', value, overlapSeconds: overlapseconds } };
}

/** Undefined unless a credential is given. */
export async function sealCredential(
  vault: Pick<CredentialVault, 'seal' | 'fingerprint'>,
  credential: RequestedCredential,
  context: CredentialContext,
): Promise<SealedCredential | undefined> {
  if (credential.kind !== 'given') return undefined;
  const { value } = credential;
  const endsAt = value.credentialtype === 'PLAIN' ? undefined : value.accesstokenexpiresutc;
  const info = {
    credentialtype: value.credentialtype,
    ...(endsAt !== undefined && { endsat: new Date(endsAt).toISOString() }),
    fingerprint: vault.fingerprint(value, context),
  };
  return { text: await vault.seal(value, context), info };
}

interface Rotation {
  kind: RequestedCredential['kind'];
  overlapSeconds?: number | undefined;
  isKept: boolean;
  isOtherHost: boolean;
}

/**
 * Which credential senders may still use beside the one that stands from now on, and until when: the one of the last
 * rotation, as before (`keeps`), or the one that is replaced now (`overlaps`). It never goes to another host.
 */
export function overlapOf(
  present: PresentCredential | undefined,
  { kind, overlapSeconds, isKept, isOtherHost }: Rotation,
  now: Date,
) {
  const none = { keeps: false, overlaps: false, until: null };
  if (present === undefined || kind === 'absent' || isOtherHost || overlapSeconds === 0) return none;
  const until = overlapSeconds === undefined ? undefined : new Date(now.getTime() + overlapSeconds * 1_000);
  if (!isKept) return until === undefined ? none : { keeps: false, overlaps: true, until };
  const { previous } = present;
  return previous === undefined ? none : { keeps: true, overlaps: false, until: until ?? new Date(previous.until) };
}
