import type { IncomingMessage } from 'node:http';
import { compactVerify, decodeJwt, errors, jwtVerify } from 'jose';
import { RegistryError, type FaultRule } from '../../base/errors.js';
import { requestTexts } from '../../base/texts/requests.js';
import type { Text } from '../../base/texts/text.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import type { KeySource } from './keys.js';
import type { Principal } from '../../base/contract/principal.js';
import { readClaims, usualClaims, type ClaimRules } from './claims.js';

/** The algorithms that an issuer may use: no `none`, and no symmetric one. */
export const acceptedAlgorithms = [
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'RS256',
] as const;

export interface TokenIssuer extends Partial<ClaimRules> {
  issuer: string;
  audience: string[];
  algorithms: string[];
  keys: KeySource;
  /** All its tokens belong to this tenant, whatever they say. */
  tenant?: string | undefined;
  /** Its tokens may name only these tenants. Without `tenant` and `tenants` they may name any. */
  tenants?: readonly string[] | undefined;
}

export interface AuthenticateSettings {
  issuers: TokenIssuer[];
  clockToleranceSeconds?: number;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** Called for a token that a setting would accept. The issuer signed it, unless the rule is `token_iss`. */
  onMisfit?: (issuer: string, rule: FaultRule, advice: string) => void;
}

export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

const maxTokenAgeSeconds = 86_400;
const maxTokenLength = 8_192;

/**
 * Verifies bearer tokens: RFC 6750 section 2.1 (a token in a query or body is ignored), RFC 9068 section 4.
 * `authorizationOf` has already refused a request with two Authorization headers.
 *
 * Throws a plain Error for a configuration that would accept too much. The returned function rejects with a
 * RegistryError: `unauthenticated`, whose fault names the failed check (`token_expired`, `token_aud`), or
 * `keys_unavailable`.
 */
export function createAuthenticate(settings: AuthenticateSettings): Authenticate {
  const { clockToleranceSeconds = 5, clock = Date.now, onMisfit = () => undefined } = settings;
  const issuers = new Map(settings.issuers.map((entry) => [entry.issuer, { ...usualClaims, ...entry }]));
  if (issuers.size !== settings.issuers.length) throw new Error('A token issuer is configured twice.');
  settings.issuers.forEach(checkIssuer);

  return async (authorization) => {
    const token = bearerToken(authorization);
    try {
      // The unverified iss only selects the rules; jwtVerify then checks it along with everything else.
      const { iss = '' } = decodeJwt(token);
      const entry = issuers.get(iss);
      if (!entry) {
        onMisfit(String(iss).slice(0, 200), 'token_iss', 'no entry of ASSENT_ISSUERS has this "issuer"; not verified');
        throw refusal('token_iss', tokenTexts.issuer);
      }
      const { payload, protectedHeader } = await jwtVerify(token, entry.keys, {
        algorithms: entry.algorithms,
        issuer: entry.issuer,
        requiredClaims: ['iss', 'exp', 'iat'],
        maxTokenAge: maxTokenAgeSeconds,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock()),
      }).catch((error: unknown) => {
        if (error instanceof errors.JOSEAlgNotAllowed) void adviseAlgorithm(token, entry, onMisfit);
        throw error;
      });
      const read = readClaims(payload, protectedHeader.typ, entry.audience, entry);
      if ('rule' in read) {
        if (read.advice !== undefined) onMisfit(entry.issuer, read.rule, read.advice);
        throw refusal(read.rule, read.detail);
      }
      if (read.advice !== undefined) onMisfit(entry.issuer, 'token_scope', read.advice);
      return {
        ...read.found,
        issuer: entry.issuer,
        tenants: entry.tenant === undefined ? entry.tenants : [entry.tenant],
        tokenExpiresAt: Math.min(payload.exp!, payload.iat! + maxTokenAgeSeconds) * 1000,
        claims: () => decodeJwt(token),
      };
    } catch (error) {
      throw error instanceof errors.JOSEError ? explained(error) : error;
    }
  };
}

/** The caller doesn't wait for it. */
async function adviseAlgorithm(
  token: string,
  { issuer, keys, algorithms }: TokenIssuer,
  onMisfit: NonNullable<AuthenticateSettings['onMisfit']>,
): Promise<void> {
  try {
    const { protectedHeader } = await compactVerify(token, keys, {
      algorithms: [...acceptedAlgorithms],
    });
    const wanted = JSON.stringify([...algorithms, protectedHeader.alg]);
    onMisfit(issuer, 'token_alg', `set "algorithms": ${wanted}`);
  } catch {
    // The issuer did not sign it, so no setting would accept it.
  }
}

