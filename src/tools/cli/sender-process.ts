// What the commands share that run a sender: `notify` and `egress`.
import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import { z } from 'zod';
import { UsageError } from '../../base/errors.js';
import type { Scope } from '../../base/contract/principal.js';
import type { TrustedRoute } from '../../outbound/trusted-route.js';
import { createToken } from './login/create-token.js';

/** The settings that a sender shares with the registry: how webhooks are reached, the log, and the key for development. */
const shared = [
  'NODE_ENV',
  'ASSENT_DATA',
  'ASSENT_LOG_LEVEL',
  'ASSENT_ALLOWED_NETWORKS',
  'ASSENT_DENIED_NETWORKS',
  'ASSENT_SINK_PORTS',
  'ASSENT_SINK_CA_FILE',
  'ASSENT_DNS_SERVERS',
  'ASSENT_EGRESS_PROXY',
  'ASSENT_EGRESS_PROXY_CA_FILE',
  'ASSENT_EGRESS_NO_PROXY',
  'ASSENT_DEVELOPMENT_ISSUER',
] as const;

export const sharedSettings = (env: NodeJS.ProcessEnv, more: readonly string[] = []): NodeJS.ProcessEnv =>
  Object.fromEntries([...shared, ...more].map((name) => [name, env[name]]));

/** Of `--registry`: the URL of a registry, or several with commas. Throws a UsageError. */
export function registriesOf(text: string): URL[] {
  return text.split(',').map((part) => {
    const address = URL.canParse(part.trim()) ? new URL(part.trim()) : undefined;
    if (address === undefined || !['http:', 'https:'].includes(address.protocol)) {
      throw new UsageError('--registry must be an http or https URL, or several with commas.');
    }
    if (!address.pathname.endsWith('/')) address.pathname += '/';
    return address;
  });
}

/** The text of a file that a setting names, if it is set. The fault is the rest of a sentence that begins with its name. */
export async function readNamedFile(path: string | undefined): Promise<{ text?: string; fault?: string }> {
  if (!path) return {};
  return readFile(path, 'utf8').then(
    (text) => ({ text }),
    (error: Error) => ({ fault: `cannot be read: ${error.message}` }),
  );
}

interface TokenSource {
  /** Of the settings: `NOTIFY` reads `NOTIFY_TOKEN_FILE` and so on. */
  prefix: string;
  env: NodeJS.ProcessEnv;
  scopes: readonly Scope[];
  route: TrustedRoute;
  /** Of the token for development. */
  tenant: string;
  subscriber: string;
  /** The settings that say where the key for development is. */
  given: NodeJS.ProcessEnv;
}

/** The token of a process for its registry: from a file, from a token endpoint, or in development signed here. */
export function createTokenSource({ prefix, env, scopes, route, tenant, subscriber, given }: TokenSource) {
  const settingOf = (name: string) => env[`${prefix}_${name}`] ?? '';
  const [file, url] = [settingOf('TOKEN_FILE'), settingOf('TOKEN_URL')];
  const client = { id: settingOf('CLIENT_ID'), secret: settingOf('CLIENT_SECRET') };
  if (file) return async () => (await readFile(file, 'utf8')).trim();
  if (url) return () => requestToken(url, client, scopes, route);
  return () => createToken({ tenant, subscriber, scopes, minutes: 60 }, given);
}

const tokenMs = 10_000;
const tokenResponse = z.object({ access_token: z.string() });

/** Client credentials (RFC 6749, section 4.4). */
async function requestToken(
  url: string,
  { id, secret }: { id: string; secret: string },
  scopes: readonly Scope[],
  route: TrustedRoute,
): Promise<string> {
  const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');
  const dispatcher = await route(url);
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${basic}`,
      Accept: 'application/json',
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' ') }).toString(),
    signal: AbortSignal.timeout(tokenMs),
    ...(dispatcher !== undefined && { dispatcher }),
  });
  if (statusCode >= 300) {
    await body.dump();
    throw new Error(`The token endpoint returned ${statusCode}.`);
  }
  return tokenResponse.parse(await body.json()).access_token;
}
