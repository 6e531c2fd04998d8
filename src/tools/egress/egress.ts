import { validateHeaderName, validateHeaderValue, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RegistryError, type FaultRule } from '../../base/errors.js';
import { uuidv7 } from '../../base/files/ids.js';
import type { Tracing } from '../../base/tracing.js';
import { acceptHeaders, problemHeaders, problemOf } from '../../base/problem.js';
import { kindOf } from '../../consent/outcome.js';
import { AssentError, type ForwardResult, type Sender } from '../../kits/sender/index.js';
import { becomesEvent, eventMediaTypes } from './as-event.js';
import type { Caller, Callers } from './callers.js';
import type { EgressMetrics } from './metrics.js';
import type { Places } from './places.js';
import { invalid, readHeaders, readSink } from './read-request.js';

/** One request, for the log. */
export interface Handled {
  /** Of a problem, which has it too. */
  requestid?: string;
  caller?: string;
  origin?: string;
  sinkhost?: string;
  /** The kind of the webhook's response, or the code of the problem. */
  outcome: string;
  status: number;
  ms: number;
}

export interface EgressSettings {
  callers: Pick<Callers, 'identify'>;
  permission: Sender['permission'];
  forward: Sender['forward'];
  /** Whether the last request for a token for the registry succeeded. */
  hasToken: () => boolean;
  /** Bytes of a request. */
  maxBodyBytes: number;
  places: Places;
  metrics: Pick<EgressMetrics, 'request' | 'denied'>;
  onHandled: (handled: Handled) => void;
  /** Called for what went wrong on this side. */
  onFault: (error: unknown) => void;
  /** When it fires, every response closes its connection. */
  stopping: AbortSignal;
  tracing?: Tracing | undefined;
}

type Answered = Extract<ForwardResult, { kind: 'answered' }>;

/** While the registry is away, and after a fault that another attempt may not have. */
const pauseSeconds = 5;
/** Someone has to change something, such as the scopes of this process. */
const withheldSeconds = 60;
const maxSinks = 1_000;

/**
 * Takes deliveries from senders that cannot be changed, and sends each once, through the sender's kit: a POST to
 * `/https/HOST/path` becomes a POST to `https://HOST/path`, if the caller is known, its origin has consent, and the rate
 * has room. The response of the webhook passes, with `Assent-Outcome`. Every other response is a problem (RFC 9457) of this
 * process, without that header. There is no queue and no retry: those are the sender's.
 */
export class Egress {
  readonly #settings: EgressSettings;
  readonly #sinks = new Map<string, { sink: string; host: string }>();

  constructor(settings: EgressSettings) {
    this.#settings = settings;
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    void this.#handle(request, response);
  };

