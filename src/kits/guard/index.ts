import { createAddressRules } from '../../outbound/address.js';
import { identityOf, type ClientCertificate } from '../../outbound/client-certificate.js';
import { createConnect, type NotConnected } from '../../outbound/connect.js';
import type { EgressProxySettings } from '../../outbound/egress-proxy.js';
import { openConnection, type AnswerLimits, type Connection } from '../../outbound/connection.js';
import { RequestFailure } from '../../outbound/failure.js';
import { withinDeadline, type Progress, type Timing, type NoResponse } from '../../outbound/progress.js';
import type { FinalResponse, SinkBlocked } from '../../outbound/safe-request.js';
import { parseSink, type ParsedSink, type Sink, type SinkPort } from '../../outbound/sink.js';
import { textIn } from '../../base/texts/text.js';

/** Named like the settings of the registry (`ASSENT_ALLOWED_NETWORKS` is `allowedNetworks`), with the same defaults. */
export interface GuardSettings {
  /** CIDR. Networks that may be reached although they are not public. Empty if absent. */
  allowedNetworks?: readonly string[] | undefined;
  /** CIDR. Networks that are never reached; wins over what is allowed. Empty if absent. */
  deniedNetworks?: readonly string[] | undefined;
  /** Ports that a URL may have: 443 and 8443 if absent. */
  sinkPorts?: readonly SinkPort[] | undefined;
  /** PEM of a certificate authority that is trusted in addition to the default ones. */
  sinkCa?: string | undefined;
  /** Name servers as `address` or `address:port`; the servers of the system if absent or empty. */
  dnsServers?: readonly string[] | undefined;
  /** The proxy that is the only way out of this network. It is asked for addresses that were checked, never for names. */
  proxy?: EgressProxySettings | undefined;
  /** Milliseconds for one request, from the DNS look-up to the end of the response: 10,000 if absent. */
  deadlineMs?: number | undefined;
  /** Milliseconds that an idle connection is kept: 4,000 if absent. 0 opens a connection for each request. */
  keepAliveMs?: number | undefined;
  /** `User-Agent` of requests without one. */
  userAgent?: string | undefined;
}

export type { ClientCertificate, EgressProxySettings };

