/**
 * The spans of Assent, and what they say, through the API of OpenTelemetry alone: it does nothing unless the process also
 * runs an SDK. No span has a secret, the data of an event, or the path or query of a sink, which may be a secret too.
 *
 *   GET /v1/grants   server    a request to the registry, named by its method and the template of its path
 *   register         internal  a subscription until it is committed
 *   handshake        client    one OPTIONS request to a webhook
 *   settle           internal  the response to it, until it is committed
 *   match            internal  the webhooks that get an event, or the events of a batch
 *   deliver          producer  an event, for one webhook: waits, attempts and their end
 *   POST             client    one request of a delivery
 */
import {
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { IncomingMessage } from 'node:http';
import { isTraceparent } from './formats/trace-context.js';

const kinds = {
  register: SpanKind.INTERNAL,
  handshake: SpanKind.CLIENT,
  settle: SpanKind.INTERNAL,
  match: SpanKind.INTERNAL,
  deliver: SpanKind.PRODUCER,
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
  attributes?: SpanAttributes;
  /** The active span if absent; a W3C traceparent; undefined for the first span of a trace. */
  parent?: TraceSpan | string | undefined;
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

  start(name: keyof typeof kinds, options: SpanOptions & { links?: readonly string[] } = {}): TraceSpan {
    const { attributes = {}, parent, links = [] } = options;
    const above = 'parent' in options ? contextOf(parent) : context.active();
    const linked = links.flatMap((text) => linkTo(text) ?? []);
    const settings = { kind: kinds[name], attributes: attributesOf(attributes), links: linked };
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

  /** What it starts has this span as its parent, and its log lines have the ids. */
  run<Result>(work: () => Result): Result {
    return context.with(this.context, work);
  }

  /** For a request that has this span: an SDK that traces the HTTP client adds no second one, and no second traceparent. */
  send<Result>(work: () => Result): Result {
    return context.with(silence, work);
  }

  /** With an error, it failed. `at`: milliseconds since 1970. */
  end({
    error,
    at,
    ...attributes
  }: SpanAttributes & { error?: string | undefined; at?: number | undefined } = {}): void {
    if (!this.#isOwn) return;
    this.set({ ...attributes, error });
    if (error !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end(at);
  }
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
  const link = linkTo(parent);
  return link ? trace.setSpanContext(ROOT_CONTEXT, link.context) : ROOT_CONTEXT;
}

function linkTo(traceparent: string | undefined): Link | undefined {
  if (traceparent === undefined || !isTraceparent(traceparent)) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } };
}
