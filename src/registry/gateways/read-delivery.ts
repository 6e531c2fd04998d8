import { RegistryError, type FaultRule } from '../../base/errors.js';
import { faultOfSinkText, withoutUsualPort } from '../../outbound/sink.js';
import { parseOriginName } from '../../consent/origin.js';
import { textIn } from '../../base/texts/text.js';

/** What a gateway asks about: a delivery that it holds back until it has the response. */
export interface GatewayDelivery {
  /** In lower case. */
  origin: string;
  sink: string;
  /** It counts against the rate. */
  isCounted: boolean;
}

/** Why a request cannot be read without a doubt. */
export interface Doubt {
  /** `header/x-forwarded-host`, `sink`. */
  pointer: string;
  rule: FaultRule;
  detail: string;
}

export interface GatewayRequest {
  /** Names and values in turn, as received. */
  rawHeaders: readonly string[];
  /**
   * What follows the path of the operation, with its query: empty, or the host that the gateway delivers to, and then
   * the path of the delivery.
   */
  below: string;
  query: {
    origin?: string | undefined;
    sink?: string | undefined;
    /** Separated by commas: the hosts of the webhooks behind the gateway, with their ports. */
    hosts?: string | undefined;
  };
}

const names = [
  'assent-lease',
  'x-original-url',
  'x-forwarded-uri',
  'x-forwarded-host',
  'x-forwarded-proto',
  'webhook-request-origin',
] as const;
type Name = (typeof names)[number];
/** Each has another length, which rules out nearly all other headers. */
const byLength = Array.from({ length: 23 }, (_, length) => names.find((name) => name.length === length));

const authority = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?$/;

/**
 * Reads the origin and the sink of a delivery from the request of a gateway. Several programs read such a request, and
 * some of its headers may come from the client of the gateway. So whatever two of them could read in two ways is a doubt:
 * a header twice, a name with underscores, parts that are missing, two sources that disagree. Nothing is repaired but
 * `:443` after the host of an https URL, which clients may send and canonical URLs leave out.
 *
 * The client of a gateway chooses `Host`, and gateways put it into these headers. With the host of another webhook, which
 * it has consent for, it could send to the webhook behind this gateway. So the configuration of the gateway lists the
 * hosts, where no client can add one: in the query. RegistryError `invalid_request` without the list.
 */
export function readDelivery({ rawHeaders, below, query }: GatewayRequest): GatewayDelivery | Doubt {
  const headers: Partial<Record<Name, string>> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] as string;
    const name = byLength[header.length];
    if (name === undefined) continue;
    const written = header.toLowerCase();
    if (written !== name) {
      // CGI, WSGI and their like read both spellings as one name.
      if (!written.includes('_') || written.replaceAll('_', '-') !== name) continue;
      return doubt(`header/${name}`, 'header_name_malformed', 'Write the name of this header with hyphens.');
    }
    if (headers[name] !== undefined) return doubt(`header/${name}`, 'header_repeated', 'Send this only once.');
    headers[name] = rawHeaders[at + 1] as string;
  }

  const lease = headers['assent-lease'] ?? 'false';
  if (lease !== 'true' && lease !== 'false') {
    return doubt('header/assent-lease', 'value_not_allowed', 'This must be true or false.');
  }
  const named = headers['webhook-request-origin'];
  const origin = (named ?? query.origin)?.toLowerCase();
  if (origin === undefined) {
    return doubt('header/webhook-request-origin', 'origin_missing', 'The delivery names no origin.');
  }
  if (query.origin !== undefined && query.origin.toLowerCase() !== origin) return disagree('query/origin');

  const sources = [
    fromQuery(query.sink),
    fromOriginalUrl(headers),
    fromForwarded(headers),
    // Below the path, the gateway wrote the host: that of its configuration, or the one that it is about to deliver to.
    below === '' ? undefined : `https://${below.slice(1)}`,
  ];
  let sink: string | undefined;
  for (const source of sources) {
    if (source === undefined) continue;
    if (typeof source !== 'string') return source;
    if (sink !== undefined && sink !== source) return disagree('sink');
    sink = source;
  }
  if (sink === undefined) return doubt('sink', 'sink_missing', 'The request does not say where the delivery goes.');
  const { hosts } = query;
  const delivery = { origin, sink, isCounted: lease === 'true' };
  if (hosts !== undefined) return isListed(sink, hosts) ? delivery : (doubtOf(delivery) ?? notListed);
  if (query.sink !== undefined || below !== '') return delivery;
  throw new RegistryError('invalid_request', 'The gateway does not say which hosts are behind it.', {
    faults: [
      { pointer: 'query/hosts', rule: 'required', detail: 'Clients choose Host, so list the hosts: ?hosts=HOST.' },
    ],
  });
}

const scheme = 'https://';

function isListed(sink: string, hosts: string): boolean {
  if (!sink.startsWith(scheme)) return false;
  // Most gateways list one host.
  if (sink[scheme.length + hosts.length] === '/' && sink.startsWith(hosts, scheme.length)) return true;
  const host = sink.slice(scheme.length).split(/[/?#]/, 1)[0] ?? '';
  return hosts.split(',').includes(host);
}

type Source = string | Doubt | undefined;
type Headers = Partial<Record<Name, string>>;

const fromQuery = (sink: string | undefined): Source => sink;

function fromOriginalUrl({ 'x-original-url': url }: Headers): Source {
  return url && withoutUsualPort(url);
}

/** Proxies of all kinds send `X-Forwarded-Proto`, so alone it says nothing. */
function fromForwarded(headers: Headers): Source {
  const uri = headers['x-forwarded-uri'];
  if (uri === undefined && headers['x-forwarded-host'] === undefined) return undefined;
  const proto = headers['x-forwarded-proto'];
  const host = headers['x-forwarded-host'];
  if (proto === undefined) return missing('header/x-forwarded-proto');
  if (host === undefined) return missing('header/x-forwarded-host');
  if (uri === undefined) return missing('header/x-forwarded-uri');
  if (proto !== 'https') return doubt('header/x-forwarded-proto', 'not_https', 'The delivery does not use https.');
  if (!authority.test(host))
    return doubt('header/x-forwarded-host', 'host_malformed', 'This is no host in lower case.');
  if (!uri.startsWith('/')) return doubt('header/x-forwarded-uri', 'not_canonical', 'This is no path.');
  return `https://${host.endsWith(':443') ? host.slice(0, -4) : host}${uri}`;
}

/** Why no grant can have this origin and this sink; undefined if one could. */
export function doubtOf({ origin, sink }: GatewayDelivery): Doubt | undefined {
  const name = parseOriginName(origin);
  if (!name.ok) return doubt('origin', name.rule, textIn(name.detail, 'en'));
  const fault = faultOfSinkText(sink);
  return fault && doubt('sink', fault.rule, textIn(fault.detail, 'en'));
}

const notListed: Doubt = {
  pointer: 'sink',
  rule: 'host_not_listed',
  detail: 'This host is not in the list of the gateway (hosts).',
};
const doubt = (pointer: string, rule: FaultRule, detail: string): Doubt => ({ pointer, rule, detail });
const missing = (pointer: string) => doubt(pointer, 'sink_missing', 'A part of where the delivery goes is missing.');
const disagree = (pointer: string) =>
  doubt(pointer, 'sources_disagree', 'Two places of the request do not name the same.');
