import { isName, isReserved } from '../../base/formats/name.js';
import { scopes, type Claims, type Person, type Principal, type Scope } from '../../base/contract/principal.js';
import type { FaultRule } from '../../base/errors.js';
import type { Text } from '../../base/texts/text.js';
import { tokenTexts } from '../../base/texts/tokens.js';

/**
 * Where the tokens of an issuer say what. A claim is named as the token writes it; of a list, the first one that the token
 * has counts. Dots lead into objects: `realm_access.roles`.
 */
export interface ClaimRules {
  /** The accepted types in the header. `JWT` includes tokens without a type. */
  tokentypes: readonly string[];
  audienceclaims: readonly string[];
  /** All of them count together. */
  scopeclaims: readonly string[];
  /** What the issuer writes in front of our scopes. */
  scopeprefix: string;
  tenantclaims: readonly string[];
  clientclaims: readonly string[];
  /** If absent, the client, or `sub` without one. */
  subscriberclaims?: readonly string[] | undefined;
  /** Goes in front of clients and subscribers: two issuers may have one name for two of them. */
  clientprefix: string;
  /** The id of a person, and what to show of it. */
  personclaims: readonly string[];
  nameclaims: readonly string[];
}

/** RFC 9068, with the names that common issuers use instead of its claims. */
export const usualClaims: ClaimRules = {
  tokentypes: ['at+jwt'],
  audienceclaims: ['aud'],
  scopeclaims: ['scope', 'scp'],
  scopeprefix: '',
  tenantclaims: ['tenant'],
  clientclaims: ['client_id', 'azp', 'appid', 'cid'],
  clientprefix: '',
  personclaims: ['sub'],
  nameclaims: ['name', 'preferred_username', 'upn', 'email'],
};

/** Why a token is refused, and which setting of its issuer would accept it, if one would. */
export interface Misfit {
  rule: FaultRule;
  detail: Text;
  advice?: string;
}

type Found = Pick<Principal, 'tenant' | 'subscriber' | 'client' | 'person' | 'scopes'>;

interface Tenants {
  tenant?: string | undefined;
  tenants?: readonly string[] | undefined;
}

const maxPersonLength = 255;

/**
 * What the claims of a verified token say about its bearer. `advice` is about scopes that stand in a place that is not
 * configured: the token is valid without them.
 */
export function readClaims(
  claims: Claims,
  type: unknown,
  audience: readonly string[],
  rules: ClaimRules & Tenants,
): { found: Found; advice?: string | undefined } | Misfit {
  const fault = boundFault(claims) ?? typeFault(claims, type, rules) ?? audienceFault(claims, audience, rules);
  if (fault !== undefined) return fault;
  const tenant = rules.tenant ?? nameIn(claims, rules.tenantclaims, 'tenant');
  if (typeof tenant !== 'string') return tenant;
  if (rules.tenant === undefined && rules.tenants !== undefined && !rules.tenants.includes(tenant)) {
    const claim = presentOf(claims, rules.tenantclaims)?.name ?? '';
    const advice = `add ${JSON.stringify(tenant)} to "tenants"`;
    return { rule: `token_${claim}`, detail: tokenTexts.tenant(claim), advice };
  }
  const { subscriberclaims, clientprefix } = rules;
  const client = nameIn(claims, [...rules.clientclaims, 'sub'], 'client', clientprefix);
  if (typeof client !== 'string') return client;
  const subscriber =
    subscriberclaims === undefined ? client : nameIn(claims, subscriberclaims, 'subscriber', clientprefix);
  if (typeof subscriber !== 'string') return subscriber;
  const granted = scopesOf(claims, rules.scopeclaims, rules.scopeprefix);
  const person = personOf(claims, client.slice(clientprefix.length), rules);
  return {
    found: { tenant, subscriber, client, ...(person && { person }), scopes: granted },
    advice: granted.size === 0 ? scopeAdvice(claims, rules) : undefined,
  };
}

interface Present {
  name: string;
  value: unknown;
}

