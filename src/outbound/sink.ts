import { isIP } from 'node:net';
import type { FaultRule } from '../base/errors.js';
import { internalEndings, lastLabel } from '../base/internal-names.js';
import { limits } from '../base/limits.js';
import { sinkTexts } from '../base/texts/sinks.js';
import type { Text } from '../base/texts/text.js';
import { isReachable, type AddressRules } from './address.js';

/**
 * A sink that Assent may ask for consent. `uri` is the text as written: the key of a grant, and the URL of deliveries.
 */
export interface Sink {
  uri: string;
  /** A name in lower case or, if the operator allows its network, an address without brackets. */
  host: string;
  port: number;
}

/** Every port of the machine itself: of `localhost` and addresses of loopback, if their networks are allowed. */
export const everyLocalPort = 'localhost:*';
export type SinkPort = number | typeof everyLocalPort;

export interface SinkRules {
  addresses: AddressRules;
  ports: readonly SinkPort[];
  /** Host and port of the registry itself, as `authorityOf` writes them. */
  ownAuthorities: readonly string[];
}

interface SinkFault {
  ok: false;
  rule: FaultRule;
  detail: Text;
}
export type ParsedSink = { ok: true; sink: Sink } | SinkFault;

const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Parses a sink strictly. The URL parser of the web repairs its input (it drops tabs and line breaks, trims, folds
 * case, resolves dot segments, turns 0x7f.1 into 127.0.0.1), so two programs may read one text as two targets. This
 * accepts only text that every parser reads in the same way. `rule` is stable. `detail` says what to write and never
 * repeats a part of the URI that may be secret.
 */
export function parseSink(raw: string, rules: SinkRules): ParsedSink {
  const read = readUrl(raw);
  if (!read.ok) return read;
  const { url } = read;
  const hostFault = faultOfHost(url, rules);
  if (hostFault) return hostFault;
  if (url.href !== raw) return notCanonical(url);

  const port = portOf(url);
  if (!rules.ports.includes(port) && !(rules.ports.includes(everyLocalPort) && isLocal(bare(url.hostname)))) {
    return fault('port_not_allowed', sinkTexts.portNotAllowed(rules.ports));
  }
  return { ok: true, sink: { uri: raw, host: bare(url.hostname), port } };
}

/**
 * The fault of a text that cannot be the sink of any grant, whatever the settings of this registry allow or allowed.
 */
export function faultOfSinkText(raw: string): SinkFault | undefined {
  const read = readUrl(raw);
  if (!read.ok) return read;
  return read.url.href === raw ? undefined : notCanonical(read.url);
}

/** Without the port of https, which clients may write and canonical URLs leave out. Repairs nothing else. */
export function withoutUsualPort(url: string): string {
  return url.includes(':443') ? url.replace(/^(https:\/\/[^/?#]*):443(?=[/?#]|$)/, '$1') : url;
}

function readUrl(raw: string): { ok: true; url: URL } | SinkFault {
  if (raw.length > limits.urlLength) return fault('too_long', sinkTexts.tooLong(limits.urlLength));
  // eslint-disable-next-line no-control-regex -- ASCII is the rule here
  if (/[^\x00-\x7f]/.test(raw)) {
    return fault('not_ascii', sinkTexts.notAscii);
  }
  if (!uriCharacters.test(raw)) {
    return fault('characters_not_allowed', sinkTexts.charactersNotAllowed);
  }
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (!url) return fault('not_a_url', sinkTexts.notUrl);
  if (url.protocol !== 'https:') return fault('not_https', sinkTexts.notHttps);

  const [, authority, path] = /^https:\/\/([^/?#]*)([^?#]*)/.exec(raw) ?? [];
  if (authority === undefined || path === undefined) {
    return fault('not_canonical', sinkTexts.beginning);
  }
  if (authority.includes('@')) return fault('userinfo', sinkTexts.userinfo);
  if (raw.includes('#')) return fault('fragment', sinkTexts.fragment);
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) {
    return fault('dot_segment', sinkTexts.dotSegment);
  }
  if ([...url.searchParams.keys()].some((name) => name.toLowerCase() === 'access_token')) {
    return fault('access_token', sinkTexts.accessToken);
  }
  return { ok: true, url };
}

function faultOfHost(url: URL, { addresses, ownAuthorities }: SinkRules): SinkFault | undefined {
  const { hostname } = url;
  const mayDial = (address: string) => isReachable(addresses.verdictOf(address));

  if (ownAuthorities.includes(authorityOf(url))) return fault('own_host', sinkTexts.ownHost);
  if (isIP(bare(hostname)) !== 0) {
    // A public address is refused too: it does not show its owner, and no public CA certifies it for long.
    return addresses.verdictOf(bare(hostname)) === 'allowed' ? undefined : fault('ip_literal', sinkTexts.ipLiteral);
  }
  const never = faultOfHostName(hostname);
  if (never) return never;
  const ending = lastLabel(hostname);
  if (ending === 'localhost') {
    if (mayDial('127.0.0.1')) return undefined;
    return fault(hostname === ending ? 'single_label' : 'special_use_name', sinkTexts.localhost);
  }
  return faultOfEnding(hostname, ending, addresses);
}

/** The fault of a name that no sink has as its host, whatever the settings of a registry. */
export function faultOfHostName(hostname: string): SinkFault | undefined {
  if (hostname.endsWith('.')) return fault('trailing_dot', sinkTexts.trailingDot);
  if (hostname.length > limits.nameLength || !hostname.split('.').every((part) => label.test(part))) {
    return fault('host_malformed', sinkTexts.hostMalformed);
  }
  const ending = lastLabel(hostname);
  if (unresolvable.has(ending)) return fault('special_use_name', sinkTexts.unresolvable(ending));
  return hostname.includes('.') || ending === 'localhost' ? undefined : fault('single_label', sinkTexts.singleLabel);
}

const isLocal = (host: string): boolean =>
  isIP(host) === 0 ? lastLabel(host) === 'localhost' : /^(127\.|::1$)/.test(host);

/** Names that never exist in DNS: RFC 6761 (section 6.4), RFC 7686 and RFC 9476. */
const unresolvable: ReadonlySet<string> = new Set(['invalid', 'onion', 'alt']);

/** Of machines of Azure, and of Windows that share a connection. */
const internalDomains = ['.internal.cloudapp.net', '.mshome.net'];

/**
 * A public registry does not even look up a name of an internal network: the result would reveal what is there. Names
 * for documentation (`.example`) are ordinary names: software must not treat them as special (RFC 6761, section 6.5).
 */
function faultOfEnding(hostname: string, ending: string, { allowsNetworks }: AddressRules): SinkFault | undefined {
  const isInternal =
    internalEndings.has(ending) || ending === 'test' || internalDomains.some((domain) => hostname.endsWith(domain));
  if (!isInternal || allowsNetworks) return undefined;
  return fault('special_use_name', sinkTexts.internalName);
}

/** Host and port in the form that comparisons use: lower case, without brackets and without the dot at the end. */
export function authorityOf(url: URL): string {
  return `${bare(url.hostname).toLowerCase().replace(/\.$/, '')}:${portOf(url)}`;
}

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port));

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

const notCanonical = ({ href }: URL): SinkFault => fault('not_canonical', sinkTexts.notCanonical(href));

const fault = (rule: FaultRule, detail: Text): SinkFault => ({ ok: false, rule, detail });
