import { isIP } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { networkOf } from './address.js';
import { watchCertificate } from './certificate-fault.js';
import { openTunnel, type EgressProxy, type ProxyStage } from './egress-proxy.js';
import {
  asksForCertificate,
  certificateRequired,
  closedAfterRequest,
  codeOf,
  failureOfTls,
  failuresOfProxy,
  RequestFailure,
} from './failure.js';
import { checkIdentity } from './identity.js';

interface Destination {
  /** The address to dial: checked, never a name. */
  address: string;
  port: number;
  /** The name that the certificate must cover, or the address itself. */
  host: string;
  secureContext: SecureContext;
  /** The share of this address in the deadline if there are other addresses to try. */
  timeoutMs?: number;
}

/**
 * Opens TCP to exactly this address; `secured` resolves when TLS is established. The socket does not outlive `signal`,
 * even if it is half-open: otherwise file descriptors of stalled targets would pile up. It is one TLS socket from the
 * start, because destroying a plain socket and then the TLS socket around it crashes Node 20. Throws RequestFailure.
 */
export function dial(destination: Destination, signal: AbortSignal): Promise<TLSSocket> {
  const { address, port, timeoutMs } = destination;
  return new Promise((resolve, reject) => {
    // Head and body are two writes: the second would wait for the target to acknowledge the first, 40 ms for most.
    const socket = connect({ host: address, port, ...tlsOptions(destination) }).setNoDelay(true);
    destroyWith(signal, socket);

    const giveUp = () => {
      socket.destroy();
      reject(new RequestFailure('connection_failed', `${address} did not accept a connection.`));
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', (error) => {
      const failure =
        codeOf(error) === 'ECONNREFUSED'
          ? new RequestFailure('connection_refused', `Port ${port} of ${address} is closed.`, codeOf(error))
          : new RequestFailure('connection_failed', `${address} cannot be reached (${codeOf(error)}).`, codeOf(error));
      reject(failure);
    });
  });
}

const tlsOptions = ({ host, secureContext }: Pick<Destination, 'host' | 'secureContext'>) => ({
  // RFC 6066, section 3: an address is not a server name, so the certificate is checked against the address.
  ...(isIP(host) === 0 && { servername: host }),
  secureContext,
  // Set here, because NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise apply. No session is offered or kept.
  rejectUnauthorized: true,
  checkServerIdentity: checkIdentity,
  ALPNProtocols: ['http/1.1'],
});

function destroyWith(signal: AbortSignal, socket: TLSSocket): void {
  const destroy = () => void socket.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  if (signal.aborted) destroy();
}

/**
 * The same through a proxy, which connects to exactly this address and then forwards bytes. TLS is between us and the
 * target, so a proxy that connects elsewhere cannot pass the check of the certificate. Throws RequestFailure.
 */
export async function dialThrough(
  proxy: EgressProxy,
  lookUp: (name: string) => Promise<string[]>,
  destination: Destination,
  signal: AbortSignal,
  onStage: (stage: ProxyStage) => void,
): Promise<TLSSocket> {
  const tunnel = await openTunnel(proxy, lookUp, destination, signal, onStage);
  // From here on only the outer socket is destroyed, which destroys the inner one.
  const socket = connect({ socket: tunnel.setNoDelay(true), ...tlsOptions(destination) });
  destroyWith(signal, socket);
  return socket;
}

/**
 * Returns the first connection that one of the addresses accepts, or the milliseconds to wait if `admit` refuses before
 * anything was dialled. Each network is admitted once. Throws the RequestFailure of the last address that was tried.
 */
export async function dialFirst<Socket>(
  candidates: readonly string[],
  admit: (network: string, address: string) => Promise<number | undefined>,
  attempt: (address: string, candidatesLeft: number) => Promise<Socket>,
): Promise<Socket | number> {
  const admitted = new Set<string>();
  let failure: RequestFailure | undefined;
  for (const [index, address] of candidates.entries()) {
    const network = networkOf(address);
    const waitMs = admitted.has(network) ? undefined : await admit(network, address);
    if (waitMs !== undefined) {
      if (index === 0) return waitMs;
      break;
    }
    admitted.add(network);
    try {
      return await attempt(address, candidates.length - index);
    } catch (error) {
      if (!(error instanceof RequestFailure) || failuresOfProxy.has(error.reason)) throw error;
      failure = error;
    }
  }
  throw failure ?? new RequestFailure('name_not_found', 'The name has no address.');
}

/**
 * Resolves when the target has proven, in TLS 1.2 or later, that it is the host given to `dial`. Call it as soon as you
 * have the socket. Throws RequestFailure.
 */
export function secured(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node has no other sign that the target accepted a version and a cipher. The line itself is a secret.
    let isAgreed = false;
    let isAsked = false;
    const withCertificate = watchCertificate(socket);
    socket.once('keylog', () => {
      isAgreed = true;
      isAsked = asksForCertificate(socket);
    });
    socket.once('secureConnect', resolve);
    socket.on('error', (error) => {
      const code = codeOf(error);
      // Node types this as Error, but it is a code, and unset unless a certificate was checked and refused.
      const isRefused = (socket.authorizationError as unknown) != null;
      reject(isRefused ? certificateInvalid(withCertificate(code)) : failureOf(code, isAgreed, isAsked));
    });
    socket.once('close', () => reject(hungUp(isAsked)));
  });
}

const failureOf = (code: string, isAgreed: boolean, isAsked: boolean): RequestFailure =>
  code === 'ECONNRESET' || code === 'EPIPE' ? hungUp(isAsked, code) : failureOfTls(code, isAgreed);

const certificateInvalid = (evidence: string) =>
  new RequestFailure('certificate_invalid', `The certificate is not valid: ${evidence}.`, evidence);

/** Node, among others, sends no alert for a certificate that it refuses. */
const hungUp = (isAsked: boolean, code?: string) =>
  isAsked
    ? certificateRequired(closedAfterRequest)
    : new RequestFailure('connection_closed', 'The target closed the connection during the TLS handshake.', code);
