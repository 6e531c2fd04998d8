import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The classification of an address. Only `public` and `allowed` may be dialled. Every other value says why not, in the
 * terms of ipaddr.js (`private`, `loopback`, `carrierGradeNat`, `rfc6052` for NAT64 ...) if it has one.
 */
type AddressVerdict =
  | 'public'
  | 'allowed'
  | 'denied'
  | 'notAnAddress'
  | 'platformService'
  | 'ipv4Compatible'
  | 'notGlobalUnicast'
  // Four terms that ipaddr.js uses but its types leave out.
  | 'deprecatedSiteLocal'
  | 'deprecatedOrchid'
  | 'discard'
  | 'segmentRouting'
  | Exclude<ReturnType<ipaddr.IPv4['range']> | ReturnType<ipaddr.IPv6['range']>, 'unicast'>;

export interface AddressRules {
  verdictOf(address: string): AddressVerdict;
  /** The operator allowed a network, so internal names may be looked up. */
  allowsNetworks: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

export const isReachable = (verdict: AddressVerdict): boolean => verdict === 'public' || verdict === 'allowed';

/**
 * Azure's host agent serves every guest at this globally routable address, and returns configuration and credentials.
 */
const platformService = '168.63.129.16';

const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
const compatible = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number];
/** For these networks, the system or a translator (RFC 6052) dials the IPv4 address in the last four bytes. */
const carriers = ['::ffff:0:0/96', '64:ff9b::/96'].map((cidr) => ipaddr.parseCIDR(cidr) as [ipaddr.IPv6, number]);

/**
 * Classifies addresses by the IANA special-purpose registries, against server-side request forgery. An address that
 * contains an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) is always refused: an honest name server returns
 * the IPv4 address itself. Text that is not the full form of one address is `notAnAddress`; so is a zone identifier.
 *
 * The operator's networks (CIDR, or one address) take precedence: `allowedNetworks` allows a network that is not
 * public, even loopback; `deniedNetworks` always wins. If an allowed IPv6 network has IPv4-mapped or NAT64 addresses,
 * these are judged by the IPv4 address that they contain, so that allowing a translator does not allow the network
 * behind it. A translator with a custom prefix cannot be recognised: deny that prefix. Throws RangeError for an invalid
 * network.
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

/** The network that budgets count an address in: its /24 or /48. Throws RangeError for anything but an address. */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) throw new RangeError('Not an address.');
  return parsed instanceof ipaddr.IPv4
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/24`).toString()}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/48`).toString()}/48`;
}

/** A network in the form in which it is stored (`203.0.113.0/24`); undefined if it is none, or has bits after its prefix. */
export function canonicalNetwork(text: string): string | undefined {
  try {
    const [address, prefix] = parseNetwork(text);
    const family = address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
    const canonical = `${address.toString()}/${prefix}`;
    return family.networkAddressFromCIDR(canonical).toString() === address.toString() ? canonical : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const unconnectable = ['0.0.0.0/8', '224.0.0.0/3', '::/128', 'ff00::/8'].map(parseNetwork);

/** Whether no connection leads into this network (canonical): unspecified, multicast and reserved addresses. */
export function isUnconnectable(network: string): boolean {
  const [address, prefix] = parseNetwork(network);
  return unconnectable.some((whole) => prefix >= whole[1] && isWithin(address, whole));
}

/** A test whether an address is in one of these networks. Throws RangeError for an invalid network. */
export function networkTest(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map(parseNetwork);
  return (text) => {
    const address = parse(text);
    return address !== undefined && parsed.some((network) => isWithin(address, network));
  };
}

/** Whether every address of a network is in one of the others. Throws RangeError for an invalid network. */
export function isCovered(network: string, others: readonly string[]): boolean {
  const [address, prefix] = parseNetwork(network);
  return others.map(parseNetwork).some((other) => other[1] <= prefix && isWithin(address, other));
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
      // ipaddr.js reads ::127.0.0.1 as IPv4-mapped and ::7f00:1 as unicast; the URL parser writes both as the latter.
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
    throw new RangeError(`"${text}" is an IPv4 network in IPv6 notation: write it as 10.0.0.0/8.`);
  }
  return [address, prefix];
}

function isWithin(address: Address, [network, prefix]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, prefix);
  return network instanceof ipaddr.IPv6 && address.match(network, prefix);
}