  /** The event `connect` of a server, whose socket has no response. */
  readonly refuseConnect = (_request: IncomingMessage, socket: Duplex): void => {
    const error = new RegistryError('method_not_allowed', `${onlyPost} This is no proxy for clients.`);
    const { status, headers, body } = answerOf(error, uuidv7());
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.on('error', () => undefined);
    socket.end(`HTTP/1.1 ${status} Method Not Allowed\r\n${lines.join('')}\r\n${body}`);
    this.#settings.metrics.request(error.code, 0);
  };

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics, onHandled, stopping, tracing } = this.#settings;
    const span = tracing?.request(request);
    span?.found(request, forwarding);
    const startedAt = performance.now();
    const left = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) left.abort(callerLeft);
    });
    const handled: Handled = { outcome: '', status: 0, ms: 0 };
    try {
      const deliver = () => this.#deliver(request, handled, left.signal);
      const answer = await (span ? span.run(deliver) : deliver());
      if (stopping.aborted) response.setHeader('Connection', 'close');
      Object.assign(handled, { outcome: kindOf(answer.status), status: passOn(response, answer) });
    } catch (thrown) {
      if (left.signal.aborted) Object.assign(handled, { outcome: 'caller_left', status: 499 });
      else this.#refuse(response, thrown, handled);
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    metrics.request(handled.outcome, seconds);
    const log = () => onHandled({ ...handled, ms: Math.round(seconds * 1_000) });
    if (span === undefined) return log();
    span.run(log);
    span.endRequest(handled.status, handled.outcome);
  }

  async #deliver(request: IncomingMessage, handled: Handled, signal: AbortSignal): Promise<Answered> {
    const { callers, permission, forward, places, maxBodyBytes } = this.#settings;
    if (request.method !== 'POST') throw new RegistryError('method_not_allowed', onlyPost);
    const headers = readHeaders(request.rawHeaders, request.httpVersion);
    const caller = await callers.identify({ ...headers, remoteAddress: request.socket.remoteAddress });
    handled.caller = caller.name;
    const { sink, host } = this.#sinkOf(request.url ?? '', headers.originalUrl);
    handled.sinkhost = host;
    const origin = this.#originOf(caller, headers.origin);
    handled.origin = origin;
    const { allowed, denial, message = '' } = permission(origin, sink);
    // Without consent, a request takes no place. A hold ends by the registry's clock, which `forward` knows.
    if (!allowed && denial !== 'held') throw this.#denial('not_permitted', denial as FaultRule, message);
    const passed = headers.passed(caller.headers);
    const eventOf = becomesEvent(passed, caller.event, headers.of);
    const leave = places.take(caller.name, origin, sink);
    try {
      const body = await readBody(request, maxBodyBytes, signal);
      const result = await forward({ origin, sink, headers: { ...passed, ...eventOf?.(body) }, body, signal });
      if (result.kind === 'answered') return result;
      throw this.#problemOf(result);
    } finally {
      leave();
    }
  }

  /** A cache: parsing URLs costs as much as finding a grant. */
  #sinkOf(target: string, originalUrl: string | undefined): { sink: string; host: string } {
    const key = originalUrl === undefined ? target : `${target} ${originalUrl}`;
    const known = this.#sinks.get(key);
    if (known !== undefined) return known;
    const sink = readSink(target, originalUrl);
    const read = { sink, host: new URL(sink).host };
    if (this.#sinks.size >= maxSinks) this.#sinks.clear();
    this.#sinks.set(key, read);
    return read;
  }

  /** Why there is no response of the webhook. */
  #problemOf(result: Exclude<ForwardResult, Answered>): RegistryError {
    switch (result.kind) {
      case 'denied': {
        const { denial, message, retryAfterSeconds: seconds } = result;
        return this.#denial(codeOf(denial), denial, message, { seconds });
      }
      case 'blocked':
        return this.#denial('not_permitted', result.code as FaultRule, result.detail);
      case 'withheld':
        return new RegistryError('secret_unavailable', result.detail, {
          retryAfterSeconds: result.retryAfterSeconds ?? withheldSeconds,
        });
      case 'unanswered': {
        const isLate = result.code === 'deadline_exceeded' || result.code === 'proxy_timeout';
        return new RegistryError(isLate ? 'no_response_in_time' : 'no_response', result.detail);
      }
    }
  }

  #denial(
    code: ReturnType<typeof codeOf>,
    denial: FaultRule,
    detail: string,
    { pointer = 'sink', seconds }: { pointer?: string; seconds?: number | undefined } = {},
  ): RegistryError {
    this.#settings.metrics.denied(denial);
    const wait = seconds === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(seconds)) };
    return new RegistryError(code, detail, { faults: [{ pointer, rule: denial, detail }], denial, ...wait });
  }

  /** The origin that the caller posts as: its only one, or the one that it names. */
  #originOf({ origins }: Caller, named: string | undefined): string {
    const pointer = 'header/webhook-request-origin';
    const only = origins.length === 1 ? origins[0] : undefined;
    const origin = named ?? only;
    if (origin === undefined) {
      throw invalid(pointer, 'origin_missing', 'The caller has several origins: name one.');
    }
    if (origins.includes(origin)) return origin;
    throw this.#denial('not_permitted', 'origin_mismatch', 'The caller may not post as this origin.', { pointer });
  }

  #refuse(response: ServerResponse, thrown: unknown, handled: Handled): void {
    const error = this.#errorOf(thrown);
    const requestid = uuidv7();
    const { status, headers, body } = answerOf(error, requestid);
    if (this.#settings.stopping.aborted) headers['Connection'] = 'close';
    Object.assign(handled, { requestid, outcome: error.code, status });
    if (!response.headersSent) response.writeHead(status, headers).end(body);
    else response.destroy();
  }

  #errorOf(thrown: unknown): RegistryError {
    if (thrown instanceof RegistryError) {
      // It cannot load, and waiting is not the cure.
      return thrown.code === 'index_loading' && !this.#settings.hasToken() ? withoutToken() : thrown;
    }
    const { code } = thrown as { code?: unknown };
    if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
      return invalid('header', 'value_not_allowed', 'A header cannot be sent on.');
    }
    const { onFault, stopping } = this.#settings;
    if (stopping.aborted) {
      return new RegistryError('stopping', 'This process stops.', { retryAfterSeconds: 1 });
    }
    onFault(thrown);
    if (code === 'token_unavailable') return withoutToken();
    if (thrown instanceof AssentError) {
      const detail = 'The registry is not reachable, or refuses this process, and nothing is left that may be sent.';
      return new RegistryError('registry_unavailable', detail, { retryAfterSeconds: pauseSeconds });
    }
    return new RegistryError('internal', 'Something went wrong in this process. The log has the details.');
  }
}

