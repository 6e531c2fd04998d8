import { SignJWT } from 'jose';
import { RegistryError } from '../../base/errors.js';
import { grantTexts } from '../../base/texts/grants.js';
import { denialOf, denials, type Denial } from '../../consent/decision.js';
import type { Context } from '../context.js';
import { findGrantsOf, type PresentGrant } from './read.js';
import { algorithm, type SigningKey } from './registry-keys.js';

export const grantTokenMediaType = 'application/jwt';
/** In the header of a token: what it is. No token for the API has it. */
const type = 'assent-grant+jwt';

/** What a match says of the grant of a sink. */
export type MatchedGrantToken = { granttoken: string } | { granttokendenial: Denial };

export interface GrantTokens {
  /**
   * A JWT (RFC 7519) that proves a grant to who cannot ask the registry. Errors: `not_permitted` for a grant that does not
   * stand now, `public_url_missing`.
   */
  tokenOf(grant: PresentGrant): Promise<string>;
  /** By sink. Errors: `public_url_missing`. */
  tokensOf(tenant: string, origin: string, sinks: readonly string[]): Promise<Map<string, MatchedGrantToken>>;
}

const kept = 1_000;

export function createGrantTokens({
  config: { publicUrl },
  database,
  registryKeys,
  now,
}: Pick<Context, 'database' | 'registryKeys' | 'now'> & { config: Pick<Context['config'], 'publicUrl'> }): GrantTokens {
  /** By grant, its version and the key. The oldest leaves first. */
  const signed = new Map<string, string>();

  const denial = ({ state, basis, heldUntil }: PresentGrant): Denial | undefined =>
    denialOf(state, 'open', basis, heldUntil?.getTime() ?? 0, now());

  async function signOnce(grant: PresentGrant, { kid, key }: SigningKey, issuer: string): Promise<string> {
    const name = `${grant.id} ${grant.version} ${kid}`;
    const known = signed.get(name);
    if (known !== undefined) return known;
    const token = await new SignJWT({ allowedrate: grant.allowedRate, basis: grant.basis })
      .setProtectedHeader({ alg: algorithm, typ: type, kid })
      .setIssuer(issuer)
      .setSubject(grant.origin)
      .setAudience(grant.sink)
      .setJti(grant.id)
      .setIssuedAt(secondsOf(now()))
      .setNotBefore(secondsOf(grant.grantedAt.getTime()))
      .setExpirationTime(secondsOf(grant.expiresAt.getTime()))
      .sign(key);
    if (signed.size >= kept) signed.delete(signed.keys().next().value ?? '');
    signed.set(name, token);
    return token;
  }

  function issuer(): string {
    if (publicUrl === undefined) throw new RegistryError('public_url_missing', grantTexts.publicUrlMissing);
    return publicUrl;
  }

  return {
    async tokenOf(grant) {
      const url = issuer();
      const rule = denial(grant);
      if (rule !== undefined) {
        const detail = denials[rule];
        const heldMs = rule === 'held' ? Number(grant.heldUntil) - now() : undefined;
        throw new RegistryError('not_permitted', detail, {
          faults: [{ pointer: 'path/id', rule, detail }],
          ...(heldMs !== undefined && { retryAfterSeconds: Math.max(1, Math.ceil(heldMs / 1_000)) }),
        });
      }
      return signOnce(grant, await registryKeys.signingKey(), url);
    },

    async tokensOf(tenant, origin, sinks) {
      const url = issuer();
      if (sinks.length === 0) return new Map();
      const [grants, key] = await Promise.all([
        findGrantsOf(database.sql, tenant, origin, sinks),
        registryKeys.signingKey(),
      ]);
      const found = grants.map(async (grant): Promise<[string, MatchedGrantToken]> => {
        const granttokendenial = denial(grant);
        return [grant.sink, granttokendenial ? { granttokendenial } : { granttoken: await signOnce(grant, key, url) }];
      });
      return new Map(await Promise.all(found));
    },
  };
}

/** NumericDate (RFC 7519, section 2), never later than the time. */
const secondsOf = (ms: number) => Math.floor(ms / 1_000);
