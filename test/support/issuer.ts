import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

/** A real issuer on loopback, `oidc-provider`, with pages to sign in. Its tokens are for the tenant `gemeente`. */
export interface TestIssuer {
  url: string;
  audience: string;
  client: string;
  /** The page that it sends the user back to is known only once the registry runs. Until then it responds with 503. */
  start(settings: IssuerStart): Promise<void>;
  /** How often each grant was used at the token endpoint. */
  grants: string[];
  stop(): Promise<void>;
}

interface IssuerStart {
  redirectUri?: string;
  hasRefreshTokens?: boolean;
  tokenSeconds?: number;
  /** Clients that act alone, with roles in their tokens. They may ask for no scope of ours. */
  programs?: Array<{
    id: string;
    secret: string;
    roles: string[];
    method?: 'client_secret_basic' | 'client_secret_post';
  }>;
  /** A token is for the registry only if `resource` asks for that. Otherwise every token is. */
  needsResource?: boolean;
}

const ours = ['assent:deliver', 'assent:credentials', 'assent:sign'];

export async function openIssuer(): Promise<TestIssuer> {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'ES256' };
  const [audience, client] = ['urn:assent', 'assent-console'];
  const grants: string[] = [];
  return {
    url,
    audience,
    client,
    grants,
    async start({
      redirectUri = `${url}/`,
      hasRefreshTokens = false,
      tokenSeconds = 3_600,
      programs = [],
      needsResource,
    }) {
      const provider = new Provider(url, {
        jwks: { keys: [key] },
        clients: [
          {
            client_id: client,
            token_endpoint_auth_method: 'none',
            redirect_uris: [redirectUri],
            grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
            response_types: ['code'],
            id_token_signed_response_alg: 'ES256',
          },
          ...programs.map(({ id, secret, method = 'client_secret_basic' }) => ({
            client_id: id,
            client_secret: secret,
            token_endpoint_auth_method: method,
            redirect_uris: [],
            grant_types: ['client_credentials'],
            response_types: [],
            scope: 'openid',
            id_token_signed_response_alg: 'ES256',
          })),
        ],
        clientBasedCORS: () => true,
        issueRefreshToken: () => Promise.resolve(hasRefreshTokens),
        ...(programs.length > 0 && { scopes: ['openid', ...ours] }),
        extraTokenClaims: (_context: object, { clientId }: { clientId: string }) => ({
          tenant: 'gemeente',
          ...(programs.length > 0 && { roles: programs.find(({ id }) => id === clientId)?.roles }),
        }),
        cookies: { keys: ['for this test'] },
        features: {
          clientCredentials: { enabled: programs.length > 0 },
          deviceFlow: { enabled: true },
          revocation: { enabled: true },
          resourceIndicators: {
            enabled: true,
            defaultResource: () => (needsResource ? undefined : audience),
            useGrantedResource: () => true,
            getResourceServerInfo: () => ({
              scope: 'assent:admin assent:subscribe',
              audience,
              accessTokenFormat: 'jwt',
              accessTokenTTL: tokenSeconds,
              jwt: { sign: { alg: 'ES256' } },
            }),
          },
        },
      });
      provider.on('grant.success', ({ oidc }) => void grants.push(String(oidc.params?.['grant_type'])));
      provider.on('grant.error', (_context, error) => void grants.push(`${error.message} ${error.error_description}`));
      answer = provider.callback();
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
