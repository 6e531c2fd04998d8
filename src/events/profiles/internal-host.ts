import { isIPv4 } from 'node:net';
import { parseUriReference } from '../uri.js';

/**
 * Endings of names that public DNS does not have (RFC 6761, RFC 6762, RFC 8375, ICANN's "internal") or that networks
 * and clusters use inside.
 */
const internalEndings: ReadonlySet<string> = new Set([
  'internal',
  'local',
  'localhost',
  'localdomain',
  'lan',
  'intranet',
  'corp',
  'home',
  'private',
  'arpa',
  'svc',
]);
const infrastructureScheme = /(?:^|[^a-z0-9+.-])(?:k8s|kubernetes|docker|containerd|pod):\/\//;
/** `orders.example.com:8080/a` is meant as a host with a port, though its grammar makes the host a scheme. */
const hostAndPort = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+:\d+(?:[/?#]|$)/;
/** What the id of a container is: 64 hexadecimal digits. */
const containerId = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;
/** Kubernetes ends pod names with random characters of an alphabet without vowels: `checkout-7d4b9c6f5d-x2x7p`. */
const podName = /-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9-])/;

/**
 * What a source tells of the network inside, a sentence each. The host is looked at closely; of the rest only what
 * names a private address, an internal name, a container or a pod in plain words. For a text that is a URI reference.
 */
export function findLeaks(source: string): string[] {
  const leaks: string[] = [];
  const plain = decode(source).toLowerCase();
  const authority = parseUriReference(source)?.authority;
  const host = decode(authority?.host ?? '')
    .toLowerCase()
    .replace(/\.$/, '');
  const mayNameInside = plain.includes('local') || plain.includes('internal');
  const mayNameAddress = /\d\.\d/.test(plain);
  // The full form of a name ends in a dot.
  const words = mayNameInside || mayNameAddress ? plain.split(/\.?(?:[^a-z0-9.-]|$)/) : [];
  if ((host !== '' && isInternalHost(host)) || words.some(isInternalWord)) {
    leaks.push('The source names a host that only the inside knows.');
  }
  if ((host !== '' && isAddress(host)) || words.some(isPrivateAddress)) leaks.push('The source has an IP address.');
  if ((authority?.port ?? '') !== '' || hostAndPort.test(plain)) leaks.push('The source has a port number.');
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

/** A name of one label is only known inside. */
function isInternalHost(host: string): boolean {
  return !isAddress(host) && (!host.includes('.') || internalEndings.has(lastLabel(host)));
}

function isInternalWord(word: string): boolean {
  if (word === 'localhost') return true;
  return /^[a-z0-9].*\./.test(word) && ['internal', 'local', 'localhost'].includes(lastLabel(word));
}

const lastLabel = (name: string) => name.slice(name.lastIndexOf('.') + 1);

/** URL parsers take a name whose last label is a number for an IPv4 address in one of its many notations. */
function isAddress(host: string): boolean {
  return host.startsWith('[') || /^(?:\d+|0x[0-9a-f]*)$/.test(lastLabel(host));
}

function isPrivateAddress(word: string): boolean {
  if (!isIPv4(word)) return false;
  const [first, second] = word.split('.').map(Number) as [number, number];
  if (first === 10 || first === 127 || first === 0) return true;
  if (first === 172) return second >= 16 && second <= 31;
  if (first === 100) return second >= 64 && second <= 127;
  return (first === 192 && second === 168) || (first === 169 && second === 254);
}