/** The first of these claims that the token has. */
function presentOf(claims: Claims, names: readonly string[]): Present | undefined {
  return names.map((name) => ({ name, value: claimAt(claims, name) })).find(({ value }) => value !== undefined);
}

/** A whole name comes before a path: claims may be URLs, and clients in `resource_access` may have dots. */
function claimAt(within: unknown, path: string): unknown {
  if (typeof within !== 'object' || within === null || Array.isArray(within)) return undefined;
  if (Object.hasOwn(within, path)) return (within as Claims)[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const found = Object.hasOwn(within, head) ? claimAt((within as Claims)[head], path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameIn(
  claims: Claims,
  names: readonly string[],
  of: 'tenant' | 'client' | 'subscriber',
  prefix = '',
): string | Misfit {
  const present = presentOf(claims, names);
  const { name, value } = present ?? { name: names[of === 'client' ? names.length - 1 : 0] ?? '', value: undefined };
  const rule: FaultRule = `token_${name}`;
  if (present === undefined) {
    const fixed = of === 'tenant' ? '"tenant", or ' : '';
    const advice = `set ${fixed}"${of}claims"; the token has the claims ${Object.keys(claims).join(', ')}`;
    return { rule, detail: tokenTexts.claimMissing(name), advice };
  }
  if (typeof value !== 'string' || !isName(value) || !isName(prefix + value)) {
    return { rule, detail: tokenTexts.name(name) };
  }
  return isReserved(prefix + value) ? { rule, detail: tokenTexts.reservedName(name) } : prefix + value;
}

/**
 * Of DPoP (RFC 9449) and mutual TLS (RFC 8705). Such a token is of no use without the key of its client: whoever accepts
 * it from anyone takes back what the issuer promised.
 */
function boundFault(claims: Claims): Misfit | undefined {
  if (claims['cnf'] === undefined && !/^dpop$/i.test(String(claims['typ']))) return undefined;
  const advice =
    'no setting accepts this: have the issuer make bearer tokens for this client, without DPoP or mutual TLS';
  return { rule: 'token_cnf', detail: tokenTexts.bound, advice };
}

/** Of an ID token, for the client alone (OpenID Connect Core, sections 2 and 3.3.2.11). */
const ofIdTokens = ['nonce', 'at_hash', 'c_hash', 's_hash'];

/**
 * Only access tokens. Where the header does not say so (`at+jwt`), the payload must: Keycloak writes `typ`, Cognito
 * `token_use`. Of the other issuers, an access token names its client, and an ID token is for that client or has a claim
 * that no access token has. A logout token has `events`.
 */
function typeFault(claims: Claims, type: unknown, { tokentypes, clientclaims }: ClaimRules): Misfit | undefined {
  const [typ, use] = [claims['typ'], claims['token_use']];
  const saysAccess = typ !== undefined || use !== undefined;
  // Entra says in access tokens alone how the client signed in.
  const isOfEntra = 'azpacr' in claims || 'appidacr' in claims;
  const isOther =
    (typ !== undefined && !(typeof typ === 'string' && /^(?:bearer|at\+jwt)$/i.test(typ))) ||
    (use !== undefined && use !== 'access') ||
    'events' in claims;
  const isNamed = nameOfType(type) === 'at+jwt';
  const client = presentOf(claims, clientclaims)?.value;
  const isForClient = [claims['aud']].flat().includes(client) && !('scope' in claims) && !('scp' in claims);
  const isIdToken =
    !isNamed &&
    !saysAccess &&
    (ofIdTokens.some((name) => name in claims) || client === undefined || (isForClient && !isOfEntra));
  const rule = 'token_typ';
  if (isOther || isIdToken) {
    const hint = 'no setting accepts this: it is an ID, refresh or logout token, or names no client ("clientclaims")';
    return { rule, detail: tokenTexts.notAccessToken, advice: hint };
  }
  const accepted = tokentypes.map(nameOfType);
  if (accepted.includes(nameOfType(type))) return undefined;
  const wanted = typeof type === 'string' ? type : 'JWT';
  return { rule, detail: tokenTexts.type, advice: `set "tokentypes": ${JSON.stringify([...tokentypes, wanted])}` };
}

/** RFC 7515 section 4.1.9: the prefix may be left out, and letter case does not matter. */
function nameOfType(type: unknown): string {
  return typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : 'jwt';
}

function audienceFault(claims: Claims, audience: readonly string[], rules: ClaimRules): Misfit | undefined {
  const present = presentOf(claims, rules.audienceclaims);
  if (present === undefined) {
    const name = rules.audienceclaims[0] ?? '';
    const advice = 'set "audienceclaims", for example to client_id';
    return { rule: `token_${name}`, detail: tokenTexts.claimMissing(name), advice };
  }
  if ([present.value].flat().some((each) => typeof each === 'string' && audience.includes(each))) return undefined;
  const advice = `"audience" lacks ${JSON.stringify(present.value).slice(0, 200)}`;
  return { rule: `token_${present.name}`, detail: tokenTexts.audience(present.name), advice };
}

function scopesOf(claims: Claims, places: readonly string[], prefix: string): ReadonlySet<Scope> {
  const names = places.flatMap((place) => wordsOf(claimAt(claims, place)));
  return new Set(scopes.filter((scope) => names.includes(scope) || (prefix !== '' && names.includes(prefix + scope))));
}

function wordsOf(claim: unknown): unknown[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim : [];
}

/** Where a token without scopes has some after all. */
function scopeAdvice(claims: Claims, { scopeclaims, scopeprefix }: ClaimRules): string | undefined {
  const places = Object.entries(claims).flatMap(([name, value]) => placesIn(name, value, 3));
  const words = places.flatMap(({ place, value }) => wordsOf(value).map((word) => ({ place, word: String(word) })));
  for (const { place, word } of words) {
    const scope = scopes.find((each) => word.endsWith(each));
    if (scope === undefined) continue;
    const prefix = word.slice(0, -scope.length);
    const isListed = scopeclaims.includes(place);
    if (!isListed) return `add ${JSON.stringify(place)} to "scopeclaims": it has the scopes of the token`;
    if (prefix !== '' && prefix !== scopeprefix) return `set "scopeprefix": ${JSON.stringify(prefix.slice(0, 200))}`;
  }
  return undefined;
}

function placesIn(place: string, value: unknown, depth: number): Array<{ place: string; value: unknown }> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ place, value }];
  if (depth === 0) return [];
  return Object.entries(value).flatMap(([name, inner]) => placesIn(`${place}.${name}`, inner, depth - 1));
}

