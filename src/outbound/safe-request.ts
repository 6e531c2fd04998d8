/**
 * Everything that the registry sends to an address somebody registered passes here, in this order: the sink as text
 * (sink.ts), its name and the addresses behind it (resolve.ts, address.ts), TCP and TLS to one of them (dial.ts), one
 * OPTIONS request (send-request.ts). It ends as a Reply.
 */
import { createSecureContext, rootCertificates } from 'node:tls';
import { createAddressRules, isReachable } from './address.js';
import { sendRequest, type OptionsRequest } from './send-request.js';
import { dial, dialFirst, secured } from './dial.js';
import { RequestFailure, type FailureReason } from './failure.js';
import { chooseAddresses, lookUp } from './resolve.js';
import { parseSink, type Sink } from './sink.js';

/** Milliseconds; a stage that was not completed has none. */
export interface Timing {
  lookupMs?: number;
  connectMs?: number;
  tlsMs?: number;
  answerMs?: number;
  totalMs: number;
}

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
  /** Where the registry itself is reached, as `authorityOf` writes it. */
  ownAuthorities: readonly string[];
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
  ownAuthorities: [],
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
 * proxies (a proxy would look the name up again, behind the check), no redirects, no second request on a connection and
 * no resumed TLS session.
 *
 * Whatever a target does is a value. It rejects only if the caller's headers cannot be sent or `admit` rejects;
 * creating it throws for networks or a certificate authority that cannot be read.
 */
export function createSafeRequest(settings: SafeRequestSettings): SafeRequest {
  const addresses = createAddressRules(settings);
  const sinkRules = { addresses, ports: settings.ports, ownAuthorities: settings.ownAuthorities };
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(settings.ca !== undefined && { ca: [...rootCertificates, settings.ca] }),
  });

  async function converse(
    sink: Sink,
    { method, headers, admit = () => Promise.resolve(undefined) }: OutboundRequest,
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

    const socket = await dialFirst(choice.candidates, admit, (address, candidatesLeft) => {
      progress.remoteAddress = address;
      const timeoutMs = candidatesLeft > 1 ? { timeoutMs: progress.leftMs() / candidatesLeft } : {};
      const destination = { address, port: sink.port, host: sink.host, secureContext, ...timeoutMs };
      return progress.during('connectMs', dial(destination, signal));
    });
    if (typeof socket === 'number') return { kind: 'held', retryAfterMs: socket };

    const { remoteAddress } = socket;
    if (remoteAddress === undefined) throw new RequestFailure('connection_closed', 'The target hung up at once.');
    if (!isReachable(addresses.verdictOf(remoteAddress))) return blocked(remoteAddress);

    await progress.during('tlsMs', secured(socket));
    const request = { url: sink.uri, method, headers: { 'User-Agent': settings.userAgent, ...headers } };
    const answer = await progress.during('answerMs', sendRequest(socket, request, settings, signal));
    return { kind: 'answered', ...answer, remoteAddress };
  }

  return async function safeRequest(request) {
    const end = new AbortController();
    const progress = new Progress(settings.deadlineMs, end.signal);
    const deadline = setTimeout(() => end.abort(progress.deadlineExceeded()), settings.deadlineMs);
    const abort = () => end.abort(new RequestFailure('aborted', 'The request was given up by the registry.'));
    if (request.signal?.aborted) abort();
    request.signal?.addEventListener('abort', abort, { once: true });

    try {
      const parsed = parseSink(request.url, sinkRules);
      const reply: Untimed = parsed.ok
        ? await Promise.race([ended(end.signal), converse(parsed.sink, request, progress, end.signal)])
        : { kind: 'blocked', reason: 'sink_not_allowed', detail: parsed.detail };
      return { ...reply, timing: progress.timing() };
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      const { remoteAddress } = progress;
      const { reason, message: detail } = error;
      const where = remoteAddress !== undefined && { remoteAddress };
      return { kind: 'unanswered', reason, detail, ...where, timing: progress.timing() };
    } finally {
      clearTimeout(deadline);
      request.signal?.removeEventListener('abort', abort);
      // Queries, half-open sockets and the client all hang on this signal: nothing outlives the request.
      end.abort(over);
    }
  };
}

/** Made once: a reason of its own has a stack, which costs more than the rest of the signal. */
const over = new RequestFailure('aborted', 'The request is over.');

/** Rejects with the reason when the signal fires. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

type Stage = Exclude<keyof Timing, 'totalMs'>;
const stages: Record<Stage, string> = {
  lookupMs: 'looking up the name',
  connectMs: 'connecting',
  tlsMs: 'negotiating TLS',
  answerMs: 'waiting for the answer',
};

/** How far a request has come, and how long each stage took. */
class Progress {
  /** The address that was dialled last. */
  remoteAddress: string | undefined;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #completed: Partial<Record<Stage, number>> = {};
  #stage: Stage = 'lookupMs';

  constructor(deadlineMs: number, signal: AbortSignal) {
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
  }

  /** Takes the time of a stage, and lets nothing follow once the request is over. */
  async during<T>(stage: Stage, work: Promise<T>): Promise<T> {
    this.#stage = stage;
    const from = performance.now();
    const result = await work;
    this.#signal.throwIfAborted();
    this.#completed[stage] = Math.round(performance.now() - from);
    return result;
  }

  leftMs(): number {
    return this.#deadlineMs - (performance.now() - this.#startedAt);
  }

  timing(): Timing {
    return { ...this.#completed, totalMs: Math.round(performance.now() - this.#startedAt) };
  }

  deadlineExceeded(): RequestFailure {
    const detail = `No final answer within ${this.#deadlineMs} ms; the time ended while ${stages[this.#stage]}.`;
    return new RequestFailure('deadline_exceeded', detail);
  }
}
