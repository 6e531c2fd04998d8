import * as oauth from 'oauth4webapi';
import { sleep } from '../../../base/until.js';
import { UsageError } from '../../../base/errors.js';
import { write, type Io } from '../command.js';
import { readCredentials, writeCredentials, type Login } from './credentials-file.js';
import { visible } from '../printable.js';

export interface IssuerChoice {
  issuer: string;
  clientid: string;
  scope: string;
}

/** RFC 8628, section 3.2. */
const usualIntervalSeconds = 5;

/**
 * Signs in by the device authorization flow (RFC 8628): the user confirms a code in a browser, on any device. Keeps the
 * token. Throws an Error for people.
 */
export async function login(url: string, { issuer, clientid, scope }: IssuerChoice, io: Io): Promise<Login> {
  const server = await discover(issuer);
  if (server.device_authorization_endpoint === undefined) {
    throw new Error(`${issuer} does not offer the device flow. Get a token in another way, and set ASSENT_TOKEN.`);
  }
  const client = { client_id: clientid };
  const options = optionsOf(issuer);
  const device = await oauth.processDeviceAuthorizationResponse(
    server,
    client,
    await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope }, options),
  );
  const { verification_uri: place, verification_uri_complete: direct, user_code: code } = device;
  const shortcut = direct === undefined ? '' : `, or open ${visible(direct)}`;
  await write(io.stderr, `Open ${visible(place)} and enter the code ${visible(code)}${shortcut}\n`);
  const signal = io.interrupted();
  const endsAt = Date.now() + device.expires_in * 1_000;
  let intervalMs = (device.interval ?? usualIntervalSeconds) * 1_000;
  while (Date.now() < endsAt) {
    await sleep(intervalMs, signal);
    signal.throwIfAborted();
    const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), device.device_code, options);
    try {
      const tokens = await oauth.processDeviceCodeResponse(server, client, response);
      return await keep(io.env, url, loginOf({ issuer, clientid, scope }, tokens), url);
    } catch (error) {
      if (!(error instanceof oauth.ResponseBodyError)) throw error;
      if (error.error === 'slow_down') intervalMs += usualIntervalSeconds * 1_000;
      else if (error.error === 'access_denied') throw new Error('The sign-in was refused.', { cause: error });
      else if (error.error === 'expired_token') break;
      else if (error.error !== 'authorization_pending') throw error;
    }
  }
  throw new Error('The code has expired. Run "assent login" again.');
}

/** A new token by the refresh token (RFC 6749, section 6). Throws an Error for people. */
export async function refreshLogin(env: NodeJS.ProcessEnv, url: string, old: Login): Promise<Login> {
  try {
    const server = await discover(old.issuer);
    const client = { client_id: old.clientid };
    const refreshToken = old.refreshtoken ?? '';
    const options = optionsOf(old.issuer);
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, options);
    const tokens = await oauth.processRefreshTokenResponse(server, client, response);
    return await keep(env, url, loginOf(old, tokens, old.refreshtoken));
  } catch (error) {
    throw new Error(`The login cannot be renewed (${(error as Error).message}). Run "assent login" again.`, {
      cause: error,
    });
  }
}

/** Forgets the login of a registry, and asks the issuer to revoke its refresh token (RFC 7009). False: there is none. */
export async function logout(env: NodeJS.ProcessEnv, url: string): Promise<boolean> {
  const { latest, registries } = await readCredentials(env);
  const { [url]: old, ...others } = registries;
  if (old === undefined) return false;
  await writeCredentials(env, { registries: others, ...(latest !== url && latest !== undefined && { latest }) });
  if (old.refreshtoken === undefined) return true;
  const server = await discover(old.issuer).catch(() => undefined);
  if (server?.revocation_endpoint === undefined) return true;
  const client = { client_id: old.clientid };
  // The token is forgotten here in any case.
  await oauth
    .revocationRequest(server, client, oauth.None(), old.refreshtoken, optionsOf(old.issuer))
    .catch(() => undefined);
  return true;
}

async function keep(env: NodeJS.ProcessEnv, url: string, next: Login, latest?: string): Promise<Login> {
  const before = await readCredentials(env);
  await writeCredentials(env, { latest: latest ?? before.latest, registries: { ...before.registries, [url]: next } });
  return next;
}

const loginOf = (
  { issuer, clientid, scope }: IssuerChoice,
  { access_token: token, refresh_token: refreshtoken, expires_in }: oauth.TokenEndpointResponse,
  oldRefreshToken?: string,
): Login => ({
  issuer,
  clientid,
  scope,
  token,
  refreshtoken: refreshtoken ?? oldRefreshToken,
  expiresat: expires_in === undefined ? undefined : Date.now() + expires_in * 1_000,
});

/** Plain http only to this machine. */
const optionsOf = (issuer: string) => ({ [oauth.allowInsecureRequests]: isLocal(issuer) });

const isLocal = (issuer: string) => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(issuer).hostname);

/** OpenID Connect Discovery 1.0, section 4, then RFC 8414, section 3.1. Throws an Error for people. */
async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  if (!URL.canParse(issuer)) throw new UsageError('--issuer must be a URL.');
  const address = new URL(issuer);
  const read = async (algorithm: 'oidc' | 'oauth2') =>
    oauth.processDiscoveryResponse(address, await oauth.discoveryRequest(address, { algorithm, ...optionsOf(issuer) }));
  try {
    return await read('oidc').catch(() => read('oauth2'));
  } catch (error) {
    throw new Error(`The metadata of ${issuer} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
