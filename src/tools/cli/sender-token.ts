import { readFile } from 'node:fs/promises';
import * as oauth from 'oauth4webapi';
import { fetch } from 'undici';
import { z } from 'zod';
import type { TrustedRoute } from '../../outbound/trusted-route.js';
import { createToken } from './login/create-token.js';
import { visible } from './printable.js';
import { senderScopes, type SenderPrefix, type TokenSettings } from './sender-settings.js';

interface SenderTokenSettings {
  prefix: SenderPrefix;
  token: TokenSettings;
  /** How the token endpoint is reached. */
  route: TrustedRoute;
  /** For development: the tenant and subscriber of the token, and the settings that say where the key is. */
  tenant: string;
  subscriber: string;
  given: NodeJS.ProcessEnv;
}

type Endpoint = NonNullable<TokenSettings['endpoint']>;

/** The token of a process for its registry: from a file, from a token endpoint, or in development signed here. */
export class SenderToken {
  readonly #settings: SenderTokenSettings;
  #fault: string | undefined;
  /** How the client shows its secret: as RFC 6749 prefers (section 2.3.1), until an issuer takes only the other way. */
  #authentication: typeof oauth.ClientSecretBasic = oauth.ClientSecretBasic;

  constructor(settings: SenderTokenSettings) {
    this.#settings = settings;
  }

  /** Why the last request for a token failed; undefined if it did not. */
  fault(): string | undefined {
    return this.#fault;
  }

  /** A new token. Rejects with an Error for people. */
  readonly get = async (): Promise<string> => {
    try {
      const token = await this.#request();
      this.#fault = undefined;
      return token;
    } catch (error) {
      this.#fault = (error as Error).message;
      throw error;
    }
  };

  async #request(): Promise<string> {
    const { prefix, token, tenant, subscriber, given } = this.#settings;
    if (token.file !== undefined) {
      const name = `${prefix}_TOKEN_FILE`;
      const text = await readFile(token.file, 'utf8').catch((cause: Error) => {
        throw new Error(`${name} cannot be read: ${cause.message}`, { cause });
      });
      if (text.trim() === '') throw new Error(`${name} is an empty file.`);
      return text.trim();
    }
    if (token.endpoint !== undefined) return this.#askEndpoint(token.endpoint);
    return createToken({ tenant, subscriber, scopes: senderScopes[prefix], minutes: 60 }, given);
  }

  /** An issuer that wants the secret in the other place says `invalid_client`, as it does for a wrong secret. */
  async #askEndpoint(endpoint: Endpoint): Promise<string> {
    const { route } = this.#settings;
    const answer = await ask(endpoint, route, this.#authentication);
    if (answer.token !== undefined) return answer.token;
    if (answer.error === 'invalid_client') {
      const other = this.#authentication === oauth.ClientSecretBasic ? oauth.ClientSecretPost : oauth.ClientSecretBasic;
      const { token } = await ask(endpoint, route, other);
      if (token !== undefined) {
        this.#authentication = other;
        return token;
      }
    }
    throw new Error(`The token endpoint returned ${answer.said}`);
  }
}

const tokenMs = 10_000;
const tokenResponse = z.object({ access_token: z.string().min(1) });
const errorResponse = z.object({ error: z.string(), error_description: z.string().optional() });

/** Its last sentence is for people. */
type Answer = { token: string; error?: never } | { token?: never; error: string; said: string };

/** Client credentials (RFC 6749, section 4.4). Rejects with an Error for people if no response arrives. */
async function ask(
  { url, id, secret, scope, audience }: Endpoint,
  route: TrustedRoute,
  authentication: typeof oauth.ClientSecretBasic,
): Promise<Answer> {
  const parameters = new URLSearchParams();
  if (scope !== '') parameters.set('scope', scope);
  if (audience !== '') parameters.set('audience', audience);
  // What many issuers call the audience is the resource of RFC 8707, which is a URI. They ignore the other (RFC 6749, section 3.2).
  if (URL.canParse(audience) && !audience.includes('#')) parameters.set('resource', audience);
  const server = { issuer: new URL(url).origin, token_endpoint: url };
  const dispatcher = await route(url);
  const send = (address: string, init: object) => fetch(address, { ...init, ...(dispatcher && { dispatcher }) });
  const [response, text] = await oauth
    .clientCredentialsGrantRequest(server, { client_id: id }, authentication(secret), parameters, {
      // The operator configured it so.
      [oauth.allowInsecureRequests]: url.startsWith('http:'),
      [oauth.customFetch]: send as unknown as typeof globalThis.fetch,
      signal: AbortSignal.timeout(tokenMs),
    })
    .then(async (response) => [response, await response.text()] as const)
    .catch((cause: Error) => {
      throw new Error(`The token endpoint did not respond: ${reasonOf(cause)}`, { cause });
    });
  const body = jsonOf(text);
  const { data } = response.ok ? tokenResponse.safeParse(body) : {};
  if (data !== undefined) return { token: data.access_token };
  const { error = '', error_description: why = '' } = errorResponse.safeParse(body).data ?? {};
  const code = [response.status, ...(error === '' ? [] : [error])].join(' ');
  // Some describe an error in several lines.
  const said =
    why === ''
      ? `${code}${response.ok ? ' without an access token' : ''}.`
      : `${code}: ${visible(why.trim().replace(/\s+/g, ' '))}`;
  return { error, said };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch puts what happened to the connection into the cause. */
const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error ? cause.message : message);
