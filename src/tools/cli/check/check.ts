import { UsageError } from '../../../base/errors.js';
import { createAddressRules } from '../../../outbound/address.js';
import { createLoopbackRequest, isLoopback } from '../../../outbound/loopback-request.js';
import { createEgressProxy, type EgressProxySettings } from '../../../outbound/egress-proxy.js';
import { createSafeRequest, type SafeRequest, safeRequestDefaults } from '../../../outbound/safe-request.js';
import type { SigningKey } from '../../conformance/signing-key.js';
import { parseSink } from '../../../outbound/sink.js';
import { sinkTexts } from '../../../base/texts/sinks.js';
import { randomUUID } from 'node:crypto';
import { clip, prepareAttempt, withoutKey } from '../../../registry/handshake/attempt.js';
import type { CallbackOutcome } from '../../../registry/handshake/callback.js';
import { explain, observed } from '../../../registry/handshake/explain.js';
import type { HeaderLine } from '../../../consent/handshake.js';
import { evidenceOf, type FinalReply, judge, type Judgement, type Mistake } from '../../../consent/judgement.js';
import { type MoveInput, nextMove } from '../../../registry/handshake/next-move.js';
import type { Verdict } from '../../../consent/verdicts.js';
import type { Rate } from '../../../consent/rate.js';
import { type CallbackListener, type CallbackReceived, startCallbackListener } from './callback-listener.js';

export interface CheckSettings {
  url: string;
  /** A name that `parseOriginName` accepts. */
  origin: string;
  /** Requests per minute; undefined asks for none. */
  requestedRate: number | undefined;
  judgement: 'strict' | 'lenient';
  /** A key of the origin; undefined sends no signature. */
  signing?: SigningKey | undefined;
  /** Where the webhook reaches a callback; undefined offers one to a webhook on this machine only. */
  callbackHost: { host: string; port: number } | undefined;
  /** PEM of an authority to trust. */
  ca: string | undefined;
  allowedNetworks: readonly string[];
  /** The proxy that a webhook on another machine is asked through. */
  proxy?: EgressProxySettings | undefined;
  /** Milliseconds for each request, and for the callback. */
  timeoutMs: number;
  userAgent: string;
}

/**
 * How to ask a webhook, and what a registry would do otherwise. Of a webhook on this machine, or if networks are allowed,
 * any port may be asked. Throws a UsageError for a URL that no registry would accept.
 */
