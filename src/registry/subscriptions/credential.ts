import type { Fault } from '../../base/errors.js';
import { isTimestamp } from '../../base/formats/timestamp.js';
import { credentialTexts, signingSecretTexts } from '../../base/texts/credentials.js';
import { makeSecret, secretOf } from '../../signatures/standard-webhooks.js';
import type { SigningSecret, SinkCredential } from './read-secrets.js';
import { checkLine, fault, type CheckText, type SubscriptionRequest } from './rules.js';
import type { RequestedSecret } from './secrets.js';

// What is asked for `sinkcredential` (Subscriptions API, section 3.2.3) and `signingsecret`. Each function checks the rules
// that the contract cannot express, and returns all faults at once. No detail repeats a secret.

interface Read<Secret extends object> {
  faults: Fault[];
  requested: RequestedSecret<Secret>;
}

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

export function readSinkCredential(
  sent: SinkCredential | undefined,
  at: string,
  faultOfSink: FaultOfSink,
): Read<SinkCredential> {
  if (sent === undefined) return { faults: [], requested: { kind: 'absent' } };
  const { setat: _at, expiresat: _expires, fingerprint: _print, previous: _previous, overlapseconds, ...value } = sent;
  const given = new Map(Object.entries(value).filter(([name]) => name !== 'credentialtype'));
  if (given.size === 0) {
    return { faults: [], requested: { kind: 'kept', type: value.credentialtype, overlapSeconds: overlapseconds } };
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
  return { faults, requested: { kind: 'given', value, overlapSeconds: overlapseconds } };
}

/** The secret that `make` asks for is made here, and stored only if the request is carried out. */
export function readSigningSecret(sent: SubscriptionRequest['signingsecret'], at: string): Read<SigningSecret> {
  if (sent === undefined) return { faults: [], requested: { kind: 'absent' } };
  const { secret, make = false, overlapseconds: overlapSeconds } = sent;
  if (secret === undefined && !make) return { faults: [], requested: { kind: 'kept', overlapSeconds } };
  const faults = [
    ...(secret !== undefined && make ? fault(`${at}/make`, 'value_not_allowed', signingSecretTexts.givenAndMade) : []),
    ...(secret === undefined || secretOf(secret)
      ? []
      : fault(`${at}/secret`, 'signing_secret_malformed', signingSecretTexts.malformed)),
  ];
  return {
    faults,
    requested: { kind: 'given', value: { secret: secret ?? makeSecret() }, overlapSeconds, isMade: make },
  };
}
