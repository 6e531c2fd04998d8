import type { TLSSocket } from 'node:tls';
import { isReachable, type AddressRules } from './address.js';
import { SecureContexts, type ClientCertificate } from './client-certificate.js';
import { dial, dialFirst, dialThrough, secured } from './dial.js';
import { createEgressProxy, type EgressProxy, type EgressProxySettings, type ProxyStage } from './egress-proxy.js';
import { RequestFailure } from './failure.js';
import { lookUp } from './look-up.js';
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
  /** The only way out of this network; undefined if targets are dialled directly. */
  proxy: EgressProxySettings | undefined;
  /** For everything from the DNS look-up to the end of the response; 1xx responses do not extend it. */
  deadlineMs: number;
}

/** No connection was made. */
export type NotConnected =
  | { kind: 'blocked'; code: 'address_not_allowed'; detail: string }
  /** The network budget refused for now; nothing was dialled. */
  | { kind: 'held'; retryAfterMs: number };

/**
 * Called once with each /24 or /48 before it is dialled; a number is how many milliseconds to wait instead. Usually
 * there is one network; a second one is dialled only if the first does not accept a connection.
 */
export type Admit = (network: string, address: string) => Promise<number | undefined>;

/** `remoteAddress` is the address of the target: behind a proxy, the socket has that of the proxy. */
export interface Connected {
  socket: TLSSocket;
  remoteAddress: string;
}

/** What is particular to one connection. */
export interface ConnectOptions {
  admit?: Admit | undefined;
  /** Shown if the target asks for one. */
  clientCertificate?: ClientCertificate | undefined;
}

type Connect = (
  sink: Sink,
  progress: Progress,
  signal: AbortSignal,
  options?: ConnectOptions,
) => Promise<Connected | NotConnected>;

/**
 * Looks a name up itself, refuses it as a whole if one of its addresses is not allowed, and dials an address that it
 * has checked, so that no second look-up can lead elsewhere (DNS rebinding). A proxy is asked for that address, never for
 * a name, and only if it is public. It resumes no TLS session. Creating it throws for an invalid certificate authority
 * and for settings of a proxy that are invalid or contradict the others; connecting throws RequestFailure.
 */
export function createConnect(addresses: AddressRules, settings: ConnectSettings): Connect {
  const secureContexts = new SecureContexts(settings.ca);
  const proxy = settings.proxy && createEgressProxy(settings.proxy, settings.allowedNetworks);
  const tryTimeoutMs = Math.ceil(settings.deadlineMs / 5);
  const isProxied = (address: string) => proxy !== undefined && !proxy.isBypassed(address);

  async function connect(
    sink: Sink,
    progress: Progress,
    signal: AbortSignal,
    { admit = () => Promise.resolve(undefined), clientCertificate }: ConnectOptions,
  ): Promise<Connected | NotConnected> {
    const secureContext = secureContexts.of(clientCertificate);
    const servers = { dnsServers: settings.dnsServers, tryTimeoutMs };
    const found = await progress.during('lookupMs', lookUp(sink.host, servers, signal));
    const blocked = (address: string): NotConnected => ({
      kind: 'blocked',
      code: 'address_not_allowed',
      detail: `${sink.host} leads to ${address}, which must not be reached (${addresses.verdictOf(address)}).`,
    });
    const choice = chooseAddresses(found, addresses);
    if ('blocked' in choice) return blocked(choice.blocked);

    const socket = await dialFirst(choice.candidates, admit, (address, candidatesLeft) => {
      progress.remoteAddress = address;
      const timeoutMs = candidatesLeft > 1 ? { timeoutMs: progress.leftMs() / candidatesLeft } : {};
      const destination = { address, port: sink.port, host: sink.host, secureContext, ...timeoutMs };
      if (!isProxied(address)) return progress.during('connectMs', dial(destination, signal));
      const find = (name: string) => lookUp(name, servers, signal);
      const onStage = (stage: ProxyStage) => void (progress.proxyStage = stage);
      return progress.during('connectMs', dialThrough(proxy as EgressProxy, find, destination, signal, onStage));
    });
    if (typeof socket === 'number') return { kind: 'held', retryAfterMs: socket } as const;

    const dialled = progress.remoteAddress ?? '';
    const remoteAddress = isProxied(dialled) ? dialled : socket.remoteAddress;
    if (remoteAddress === undefined)
      throw new RequestFailure('connection_closed', 'The target closed the connection at once.');
    if (!isReachable(addresses.verdictOf(remoteAddress))) return blocked(remoteAddress);

    await progress.during('tlsMs', secured(socket));
    return { socket, remoteAddress };
  }

  return async (sink, progress, signal, options = {}) => {
    signal.throwIfAborted();
    return Promise.race([ended(signal), connect(sink, progress, signal, options)]);
  };
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