function prepareRequest({ url: text, ca, allowedNetworks, proxy: given, timeoutMs, userAgent }: CheckSettings) {
  // Without a path, HTTP asks for the root.
  const url = text.replace(/^https?:\/\/[^/?#]+$/, '$&/');
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = target !== undefined && isLoopback(target.hostname);
  const isPlain = isLocal && target.protocol === 'http:';
  const port = Number(target?.port || (isPlain ? 80 : 443));
  const isOpen = isLocal || allowedNetworks.length > 0;
  const rules = {
    allowedNetworks: isLocal ? ['127.0.0.0/8', '::1', ...allowedNetworks] : allowedNetworks,
    deniedNetworks: [],
    ports: isOpen ? [port] : safeRequestDefaults.ports,
    ownAuthorities: [],
  };
  const parsed = parseSink(isPlain ? url.replace('http:', 'https:') : url, {
    ...rules,
    addresses: addressRulesOf(rules),
  });
  if (!parsed.ok) throw new UsageError(`${parsed.detail.en} A registry does not accept this URL.`);
  const proxy = isLocal ? undefined : given;
  if (proxy !== undefined) checkProxy(proxy, allowedNetworks);
  const common = { deadlineMs: timeoutMs, userAgent };
  const request: SafeRequest = isPlain
    ? createLoopbackRequest(common)
    : createSafeRequest({ ...safeRequestDefaults, ...rules, ca, proxy, ...common });
  const isUsualPort = safeRequestDefaults.ports.some((each) => each === port);
  return {
    url,
    request,
    isLocal,
    notes: [
      ...(isPlain ? ['This is plain http, which works on this machine only. A registry asks https only.'] : []),
      ...(isLocal && !isPlain ? [sinkTexts.localhost.en] : []),
      ...(isLocal || isUsualPort
        ? []
        : [
            `A registry asks the ports ${safeRequestDefaults.ports.join(' and ')}, unless ASSENT_SINK_PORTS has others.`,
          ]),
    ],
  };
}

function addressRulesOf(rules: Parameters<typeof createAddressRules>[0]) {
  try {
    return createAddressRules(rules);
  } catch (error) {
    throw new UsageError(`--allow-network: ${(error as Error).message}`);
  }
}

function checkProxy(proxy: EgressProxySettings, allowedNetworks: readonly string[]): void {
  try {
    createEgressProxy(proxy, allowedNetworks);
  } catch (error) {
    throw new UsageError(`--proxy: ${(error as Error).message}`);
  }
}

/** What is shown while it happens. */
export interface Observer {
  asked(attempt: CheckedAttempt, isSecond: boolean): void;
  waits(seconds: number): void;
}

export interface CheckedAttempt {
  /** The request line and its headers; the callback key is hidden. */
  request: { line: string; headers: HeaderLine[] };
  /** Undefined if there was no response. */
  answer: { status: number; headers: HeaderLine[] } | undefined;
  callbackOffered: boolean;
  verdict: Verdict;
  message: string;
  advice?: string | undefined;
  /** Why there was no response. */
  detail: string | undefined;
  /** What made the verdict, if it does not say it all. */
  evidence: string | undefined;
  totalMs: number;
}

export interface CheckReport {
  url: string;
  origin: string;
  requestedRate: number | undefined;
  outcome: 'consent' | 'none' | 'unreachable';
  verdict: Verdict;
  message: string;
  advice?: string | undefined;
  allowedRate?: Rate;
  tolerated: Mistake[];
  attempts: CheckedAttempt[];
  callbacks: CallbackReceived[];
  notes: string[];
}

/** What an origin has unless its admin chose something else. */
const usualOrigin = { defaultRate: 60, grantSeconds: 864_000, unsupportedRate: undefined } as const;

/**
 * Asks a webhook for consent as a registry does at a registration: the same request, the same judgement, the same second
 * question without the callback. Nothing is retried, and no redirect is followed. Throws a UsageError for a URL that no
 * registry would accept.
 */
export async function check(settings: CheckSettings, observer: Observer): Promise<CheckReport> {
  const { origin, requestedRate, judgement, callbackHost, timeoutMs, signing } = settings;
  const { url, request, notes, isLocal } = prepareRequest(settings);
  const id = randomUUID();
  const place = callbackHost ?? (isLocal ? { host: '127.0.0.1', port: 0 } : undefined);
  const policy = { name: origin, judgement, ...usualOrigin };
  const listener =
    place &&
    (await startCallbackListener({
      ...place,
      isLocal: isLoopback(place.host),
      id,
      sink: url,
      origin: policy,
      requestedRate,
    }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`--callback-host: nothing can listen on port ${place.port} (${error.code}).`);
    }));
  if (listener === undefined) {
    notes.push('No callback was offered. If the webhook reaches this machine, name an address with --callback-host.');
  }

  const signer = signing && {
    keyid: signing.public.kid,
    form: 'dictionary' as const,
    agent: { url: `https://${origin}`, type: 'directory' as const },
    sign: (base: Uint8Array) => signing.sign(base),
  };
  const attempts: CheckedAttempt[] = [];
  let silentVerdict: Verdict | undefined;
  const callbackUntil = listener && new Date(Date.now() + 3_600_000);
  async function ask(
    publicUrl: string | undefined,
  ): Promise<{ judgement: Judgement; state: string; verdict: Verdict }> {
    const trigger = 'registration' as const;
    const question = { id, origin, sink: url, requestedRate, trigger, traceparent: undefined };
    const signed = { signer, now: Date.now() };
    const prepared = prepareAttempt(question, publicUrl, { number: attempts.length + 1, signing: signed });
    if (prepared.callbackKeyHash !== undefined) listener?.expect(prepared.callbackKeyHash);
    const reply = (await request({ url, method: 'OPTIONS', headers: prepared.headers })) as FinalReply;
    const judged = judge({ origin, requestedRate, defaultRate: policy.defaultRate, judgement }, reply);
    const key = prepared.headers['WebHook-Request-Callback']?.split('key=')[1] ?? '';
    const callbackOffered = publicUrl !== undefined;
    const attempt = attemptOf(
      { url, origin, requestedRate, callbackOffered, userAgent: settings.userAgent },
      prepared.recorded,
      reply,
      judged,
      key,
    );
    attempts.push(attempt);
    observer.asked(attempt, attempts.length > 1);
    const deciding: MoveInput = {
      claim: { trigger: 'registration' },
      attempt: { callbackOffered },
      origin: policy,
      judgement: judged,
      failures: 1,
      callbackUntil,
      silentVerdict,
      renewed: undefined,
      isBlocked: false,
    };
    return { judgement: judged, ...nextMove(deciding, new Date(), { maxAttempts: 1, retry, random: () => 0 }) };
  }

  try {
    let last = await ask(listener?.publicUrl);
    if (last.state === 'due' && listener?.outcome() === undefined) {
      silentVerdict = last.verdict;
      last = await ask(undefined);
    }
    if (last.state === 'waiting' && listener !== undefined && listener.outcome() === undefined) {
      observer.waits(timeoutMs / 1_000);
      await listener.decided(timeoutMs);
      if (listener.outcome() === undefined) {
        notes.push(`No callback arrived within ${timeoutMs / 1_000} s. A registry waits an hour by default.`);
      }
    }
    const conclusion = conclude(last, attempts, listener);
    // Calls in progress get their response.
    await listener?.stop();
    const callbacks = [...(listener?.received ?? [])];
    return { url, origin, requestedRate, ...conclusion, attempts, callbacks, notes };
  } finally {
    await listener?.stop();
  }
}