function checkIssuer({ issuer, audience, algorithms }: TokenIssuer): void {
  const refused = algorithms.filter((algorithm) => !acceptedAlgorithms.some((accepted) => accepted === algorithm));
  if (refused.length > 0) throw new Error(`Algorithms not accepted for ${issuer}: ${refused.join(', ')}.`);
  if (algorithms.length === 0) throw new Error(`No algorithm is configured for ${issuer}.`);
  if (issuer === '') throw new Error('A token issuer is configured without a name.');
  if (audience.length === 0) throw new Error(`No audience is configured for ${issuer}.`);
}

function bearerToken(authorization: string | undefined): string {
  if (!authorization || !/^bearer(?: |$)/i.test(authorization)) throw refusal('token_missing', tokenTexts.missing);
  const token = /^bearer +([\w\-.~+/]+=*)$/i.exec(authorization)?.[1];
  if (!token) throw refusal('token_malformed', tokenTexts.malformedHeader);
  if (token.length > maxTokenLength) throw refusal('token_too_long', tokenTexts.tooLong(maxTokenLength));
  return token;
}

const failedChecks = new Map<string, Text>([
  ['iss', tokenTexts.issuer],
  ['nbf', tokenTexts.notYetValid],
  ['iat', tokenTexts.fromTheFuture],
]);

const failures = new Map<string, [FaultRule, Text]>([
  ['ERR_JOSE_ALG_NOT_ALLOWED', ['token_alg', tokenTexts.algorithm]],
  ['ERR_JWS_SIGNATURE_VERIFICATION_FAILED', ['token_signature', tokenTexts.signature]],
  ['ERR_JWKS_NO_MATCHING_KEY', ['token_kid', tokenTexts.unknownKey]],
  ['ERR_JWKS_MULTIPLE_MATCHING_KEYS', ['token_kid', tokenTexts.severalKeys]],
]);

/** jose's error does not become the cause: it contains the claims, and causes are logged. */
function explained(error: errors.JOSEError): RegistryError {
  if (error instanceof errors.JWTExpired)
    return error.claim === 'exp'
      ? refusal('token_expired', tokenTexts.expired)
      : refusal('token_too_old', tokenTexts.tooOld);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (reason === 'missing') return refusal(`token_${claim}`, tokenTexts.claimMissing(claim));
    return refusal(
      `token_${claim}`,
      failedChecks.get(reason === 'check_failed' ? claim : '') ?? tokenTexts.claimMalformed(claim),
    );
  }
  const [rule = 'token_malformed', text = tokenTexts.malformed] = failures.get(error.code) ?? [];
  return refusal(rule, text);
}

function refusal(rule: FaultRule, detail: Text): RegistryError {
  const pointer = 'header/authorization';
  return new RegistryError('unauthenticated', detail, { faults: [{ pointer, rule, detail }] });
}

/** A request may have each of these once: Node keeps the first of two, and a proxy may have used the other. */
const unambiguous = ['host', 'authorization', 'content-type', 'if-match', 'idempotency-key'];
const lengths = Array.from({ length: 16 }, (_, length) => unambiguous.some((name) => name.length === length));

/**
 * `Authorization`, if the request has one. RegistryError `invalid_request` for a repeated header that may occur only
 * once, and for a missing Host, which only HTTP/1.0 may omit (RFC 9112, section 3.2).
 */
export function authorizationOf({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let authorization: string | undefined;
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // The length alone rules out nearly all other headers.
    if (name.length > 15 || !lengths[name.length]) continue;
    const place = unambiguous.indexOf(name.toLowerCase());
    if (place === -1) continue;
    if ((seen & (1 << place)) !== 0) {
      throw new RegistryError('invalid_request', requestTexts.headerRepeated, {
        faults: [{ pointer: `header/${unambiguous[place]}`, rule: 'header_repeated', detail: requestTexts.sendOnce }],
      });
    }
    seen |= 1 << place;
    if (unambiguous[place] === 'authorization') authorization = rawHeaders[at + 1];
  }
  if ((seen & 1) === 0 && httpVersion !== '1.0') {
    throw new RegistryError('invalid_request', requestTexts.hostMissing, {
      faults: [{ pointer: 'header/host', rule: 'required', detail: requestTexts.sendHeader }],
    });
  }
  return authorization;
}

const ofGateway = 'assent-authorization';

/**
 * The same for requests of gateways, which may be unable to replace the `Authorization` of the delivery: then the token
 * is in `Assent-Authorization`. RegistryError `invalid_request` for two tokens: one of them could be the delivery's.
 */
export function gatewayAuthorizationOf(request: IncomingMessage): string | undefined {
  let authorization = authorizationOf(request);
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== ofGateway.length || name.toLowerCase() !== ofGateway) continue;
    if (authorization !== undefined) {
      throw new RegistryError('invalid_request', requestTexts.headerRepeated, {
        faults: [{ pointer: `header/${ofGateway}`, rule: 'header_repeated', detail: requestTexts.sendOnce }],
      });
    }
    authorization = rawHeaders[at + 1];
  }
  return authorization;
}
