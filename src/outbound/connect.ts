import { createSecureContext, rootCertificates, type TLSSocket } from 'node:tls';
import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { isReachable, type AddressRules } from './address.js';
import { dial, dialFirst, secured } from './dial.js';
import { RequestFailure, codeOf } from './failure.js';
import { ended, type Progress } from './progress.js';
import type { Sink } from './sink.js';

export interface ConnectSettings {
  /**
   * CIDR. Networks that are allowed although they are not public. Empty by default; allow loopback only in development.
   */
  allowedNetworks: readonly string[];
  /** CIDR. Always wins. List your own internal public addresses here, and custom NAT64 prefixes. */
  deniedNetworks: readonly string[];
  /** `ip:port` each; empty means the servers of the system. */
  dnsServers: readonly string[];
  /** PEM of a certificate authority that is trusted in addition to the default roots. */
  ca: string | undefined;
  /** For everything from the DNS look-up to the end of the response; 1xx responses do not extend it. */
  deadlineMs: number;
}

/** No connection was made. */
export type NotConnected =
  | { kind: 'blocked'; reason: 'address_not_allowed'; detail: string }
  /** The network budget refused for now; nothing was dialled. */
  | { kind: 'held'; retryAfterMs: number };

/**
 * Called once with each /24 or /48 before it is dialled; a number is how many milliseconds to wait instead. Usually
 * there is one network; a second one is dialled only if the first does not accept a connection.
 */
export type Admit = (network: string, address: string) => Promise<number | undefined>;

type Connect = (
  sink: Sink,
  progress: Progress,
  signal: AbortSignal,
  admit?: Admit,
) => Promise<TLSSocket | NotConnected>;

/**
 * Looks a name up itself, refuses it as a whole if one of its addresses is not allowed, and dials an address that it
 * has checked, so that no second look-up can lead elsewhere (DNS rebinding). It uses no proxy (a proxy would look the
 * name up again, after the check) and resumes no TLS session. Creating it throws for an invalid certificate authority;
 * connecting throws RequestFailure.
 */
export function createConnect(addresses: AddressRules, settings: ConnectSettings): Connect {
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(settings.ca !== undefined && { ca: [...rootCertificates, settings.ca] }),
  });
  const tryTimeoutMs = Math.ceil(settings.deadlineMs / 5);

  async function connect(sink: Sink, progress: Progress, signal: AbortSignal, admit: Admit) {
    const found = await progress.during('lookupMs', lookUp(sink.host, { ...settings, tryTimeoutMs }, signal));
    const blocked = (address: string): NotConnected => ({
      kind: 'blocked',
      reason: 'address_not_allowed',
      detail: `${sink.host} leads to ${address}, which must not be reached (${addresses.verdictOf(address)}).`,
    });
    const choice = chooseAddresses(found, addresses);
    if ('blocked' in choice) return blocked(choice.blocked);

    const socket = await dialFirst(choice.candidates, admit, (address, candidatesLeft) => {
      progress.remoteAddress = address;
      const timeoutMs = candidatesLeft > 1 ? { timeoutMs: progress.leftMs() / candidatesLeft } : {};
      const destination = { address, port: sink.port, host: sink.host, secureContext, ...timeoutMs };
      return progress.during('connectMs', dial(destination, signal));
    });
    if (typeof socket === 'number') return { kind: 'held', retryAfterMs: socket } as const;

    const { remoteAddress } = socket;
    if (remoteAddress === undefined)
      throw new RequestFailure('connection_closed', 'The target closed the connection at once.');
    if (!isReachable(addresses.verdictOf(remoteAddress))) return blocked(remoteAddress);

    await progress.during('tlsMs', secured(socket));
    return socket;
  }

  return async (sink, progress, signal, admit = () => Promise.resolve(undefined)) => {
    signal.throwIfAborted();
    return Promise.race([ended(signal), connect(sink, progress, signal, admit)]);
  };
}

interface LookUpSettings {
  /** `ip:port` each; empty means the servers of the system. */
  dnsServers: readonly string[];
  /** For the first try of each query; the second and last try gets twice as long. */
  tryTimeoutMs: number;
}

const meansNoAddress = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * All IPv4 addresses of a name, then all its IPv6 addresses. Queries name servers through c-ares only: `dns.lookup`
 * reads /etc/hosts and search lists, and its few threads are shared with the whole process, so that a few dead names
 * block all other look-ups. `localhost` and the names below it never leave the machine (RFC 6761, section 6.3). Throws
 * RequestFailure.
 */
async function lookUp(host: string, settings: LookUpSettings, signal: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (/(?:^|\.)localhost$/.test(host)) return ['127.0.0.1'];

  const resolver = new dns.Resolver({ timeout: settings.tryTimeoutMs, tries: 2 });
  if (settings.dnsServers.length > 0) resolver.setServers(settings.dnsServers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });

  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;

  const codes = answers.map((answer) => (answer.status === 'rejected' ? codeOf(answer.reason) : 'ENODATA'));
  const broken = codes.find((code) => !meansNoAddress.has(code));
  throw broken === undefined
    ? new RequestFailure('name_not_found', `The name ${host} has no address.`, codes[0])
    : new RequestFailure(
        'name_lookup_failed',
        `The name servers returned no usable response for ${host} (${broken}).`,
        broken,
      );
}

/** A name may have any number of addresses; trying all of them would turn the registry into a port scanner. */
const maxDialsPerFamily = 2;

/**
 * The addresses of a name that may be dialled, IPv4 first, or the address that blocks the name as a whole: a name with
 * one allowed and one forbidden address is an attack or a mistake, and neither should be tried.
 */
function chooseAddresses(
  found: readonly string[],
  rules: AddressRules,
): { candidates: string[] } | { blocked: string } {
  // DNS64 adds addresses to names without IPv6. They are ignored, and refused only if there are no others.
  const own = found.filter((address) => rules.verdictOf(address) !== 'rfc6052');
  const considered = own.length > 0 ? own : found;
  const blocked = considered.find((address) => !isReachable(rules.verdictOf(address)));
  if (blocked !== undefined) return { blocked };
  const ipv4 = considered.filter((address) => !address.includes(':'));
  const ipv6 = considered.filter((address) => address.includes(':'));
  return { candidates: [...ipv4.slice(0, maxDialsPerFamily), ...ipv6.slice(0, maxDialsPerFamily)] };
}
