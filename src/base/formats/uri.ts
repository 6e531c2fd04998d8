import { isIPv6 } from 'node:net';

// RFC 3986 by its grammar, one pass, no regular expression.

const unreservedOrSub = 1;
const pathExtra = 2; // : @
const slash = 4;
const question = 8;
const schemeInner = 16; // letters, digits, + - .
const letter = 32;
const classes = new Uint8Array(128);
const mark = (characters: string, bits: number) => {
  for (const character of characters) classes[character.charCodeAt(0)]! |= bits;
};
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
mark(`${letters}0123456789-._~!$&'()*+,;=`, unreservedOrSub);
mark(':@', pathExtra);
mark('/', slash);
mark('?', question);
mark(`${letters}0123456789+-.`, schemeInner);
mark(letters, letter);

/** The parts of a URI reference; an absent part is undefined, which differs from an empty one. */
export interface UriParts {
  scheme: string | undefined;
  authority: { userinfo: string | undefined; host: string; port: string | undefined } | undefined;
  path: string;
  query: string | undefined;
  fragment: string | undefined;
}

/** RFC 3986, section 4.1. The empty string is one too. */
export function isUriReference(text: string): boolean {
  return outline(text) !== undefined;
}

/** A URI with its scheme (RFC 3986, section 3), a fragment allowed. */
export function isUri(text: string): boolean {
  return (outline(text)?.scheme ?? 0) > 0;
}

export function parseUriReference(text: string): UriParts | undefined {
  const found = outline(text);
  if (!found) return undefined;
  const { scheme, authority, path, query, fragment } = found;
  return {
    scheme: scheme > 0 ? text.slice(0, scheme).toLowerCase() : undefined,
    authority: authority < 0 ? undefined : splitAuthority(text.slice(authority, path)),
    path: text.slice(path, query >= 0 ? query : fragment >= 0 ? fragment : text.length),
    query: query < 0 ? undefined : text.slice(query + 1, fragment >= 0 ? fragment : text.length),
    fragment: fragment < 0 ? undefined : text.slice(fragment + 1),
  };
}

/** Where the parts begin: `scheme` is its length (0: none), the others are -1 if absent; `query` is the position of `?`. */
interface Outline {
  scheme: number;
  authority: number;
  path: number;
  query: number;
  fragment: number;
}

function outline(text: string): Outline | undefined {
  const scheme = schemeLength(text);
  if (scheme < 0) return undefined;
  const start = scheme > 0 ? scheme + 1 : 0;
  const hasAuthority = text[start] === '/' && text[start + 1] === '/';
  const authority = hasAuthority ? start + 2 : -1;
  const path = hasAuthority ? authorityEnd(text, authority) : start;
  if (path < 0) return undefined;
  const pathEnd = skip(text, path, unreservedOrSub | pathExtra | slash);
  const query = text[pathEnd] === '?' ? pathEnd : -1;
  const queryEnd = query < 0 ? pathEnd : skip(text, query + 1, unreservedOrSub | pathExtra | slash | question);
  const fragment = text[queryEnd] === '#' ? queryEnd : -1;
  const end = fragment < 0 ? queryEnd : skip(text, fragment + 1, unreservedOrSub | pathExtra | slash | question);
  return end === text.length ? { scheme, authority, path, query, fragment } : undefined;
}

/** 0 if there is none; -1 for a colon where only a scheme may have one (section 4.2). */
function schemeLength(text: string): number {
  let at = 0;
  while (at < text.length && isOf(text.charCodeAt(at), schemeInner)) at += 1;
  if (text[at] === ':') return isOf(text.charCodeAt(0), letter) ? at : -1;
  // The first segment of a relative reference must not contain a colon.
  for (; at < text.length; at += 1) {
    const character = text[at];
    if (character === '/' || character === '?' || character === '#') return 0;
    if (character === ':') return -1;
  }
  return 0;
}

/** The end of the first run of characters that are in the classes or percent-encoded. */
function skip(text: string, from: number, allowed: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (isOf(code, allowed)) at += 1;
    else if (code === 0x25 && isHex(text.charCodeAt(at + 1)) && isHex(text.charCodeAt(at + 2))) at += 3;
    else break;
  }
  return at;
}

function authorityEnd(text: string, from: number): number {
  // Most are just a name.
  let end = skip(text, from, unreservedOrSub);
  if (end === text.length || isAuthorityEnd(text.charCodeAt(end))) return end;
  while (end < text.length && !isAuthorityEnd(text.charCodeAt(end))) end += 1;
  const { userinfo, host, port } = splitAuthority(text.slice(from, end));
  // There is no @ in it.
  if (userinfo !== undefined && !isAll(userinfo, unreservedOrSub | pathExtra)) return -1;
  if (port !== undefined && !/^[0-9]*$/.test(port)) return -1;
  if (host.startsWith('[')) return host.endsWith(']') && isAddress(host.slice(1, -1)) ? end : -1;
  return isAll(host, unreservedOrSub) ? end : -1;
}

/** `/`, `?` or `#`. */
const isAuthorityEnd = (code: number) => code === 0x2f || code === 0x3f || code === 0x23;

function splitAuthority(text: string): NonNullable<UriParts['authority']> {
  const user = text.indexOf('@');
  const rest = text.slice(user + 1);
  const colon = rest.indexOf(':', rest.startsWith('[') ? Math.max(rest.indexOf(']'), 0) : 0);
  return {
    userinfo: user < 0 ? undefined : text.slice(0, user),
    host: colon < 0 ? rest : rest.slice(0, colon),
    port: colon < 0 ? undefined : rest.slice(colon + 1),
  };
}

/** IPv6address or IPvFuture (section 3.2.2); a zone is neither. */
function isAddress(text: string): boolean {
  if (/^v[0-9a-f]+\../i.test(text)) {
    const rest = text.slice(text.indexOf('.') + 1).replaceAll(':', '');
    return !rest.includes('%') && isAll(rest, unreservedOrSub);
  }
  return !text.includes('%') && isIPv6(text);
}

const isAll = (text: string, allowed: number) => skip(text, 0, allowed) === text.length;
const isOf = (code: number, allowed: number) => code < 128 && ((classes[code] as number) & allowed) !== 0;

function isHex(code: number): boolean {
  const folded = code | 32;
  return (code >= 0x30 && code <= 0x39) || (folded >= 0x61 && folded <= 0x66);
}

/** A sink as logs and audit entries have it: webhooks keep secrets in the query, and entries outlive the subscription by years. */
export function withoutQuery(sink: string): string {
  return sink.replace(/\?.*/s, '?[secret]');
}
