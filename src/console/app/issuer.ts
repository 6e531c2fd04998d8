import { signal } from '@preact/signals';
import type * as oauth from 'oauth4webapi';
import { type Issuer, readToken, session, consoleSettings, signIn } from './session.js';

/**
 * Authorization code with PKCE (RFC 7636). The code comes back in the fragment if the issuer can do that, and leaves the
 * address at once. The first sign-in leaves the page and keeps its verifier in `sessionStorage` until it returns. A
 * later one opens a second window, so that what was typed stays: that window only hands the response over.
 */
interface Started {
  issuer: string;
  verifier: string;
  state: string;
  nonce: string;
  /** Where the user wanted to be. */
  place: string;
}

const stored = 'assent.sign-in';
const channelName = 'assent.sign-in';
/** Before the token expires. */
const renewBeforeMs = 60_000;

/** Why the last sign-in failed, as the issuer or the library said it. */
export const signInFault = signal('');
/** This window was opened to sign in, and has nothing more to do. */
export const isHandedOver = signal(false);

const redirectUri = new URL('console', new URL('.', location.href.split('#')[0])).href;

const serverOf = (issuer: Issuer): oauth.AuthorizationServer => ({ ...issuer });
const clientOf = ({ clientid }: Issuer): oauth.Client => ({ client_id: clientid });
/** Loaded by those who sign in at an issuer. */
const library = () => import('oauth4webapi');
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const optionsOf = (oauth: Awaited<ReturnType<typeof library>>, { token_endpoint }: Issuer) => ({
  // The operator configured it so.
  [oauth.allowInsecureRequests]: token_endpoint.startsWith('http:'),
});

async function begin(issuer: Issuer): Promise<{ started: Started; url: string }> {
  const oauth = await library();
  const started = {
    issuer: issuer.issuer,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    place: location.hash,
  };
  const url = new URL(issuer.authorization_endpoint);
  const parameters = {
    client_id: issuer.clientid,
    redirect_uri: redirectUri,
    response_type: 'code',
    response_mode: 'fragment',
    scope: issuer.scope,
    state: started.state,
    nonce: started.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(started.verifier),
    code_challenge_method: 'S256',
  };
  Object.entries(parameters).forEach(([name, value]) => url.searchParams.set(name, value));
  return { started, url: url.href };
}

/** Leaves the page. */
export async function leaveToSignIn(issuer: Issuer): Promise<void> {
  try {
    const { started, url } = await begin(issuer);
    sessionStorage.setItem(stored, JSON.stringify(started));
    location.assign(url);
  } catch (error) {
    signInFault.value = messageOf(error);
  }
}

let waiting: BroadcastChannel | undefined;

/** In a second window. The verifier stays in the memory of this one. */
export async function signInBeside(issuer: Issuer): Promise<void> {
  // Opened before anything is awaited, or the browser takes it for an advertisement.
  const opened = open('', 'assent-sign-in');
  const begun = await begin(issuer).catch((error: unknown) => void (signInFault.value = messageOf(error)));
  if (begun === undefined) return opened?.close();
  const { started, url } = begun;
  waiting?.close();
  const channel = new BroadcastChannel(channelName);
  waiting = channel;
  channel.onmessage = ({ data }) => {
    const parameters = new URLSearchParams(String(data));
    if (parameters.get('state') !== started.state) return;
    channel.close();
    void finish(started, parameters);
  };
  if (opened === null) return void (signInFault.value = 'window');
  opened.location.href = url;
}

/** A response of an issuer in the address of this page. False if there is none. */
export function returnFromIssuer(): boolean {
  const parameters = [location.hash, location.search]
    .map((text) => new URLSearchParams(text.slice(1)))
    .find((each) => each.has('state') && (each.has('code') || each.has('error')));
  if (parameters === undefined) return false;
  history.replaceState(null, '', `${location.pathname}#/`);
  const started = JSON.parse(sessionStorage.getItem(stored) ?? 'null') as Started | null;
  sessionStorage.removeItem(stored);
  if (started !== null && started.state === parameters.get('state')) {
    void finish(started, parameters);
    return true;
  }
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(parameters.toString());
  isHandedOver.value = true;
  setTimeout(() => {
    channel.close();
    close();
  }, 500);
  return true;
}

async function finish(started: Started, parameters: URLSearchParams): Promise<void> {
  signInFault.value = '';
  try {
    const issuer = consoleSettings.issuers.find((each) => each.issuer === started.issuer);
    if (issuer === undefined) throw new Error(started.issuer);
    const oauth = await library();
    const [server, client] = [serverOf(issuer), clientOf(issuer)];
    const valid = oauth.validateAuthResponse(server, client, parameters, started.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      valid,
      redirectUri,
      started.verifier,
      optionsOf(oauth, issuer),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      ...(issuer.scope.split(' ').includes('openid') && { expectedNonce: started.nonce }),
    });
    use(issuer, tokens);
    if (location.hash.length < 3 && started.place !== '') location.hash = started.place;
  } catch (error) {
    signInFault.value = messageOf(error);
  }
}

function use(issuer: Issuer, { access_token: token, refresh_token: refreshToken }: oauth.TokenEndpointResponse): void {
  const found = readToken(token);
  if (found === undefined) throw new Error('The access token is not a JWT.');
  signIn(found, false);
  if (refreshToken === undefined) return;
  const afterMs = Math.max(1_000, Math.min(found.expiresAt - Date.now() - renewBeforeMs, 2 ** 31 - 1));
  // Not if the user has signed out, or in again, in the meantime.
  setTimeout(() => session.value?.token === token && void refresh(issuer, refreshToken), afterMs);
}

/** If it fails, the token expires, and the console asks to sign in again. */
async function refresh(issuer: Issuer, refreshToken: string): Promise<void> {
  const [server, client] = [serverOf(issuer), clientOf(issuer)];
  try {
    const oauth = await library();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refreshToken,
      optionsOf(oauth, issuer),
    );
    const tokens = await oauth.processRefreshTokenResponse(server, client, response);
    use(issuer, { ...tokens, refresh_token: tokens.refresh_token ?? refreshToken });
  } catch (error) {
    console.warn(error);
  }
}
