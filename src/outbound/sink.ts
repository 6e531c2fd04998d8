import { isIP } from 'node:net';
import type { FaultRule } from '../errors.js';
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
  /** Names under which the registry itself is reached. */
  ownHosts: readonly string[];
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
  const hostFault = faultOfHost(url.hostname, rules);
  if (hostFault) return hostFault;
  if (url.href !== raw) return notCanonical(url);

  const port = url.port === '' ? 443 : Number(url.port);
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

function faultOfHost(hostname: string, { addresses, ownHosts }: SinkRules): SinkFault | undefined {
  const mayDial = (address: string) => isReachable(addresses.verdictOf(address));
  const isOwn = (own: string) => bare(own.toLowerCase().replace(/\.$/, '')) === bare(hostname.replace(/\.$/, ''));

  if (ownHosts.some(isOwn)) return fault('own_host', 'The sink must not be this registry itself.');
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
  if (hostname === 'localhost') {
    if (mayDial('127.0.0.1')) return undefined;
    return fault(
      'single_label',
      'localhost is accepted only where the operator allows it: ASSENT_ALLOWED_NETWORKS=127.0.0.0/8.',
    );
  }
  if (!hostname.includes('.')) {
    return fault('single_label', 'The host must be a full name such as hooks.example.com.');
  }
  return undefined;
}

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

const notCanonical = ({ href }: URL): SinkFault =>
  fault('not_canonical', `The sink must be written in canonical form: ${href}`);

const fault = (rule: FaultRule, detail: string): SinkFault => ({ ok: false, rule, detail });
