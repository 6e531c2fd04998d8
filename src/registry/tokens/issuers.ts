import type { JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import { createAuthenticate, type Authenticate, type AuthenticateSettings, type TokenIssuer } from './authenticate.js';
import { developmentAudience, openDevelopmentIssuer } from './development-issuer.js';
import type { TrustedRoute } from '../../outbound/trusted-route.js';
import { createRemoteKeySource } from './keys.js';
import type { Principal } from '../../base/contract/principal.js';

interface IssuerSettings {
  clockToleranceSeconds: number;
  /** `jwks` is the URL of an issuer's keys. */
  issuers: ReadonlyArray<Omit<TokenIssuer, 'keys'> & { jwks: string }>;
  /** Whether the service issues its own tokens, with a key in the data folder. */
  developmentIssuer: boolean;
  dataFolder: string;
  /** How issuers are reached. Directly if absent. */
  route?: TrustedRoute;
}

export interface Issuers {
  tokens: TokenCache;
  /** The public keys of the development issuer, if there is one. */
  developmentKeys: JSONWebKeySet | undefined;
}

/** The issuers that the service trusts: those of the configuration and, for development, its own. */
export async function openIssuers(settings: IssuerSettings, log: Logger): Promise<Issuers> {
  const development = settings.developmentIssuer ? await openDevelopmentIssuer(settings.dataFolder) : undefined;
  const configured = settings.issuers.map(({ jwks, ...rest }) => ({
    ...rest,
    keys: createRemoteKeySource({
      url: jwks,
      ...(settings.route !== undefined && { route: settings.route }),
      onChange: () => tokens.clear(),
      onOutage: (cause) => log.warn({ issuer: rest.issuer, err: cause }, 'cannot fetch the keys of the token issuer'),
    }),
  }));
  const own = development && {
    issuer: development.issuer,
    audience: [developmentAudience],
    algorithms: ['ES256'],
    keys: development.keySource,
  };
  const authenticate = createAuthenticate({
    clockToleranceSeconds: settings.clockToleranceSeconds,
    onMisfit: createMisfitLog(log),
    issuers: own === undefined ? configured : [...configured, own],
  });
  const tokens = new TokenCache(authenticate);
  return { tokens, developmentKeys: development?.jwks };
}

const misfitPauseMs = 60_000;
const maxMisfits = 100;

/** Each kind at most once a minute: a client repeats its requests, and a stranger could fill the log. */
function createMisfitLog(log: Logger): NonNullable<AuthenticateSettings['onMisfit']> {
  const loggedAt = new Map<string, number>();
  return (issuer, rule, advice) => {
    const key = rule === 'token_iss' ? rule : `${issuer} ${rule}`;
    const now = performance.now();
    if (now - (loggedAt.get(key) ?? -Infinity) < misfitPauseMs) return;
    if (loggedAt.size >= maxMisfits) loggedAt.clear();
    loggedAt.set(key, now);
    log.warn({ issuer, rule, advice }, 'a token does not fit the settings of its issuer');
  };
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
 * Caches the principals of tokens, because verifying a signature takes longer than the rest of a look-up. An entry is
 * dropped when its token expires, after a minute at the latest, or when the cache is full (oldest first). All entries
 * are dropped when the keys of an issuer change.
 */
export class TokenCache {
  readonly #authenticate: Authenticate;
  readonly #entries = new Map<string, Entry>();
  /** Most requests carry the same token as the one before, and comparing two strings is faster than hashing one. */
  #last: { authorization: string; entry: Entry } | undefined;
  /** Counts how often the cache was cleared, so that no token is cached that was verified before that. */
  #generation = 0;

  constructor(authenticate: Authenticate) {
    this.#authenticate = authenticate;
  }

  /** The principal if the token is cached, otherwise a promise of it. */
  authenticate(authorization: string | undefined): Principal | Promise<Principal> {
    const known = authorization !== undefined ? this.#find(authorization) : undefined;
    if (known !== undefined && known.until > Date.now()) return known.principal;
    if (known !== undefined && authorization !== undefined) this.#forget(authorization);
    return this.#verify(authorization);
  }

  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#last = undefined;
  }

  async #verify(authorization: string | undefined): Promise<Principal> {
    const begun = this.#generation;
    const principal = await this.#authenticate(authorization);
    // Only one spelling of a token is cached, so that other spellings do not fill the cache.
    if (authorization !== undefined && oneSpelling.test(authorization) && begun === this.#generation) {
      if (this.#entries.size >= capacity) this.#entries.delete(this.#entries.keys().next().value ?? '');
      this.#entries.set(authorization, {
        principal,
        until: Math.min(principal.tokenExpiresAt, Date.now() + longestMs),
      });
    }
    return principal;
  }

  #find(authorization: string): Entry | undefined {
    if (this.#last?.authorization === authorization) return this.#last.entry;
    const entry = this.#entries.get(authorization);
    if (entry !== undefined) this.#last = { authorization, entry };
    return entry;
  }

  #forget(authorization: string): void {
    this.#entries.delete(authorization);
    this.#last = undefined;
  }
}