/** Who acts through the client; undefined for a program that acts alone. A name that is not fit to be shown is left out. */
function personOf(claims: Claims, client: string, { personclaims, nameclaims }: ClaimRules): Person | undefined {
  if (isOfProgram(claims, client)) return undefined;
  const id = presentOf(claims, personclaims)?.value;
  if (typeof id !== 'string' || !isName(id, maxPersonLength) || id === client) return undefined;
  const name = nameclaims
    .map((claim) => claimAt(claims, claim))
    .find((value): value is string => typeof value === 'string' && isName(value) && value !== id);
  return { id, ...(name !== undefined && { name }) };
}

/**
 * A token of client credentials. Its subject is the client (RFC 9068 section 2.2); Auth0 and Keycloak derive it from the
 * client, and Entra names the service principal, whose `oid` and `sub` are one.
 */
function isOfProgram(claims: Claims, client: string): boolean {
  const { sub, oid, gty, idtyp, preferred_username: username } = claims;
  return (
    sub === undefined ||
    sub === client ||
    sub === `${client}@clients` ||
    gty === 'client-credentials' ||
    idtyp === 'app' ||
    (oid !== undefined && oid === sub) ||
    (typeof username === 'string' && username.toLowerCase() === `service-account-${client}`.toLowerCase())
  );
}
