import type { IncomingMessage } from 'node:http';
import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import { RegistryError, type FaultRule } from '../../base/errors.js';
import { requestTexts } from '../../base/texts/requests.js';
import type { Text } from '../../base/texts/text.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import type { KeySource } from './keys.js';
import { scopes, type Principal } from '../../base/contract/principal.js';

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

export interface TokenIssuer {
  issuer: string;
  audience: string[];
  algorithms: string[];
  keys: KeySource;
  /** All its tokens belong to this tenant, whatever they say. */
  tenant?: string | undefined;
  /** Its tokens may name only these tenants. Without `tenant` and `tenants` they may name any. */
  tenants?: readonly string[] | undefined;
}

/** Rules for the tokens of every issuer. */
export interface TokenRules {
  /** Required `typ`. `any` switches the check off, for issuers without `at+jwt`; their ID tokens then pass too. */
  tokenType: string;
  clockToleranceSeconds: number;
  tenantClaim: string;
  /** A token without this claim is identified by `sub`. */
  subscriberClaim: string;
}

export interface AuthenticateSettings extends Partial<TokenRules> {
  issuers: TokenIssuer[];
  /** Milliseconds since 1970. */
  clock?: () => number;
}

export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

const maxTokenAgeSeconds = 86_400;
const maxTokenLength = 8_192;
const maxNameLength = 200;

/**
 * Verifies bearer tokens: RFC 6750 section 2.1 (a token in a query or body is ignored), RFC 9068 section 4.
 * `authorizationOf` has already refused a request with two Authorization headers.
 *
 * Throws a plain Error for a configuration that would accept too much. The returned function rejects with a
 * RegistryError: `unauthenticated`, whose fault names the failed check (`token_expired`, `token_aud`), or
 * `keys_unavailable`.
 */
export function createAuthenticate(settings: AuthenticateSettings): Authenticate {
  const { tokenType = 'at+jwt', clockToleranceSeconds = 5, clock = Date.now } = settings;
  const { tenantClaim = 'tenant', subscriberClaim = 'client_id' } = settings;
  const issuers = new Map(settings.issuers.map((entry) => [entry.issuer, entry]));
  if (issuers.size !== settings.issuers.length) throw new Error('A token issuer is configured twice.');
  settings.issuers.forEach(checkIssuer);

  return async (authorization) => {
    const token = bearerToken(authorization);
    try {
      // The unverified iss only selects the rules; jwtVerify then checks it along with everything else.
      const entry = issuers.get(decodeJwt(token).iss ?? '');
      if (!entry) throw refusal('token_iss', tokenTexts.issuer);
      const { payload } = await jwtVerify(token, entry.keys, {
        algorithms: entry.algorithms,
        issuer: entry.issuer,
        audience: entry.audience,
        ...(tokenType === 'any' ? {} : { typ: tokenType }),
        requiredClaims: ['iss', 'aud', 'exp', 'iat'],
        maxTokenAge: maxTokenAgeSeconds,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock()),
      });
      const granted = scopeNames(payload['scope'] ?? payload['scp']);
      return {
        tenant: tenantOf(payload, tenantClaim, entry),
        subscriber: clientName(payload, payload[subscriberClaim] === undefined ? 'sub' : subscriberClaim),
        scopes: new Set(scopes.filter((scope) => granted.includes(scope))),
        tenants: entry.tenant === undefined ? entry.tenants : [entry.tenant],
        tokenExpiresAt: Math.min(payload.exp!, payload.iat! + maxTokenAgeSeconds) * 1000,
        claims: () => decodeJwt(token),
      };
    } catch (error) {
      throw error instanceof errors.JOSEError ? explained(error) : error;
    }
  };
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

function tenantOf(payload: JWTPayload, claim: string, { tenant, tenants }: TokenIssuer): string {
  if (tenant !== undefined) return tenant;
  const claimed = name(payload, claim);
  if (tenants === undefined || tenants.includes(claimed)) return claimed;
  throw refusal(`token_${claim}`, tokenTexts.tenant(claim));
}

/** Invisible characters could make two tenants look the same in a log or on a page; lone surrogates break storage. */
export function isName(value: string): boolean {
  return value !== '' && value.length <= maxNameLength && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(value);
}

function name(payload: JWTPayload, claim: string): string {
  const value = payload[claim];
  if (typeof value === 'string' && isName(value)) return value;
  throw refusal(`token_${claim}`, tokenTexts.name(claim, maxNameLength));
}

/** The audit log uses these names for the service and for webhooks. No client may have them. */
const reservedNames = ['assent', 'callback'];

function clientName(payload: JWTPayload, claim: string): string {
  const client = name(payload, claim);
  if (!reservedNames.includes(client)) return client;
  throw refusal(`token_${claim}`, tokenTexts.reservedName(claim));
}

function scopeNames(claim: unknown): unknown[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim : [];
}

const failedChecks = new Map<string, Text>([
  ['typ', tokenTexts.type],
  ['iss', tokenTexts.issuer],
  ['aud', tokenTexts.audience],
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
