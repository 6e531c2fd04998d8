import { connect as connectTcp, isIP, isIPv6, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { isCovered, networkTest } from './address.js';
import { codeOf, RequestFailure } from './failure.js';
import { checkIdentity } from './identity.js';
import { lookUp } from './look-up.js';

/** A proxy that forwards connections to targets (CONNECT: RFC 9110, section 9.3.6). */
export interface EgressProxySettings {
  /**
   * `http://` or `https://`, host and port, with a user name and a password (both percent-encoded) if the proxy wants
   * them. The host is an address or a full name.
   */
  url: string;
  /** PEM of a certificate authority of an https proxy, in addition to the default ones. */
  ca?: string | undefined;
  /** CIDR. Networks that are dialled directly. They have to contain every network that is allowed. Empty if absent. */
  noProxy?: readonly string[] | undefined;
}

export interface EgressProxy {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** With the credentials; undefined without. */
  readonly authorization: string | undefined;
  /** Of an https proxy. */
  readonly secureContext: SecureContext | undefined;
  isBypassed(address: string): boolean;
}

/** `reach`: connecting to the proxy. `answer`: waiting until it has connected to the target. */
export type ProxyStage = 'reach' | 'answer';

/** Why a URL is not that of a proxy; undefined if it is. Never repeats a part of it. */
export function faultOfProxyUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    return 'must be an http or https URL, such as http://proxy.example.com:3128';
  }
  if (!/^\/?$/.test(url.pathname) || /[?#]/.test(text)) return 'must have no path, query or fragment';
  try {
    const name = decodeURIComponent(url.username);
    decodeURIComponent(url.password);
    // RFC 7617, section 2.
    return name.includes(':') ? 'must have a user name without a colon' : undefined;
  } catch {
    return 'must have a percent-encoded user name and password';
  }
}

/**
 * An allowed network is not public, and its addresses mean something else where the proxy is: its own loopback, for one.
 * So a proxy gets public addresses only, and each allowed network needs a direct way.
 */
export function networksWithoutWay(allowedNetworks: readonly string[], noProxy: readonly string[]): string[] {
  return allowedNetworks.filter((network) => !isCovered(network, noProxy));
}

/** Throws RangeError for invalid settings. Its message has no credentials. */
export function createEgressProxy(
  { url: text, ca, noProxy = [] }: EgressProxySettings,
  allowedNetworks: readonly string[],
): EgressProxy {
  const fault = faultOfProxyUrl(text);
  if (fault !== undefined) throw new RangeError(`The URL of the proxy ${fault}.`);
  const [stuck] = networksWithoutWay(allowedNetworks, noProxy);
  if (stuck !== undefined) {
    throw new RangeError(`allowedNetworks has ${stuck}, which a proxy must not get: add it to noProxy, too.`);
  }
  const { protocol, hostname, port, username, password } = new URL(text);
  const isSecure = protocol === 'https:';
  if (ca !== undefined && !isSecure) throw new RangeError('Only an https proxy has a certificate authority.');
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const secureContext = isSecure
    ? createSecureContext({ minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: [...rootCertificates, ca] }) })
    : undefined;
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (isSecure ? 443 : 80)),
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    secureContext,
    isBypassed: networkTest(noProxy),
  };
}

interface Target {
  /** An address that was checked, never a name. */
  address: string;
  port: number;
  /** For the proxy and its answer, if there are other addresses to try. */
  timeoutMs?: number;
}

const maxHeadBytes = 8_192;
const maxInformational = 8;
/** A name of a proxy may have several addresses. */
const maxDials = 4;

/**
 * Asks the proxy to connect to the target. The connection that it returns is the target's from the first byte on; until
 * then it does not outlive `signal`, and afterwards it belongs to the caller. Throws RequestFailure.
 */
export async function openTunnel(
  proxy: EgressProxy,
  find: (name: string) => Promise<string[]>,
  { address, port, timeoutMs }: Target,
  signal: AbortSignal,
  onStage: (stage: ProxyStage) => void,
): Promise<Socket> {
  const over = new AbortController();
  const abort = () => over.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  let stage: ProxyStage = 'reach';
  const giveUp = () => over.abort(stage === 'reach' ? unreachable('ETIMEDOUT') : timedOut());
  const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
  try {
    onStage(stage);
    const socket = await reach(proxy, find, over.signal);
    onStage((stage = 'answer'));
    const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
    const authorization = proxy.authorization && `Proxy-Authorization: ${proxy.authorization}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization ?? ''}\r\n`);
    const failure = failureOfStatus(await readAnswer(socket, over.signal));
    if (failure !== undefined) throw failure;
    return socket;
  } catch (error) {
    over.abort(error);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Connects to the proxy and leaves again. Throws RequestFailure if that fails, and RangeError for invalid settings. */
export async function knockAtProxy(
  settings: EgressProxySettings,
  allowedNetworks: readonly string[],
  dnsServers: readonly string[],
  deadlineMs: number,
): Promise<void> {
  const proxy = createEgressProxy(settings, allowedNetworks);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(unreachable('ETIMEDOUT')), deadlineMs);
  const servers = { dnsServers, tryTimeoutMs: Math.ceil(deadlineMs / 3) };
  try {
    await reach(proxy, (name) => lookUp(name, servers, over.signal), over.signal);
  } finally {
    clearTimeout(timer);
    over.abort(unreachable(undefined));
  }
}

