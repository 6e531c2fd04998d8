import { randomBytes } from 'node:crypto';
import { utf8Bytes } from '../../../base/formats/bytes.js';
import { judge, judgeOrigin, type Judgement } from '../../../consent/judgement.js';
import { presentFront } from '../../../consent/fronts.js';
import { advise, verdicts } from '../../../consent/verdicts.js';
import type { ConformanceProfile, ConsentSeen, Finding } from '../case.js';
import { signatureOf, type SigningKey } from '../signing-key.js';
import { hideQuery, hideSecrets } from '../hide-secrets.js';
import type { CallbackHost, Offer } from './callback-host.js';
import { exchange, requestTargetOf, type TargetExchange, type TargetRequest } from './wire.js';

export interface SessionSettings {
  sink: string;
  /** An origin that the receiver allows; undefined if nobody named one. */
  origin: string | undefined;
  /** Whether the receiver is to consent to the origin. */
  expect: 'consent' | 'refusal';
  /** Per minute, for WebHook-Request-Rate. */
  rate: number;
  profile: ConformanceProfile;
  /** Events may be posted. */
  deliver: boolean;
  /** More requests than `maxRequests` may be sent. */
  burst: boolean;
  token: string | undefined;
  /** Keys of the origin that are published. The first signs every request. */
  keys: readonly SigningKey[];
  /** One that no longer is. */
  revokedKey: SigningKey | undefined;
  ca: readonly string[] | undefined;
  /** For the response to a request, in milliseconds. */
  timeoutMs: number;
  /** For a call of the callback that an allowed origin offers. */
  callMs: number;
  /** How long the callback of a denied origin must stay silent, and how long the kit holds back its response to a call. */
  quietMs: number;
  signal: AbortSignal;
  callbacks: CallbackHost | undefined;
}

/** To one target, without bursts. */
const maxRequests = 80;

/** Of those, requests that are sent once more because a connection was closed. */
const maxRepeats = 5;

const timesAgain = 4;

/** The origin of requests if none is named. */
const anyOrigin = 'sender.example.com';

export type Headers = TargetRequest['headers'];

export interface Handshake {
  origin?: string;
  rate?: number | undefined;
  callback?: string;
  more?: Headers;
  /** Changes the name of each header. */
  named?: (name: string) => string;
  framing?: TargetRequest['framing'];
  url?: string;
  /** As for `send`. */
  again?: boolean;
}

/** How a handshake with a callback ended. */
export interface CallbackAttempt {
  exchange: TargetExchange;
  offer: Offer;
  isCalled: boolean;
}

type Conclude = (detail: string, ...evidence: TargetExchange[]) => Finding;

