import type { Authenticate } from './authenticate.js';
import type { Principal } from './principal.js';

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