export interface GuardedRequest {
  /** An https URL in canonical form, as Assent accepts it for a sink. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  /** Returns the body of the response, if it has no more bytes than this. Absent: it is dropped. */
  maxReadBytes?: number | undefined;
  /** Shown in TLS if the target asks for one. A kept connection is used again for the same certificate only. */
  clientCertificate?: ClientCertificate | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * `answered`: the status and the raw headers of the final response, including redirects. `unanswered`: no response;
 * `code` is stable, `detail` is a sentence, and `evidence` is the code of other software behind it. `sent`
 * is true if a byte of the request may have reached the target. `blocked`: the URL, or an address of its host, is not
 * allowed; nothing was dialled. Times are in milliseconds.
 */
export type GuardedReply = (FinalResponse | (NoResponse & { sent: boolean }) | SinkBlocked | Blocked) & {
  timing: Timing;
};

/**
 * Sends POST requests to URLs that other people registered, and only to public addresses. For every connection it
 * resolves the name itself, refuses the name as a whole if one of its addresses is not allowed, connects to an address
 * that it checked, and checks TLS (1.2 or later) against the name. It follows no redirects, and uses no proxy but the
 * one of its settings. One
 * deadline covers everything. Headers are limited to 8 KiB, and at most 64 KiB of a body is read and dropped.
 *
 * A kept connection stays with the address that was checked. It is closed after `keepAliveMs` without a request, and
 * after a minute in any case, so that DNS changes take effect. If a kept connection turns out to be closed before
 * anything was sent, the request uses a new one. Otherwise no request is repeated.
 */
export interface GuardedClient {
  /**
   * Returns every outcome of the target as a value. Rejects only for headers that cannot be sent, with undici's error.
   * The signal ends the request as `unanswered`, with the code `aborted`.
   */
  post(request: GuardedRequest): Promise<GuardedReply>;
  /** Closes the kept connections. Requests in progress continue to their end. */
  close(): void;
}

type Blocked = Extract<NotConnected, { kind: 'blocked' }>;

interface Kept {
  connection: Connection;
  remoteAddress: string;
  /** By the monotonic clock. */
  openedAt: number;
}

const maxAgeMs = 60_000;
const maxParsed = 1_000;
const limits = { maxHeaderBytes: 8192, maxInformational: 8, maxBodyBytes: 65_536 };

/** Throws for invalid networks, authorities and proxies, and for a proxy without a way around it to what is allowed. */
export function createGuardedClient(settings: GuardSettings = {}): GuardedClient {
  const {
    allowedNetworks = [],
    deniedNetworks = [],
    sinkPorts: ports = [443, 8443],
    sinkCa: ca,
    dnsServers = [],
    proxy,
    deadlineMs = 10_000,
    keepAliveMs = 4_000,
    userAgent = 'Assent-sender',
  } = settings;
  const addresses = createAddressRules({ allowedNetworks, deniedNetworks });
  const sinkRules = { addresses, ports, ownAuthorities: [] };
  const connect = createConnect(addresses, { allowedNetworks, deniedNetworks, dnsServers, ca, proxy, deadlineMs });
  const answerLimits: AnswerLimits = { ...limits, keepAliveMs };
  /** Idle connections by host, port and client certificate, the most recently used one last. */
  const idle = new Map<string, Kept[]>();
  const parsedSinks = new Map<string, ParsedSink>();
  let isClosed = false;

  /** A cache: parsing a URL costs as much as all other work for a request. */
  function parse(url: string): ParsedSink {
    const known = parsedSinks.get(url);
    if (known !== undefined) return known;
    if (parsedSinks.size >= maxParsed) parsedSinks.clear();
    const parsed = parseSink(url, sinkRules);
    parsedSinks.set(url, parsed);
    return parsed;
  }

  function takeIdle(place: string): Kept | undefined {
    const all = idle.get(place);
    for (let kept = all?.pop(); kept !== undefined; kept = all?.pop()) {
      if (kept.connection.isOpen() && performance.now() - kept.openedAt < maxAgeMs) return kept;
      kept.connection.close();
    }
    return undefined;
  }

  function keep(place: string, kept: Kept): void {
    const all = idle.get(place);
    if (all === undefined) idle.set(place, [kept]);
    else all.push(kept);
  }

  function leave(place: string, kept: Kept): void {
    const all = idle.get(place) ?? [];
    const index = all.indexOf(kept);
    if (index >= 0) all.splice(index, 1);
    if (all.length === 0) idle.delete(place);
  }

  async function open(
    sink: Sink,
    place: string,
    clientCertificate: ClientCertificate | undefined,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<Kept | Blocked> {
    const connected = await connect(sink, progress, signal, { clientCertificate });
    // Only a network budget holds a request back, and this client has none.
    if ('kind' in connected) return connected as Blocked;
    const { socket, remoteAddress } = connected;
    const connection = openConnection(socket, new URL(sink.uri).origin, answerLimits);
    const kept = { connection, remoteAddress, openedAt: performance.now() };
    socket.once('close', () => leave(place, kept));
    return kept;
  }

  return {
    async post({ url, headers, body, maxReadBytes, clientCertificate, signal: caller }) {
      let sent = false;
      const reply = await withinDeadline(deadlineMs, caller, async (progress, signal) => {
        const parsed = parse(url);
        if (!parsed.ok)
          return { kind: 'blocked', code: 'sink_not_allowed', detail: textIn(parsed.detail, 'en') } as const;
        const shown = clientCertificate === undefined ? '' : identityOf(clientCertificate);
        const place = `${parsed.sink.host}:${parsed.sink.port} ${shown}`;
        const request = {
          url,
          method: 'POST',
          headers: withUserAgent(headers, userAgent),
          body,
          ...(maxReadBytes !== undefined && { maxReadBytes }),
        } as const;
        for (;;) {
          const found = takeIdle(place);
          const kept = found ?? (await open(parsed.sink, place, clientCertificate, progress, signal));
          if ('kind' in kept) return kept;
          const { connection, remoteAddress } = kept;
          progress.remoteAddress = remoteAddress;
          try {
            const answer = await progress.during('responseMs', connection.exchange(request, signal));
            progress.isConnectionKept = connection.isOpen() && !isClosed;
            if (progress.isConnectionKept) keep(place, kept);
            else connection.close();
            return { kind: 'answered', ...answer, remoteAddress } as const;
          } catch (error) {
            sent = !connection.isUnsent();
            const isStale = found !== undefined && error instanceof RequestFailure && !sent;
            if (!isStale || signal.aborted) throw error;
          }
        }
      });
      return reply.kind === 'unanswered' ? { ...reply, sent } : reply;
    },
    close() {
      isClosed = true;
      for (const kept of [...idle.values()].flat()) kept.connection.close();
      idle.clear();
    },
  };
}

function withUserAgent(headers: GuardedRequest['headers'], userAgent: string): GuardedRequest['headers'] {
  const isThere = Object.keys(headers).some((name) => name.length === 10 && name.toLowerCase() === 'user-agent');
  return isThere ? headers : { 'User-Agent': userAgent, ...headers };
}
