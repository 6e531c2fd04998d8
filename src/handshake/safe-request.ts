import { createSecureContext, rootCertificates } from 'node:tls';
import { createAddressRules, isReachable } from './address.js';
import { ask, speakOn, type OptionsRequest } from './ask.js';
import { chooseAddresses, openFirst } from './choose-address.js';
import { dial, secured } from './dial.js';
import { Failure, type FailureReason } from './failure.js';
import { createKeptConnections, type Connection, type ConnectionKey } from './kept-connections.js';
import { lookUp } from './look-up.js';
import { Progress, type Timing } from './progress.js';
import { parseSink, type Sink } from './sink.js';

export type { FailureReason } from './failure.js';
export type { Timing } from './progress.js';

export type Reply =
  /** `headers` are those of the final answer: raw, in order, duplicates kept. */
  | {
      kind: 'answered';
      status: number;
      headers: ReadonlyArray<readonly [string, string]>;
      remoteAddress: string;
      timing: Timing;
    }
  | { kind: 'unanswered'; reason: FailureReason; detail: string; remoteAddress?: string; timing: Timing }
  | { kind: 'blocked'; reason: 'address_not_allowed' | 'sink_not_allowed'; detail: string; timing: Timing }
  /** The network budget said not now; nothing was dialled. */
  | { kind: 'held'; retryAfterMs: number; timing: Timing };

export interface OutboundRequest extends OptionsRequest {
  signal?: AbortSignal;
  /**
   * Asked once with each /24 or /48 that is about to be dialled; a number says how many milliseconds to wait instead.
   * Nearly always that is one; a second network is dialled only where the first does not accept a connection.
   */
  admit?: (network: string) => Promise<number | undefined>;
  /**
   * The tenant, where the connection may serve its next request too: to the same host, port and address, within two
   * seconds of an answer without a body. Without it every request has a connection of its own.
   */
  keepFor?: string;
}

export type SafeRequest = (request: OutboundRequest) => Promise<Reply>;

export interface SafeRequestSettings {
  /**
   * CIDR. What is let through although it is not public; empty by default, and loopback only on a developer's machine.
   */
  allowedNetworks: readonly string[];
  /** CIDR. Always wins. Belongs here: the registry's own addresses, NAT64 prefixes of one's own. */
  deniedNetworks: readonly string[];
  ports: readonly number[];
  /** Names under which the registry itself is reached. */
  ownHosts: readonly string[];
  /** `ip:port` each; empty means the servers of the system. */
  dnsServers: readonly string[];
  /** PEM of a certificate authority that is trusted besides the default roots. */
  ca: string | undefined;
  /** For everything from the look-up to the last header: 1xx answers do not extend it. */
  deadlineMs: number;
  maxHeaderBytes: number;
  maxInformational: number;
  userAgent: string;
}

export const safeRequestDefaults = {
  allowedNetworks: [],
  deniedNetworks: [],
  ports: [443, 8443],
  ownHosts: [],
  dnsServers: [],
  ca: undefined,
  deadlineMs: 10_000,
  maxHeaderBytes: 8192,
  maxInformational: 8,
} as const satisfies Omit<SafeRequestSettings, 'userAgent'>;

type WithoutTiming<T> = T extends unknown ? Omit<T, 'timing'> : never;
/** A reply before its clock is stopped. */
type Untimed = WithoutTiming<Reply>;

/**
 * The one door to the outside. It looks a name up itself, refuses it whole if one of its addresses is not allowed, and
 * dials an address that it has checked, so that no second look-up can lead elsewhere (DNS rebinding). It knows no
 * proxies (a proxy would look the name up again, behind the check) and no redirects. A connection serves one tenant
 * only, and each request on it has had its own look-up and budget; TLS sessions are never resumed.
 *
 * Whatever a target does is a value. It rejects only if the caller's headers cannot be sent or `admit` rejects;
 * creating it throws for networks or a certificate authority that cannot be read.
 */
