import type { JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import { createAuthenticate, type TokenIssuer } from './authenticate.js';
import { developmentAudience, openDevelopmentIssuer } from './development-issuer.js';
import { createRemoteKeySource } from './keys.js';
import { createTokenCache, type TokenCache } from './token-cache.js';

export interface IssuerSettings {
  /** `jwks` is where the keys of an issuer are. */
  issuers: ReadonlyArray<Omit<TokenIssuer, 'keys'> & { jwks: string }>;
  /** Whether the service issues tokens itself, with a key in the data folder. */
  developmentIssuer: boolean;
  dataFolder: string;
  tokenType: string;
  clockToleranceSeconds: number;
  tenantClaim: string;
  subscriberClaim: string;
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
    issuers: own === undefined ? configured : [...configured, own],
    typ: settings.tokenType,
    clockToleranceSeconds: settings.clockToleranceSeconds,
    tenantClaim: settings.tenantClaim,
    subscriberClaim: settings.subscriberClaim,
  });
  const tokens = createTokenCache(authenticate);
  return { tokens, developmentKeys: development?.jwks };
}
