import type { JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import { createAuthenticate, type Authenticate, type TokenIssuer, type TokenRules } from './authenticate.js';
import { developmentAudience, openDevelopmentIssuer } from './development-issuer.js';
import { createRemoteKeySource } from './keys.js';
import type { Principal } from './principal.js';

export interface IssuerSettings extends TokenRules {
  /** `jwks` is where the keys of an issuer are. */
  issuers: ReadonlyArray<Omit<TokenIssuer, 'keys'> & { jwks: string }>;
  /** Whether the service issues tokens itself, with a key in the data folder. */
  developmentIssuer: boolean;
  dataFolder: string;
}

export interface Issuers {
  tokens: TokenCache;
  /** The public keys of the development issuer, where there is one. */
  developmentKeys: JSONWebKeySet | undefined;
}

/** Who is believed about whom: the issuers of the configuration, and for development one of our own. */
export async function openIssuers(settings: IssuerSettings, log: Logger): Promise<Issuers> {
  const development = settings.developmentIssuer ? await openDevelopmentIssuer(settings.dataFolder) : undefined;
  const configured = settings.issuers.map(({ jwks, ...rest }) => ({
    ...rest,
    keys: createRemoteKeySource({
      url: jwks,
      onChange: () => tokens.clear(),
      onOutage: (cause) => log.warn({ issuer: rest.issuer, err: cause }, 'keys of the token issuer cannot be had'),
    }),
  }));
  const own = development && {
    issuer: development.issuer,
    audience: [developmentAudience],
    algorithms: ['ES256'],
    keys: development.keySource,
  };
  const authenticate = createAuthenticate({
    ...settings,
    issuers: own === undefined ? configured : [...configured, own],
  });
  const tokens = createTokenCache(authenticate);
  return { tokens, developmentKeys: development?.jwks };
}

interface Entry {
  principal: Principal;
  /** Milliseconds since 1970. */
  until: number;
}

const capacity = 10_000;
const longestMs = 60_000;
const oneSpelling = /^Bearer \S+$/;

/**
 * Remembers who a token speaks for, because checking a signature takes longer than everything else that a look-up does.
 * An entry is dropped when its token expires, after a minute at the latest, when the cache is full (the oldest first),
 * and all are dropped when the keys of an issuer change.
 */
export interface TokenCache {
  /** The principal at once, or a promise of it where the token is new. */
  authenticate(authorization: string | undefined): Principal | Promise<Principal>;
  clear(): void;
}

export function createTokenCache(authenticate: Authenticate): TokenCache {
  const entries = new Map<string, Entry>();
  /** Most requests carry the token of the one before: comparing two texts is less than hashing one. */
  let last: { authorization: string; entry: Entry } | undefined;

  /** Counts how often all were dropped, so that what was verified before that is not kept after it. */
  let generation = 0;

  async function verify(authorization: string | undefined): Promise<Principal> {
    const begun = generation;
    const principal = await authenticate(authorization);
    // One spelling of each token: another takes no place from others.
    if (authorization !== undefined && oneSpelling.test(authorization) && begun === generation) {
      if (entries.size >= capacity) entries.delete(entries.keys().next().value ?? '');
      entries.set(authorization, { principal, until: Math.min(principal.tokenExpiresAt, Date.now() + longestMs) });
    }
    return principal;
  }

  function find(authorization: string): Entry | undefined {
    if (last?.authorization === authorization) return last.entry;
    const entry = entries.get(authorization);
    if (entry !== undefined) last = { authorization, entry };
    return entry;
  }

  function forget(authorization: string): void {
    entries.delete(authorization);
    last = undefined;
  }

  return {
    authenticate(authorization) {
      const known = authorization !== undefined ? find(authorization) : undefined;
      if (known !== undefined && known.until > Date.now()) return known.principal;
      if (known !== undefined && authorization !== undefined) forget(authorization);
      return verify(authorization);
    },
    clear() {
      generation += 1;
      entries.clear();
      last = undefined;
    },
  };
}
