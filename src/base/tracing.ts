/**
 * The spans of Assent, and what they say, through the API of OpenTelemetry alone: it does nothing unless the process also
 * runs an SDK. No span has a secret, the data of an event, or the path or query of a sink, which may be a secret too.
 *
 *   GET /v1/grants   server    a request to the registry or the egress, named by its method and the template of its path
 *   register         internal  a subscription until it is committed
 *   handshake        client    one OPTIONS request to a webhook
 *   settle           internal  the response to it, until it is committed
 *   match            internal  the webhooks that get an event, or the events of a batch
 *   deliver          internal  an event or another request, for one webhook: waits, attempts and their end
 *   POST             client    one request of a delivery
 */
import {
  context,
  createContextKey,
  createTraceState,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { IncomingMessage } from 'node:http';
import { RegistryError } from './errors.js';
import { isTraceparent } from './formats/trace-context.js';

const kinds = {
  register: SpanKind.INTERNAL,
  handshake: SpanKind.CLIENT,
  settle: SpanKind.INTERNAL,
  match: SpanKind.INTERNAL,
  deliver: SpanKind.INTERNAL,
  POST: SpanKind.CLIENT,
};

/** With the names of the semantic conventions where they have one. */
const attributeNames = {
  operation: 'assent.operation',
  problem: 'assent.problem',
  origin: 'assent.origin',
  subscription: 'assent.subscription',
  handshake: 'assent.handshake',
  trigger: 'assent.trigger',
  attempt: 'assent.attempt',
  verdict: 'assent.verdict',
  state: 'assent.state',
  events: 'messaging.batch.message_count',
  sinks: 'assent.match.sinks',
  steps: 'assent.match.steps',
  outcome: 'assent.outcome',
  attempts: 'assent.attempts',
  eventId: 'cloudevents.event_id',
  eventSource: 'cloudevents.event_source',
  eventType: 'cloudevents.event_type',
  method: 'http.request.method',
  scheme: 'url.scheme',
  route: 'http.route',
  status: 'http.response.status_code',
  host: 'server.address',
  port: 'server.port',
  error: 'error.type',
} as const;

export type SpanAttributes = Partial<Record<keyof typeof attributeNames, string | number | undefined>>;

interface SpanOptions {
  attributes?: SpanAttributes | undefined;
  /** The active span if absent; a W3C traceparent; undefined for the first span of a trace. */
  parent?: TraceSpan | string | undefined;
  /** Has the context in which it was made: the parent if no span is active, and else a link. */
  event?: Traceable | undefined;
}

/** An event in the JSON format, or its attributes (CloudEvents, extension "Distributed Tracing"). */
interface Traceable {
  traceparent?: unknown;
  tracestate?: unknown;
}

/** Undefined unless an SDK was started before: then there is nothing to do, and to pay for. */
export function openTracing(name: string, version?: string): Tracing | undefined {
  const provider: TracerProvider & { getDelegateTracer?: (name: string, version?: string) => Tracer | undefined } =
    trace.getTracerProvider();
  // The one of the API stands in for the one of an SDK, also for one that starts later.
  const tracer = provider.getDelegateTracer
    ? provider.getDelegateTracer(name, version)
    : provider.getTracer(name, version);
  return tracer && new Tracing(tracer);
}

/** Does the work within a span of this name, if anything is traced. */
export function traced<Result>(
  tracing: Tracing | undefined,
  name: keyof typeof kinds,
  options: SpanOptions,
  work: (span: TraceSpan | undefined) => Result,
): Result {
  if (tracing === undefined) return work(undefined);
  const span = tracing.start(name, options);
  const fail = (error: unknown): never => {
    span.fail(errorOf(error));
    span.end();
    throw error;
  };
  let result: Result;
  try {
    result = span.run(() => work(span));
  } catch (error) {
    return fail(error);
  }
  if (result instanceof Promise) {
    return result.then((value: unknown) => {
      span.end();
      return value;
    }, fail) as Result;
  }
  span.end();
  return result;
}

export class Tracing {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /**
   * The span of a request that has just arrived, in the trace of its caller. If the SDK also traces HTTP itself, its span
   * is named, and there is no second one.
   */
  request({ method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>): TraceSpan {
    const present = trace.getActiveSpan();
    if (present) return new TraceSpan(present, context.active(), { isOwn: false });
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    const attributes = attributesOf({ method: methods.has(method) ? method : '_OTHER', scheme: 'http' });
    const span = this.#tracer.startSpan(nameOf(method), { kind: SpanKind.SERVER, attributes }, parent);
    return new TraceSpan(span, trace.setSpan(parent, span), { isOwn: true });
  }

  start(name: keyof typeof kinds, options: SpanOptions = {}): TraceSpan {
    const { attributes = {}, parent, event = {} } = options;
    let above = 'parent' in options ? contextOf(parent) : context.active();
    const made = remote(event);
    const isLinked = trace.getSpan(above) !== undefined;
    if (made && !isLinked) above = trace.setSpanContext(above, made);
    const links = made && isLinked ? [{ context: made }] : [];
    const settings = { kind: kinds[name], attributes: attributesOf(attributes), links };
    const span = this.#tracer.startSpan(name, settings, above);
    return new TraceSpan(span, trace.setSpan(above, span), { isOwn: true });
  }
}

/** A span, with the context in which it is the active one. */
export class TraceSpan {
  readonly #span: Span;
  readonly #isOwn: boolean;

  constructor(
    span: Span,
    readonly context: Context,
    { isOwn }: { isOwn: boolean },
  ) {
    this.#span = span;
    this.#isOwn = isOwn;
  }

  get traceid(): string {
    return this.#span.spanContext().traceId;
  }

  get spanid(): string {
    return this.#span.spanContext().spanId;
  }

  /** The headers of a request that this span is for, in place of those that it has. */
  addTo(headers: Readonly<Record<string, string>>): Record<string, string> {
    const others = Object.entries(headers).filter(([name]) => !/^trace(?:parent|state)$/i.test(name));
    const { traceparent, tracestate } = this;
    return { ...Object.fromEntries(others), traceparent, ...(tracestate !== undefined && { tracestate }) };
  }

  /** W3C Trace Context, whatever the propagators of the SDK write. */
  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  get tracestate(): string | undefined {
    return this.#span.spanContext().traceState?.serialize() || undefined;
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributesOf(attributes));
  }

  /** The response to a request of this span, or why there is none. */
  answered(reply: { kind: string; status?: number; code?: string }): void {
    const { kind, status, code } = reply;
    this.set({ status });
    if (kind !== 'answered' || (status ?? 0) >= 400) this.fail(code ?? String(status ?? kind));
  }

  /** The operation of a request. */
  found(
    { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
    { id, path }: { id: string; path: string },
  ): void {
    this.#span.updateName(`${nameOf(method)} ${path}`);
    this.set({ route: path, operation: id });
    if (this.#isOwn) return;
    // The query may have the key of a callback, and the path of a gateway's request has that of a sink.
    this.#span.setAttribute('url.path', path);
    if (url.includes('?')) this.#span.setAttribute('url.query', '[hidden]');
  }

  /** As the semantic conventions say: a response below 500 is no error of the server. A client that left (499) got none. */
  endRequest(status: number, code: string | undefined): void {
    if (status === 499) this.fail('client_disconnected');
    else this.set({ status });
    if (status >= 500) this.fail(code ?? String(status));
    this.end();
  }

  /** What it starts has this span as its parent, and its log lines have the ids. */
  run<Result>(work: () => Result): Result {
    return context.with(this.context, work);
  }

  /** For a request that has this span: an SDK that traces the HTTP client adds no second one, and no second traceparent. */
  send<Result>(work: () => Result): Result {
    return context.with(silence, work);
  }

  fail(error: string): void {
    this.set({ error });
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  /** @param at by the monotonic clock; now, if absent */
  end(at?: number): void {
    if (this.#isOwn) this.#span.end(at);
  }
}

/** What an error is called in a span. */
export function errorOf(error: unknown): string {
  return error instanceof RegistryError ? error.code : error instanceof Error ? error.name : 'error';
}

/** Of a sink: its path and query may be secrets. */
export function placeOf(sink: string): SpanAttributes {
  if (!URL.canParse(sink)) return {};
  const { hostname, port } = new URL(sink);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

/** The ids of the active span, for a log line. */
export function activeIds(): { traceid?: string; spanid?: string } {
  const active = trace.getActiveSpan()?.spanContext();
  return active ? { traceid: active.traceId, spanid: active.spanId } : {};
}

/** The key of the SDKs, which they look up by its name. */
const isSuppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
const silence = ROOT_CONTEXT.setValue(isSuppressed, true);

const methods: ReadonlySet<string> = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '));

/** A method that nobody knows could be anything, and names have few values. */
const nameOf = (method = '') => (methods.has(method) ? method : 'HTTP');

function attributesOf(given: SpanAttributes): Attributes {
  const attributes: Attributes = {};
  for (const name of Object.keys(given) as Array<keyof SpanAttributes>) {
    if (given[name] !== undefined) attributes[attributeNames[name]] = given[name];
  }
  return attributes;
}

function contextOf(parent: TraceSpan | string | undefined): Context {
  if (parent instanceof TraceSpan) return parent.context;
  const above = remote({ traceparent: parent });
  return above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
}

function remote({ traceparent, tracestate }: Traceable): SpanContext | undefined {
  if (typeof traceparent !== 'string' || !isTraceparent(traceparent)) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(typeof tracestate === 'string' && { traceState: createTraceState(tracestate) }),
  };
}
