import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { internalEndings, lastLabel } from '../../base/internal-names.js';
import { parseUriReference } from '../../base/formats/uri.js';

/** What cannot be reached from outside; the IPv6 forms that carry such IPv4 addresses too, which `check` sees by itself. */
const privateNetworks = new BlockList();
privateNetworks.addAddress('0.0.0.0');
privateNetworks.addSubnet('10.0.0.0', 8);
privateNetworks.addSubnet('100.64.0.0', 10);
privateNetworks.addSubnet('127.0.0.0', 8);
privateNetworks.addSubnet('169.254.0.0', 16);
privateNetworks.addSubnet('172.16.0.0', 12);
privateNetworks.addSubnet('192.168.0.0', 16);
privateNetworks.addAddress('::1', 'ipv6');
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');
/** Four numbers and no more of them: an object identifier has more, and the last dot of a full name is no part. */
const fourNumbers = /(?<![a-z0-9.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?[a-z0-9])/g;
/** Of IPv6: the private ones, those of the Internet, and those that begin with zeros. */
const beginsAddress = /^(?:f[cde][0-9a-f]{2}|[23][0-9a-f]{3}|0{1,4})$/;
/** How clouds call a machine inside after its address: `ip-10-0-3-17`. */
const machineName = /(?<![a-z0-9])ip-(\d{1,3}(?:-\d{1,3}){3})(?![a-z0-9])/g;
const infrastructureScheme = /(?:^|[^a-z0-9+.-])(?:k8s|kubernetes|docker|containerd|pod):\/\//;
/** `orders.example.com:8080/a` is meant as a host with a port, though its grammar makes the host a scheme. */
const hostAndPort = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+:\d+(?:[/?#]|$)/;
/** In a URL inside of the source: `jdbc:postgresql://orders.example.com:5432/db`. */
const innerPort = /:\/\/(?:[^/?#]*@)?(?:\[[0-9a-f:.]*\]|[^/?#@:[\]]+):\d+(?:[/?#,;&]|$)/;
/** The host of such a URL. */
const innerHost = /:\/\/(?:[^/?#@,;&]*@)?(\[[0-9a-f:.]*\]|[^/?#@:[\],;&]+)/g;
/** A container id: 64 hexadecimal digits. */
const containerId = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;
/**
 * Kubernetes ends pod names with random characters of an alphabet without vowels: `checkout-7d4b9c6f5d-x2x7p`. Digits
 * alone are another kind of number.
 */
const podName = /-(?=\d*[a-z])[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9-])/;

/**
 * What a source discloses about the internal network, one sentence each. Checks its host and the hosts of URLs inside it
 * closely; in the rest only private addresses, internal names, containers and pods. For a valid URI reference.
 */
export function findLeaks(source: string): string[] {
  const leaks: string[] = [];
  const plain = decode(source).toLowerCase();
  const authority = parseUriReference(source)?.authority;
  const behindScheme = authority ? plain.slice(plain.indexOf('//') + 2) : plain;
  // A fully qualified name ends in a dot.
  const hosts = [decode(authority?.host ?? '').toLowerCase(), ...innerHosts(behindScheme)]
    .map((host) => host.replace(/\.$/, ''))
    .filter((host) => host !== '');
  const mayNameInside = plain.includes('local') || plain.includes('internal');
  const words = mayNameInside ? plain.split(/\.?(?:[^a-z0-9.-]|$)/) : [];
  if (hosts.some(isInternalHost) || words.some(isInternalWord) || namesMachine(plain)) {
    leaks.push('The source names an internal host.');
  }
  if (hosts.some(isAddress) || hasPrivateIpv4(plain) || hasPrivateIpv6(plain)) {
    leaks.push('The source has an IP address.');
  }
  if ((authority?.port ?? '') !== '' || hostAndPort.test(plain) || innerPort.test(plain))
    leaks.push('The source has a port number.');
  if (infrastructureScheme.test(plain) || podName.test(plain) || containerId.test(plain)) {
    leaks.push('The source names a cluster, a container or a pod.');
  }
  return leaks;
}

function decode(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

function innerHosts(text: string): string[] {
  return text.includes('://') ? Array.from(text.matchAll(innerHost), ([, host = '']) => host) : [];
}

/** A name of one label is internal. */
function isInternalHost(host: string): boolean {
  return !isAddress(host) && (!host.includes('.') || internalEndings.has(lastLabel(host)));
}

function isInternalWord(word: string): boolean {
  if (word === 'localhost') return true;
  return /^[a-z0-9].*\./.test(word) && ['internal', 'local', 'localhost'].includes(lastLabel(word));
}

/** URL parsers read a name whose last label is a number as an IPv4 address. */
function isAddress(host: string): boolean {
  return host.startsWith('[') || /^(?:\d+|0x[0-9a-f]*)$/.test(lastLabel(host));
}

const isPrivateIpv4 = (text: string) => isIPv4(text) && privateNetworks.check(text);

// Most sources contain nothing like an address, and must cost nothing.

function hasPrivateIpv4(text: string): boolean {
  if (!/\d\.\d/.test(text)) return false;
  return Array.from(text.matchAll(fourNumbers)).some(([address]) => isPrivateIpv4(address));
}

function namesMachine(text: string): boolean {
  if (!text.includes('ip-')) return false;
  return Array.from(text.matchAll(machineName)).some(([, numbers = '']) => isPrivateIpv4(numbers.replaceAll('-', '.')));
}

/**
 * Colons also separate the parts of a URN, so an address may begin at any part that looks like its first group; the
 * longest one counts. A `::` begins an address only if nothing precedes it.
 */
function hasPrivateIpv6(text: string): boolean {
  if (!text.includes('::') && !/(?:[0-9a-f]{1,4}:){7}/.test(text)) return false;
  return text.split(/[^0-9a-z:]+/).some((word) => {
    const parts = word.split(':');
    for (let from = 0; from < parts.length - 2;) {
      const first = parts[from] as string;
      const mayBegin = first === '' ? from === 0 : beginsAddress.test(first);
      const address = mayBegin ? ipv6At(parts, from) : undefined;
      if (address && privateNetworks.check(address.text, 'ipv6')) return true;
      from += address?.length ?? 1;
    }
    return false;
  });
}

/** Eight parts, one of which `::` may stand for at either end. */
function ipv6At(parts: readonly string[], from: number): { text: string; length: number } | undefined {
  for (let length = Math.min(9, parts.length - from); length > 2; length -= 1) {
    const text = parts.slice(from, from + length).join(':');
    if (isIPv6(text)) return { text, length };
  }
  return undefined;
}
