import { signal } from '@preact/signals';
import type * as oauth from 'oauth4webapi';
import { type Arrival, root } from './route.js';
import { type Issuer, readToken, renew, session, consoleSettings } from './session.js';

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

/** Each registry of an origin has its own. */
const name = `assent.sign-in ${root.pathname}`;
const renewalName = `assent.renewal ${root.pathname}`;
/** Before the token expires. */
const renewBeforeMs = 60_000;

/** Why the last sign-in failed, as the issuer or the library said it. */
export const signInFault = signal('');
/** A response of the issuer came to this window: `asking` while it is used, `done` when the window that opened it has it. */
export const handOver = signal<'none' | 'asking' | 'done'>('none');

/** A window that another one waits for is taken by it at once. */
const takenWithinMs = 1_000;

const redirectUri = new URL('console', root).href;

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
    sessionStorage.setItem(name, JSON.stringify(started));
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
  const channel = new BroadcastChannel(name);
  waiting = channel;
  channel.onmessage = ({ data }) => {
    const parameters = new URLSearchParams(String(data));
    if (parameters.get('state') !== started.state) return;
    channel.postMessage(takenOf(started.state));
    channel.close();
    void finish(started, parameters);
  };
  if (opened === null) return void (signInFault.value = 'window');
  opened.location.href = url;
}

const takenOf = (state: string) => `taken ${state}`;

/**
 * What came in the address may be a response of an issuer. True if it is the one that this tab waits for. One that
 * another window waits for is handed over. Any other is dropped, as if the console had been opened without it: any page
 * can lead here with a response of its own.
 */
export async function returnFromIssuer({ fragment, query }: Arrival): Promise<boolean> {
  const parameters = [fragment, query].find((each) => each.has('state') && (each.has('code') || each.has('error')));
  const state = parameters?.get('state');
  if (parameters === undefined || state == null) return false;
  const started = JSON.parse(sessionStorage.getItem(name) ?? 'null') as Started | null;
  handOver.value = 'asking';
  if (started?.state === state) {
    sessionStorage.removeItem(name);
    await finish(started, parameters);
    handOver.value = 'none';
    return true;
  }
  const channel = new BroadcastChannel(name);
  const isTaken = await new Promise<boolean>((resolve) => {
    channel.onmessage = ({ data }) => data === takenOf(state) && resolve(true);
    channel.postMessage(parameters.toString());
    setTimeout(() => resolve(false), takenWithinMs);
  });
  channel.close();
  handOver.value = isTaken ? 'done' : 'none';
  if (isTaken) close();
  return isTaken;
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
  renew(found);
  renewal = refreshToken === undefined ? undefined : { issuer: issuer.issuer, token, refreshToken };
  planRenewal();
}

interface Renewal {
  issuer: string;
  /** The access token that it renews. */
  token: string;
  refreshToken: string;
}

/**
 * It stays in the memory of this page, because a refresh token may be used once: a copy of this tab must not have it. It
 * is stored only while the page is reloaded.
 */
let renewal: Renewal | undefined;
let renewalTimer: ReturnType<typeof setTimeout> | undefined;

addEventListener('pagehide', () => {
  const isNeeded = renewal !== undefined && renewal.token === session.value?.token;
  if (isNeeded) sessionStorage.setItem(renewalName, JSON.stringify(renewal));
});
addEventListener('pageshow', () => sessionStorage.removeItem(renewalName));

/** After a reload, for the session that this tab kept. */
export function restoreRenewal(): void {
  renewal = (JSON.parse(sessionStorage.getItem(renewalName) ?? 'null') as Renewal | null) ?? undefined;
  sessionStorage.removeItem(renewalName);
  planRenewal();
}

function planRenewal(): void {
  clearTimeout(renewalTimer);
  const present = session.value;
  if (renewal === undefined || present === undefined || renewal.token !== present.token) return;
  const { issuer: of, refreshToken } = renewal;
  const issuer = consoleSettings.issuers.find((each) => each.issuer === of);
  if (issuer === undefined) return;
  const afterMs = Math.max(1_000, Math.min(present.expiresAt - Date.now() - renewBeforeMs, 2 ** 31 - 1));
  // Not if the user has signed out, or in again, in the meantime.
  renewalTimer = setTimeout(
    () => session.value?.token === present.token && void refresh(issuer, refreshToken),
    afterMs,
  );
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
