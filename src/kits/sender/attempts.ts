import { RegistryError } from '../../base/errors.js';
import { placeOf, traced, type TraceSpan, type Tracing } from '../../base/tracing.js';
import { failuresOfProxy } from '../../outbound/failure.js';
import type { GuardedClient, GuardedReply } from '../guard/index.js';
import { withholdingOf, type DeliveryMessage, type MatchedSink } from './delivery.js';
import type { Permit } from './leases.js';
import type { OutcomeReport } from './outcomes.js';
import type { Signing } from './signing.js';

export interface AttemptSettings {
  guarded: GuardedClient;
  signing: Signing;
  report: (outcome: OutcomeReport) => void;
  /** Called whenever a delivery to a sink is withheld. */
  onWithheld: (origin: string, sink: string, error: Error) => void;
  /** Milliseconds since 1970, by the registry's clock. */
  now: () => number;
  /** Undefined if nothing is traced. */
  tracing: Tracing | undefined;
}

/** One request to a webhook, in the making. */
export interface Attempt {
  /** In lower case. */
  origin: string;
  to: MatchedSink;
  /** The request with the headers and the credential of `to`. */
  message: DeliveryMessage;
  /** `webhook-id`, if it is needed. */
  messageId: () => string;
  maxReadBytes?: number | undefined;
}

/** Nothing was sent: a key to sign with is missing, and may come. */
export interface Withheld {
  kind: 'withheld';
  detail: string;
  retryAfterSeconds: number;
}

const maxBehind = 10_000;

/** What `deliver` and `forward` do for each request. */
export class Attempts {
  readonly #settings: AttemptSettings;
  /** Pairs whose webhook refused the present credential, with the end of the overlap. */
  readonly #behind = new Map<string, string>();

  constructor(settings: AttemptSettings) {
    this.#settings = settings;
  }

  /** Why nothing may be sent, reported to the host; undefined if something may. */
  withheldBy(origin: string, to: MatchedSink): string | undefined {
    const fault = withholdingOf(to);
    if (fault !== undefined) this.withhold(origin, to.sink, fault);
    return fault;
  }

  withhold(origin: string, sink: string, why: string): void {
    this.#settings.onWithheld(origin, sink, new Error(`Nothing was delivered. ${why}`));
  }

  /** The sink with the credential that its webhook accepts: the previous one, if it did not know the present one yet. */
  withCredential(origin: string, to: MatchedSink): MatchedSink {
    const { previouscredential: previous } = to;
    if (previous === undefined || this.#behind.get(`${origin} ${to.sink}`) !== previous.until) return to;
    return this.#isOver(previous.until) ? to : { ...to, sinkcredential: previous.sinkcredential };
  }

  /**
   * Signs and sends a request, and reports the response. Gives the permit back if nothing was sent. Rejects with the reason
   * of the signal, and for headers that cannot be sent.
   */
  async send(attempt: Attempt, permit: Permit, signal: AbortSignal): Promise<GuardedReply | Withheld> {
    const { tracing } = this.#settings;
    const attributes = { method: 'POST', ...placeOf(attempt.to.sink) };
    const sent = tracing
      ? traced(tracing, 'POST', { attributes }, (span) => this.#send(attempt, permit, signal, span))
      : this.#send(attempt, permit, signal);
    return sent.catch((error: unknown): Withheld => {
      if (!(error instanceof RegistryError) || error.code !== 'secret_unavailable') throw error;
      return { kind: 'withheld', detail: error.message, retryAfterSeconds: error.retryAfterSeconds ?? 1 };
    });
  }

  async #send(
    { origin, to, message, messageId, maxReadBytes }: Attempt,
    permit: Permit,
    signal: AbortSignal,
    span?: TraceSpan,
  ): Promise<GuardedReply> {
    const { guarded, signing, report } = this.#settings;
    let reply: GuardedReply | undefined;
    try {
      const headers = span ? span.addTo(message.headers) : message.headers;
      const delivery = await signing.sign({ ...message, headers }, messageId, origin, to);
      signal.throwIfAborted();
      const post = () => guarded.post({ ...delivery, maxReadBytes, signal });
      reply = await (span ? span.send(post) : post());
      span?.answered(reply);
    } finally {
      if (reply === undefined || isUntried(reply)) permit.giveBack();
    }
    // A response that arrived counts, even if the caller left while its body was read.
    if (reply.kind !== 'answered') signal.throwIfAborted();
    if (reply.kind === 'blocked' || isOwnFault(reply)) this.withhold(origin, to.sink, reply.detail);
    if (isOwnFault(reply)) return reply;
    const statusCode = reply.kind === 'answered' ? reply.status : undefined;
    report({ origin, sink: to.sink, statusCode, retryAfter: retryAfterOf(reply) });
    return reply;
  }

  /**
   * After a 401 to the credential in `using`: whether there is another one, since credentials overlap. The next request is
   * sent with it.
   */
  switchCredential(origin: string, to: MatchedSink, using: MatchedSink): boolean {
    const pair = `${origin} ${to.sink}`;
    const { previouscredential: previous } = to;
    if (using !== to || previous === undefined || this.#isOver(previous.until)) this.#behind.delete(pair);
    else {
      if (this.#behind.size >= maxBehind) this.#behind.clear();
      this.#behind.set(pair, previous.until);
    }
    return previous !== undefined && !this.#isOver(previous.until);
  }

  #isOver(until: string): boolean {
    return Date.parse(until) <= this.#settings.now();
  }
}

/** The sender's own proxy failed, or does not let it reach the webhook, which got nothing. */
export function isOwnFault(reply: GuardedReply): reply is GuardedReply & { kind: 'unanswered' } {
  return reply.kind === 'unanswered' && (failuresOfProxy.has(reply.code) || reply.code === 'proxy_refused');
}

/** The webhook had no part in it. */
function isUntried(reply: GuardedReply): boolean {
  if (reply.kind !== 'unanswered') return reply.kind === 'blocked';
  return (reply.code === 'aborted' && !reply.sent) || isOwnFault(reply);
}

/** The first of several header lines counts. */
function retryAfterOf(reply: GuardedReply): string | undefined {
  if (reply.kind !== 'answered') return undefined;
  return reply.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
}