/** A connection to the proxy: to the first of its addresses that accepts one, and in TLS if it is an https proxy. */
async function reach(
  { host, port, secureContext }: EgressProxy,
  find: (name: string) => Promise<string[]>,
  signal: AbortSignal,
): Promise<Socket> {
  const addresses = await find(host).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : unreachable(error instanceof RequestFailure ? error.code : codeOf(error));
  });
  let failure = unreachable('ENODATA');
  for (const address of addresses.slice(0, maxDials)) {
    signal.throwIfAborted();
    const socket =
      secureContext === undefined
        ? connectTcp({ host: address, port })
        : connectTls({
            host: address,
            port,
            ...(isIP(host) === 0 && { servername: host }),
            secureContext,
            rejectUnauthorized: true,
            checkServerIdentity: checkIdentity,
          });
    try {
      return await opened(socket, secureContext === undefined ? 'connect' : 'secureConnect', signal);
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const destroy = () => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', destroy, { once: true });
    if (signal.aborted) destroy();
    socket.once(event, () => resolve(socket));
    // It stays, so that no error ends the process.
    socket.on('error', (error) => reject(unreachable(codeOf(error))));
    socket.once('close', () => reject(unreachable('ECONNRESET')));
  });
}

/** The status of the final answer to CONNECT. Reads its head, and nothing of what the target sends. */
function readAnswer(socket: Socket, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    let informational = 0;
    const settle = (result: number | RequestFailure) => {
      socket.off('readable', read).off('end', onEnd).off('close', onEnd);
      signal.removeEventListener('abort', onAbort);
      if (typeof result === 'number') resolve(result);
      else reject(result);
    };
    const onAbort = () => settle(signal.reason as RequestFailure);
    const onEnd = () => settle(malformed('CONNECTION_CLOSED'));
    const read = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        text += chunk.toString('latin1');
      }
      for (;;) {
        if (!'HTTP/1.'.startsWith(text.slice(0, 7))) return settle(malformed('NOT_HTTP'));
        const end = text.indexOf('\r\n\r\n');
        if ((end === -1 ? text.length : end) > maxHeadBytes) return settle(malformed('HEAD_TOO_LARGE'));
        if (end === -1) return;
        const head = text.slice(0, end);
        const [, digits] = /^HTTP\/1\.[01] ([1-5]\d\d)(?: [^\r\n]*)?(?:\r\n[^\r\n]+)*$/.exec(head) ?? [];
        const status = Number(digits);
        text = text.slice(end + 4);
        if (digits === undefined || status === 101) return settle(malformed('NOT_HTTP'));
        if (status < 200) {
          informational += 1;
          if (informational > maxInformational) return settle(malformed('TOO_MANY_INFORMATIONAL'));
          continue;
        }
        if (status >= 300 || text === '') return settle(status);
        return settle(hasBody.test(head) ? malformed('BODY_BEFORE_TLS') : spokeFirst());
      }
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    socket.on('readable', read).once('end', onEnd).once('close', onEnd);
    if (socket.destroyed) onEnd();
  });
}

function failureOfStatus(status: number): RequestFailure | undefined {
  const code = String(status);
  if (status < 300) return undefined;
  // tinyproxy refuses wrong credentials with 401.
  if (status === 407 || status === 401) {
    return new RequestFailure('proxy_authentication', `The egress proxy wants other credentials (${code}).`, code);
  }
  return status >= 500
    ? new RequestFailure('proxy_no_connection', `The egress proxy could not connect to the target (${code}).`, code)
    : new RequestFailure('proxy_refused', `The egress proxy refused to connect to the target (${code}).`, code);
}

/** Behind such a head come bytes of the proxy, a page to sign in for example; behind any other, those of the target. */
const hasBody = /\r\n(?:content-length|content-type|transfer-encoding)[ \t]*:/i;

const spokeFirst = () =>
  new RequestFailure('tls_failed', 'The target sent something before the TLS handshake.', 'BYTES_BEFORE_TLS');

const unreachable = (code: string | undefined) =>
  new RequestFailure('proxy_unreachable', `The egress proxy cannot be reached (${code ?? 'unknown'}).`, code);

const malformed = (code: string) =>
  new RequestFailure('proxy_malformed', `The egress proxy gave no valid answer to CONNECT (${code}).`, code);

const timedOut = () =>
  new RequestFailure('proxy_timeout', 'The egress proxy did not answer the CONNECT request in time.');