const retry = { firstMs: 1, maxMs: 1 };

interface AskedAs {
  url: string;
  origin: string;
  requestedRate: number | undefined;
  callbackOffered: boolean;
  userAgent: string;
}

function attemptOf(
  { url, origin, requestedRate, callbackOffered, userAgent }: AskedAs,
  recorded: HeaderLine[],
  reply: FinalReply,
  judgement: Judgement,
  key: string,
): CheckedAttempt {
  const { pathname, search, host } = new URL(url);
  const { verdict } = judgement;
  const answer =
    reply.kind === 'answered'
      ? { status: reply.status, headers: withoutKey(key, reply.headers).map((line) => clip(line)) }
      : undefined;
  const evidence = evidenceOf(judgement);
  const facts = { ...observed({ origin, sink: url, requestedRate }, answer?.headers, evidence), callbackOffered };
  return {
    request: {
      line: `OPTIONS ${pathname}${search} HTTP/1.1`,
      headers: [['Host', host], ['User-Agent', userAgent], ...recorded],
    },
    answer,
    callbackOffered,
    verdict,
    ...explain(verdict, answer === undefined ? facts : { ...facts, status: answer.status }, 'en'),
    detail: 'detail' in reply ? reply.detail : undefined,
    evidence,
    totalMs: reply.timing.totalMs,
  };
}

/** The first decision counts, by the response or by the callback. */
function conclude(
  { judgement, verdict }: { judgement: Judgement; verdict: Verdict },
  attempts: readonly CheckedAttempt[],
  listener: CallbackListener | undefined,
): Pick<CheckReport, 'outcome' | 'verdict' | 'message' | 'advice' | 'allowedRate' | 'tolerated'> {
  const called: CallbackOutcome | undefined = listener?.outcome();
  if (called !== undefined) {
    const by = called.kind === 'granted' ? 'callback_granted' : 'refused_by_owner';
    const rate = called.kind === 'granted' ? { allowedRate: called.allowedRate } : {};
    const outcome = called.kind === 'granted' ? 'consent' : 'none';
    return { outcome, verdict: by, ...explain(by, { origin: called.origin }, 'en'), ...rate, tolerated: [] };
  }
  const shown = attempts.findLast((attempt) => attempt.verdict === verdict);
  const { message = '', advice } = shown ?? {};
  const said = { verdict, message, advice };
  if (judgement.kind === 'granted') {
    return { outcome: 'consent', ...said, allowedRate: judgement.allowedRate, tolerated: judgement.tolerated };
  }
  const isAnswered = attempts.some(({ answer }) => answer !== undefined);
  return { outcome: isAnswered ? 'none' : 'unreachable', ...said, tolerated: [] };
}
