import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What is known about an address. Only `public` and `allowed` may be dialled; every other value says why not, in the
 * words of ipaddr.js (`private`, `loopback`, `carrierGradeNat`, `rfc6052` for NAT64 ...) where it has a word for it.
 */
export type AddressVerdict =
  | 'public'
  | 'allowed'
  | 'denied'
  | 'notAnAddress'
  | 'platformService'
  | 'ipv4Compatible'
  | 'notGlobalUnicast'
  // Four words that ipaddr.js uses and its types leave out.
  | 'deprecatedSiteLocal'
  | 'deprecatedOrchid'
  | 'discard'
  | 'segmentRouting'
  | Exclude<ReturnType<ipaddr.IPv4['range']> | ReturnType<ipaddr.IPv6['range']>, 'unicast'>;

export interface AddressRules {
  verdictOf(address: string): AddressVerdict;
  /** The operator allowed a network: names that only the inside of a network knows may be looked up. */
  allowsNetworks: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

export const isReachable = (verdict: AddressVerdict): boolean => verdict === 'public' || verdict === 'allowed';

/**
 * Azure's host agent answers any guest at this globally routable address; it hands out configuration and credentials.
 */
const platformService = '168.63.129.16';

const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
const compatible = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number];
/** Below these, the system or a translator (RFC 6052) dials the IPv4 address in the last four bytes. */
const carriers = ['::ffff:0:0/96', '64:ff9b::/96'].map((cidr) => ipaddr.parseCIDR(cidr) as [ipaddr.IPv6, number]);

/**
 * Classifies addresses by the IANA special-purpose registries: server-side request forgery ends here. An address
 * that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) is refused whatever it carries: an honest
 * name server answers with the IPv4 address itself. Text that is not the full form of one address, zone identifiers
 * included, is `notAnAddress`.
 *
 * Before that come the operator's networks (CIDR, or one address): `allowedNetworks` lets a network through that is not
 * public, even loopback; `deniedNetworks` always wins. Where an allowed IPv6 network holds IPv4-mapped or NAT64
 * addresses, these are judged by the IPv4 address that they carry, so that allowing a translator does not allow what
 * lies behind it. A translator with a prefix of its own cannot be recognised: deny that prefix. Throws RangeError for a
 * network that cannot be read.
 */
export function createAddressRules(networks: {
  allowedNetworks: readonly string[];
  deniedNetworks: readonly string[];
}): AddressRules {
  const allowed = networks.allowedNetworks.map(parseNetwork);
  const denied = networks.deniedNetworks.map(parseNetwork);

  function judge(address: Address): AddressVerdict {
    if (denied.some((network) => isWithin(address, network))) return 'denied';
    if (!allowed.some((network) => isWithin(address, network))) return classify(address);
    const isCarrier = address instanceof ipaddr.IPv6 && carriers.some((network) => address.match(network));
    return isCarrier ? judge(new ipaddr.IPv4(address.toByteArray().slice(12))) : 'allowed';
  }

  return {
    allowsNetworks: allowed.length > 0,
    verdictOf(address) {
      const parsed = parse(address);
      return parsed ? judge(parsed) : 'notAnAddress';
    },
  };
}

/** The network that an address is counted in: its /24 or /48. Throws RangeError for anything but an address. */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) throw new RangeError('Not an address.');
  return parsed instanceof ipaddr.IPv4
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/24`).toString()}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/48`).toString()}/48`;
}

function classify(address: Address): AddressVerdict {
  const range = address.range();
  if (address instanceof ipaddr.IPv4) {
    if (address.toString() === platformService) return 'platformService';
  } else if (!address.match(globalUnicast)) {
    if (range === 'unicast') return address.match(compatible) ? 'ipv4Compatible' : 'notGlobalUnicast';
  }
  return range === 'unicast' ? 'public' : range;
}

function parse(text: string): Address | undefined {
  switch (isIP(text)) {
    case 4:
      return ipaddr.IPv4.parse(text);
    case 6:
      if (text.includes('%')) return undefined;
      // ipaddr.js takes ::127.0.0.1 for IPv4-mapped and ::7f00:1 for unicast; the URL parser writes both as the latter.
      return ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1));
    default:
      return undefined;
  }
}

function parseNetwork(text: string): Network {
  const [base = '', length, ...rest] = text.split('/');
  const address = parse(base);
  const bits = isIPv6(base) ? 128 : 32;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (!address || rest.length > 0 || !(prefix <= bits)) {
    throw new RangeError(`"${text}" is not a network: write it as 10.0.0.0/8 or fd00::/8.`);
  }
  if (address.range() === 'ipv4Mapped') {
    throw new RangeError(`"${text}" is an IPv4 network in IPv6 clothes: write it as 10.0.0.0/8.`);
  }
  return [address, prefix];
}

function isWithin(address: Address, [network, prefix]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, prefix);
  return network instanceof ipaddr.IPv6 && address.match(network, prefix);
}
