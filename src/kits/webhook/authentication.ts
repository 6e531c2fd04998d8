import { utf8Bytes } from '../../base/formats/bytes.js';
import { problem, type DeliveryRequest, type WebhookResponse } from './exchange.js';

/** One access token, several while they are rotated, or a function that checks the token of a delivery. */
export type AuthenticateRequest =
  string | readonly string[] | ((token: string | undefined, delivery: DeliveryRequest) => boolean | Promise<boolean>);

/** `inQuery`: the token was in the URL, so no shared cache may keep the response. */
export type Authenticated = { ok: true; inQuery: boolean } | { ok: false; refusal: WebhookResponse };

/**
 * Checks the access token in `Authorization: Bearer` or, if `acceptsQuery`, in the query as `access_token` (webhook
 * specification, section 3; RFC 6750). Throws an Error if there is no token to compare with.
 */
export function createAuthentication(authenticate: AuthenticateRequest | undefined, acceptsQuery: boolean) {
  const isAccepted = authenticate === undefined ? undefined : checkOf(authenticate);
  return async (delivery: DeliveryRequest, url: string): Promise<Authenticated> => {
    if (isAccepted === undefined) return { ok: true, inQuery: false };
    const { authorization = '' } = delivery.headers;
    const inHeader = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
    const inQuery = acceptsQuery ? new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).getAll('access_token') : [];
    const tokens = inHeader === undefined ? inQuery : [inHeader, ...inQuery];
    // RFC 6750, section 2: one method in one request.
    if (tokens.length > 1 || /, *Bearer /i.test(authorization))
      return { ok: false, refusal: problem(400, 'The request has more than one access token.') };
    if (await isAccepted(tokens[0], delivery)) return { ok: true, inQuery: inQuery.length > 0 };
    const error = tokens.length === 0 ? '' : ', error="invalid_token"';
    const detail = tokens.length === 0 ? 'The request has no access token.' : 'The access token is not valid.';
    const headers = { 'WWW-Authenticate': `Bearer realm="webhook"${error}` };
    return { ok: false, refusal: problem(401, detail, { headers }) };
  };
}

function checkOf(authenticate: AuthenticateRequest): (token: string | undefined, delivery: DeliveryRequest) => unknown {
  if (typeof authenticate === 'function') return authenticate;
  const tokens = [authenticate].flat();
  if (tokens.length === 0 || tokens.some((token) => typeof token !== 'string' || !/^[!-~]+$/.test(token))) {
    throw new Error('`authenticate` is a token without spaces, a list of at least one, or a function.');
  }
  // At the first request: outside of requests, edge runtimes may refuse such work.
  let hashes: Uint8Array[] | undefined;
  return async (token) => {
    if (token === undefined) return false;
    hashes ??= await Promise.all(tokens.map(sha256));
    const hash = await sha256(token);
    // Compares with all of them, and all bytes: the time that it takes says nothing about which one is close.
    return hashes.map((each) => each.reduce((sum, byte, at) => sum | (byte ^ hash[at]!), 0) === 0).includes(true);
  };
}

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8Bytes(text)));
}
