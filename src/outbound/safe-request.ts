/**
 * Every request of the registry to a registered URL passes these steps: the sink as text (sink.ts), its name and the
 * addresses of the name (look-up.ts, address.ts), TCP and TLS to one of them, through a proxy or not (dial.ts,
 * egress-proxy.ts; all of these in connect.ts), one
 * request (connection.ts): OPTIONS, or GET for public keys. The result is a Reply. Deliveries pass the same steps, through
 * kits/guard.
 */
import { createAddressRules } from './address.js';
import { createConnect, type ConnectOptions, type ConnectSettings, type NotConnected } from './connect.js';
import { openConnection, type AnswerHead, type AnswerLimits, type WireRequest } from './connection.js';
import { withinDeadline, type Timing, type NoResponse } from './progress.js';
import { parseSink, type SinkPort } from './sink.js';
import { textIn } from '../base/texts/text.js';

/** A response. `headers` are those of the final one: raw, in order, with duplicates. */
export interface FinalResponse extends AnswerHead {
  kind: 'answered';
  remoteAddress: string;
}

export interface SinkBlocked {
  kind: 'blocked';
  code: 'sink_not_allowed';
  detail: string;
}

export type RequestResult = (FinalResponse | NoResponse | SinkBlocked | NotConnected) & { timing: Timing };

export interface OutboundRequest extends WireRequest, ConnectOptions {
  method: 'OPTIONS' | 'GET';
  signal?: AbortSignal;
}

export type SafeRequest = (request: OutboundRequest) => Promise<RequestResult>;

export interface SafeRequestSettings
  extends ConnectSettings, Pick<AnswerLimits, 'maxHeaderBytes' | 'maxInformational'> {
  ports: readonly SinkPort[];
  /** Host and port of the registry itself, as `authorityOf` writes them. */
  ownAuthorities: readonly string[];
  userAgent: string;
}

export const safeRequestDefaults = {
  allowedNetworks: [],
  deniedNetworks: [],
  ports: [443, 8443],
  ownAuthorities: [],
  dnsServers: [],
  ca: undefined,
  proxy: undefined,
  deadlineMs: 10_000,
  maxHeaderBytes: 8192,
  maxInformational: 8,
} as const satisfies Omit<SafeRequestSettings, 'userAgent'>;

/**
 * The guarded client of the registry: connections by connect.ts, no redirects, and no second request on a connection.
 *
 * Returns every outcome of a target as a value. Rejects only if the caller's headers cannot be sent or `admit` rejects.
 * Creating it throws for invalid networks or an invalid certificate authority.
 */
export function createSafeRequest(settings: SafeRequestSettings): SafeRequest {
  const { ports, ownAuthorities, deadlineMs, userAgent } = settings;
  const addresses = createAddressRules(settings);
  const sinkRules = { addresses, ports, ownAuthorities };
  const connect = createConnect(addresses, settings);
  const limits: AnswerLimits = { ...settings, keepAliveMs: 0, maxBodyBytes: 0 };

  return ({ url, method, headers, maxReadBytes, signal: caller, ...options }) =>
    withinDeadline(
      deadlineMs,
      caller,
      async (progress, signal): Promise<FinalResponse | SinkBlocked | NotConnected> => {
        const parsed = parseSink(url, sinkRules);
        if (!parsed.ok) return { kind: 'blocked', code: 'sink_not_allowed', detail: textIn(parsed.detail, 'en') };
        const connected = await connect(parsed.sink, progress, signal, options);
        if ('kind' in connected) return connected;
        const { socket, remoteAddress } = connected;
        const connection = openConnection(socket, new URL(url).origin, limits);
        const request = {
          url,
          method,
          headers: { 'User-Agent': userAgent, ...headers },
          ...(maxReadBytes !== undefined && { maxReadBytes }),
        };
        const answer = await progress.during('responseMs', connection.exchange(request, signal));
        return { kind: 'answered', ...answer, remoteAddress };
      },
    );
}
