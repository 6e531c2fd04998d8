import type { JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import type { Config } from '../config.js';
import { createAuthenticate } from './authenticate.js';
import { developmentAudience, openDevelopmentIssuer } from './development-issuer.js';
import { createRemoteKeySource } from './keys.js';
import { createTokenCache, type TokenCache } from './token-cache.js';

export interface Issuers {
  tokens: TokenCache;
  /** The public keys of the development issuer, where there is one. */
  developmentKeys: JSONWebKeySet | undefined;
}

/** Who is believed about whom: the issuers of the configuration, and in development one of our own. */
export async function openIssuers(config: Config, log: Logger): Promise<Issuers> {
  const development = config.developmentIssuer ? await openDevelopmentIssuer(config.dataFolder) : undefined;
  const configured = config.issuers.map(({ jwks, ...rest }) => ({
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
    issuers: own === undefined ? configured : [...configured, own],
    typ: config.tokenType,
    clockToleranceSeconds: config.clockToleranceSeconds,
    tenantClaim: config.tenantClaim,
    subscriberClaim: config.subscriberClaim,
  });
  const tokens = createTokenCache(authenticate);
  return { tokens, developmentKeys: development?.jwks };
}
