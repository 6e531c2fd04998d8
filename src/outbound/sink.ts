import { isIP } from 'node:net';
import type { FaultRule } from '../errors.js';
import { internalEndings, lastLabel } from '../internal-names.js';
import { limits } from '../limits.js';
import { isReachable, type AddressRules } from './address.js';

/** A sink that may be asked. `uri` is the text as written: the key of a grant, and what deliveries are sent to. */
export interface Sink {
  uri: string;
  /** A name in lower case or, if the operator allowed its network, an address without brackets. */
  host: string;
  port: number;
}

export interface SinkRules {
  addresses: AddressRules;
  ports: readonly number[];
  /** Where the registry itself is reached, as `authorityOf` writes it. */
  ownAuthorities: readonly string[];
}

interface SinkFault {
  ok: false;
  rule: FaultRule;
  detail: string;
}
export type ParsedSink = { ok: true; sink: Sink } | SinkFault;

const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads a sink strictly. The URL parser of the web repairs what it is given (it drops tabs and line ends, trims, folds
 * case, solves dot segments, turns 0x7f.1 into 127.0.0.1), so two programs may read one text as two targets. Only
 * text that every reader takes the same way is accepted. `rule` is stable; `detail` tells the subscriber what to write
 * and never repeats a part of the URI that may be secret.
 */
export function parseSink(raw: string, rules: SinkRules): ParsedSink {
  const read = readUrl(raw);
  if (!read.ok) return read;
  const { url } = read;
  const hostFault = faultOfHost(url, rules);
  if (hostFault) return hostFault;
  if (url.href !== raw) return notCanonical(url);

  const port = portOf(url);
  if (!rules.ports.includes(port)) {
    return fault('port_not_allowed', `The port must be one of: ${rules.ports.join(', ')}.`);
  }
  return { ok: true, sink: { uri: raw, host: bare(url.hostname), port } };
}

/**
 * The fault of a text that can be the sink of no grant, whatever this registry or an earlier setting of it may call.
 */
export function faultOfSinkText(raw: string): SinkFault | undefined {
  const read = readUrl(raw);
  if (!read.ok) return read;
  return read.url.href === raw ? undefined : notCanonical(read.url);
}

function readUrl(raw: string): { ok: true; url: URL } | SinkFault {
  if (raw.length > limits.urlLength) return fault('too_long', `A sink has at most ${limits.urlLength} characters.`);
  // eslint-disable-next-line no-control-regex -- ASCII is the rule here
  if (/[^\x00-\x7f]/.test(raw)) {
    return fault('not_ascii', 'Write names in their xn-- form and percent-encode everything else outside of ASCII.');
  }
  if (!uriCharacters.test(raw)) {
    return fault(
      'characters_not_allowed',
      'A URI has no spaces, tabs, line ends, backslashes, quotes or braces, and "%" only before two hexadecimal digits.',
    );
  }
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (!url) return fault('not_a_url', 'The sink is not an absolute URL with a valid host.');
  if (url.protocol !== 'https:') return fault('not_https', 'The sink must be an https URL.');

  const [, authority, path] = /^https:\/\/([^/?#]*)([^?#]*)/.exec(raw) ?? [];
  if (authority === undefined || path === undefined) {
    return fault('not_canonical', 'The sink must begin with "https://" in lower case, followed by the host.');
  }
  if (authority.includes('@')) return fault('userinfo', 'The sink must not carry a user name or a password.');
  if (raw.includes('#')) return fault('fragment', 'The sink must not have a fragment: no sender transmits it.');
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) {
    return fault('dot_segment', 'The path must not have "." or ".." segments: write the path that they lead to.');
  }
  if ([...url.searchParams.keys()].some((name) => name.toLowerCase() === 'access_token')) {
    return fault('access_token', 'A token in the query ends up in logs: register it as a sink credential instead.');
  }
  return { ok: true, url };
}

function faultOfHost(url: URL, { addresses, ownAuthorities }: SinkRules): SinkFault | undefined {
  const { hostname } = url;
  const mayDial = (address: string) => isReachable(addresses.verdictOf(address));

  if (ownAuthorities.includes(authorityOf(url))) return fault('own_host', 'The sink must not be this registry itself.');
  if (isIP(bare(hostname)) !== 0) {
    // A public literal is refused too: no owner is recognised by it, and no public authority certifies it for long.
    return addresses.verdictOf(bare(hostname)) === 'allowed'
      ? undefined
      : fault('ip_literal', 'The sink must name its host; an address is accepted only if the operator allowed it.');
  }
  if (hostname.endsWith('.')) return fault('trailing_dot', 'Write the host without the dot at its end.');
  if (hostname.length > limits.nameLength || !hostname.split('.').every((part) => label.test(part))) {
    return fault('host_malformed', 'The host must be a DNS name of letters, digits and hyphens.');
  }
  const ending = lastLabel(hostname);
  if (ending === 'localhost') {
    if (mayDial('127.0.0.1')) return undefined;
    return fault(
      hostname === ending ? 'single_label' : 'special_use_name',
      'localhost is accepted only where the operator allows it: ASSENT_ALLOWED_NETWORKS=127.0.0.0/8.',
    );
  }
  if (!hostname.includes('.')) {
    return fault('single_label', 'The host must be a full name such as hooks.example.com.');
  }
  return faultOfEnding(hostname, ending, addresses);
}

/** Names that no DNS has: RFC 6761 (section 6.4), RFC 7686 and RFC 9476. */
const unresolvable: ReadonlySet<string> = new Set(['invalid', 'onion', 'alt']);

/**
 * A public registry does not even look up a name that belongs to the inside of a network: its answer would tell what is
 * there. Names for documentation (`.example`) are no such names: software is not to treat them as special (RFC 6761,
 * section 6.5).
 */
function faultOfEnding(hostname: string, ending: string, { allowsNetworks }: AddressRules): SinkFault | undefined {
  if (unresolvable.has(ending)) return fault('special_use_name', `No DNS has names that end in ".${ending}".`);
  const isInternal = internalEndings.has(ending) || ending === 'test' || hostname.endsWith('.internal.cloudapp.net');
  if (!isInternal || allowsNetworks) return undefined;
  return fault(
    'special_use_name',
    'This is the name of an internal or test network. It is accepted only where the operator allows that network ' +
      '(ASSENT_ALLOWED_NETWORKS).',
  );
}

/** Host and port as they are compared: in lower case, without brackets and the dot at the end. */
export function authorityOf(url: URL): string {
  return `${bare(url.hostname).toLowerCase().replace(/\.$/, '')}:${portOf(url)}`;
}

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port));

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

const notCanonical = ({ href }: URL): SinkFault =>
  fault('not_canonical', `The sink must be written in canonical form: ${href}`);

const fault = (rule: FaultRule, detail: string): SinkFault => ({ ok: false, rule, detail });