/** Every request to one target, and what the cases share. Throws an Error if cases would send too many requests. */
export class Session {
  readonly settings: SessionSettings;
  /** The allowed one, as far as known. */
  readonly origin: string;
  /** No receiver allows it by name. */
  readonly deniedOrigin = `denied-${randomBytes(4).toString('hex')}.attacker.test`;
  readonly passed = this.#conclude('passed');
  readonly failed = this.#conclude('failed');
  readonly notEvaluable = this.#conclude('not_evaluable');
  /** The allowed origin, with a rate. Asked once for all cases, as the next three are. */
  readonly consent = once(() => this.handshake());
  readonly denied = once(() => this.handshake({ origin: this.deniedOrigin }));
  /** The allowed origin, with a callback; undefined if no callback can be offered. */
  readonly byCallback = once(() => this.#offerCallback());
  /** Two different responses to the same question; undefined if none of a few differs from one that consents. */
  readonly twoAnswers = once(() => this.#askAgain());
  /** One event. */
  readonly delivery = once(() => this.post(withToken(structured, this.settings.token), JSON.stringify(newEvent())));
  /** One event in binary mode. */
  readonly binaryDelivery = once(() => {
    const { headers, body } = binary(newEvent());
    return this.post(withToken(headers, this.settings.token), body);
  });
  readonly #secrets: string[];
  #requests = 0;
  #repeats = 0;
  #losesConnections = false;
  #signedDelivery: Promise<TargetExchange> | undefined;
  #consent: ConsentSeen = 'not_asked';

  constructor(settings: SessionSettings) {
    this.settings = settings;
    this.origin = settings.origin ?? anyOrigin;
    this.#secrets = [settings.token ?? '', ...queryValues(settings.sink)];
  }

  get isOriginNamed(): boolean {
    return this.settings.origin !== undefined;
  }

  /** How many requests the target got. */
  requests(): number {
    return this.#requests;
  }

  /** Whether the origin has got consent so far. */
  seenConsent(): ConsentSeen {
    return this.#consent;
  }

  /**
   * A request whose connection is closed without a response is sent once more, unless `again` is false or it has a
   * signature of its own, which counts once.
   */
  async send(request: TargetRequest, { again = true } = {}): Promise<TargetExchange> {
    const first = await this.#exchange(request);
    if (!first.isDropped || !again || isSigned(request) || this.#repeats >= maxRepeats) return first;
    this.#repeats += 1;
    const second = await this.#exchange(request);
    this.#losesConnections ||= second.answer !== undefined;
    return second;
  }

  /** That there is no response says nothing about the request: others lose their connection, too. */
  isLost({ isDropped }: TargetExchange): boolean {
    return isDropped && this.#losesConnections;
  }

  async #exchange(request: TargetRequest): Promise<TargetExchange> {
    this.#requests += 1;
    if (this.#requests > maxRequests && !this.settings.burst) {
      throw new Error(`The kit would send more than ${maxRequests} requests to the target.`);
    }
    return exchange(await this.#sign(request), this.settings);
  }

  /** Unless it is signed, or there is no key. */
  async #sign(request: TargetRequest): Promise<TargetRequest> {
    const [key] = this.settings.keys;
    const { method, url, headers, body } = request;
    if (key === undefined || isSigned(request)) return request;
    const bytes = method === 'POST' ? utf8Bytes(body ?? '') : undefined;
    const toSign = { method, url, headers: Object.fromEntries(headers), body: bytes };
    const fields = await signatureOf(key, toSign, this.origin);
    return { ...request, headers: [...headers, ...Object.entries(fields)] };
  }

  /** Of the first key, for all cases. */
  signedDelivery(post: () => Promise<TargetExchange>): Promise<TargetExchange> {
    return (this.#signedDelivery ??= post());
  }

  async handshake(asked: Handshake = {}): Promise<TargetExchange> {
    const { named = (name: string) => name, more = [], callback, framing, again, url = this.settings.sink } = asked;
    const rate = 'rate' in asked ? asked.rate : this.settings.rate;
    const headers = [
      ['WebHook-Request-Origin', asked.origin ?? this.origin],
      ...(rate === undefined ? [] : [['WebHook-Request-Rate', String(rate)]]),
      ...(callback === undefined ? [] : [['WebHook-Request-Callback', callback]]),
      ...more,
    ].map(([name = '', value = '']) => [named(name), value] as const);
    const exchange = await this.send({ method: 'OPTIONS', url, headers, framing }, { again });
    if (asked.origin === undefined) this.#note(consentOf(exchange, this.origin) !== undefined);
    return exchange;
  }

  post(
    headers: Headers,
    body: string,
    { url = this.settings.sink, origin = this.origin, again = true } = {},
  ): Promise<TargetExchange> {
    const all = [['WebHook-Request-Origin', origin] as const, ...headers];
    return this.send({ method: 'POST', url, body, headers: all }, { again });
  }

  #note(isConsent: boolean): void {
    if (this.#consent !== 'seen') this.#consent = isConsent ? 'seen' : 'none';
  }

  async #askAgain(): Promise<{ first: TargetExchange; other: TargetExchange } | undefined> {
    let first: TargetExchange | undefined;
    for (let time = 0; time < timesAgain; time += 1) {
      const exchange = await this.handshake();
      if (whyUndecided(exchange) !== undefined) continue;
      if (first !== undefined && meaningOf(exchange, this) !== meaningOf(first, this))
        return { first, other: exchange };
      // What gives no consent yet may have been decided by now.
      if (consentOf(exchange, this.origin) !== undefined) first = exchange;
    }
    return undefined;
  }

  /** The key in the URL is not for reports. */
  offer(host: CallbackHost, ...settings: Parameters<CallbackHost['offer']>): Offer {
    const offer = host.offer(...settings);
    this.#secrets.push(offer.key);
    return offer;
  }

  async #offerCallback(): Promise<CallbackAttempt | undefined> {
    const { callbacks, signal } = this.settings;
    if (callbacks === undefined || signal.aborted) return undefined;
    const attempt = await this.#tryCallback('https', callbacks);
    // A target that doesn't trust the certificate of the kit may take a URL without TLS.
    return attempt.isCalled || callbacks.tlsFailure() === undefined ? attempt : this.#tryCallback('http', callbacks);
  }

  async #tryCallback(scheme: 'https' | 'http', host: CallbackHost): Promise<CallbackAttempt> {
    const { callMs, signal } = this.settings;
    const offer = this.offer(host, scheme);
    const answer = await this.handshake({ callback: offer.url });
    const isDecided = consentOf(answer, this.origin) !== undefined || answer.answer === undefined;
    const isCalled = isDecided ? offer.calls.length > 0 : await offer.called(callMs, signal);
    if (offer.calls.some(({ method }) => method === 'GET' || method === 'POST')) this.#note(true);
    return { exchange: answer, offer, isCalled };
  }