export function createSafeRequest(settings: SafeRequestSettings): SafeRequest {
  const addresses = createAddressRules(settings);
  const sinkRules = { addresses, ports: settings.ports, ownHosts: settings.ownHosts };
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(settings.ca !== undefined && { ca: [...rootCertificates, settings.ca] }),
  });

  const kept = createKeptConnections();

  async function converse(
    sink: Sink,
    { method, headers, keepFor, admit = () => Promise.resolve(undefined) }: OutboundRequest,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<Untimed> {
    signal.throwIfAborted();
    const tryTimeoutMs = Math.ceil(settings.deadlineMs / 5);
    const found = await progress.during('lookupMs', lookUp(sink.host, { ...settings, tryTimeoutMs }, signal));
    const blocked = (address: string): Untimed => ({
      kind: 'blocked',
      reason: 'address_not_allowed',
      detail: `${sink.host} leads to ${address}, which must not be reached (${addresses.verdictOf(address)}).`,
    });
    const choice = chooseAddresses(found, addresses);
    if ('blocked' in choice) return blocked(choice.blocked);
    const { candidates } = choice;
    const asked = { url: sink.uri, method, headers: { 'User-Agent': settings.userAgent, ...headers } };
    async function speak(mayReuse: boolean): Promise<Untimed> {
      let key: ConnectionKey | undefined;
      let reused: Connection | undefined;
      let life: Life | undefined;
      const opened = await openFirst(candidates, admit, (address, candidatesLeft) => {
        progress.remoteAddress = address;
        key = keepFor === undefined ? undefined : { tenant: keepFor, host: sink.host, port: sink.port, address };
        reused = mayReuse && key !== undefined ? kept.take(key) : undefined;
        if (reused !== undefined) return Promise.resolve(reused.socket);
        life ??= beginLife(signal);
        const timeoutMs = candidatesLeft > 1 ? { timeoutMs: progress.leftMs() / candidatesLeft } : {};
        const destination = { address, port: sink.port, host: sink.host, secureContext, ...timeoutMs };
        return progress.during('connectMs', dial(destination, life.signal));
      });
      if (typeof opened === 'number') return { kind: 'held', retryAfterMs: opened };
      if (reused !== undefined) endWith(signal, reused.end);

      const { remoteAddress } = opened;
      if (remoteAddress === undefined) throw new Failure('connection_closed', 'The target hung up at once.');
      if (!isReachable(addresses.verdictOf(remoteAddress))) return blocked(remoteAddress);

      if (reused === undefined) await progress.during('tlsMs', secured(opened));
      const isKept = key !== undefined;
      const open = ({ signal: until, end }: Life): Connection => {
        const client = speakOn(opened, sink.uri, settings, isKept, until);
        return { socket: opened, client, openedAt: performance.now(), end };
      };
      const connection = reused ?? open((life ??= beginLife(signal)));
      const bytesBefore = opened.bytesRead;
      try {
        const answered = ask(connection, asked, settings, isKept);
        const { isComplete, ...answer } = await progress.during('answerMs', answered);
        if (isComplete && key !== undefined) {
          signal.removeEventListener('abort', connection.end);
          kept.put(key, connection);
        }
        return { kind: 'answered', ...answer, remoteAddress };
      } catch (error) {
        // The target gave up waiting just as it was asked; OPTIONS may be sent again (RFC 9110, section 9.2.2).
        const isSilent = error instanceof Failure && error.reason === 'connection_closed' && !signal.aborted;
        if (reused === undefined || !isSilent || opened.bytesRead > bytesBefore) throw error;
        return speak(false);
      }
    }
    return speak(true);
  }

  return async function safeRequest(request) {
    const end = new AbortController();
    const progress = new Progress(settings.deadlineMs, end.signal);
    const deadline = setTimeout(() => end.abort(progress.deadlineExceeded()), settings.deadlineMs);
    const abort = () => end.abort(new Failure('aborted', 'The request was given up by the registry.'));
    if (request.signal?.aborted) abort();
    request.signal?.addEventListener('abort', abort, { once: true });

    try {
      const parsed = parseSink(request.url, sinkRules);
      const reply: Untimed = parsed.ok
        ? await Promise.race([ended(end.signal), converse(parsed.sink, request, progress, end.signal)])
        : { kind: 'blocked', reason: 'sink_not_allowed', detail: parsed.detail };
      return { ...reply, timing: progress.timing() };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { remoteAddress } = progress;
      const { reason, message: detail } = error;
      const where = remoteAddress !== undefined && { remoteAddress };
      return { kind: 'unanswered', reason, detail, ...where, timing: progress.timing() };
    } finally {
      clearTimeout(deadline);
      request.signal?.removeEventListener('abort', abort);
      // Queries, half-open sockets and the client all hang on this signal: only a kept connection outlives the request.
      end.abort(over);
    }
  };
}

/** Made once: a reason of its own has a stack, which costs more than the rest of the signal. */
const over = new Failure('aborted', 'The request is over.');

/** Of a connection: it ends with the request that opened it, unless it is kept. */
interface Life {
  signal: AbortSignal;
  end: () => void;
}

function beginLife(request: AbortSignal): Life {
  const life = new AbortController();
  const end = () => life.abort(over);
  endWith(request, end);
  return { signal: life.signal, end };
}

function endWith(request: AbortSignal, end: () => void): void {
  request.addEventListener('abort', end, { once: true });
  if (request.aborted) end();
}

/** Rejects with the reason when the signal fires. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