/** Why is for its operator, who has the log and `/readyz`. */
function withoutToken(): RegistryError {
  const detail = 'This process gets no token for the registry. Its log and /readyz say why. Nothing was sent.';
  return new RegistryError('token_unavailable', detail, { retryAfterSeconds: pauseSeconds });
}

/** A gateway can say only yes or 403. Senders take a 403 as final, and drop what would be delivered a moment later. */
function codeOf(denial: string): 'not_permitted' | 'rate_used_up' | 'sink_held' {
  if (denial === 'held') return 'sink_held';
  return denial === 'rate_used_up' ? denial : 'not_permitted';
}

/** The path has that of the sink, which may be a secret. */
const forwarding = { id: 'forward', path: '/https/:host' };
const onlyPost = 'This process passes on POST requests only.';
const callerLeft = new Error('The caller closed the connection.');

/** Rejects with RegistryError `body_too_large`, or when the signal fires. */
function readBody(request: IncomingMessage, limit: number, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // While its token was verified, the caller may have left: then no event comes any more.
    if (signal.aborted) return reject(signal.reason as Error);
    const parts: Buffer[] = [];
    let bytes = 0;
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    request.on('error', reject);
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      // Bytes over the limit are read and dropped, so that the caller receives the response.
      if (bytes <= limit) parts.push(part);
      else parts.length = 0;
    });
    request.on('end', () => {
      if (bytes <= limit) resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
      else reject(new RegistryError('body_too_large', `This process passes on at most ${limit} bytes.`));
    });
  });
}

const ownHeaders = {
  'Cache-Control': 'no-store',
  'Content-Type': 'application/problem+json',
  'X-Content-Type-Options': 'nosniff',
};

function answerOf(error: RegistryError, requestId: string) {
  const problem = problemOf(error, requestId);
  const body = JSON.stringify(problem);
  const headers: Record<string, string | string[]> = {
    ...ownHeaders,
    ...problemHeaders(error),
    ...acceptHeaders(error, { mediaTypes: eventMediaTypes, method: 'post' }),
    ...(error.code === 'method_not_allowed' ? { Allow: 'POST' } : {}),
    'X-Request-Id': requestId,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  // Some clients send a user name and a password only after this.
  if (error.code === 'unauthenticated') {
    headers['WWW-Authenticate'] = [String(headers['WWW-Authenticate']), 'Basic realm="assent", charset="UTF-8"'];
  }
  return { status: problem.status, headers, body };
}

/** Of the connection to the webhook (RFC 9110, section 7.6.1), or written anew. */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'content-length',
]);

/** Of the host that the caller asked, which is not the webhook: clients would leave this process, or keep to https here. */
const ofAnotherHost: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'nel',
  'report-to',
  'strict-transport-security',
]);

/**
 * The webhook's response as it came, but for what clients read wrongly; returns the status that the caller gets. Many take
 * a 3xx for success if they don't follow it, so it becomes a 502, and the webhook's status is in a header. Others follow
 * `Location` past this process, to any address. A body that was too long to keep is left out, with what describes it.
 */
function passOn(response: ServerResponse, { status, headers, body }: Answered): number {
  const named = headers.flatMap(([name, value]) => (name.toLowerCase() === 'connection' ? value.split(',') : []));
  const perConnection = new Set(named.map((name) => name.trim().toLowerCase()));
  const outcome = kindOf(status);
  const isRedirect = outcome === 'redirected';
  // RFC 9110, section 15.3: neither 204 nor 205 has content. Node knows that of a 204.
  const content = status === 205 ? undefined : body;
  const lines: string[] = [];
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (ofConnection.has(lower) || perConnection.has(lower) || lower.startsWith('assent-')) continue;
    if (ofAnotherHost.has(lower) || (lower === 'location' && isRedirect)) continue;
    if (content === undefined && lower.startsWith('content-')) continue;
    if (isWritable(name, value)) lines.push(name, value);
  }
  lines.push('Assent-Outcome', outcome);
  if (isRedirect) lines.push('Assent-Status-Code', String(status));
  if (status !== 204) lines.push('Content-Length', String(content?.length ?? 0));
  if (response.hasHeader('Connection')) lines.push('Connection', 'close');
  const passed = isRedirect ? 502 : status;
  response.writeHead(passed, lines).end(content);
  return passed;
}

/** The delivery was made: a header that Node does not write is no reason to report a failure. */
function isWritable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