  #conclude(outcome: Finding['outcome']): Conclude {
    const hide = (text: string) => {
      const target = requestTargetOf(this.settings.sink);
      return hideSecrets(text.replaceAll(target, hideQuery(target)), this.#secrets);
    };
    return (detail, ...evidence) => ({
      outcome,
      detail: hide(detail),
      evidence: evidence.map(({ asked, answered }) => ({
        asked: hide(asked),
        answered: answered === undefined ? undefined : hide(answered),
      })),
    });
  }
}

export const structured: Headers = [['Content-Type', 'application/cloudevents+json; charset=utf-8']];

type NewEvent = ReturnType<typeof newEvent>;
type TestEvent = Omit<NewEvent, 'datacontenttype' | 'data'> & {
  [name in 'datacontenttype' | 'data']: NewEvent[name] | undefined;
} & { subject?: string };

/** What a header cannot have as it is (HTTP binding, section 3.1.3.2). */
const toEncode = /[^!#$&-~]/gu;

/** The same event in binary mode (HTTP binding, section 3.1). */
export function binary({ datacontenttype, data, ...attributes }: TestEvent) {
  const headers: Headers = [
    ...(datacontenttype === undefined ? [] : [['Content-Type', datacontenttype] as const]),
    ...Object.entries(attributes).map(
      ([name, value]) => [`ce-${name}`, value.replace(toEncode, encodeURIComponent)] as const,
    ),
  ];
  return { headers, body: data === undefined ? '' : JSON.stringify(data) };
}

export function withToken(headers: Headers, token: string | undefined): Headers {
  return token === undefined ? headers : [...headers, ['Authorization', `Bearer ${token}`]];
}

/** Valid by CloudEvents and by the NL GOV profile. */
export function newEvent() {
  return {
    specversion: '1.0',
    id: randomBytes(16).toString('hex'),
    source: 'urn:nld:oin:00000000000000000000:systeem:conformance',
    type: 'nl.assent.conformance.test',
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data: { message: 'A test of conformance: do nothing.' },
  };
}

export function responseLinesOf({ answer }: TargetExchange, name: string): string[] {
  return (answer?.headers ?? []).filter(([each]) => each.toLowerCase() === name).map(([, value]) => value.trim());
}

/** The value that allows this origin, even in a list; undefined if there is none. */
export function consentOf(exchange: TargetExchange, origin: string): string | undefined {
  const lines = responseLinesOf(exchange, 'webhook-allowed-origin');
  if (lines.length === 0) return undefined;
  const consent = judgeOrigin({ origin, judgement: 'lenient' }, lines);
  return typeof consent === 'string' || consent.tolerated.includes('origin_trailing_dot')
    ? undefined
    : consent.allowedOrigin;
}

/** What makes two responses equal for a sender. */
export function meaningOf(exchange: TargetExchange, { origin }: Pick<Session, 'origin'>): string {
  const rate = responseLinesOf(exchange, 'webhook-allowed-rate').join();
  return JSON.stringify([exchange.answer?.status, consentOf(exchange, origin), rate]);
}

export const hasWebhookHeaders = ({ answer }: TargetExchange): boolean =>
  (answer?.headers ?? []).some(([name]) => /^webhook-/i.test(name));

/** As the registry judges the response, if it asked for this rate. */
export function judgementOf({ answer, failure }: TargetExchange, origin: string, requestedRate: number): Judgement {
  const criteria = { origin, requestedRate, defaultRate: requestedRate, judgement: 'strict' } as const;
  const timing = { totalMs: 0 };
  if (answer === undefined) {
    return judge(criteria, { kind: 'unanswered', code: 'connection_failed', detail: failure, timing });
  }
  return judge(criteria, { kind: 'answered', ...answer, remoteAddress: '', timing });
}

/** What is in front of the receiver, as the response names it. */
export const frontIn = (exchange: TargetExchange) => presentFront((name) => responseLinesOf(exchange, name));

/** Of an event. */
export const isAccepted = ({ answer }: TargetExchange): boolean =>
  answer !== undefined && answer.status >= 200 && answer.status < 300;

/** Why a response tells nothing about consent; undefined if it does. */
export function whyUndecided(exchange: TargetExchange): string | undefined {
  const { answer, failure } = exchange;
  if (answer === undefined) return `The receiver did not respond: ${failure.replace(/\.$/, '')}.`;
  const { status } = answer;
  const { verdict } = judgementOf(exchange, anyOrigin, 1);
  if (verdict === 'bot_protection' || verdict === 'http2_only') {
    return `${verdicts[verdict].title.en} ${advise(verdict, { origin: anyOrigin, front: frontIn(exchange) }, 'en')}`;
  }
  if (status >= 300 && status < 400) return `The receiver redirects the request with ${status}. See R13.`;
  if (status === 429 || status === 503)
    return `The receiver returned ${status}: it asks to be left alone. Run it later.`;
  return undefined;
}

const isSigned = ({ headers }: TargetRequest): boolean => headers.some(([name]) => name === 'Signature');

function queryValues(url: string): string[] {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? '';
  return query
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
    .filter((value) => value.length > 3);
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= run());
}
