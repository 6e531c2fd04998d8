import { isAboveMaxRate, parseRate, type Rate } from './rate.js';
import { notBefore, parseRetryAfter } from './backoff.js';
import { frontOf } from './fronts.js';
import type { FailureReason } from '../outbound/failure.js';
import type { NoResponse } from '../outbound/progress.js';
import type { RequestResult } from '../outbound/safe-request.js';

/** A reply that can be judged. A held request was never sent. */
export type FinalReply = Exclude<RequestResult, { kind: 'held' }>;

/** What a reply is judged by: what was requested, and how strict to be. Rates are per minute. */
export interface Criteria {
  origin: string;
  /** The value of WebHook-Request-Rate, if it was sent. */
  requestedRate: number | undefined;
  /** Applies if no rate was requested and none was returned. */
  defaultRate: Rate;
  judgement: 'strict' | 'lenient';
  /** What was shown to a webhook that asked for a certificate, and the time, which says whether it had ended. */
  certificate?: { fingerprint: string; endsAt: Date } | undefined;
  now?: Date;
}

/** Responses without any WebHook header. */
export const silentVerdicts = [
  'no_consent_headers',
  'cors_answer',
  'allow_only',
  'unsupported',
  'authentication_required',
  'not_found_at_target',
] as const;

type WithheldVerdict = (typeof silentVerdicts)[number] | 'request_origin_echoed' | 'origin_missing';

export function isSilent(verdict: string): boolean {
  return silentVerdicts.some((each) => each === verdict);
}

type RefusedVerdict =
  'redirected' | 'origin_mismatch' | 'origin_repeated' | 'rate_missing' | 'rate_malformed' | 'rate_repeated';

/** Kept with a grant. Only `lenient` accepts the first five; the others are for information. */
export type Mistake =
  | 'origin_in_list'
  | 'origin_trailing_dot'
  | 'rate_missing'
  | 'rate_malformed'
  | 'rate_repeated'
  | 'rate_above_requested'
  | 'rate_capped'
  | 'rate_defaulted'
  | 'allow_without_post';

interface Granted {
  kind: 'granted';
  verdict: 'granted' | 'granted_any_origin';
  /** The value that is the consent, as the target wrote it. */
  allowedOrigin: string;
  allowedRate: Rate;
  tolerated: Mistake[];
}

interface Refused {
  kind: 'refused';
  verdict: RefusedVerdict;
}

interface Postponed {
  kind: 'postponed';
  verdict: 'throttled' | 'unavailable' | 'server_error' | 'bot_protection';
  retryAfterMs: number | undefined;
  evidence?: string;
}

interface Unreachable {
  kind: 'unreachable';
  verdict: FailureReason;
  /** The code of an error, or what the response said of it. For admins and the log. */
  evidence?: string;
}

export type Judgement =
  | Granted
  /** No consent headers; the callback may still be called. */
  | { kind: 'withheld'; verdict: WithheldVerdict }
  | Refused
  | { kind: 'retired'; verdict: 'gone' }
  /** Retry later; Retry-After in milliseconds, as the target returned it. */
  | Postponed
  | Unreachable
  | { kind: 'blocked'; verdict: 'address_not_allowed' | 'sink_not_allowed' };

/**
 * The meaning of the reply to a validation request (webhook specification, section 4.2). A status can refuse or
 * postpone. On every other final status the headers alone decide, because a status is never consent.
 */
export function judge(criteria: Criteria, reply: FinalReply): Judgement {
  if (reply.kind === 'blocked') return { kind: 'blocked', verdict: reply.code };
  if (reply.kind === 'unanswered') return unreachable(reply.code, evidenceOfFailure(criteria, reply));
  const { status } = reply;
  if (status < 200 || status > 599) return unreachable('not_http');

  const answer = readAnswer(reply.headers);
  const inFront = judgeFront(criteria, status, answer, reply.opening ?? '');
  if (inFront !== undefined) return inFront;
  if (status < 300 || status > 399) return judgeStatus(status, answer) ?? judgeHeaders(criteria, status, answer);
  return { kind: 'refused', verdict: 'redirected' };
}

/** The failure, behind what became of the client certificate if it is about that. */
function evidenceOfFailure(criteria: Criteria, { code, evidence }: NoResponse): string | undefined {
  return code === 'client_certificate_required' ? `${shownCertificate(criteria)} (${evidence ?? code})` : evidence;
}

/** How `readShownCertificate` reads it. */
function shownCertificate({ certificate, now }: Criteria): string {
  if (certificate === undefined) return 'none set';
  const isOver = now !== undefined && certificate.endsAt <= now;
  return `${certificate.fingerprint} ${isOver ? 'ended' : 'not accepted'}`;
}

/** What became of the client certificate, of the evidence of `client_certificate_required`. */
export function readShownCertificate(
  evidence: string | undefined,
): { fingerprint?: string; state: 'none' | 'ended' | 'refused' } | undefined {
  if (evidence?.startsWith('none set')) return { state: 'none' };
  const [, fingerprint, state] = /^([0-9A-F:]{95}) (ended|not accepted)/.exec(evidence ?? '') ?? [];
  return fingerprint === undefined ? undefined : { fingerprint, state: state === 'ended' ? 'ended' : 'refused' };
}

/** How long, in milliseconds, a response asks for no further request; undefined if there was no response. */
export function cooldownAfter(judgement: Judgement): number | undefined {
  if (judgement.kind === 'unreachable' || judgement.kind === 'blocked') return undefined;
  return judgement.kind === 'postponed' ? notBefore(judgement.retryAfterMs, 0) : 0;
}

/** Field values by lower-case name. Lines are kept separate, because a repeated value is not one value. */
type AnswerHeaders = Map<string, string[]>;

function readAnswer(headers: ReadonlyArray<readonly [string, string]>): AnswerHeaders {
  const answer: AnswerHeaders = new Map();
  for (const [name, value] of headers) {
    const key = asciiLowerCase(name);
    const lines = answer.get(key);
    // A response can have thousands of lines of one name; copying the array for each would block the event loop.
    if (lines === undefined) answer.set(key, [trimFieldValue(value)]);
    else lines.push(trimFieldValue(value));
  }
  return answer;
}

/** What made this judgement, if the verdict does not say it all. */
export function evidenceOf(judgement: Judgement): string | undefined {
  return 'evidence' in judgement ? judgement.evidence : undefined;
}

function unreachable(verdict: FailureReason, evidence?: string): Unreachable {
  return { kind: 'unreachable', verdict, ...(evidence !== undefined && { evidence }) };
}

/**
 * The response of something in front of the webhook that let no question through. Whatever its status, it is nobody's
 * decision: AWS WAF sends a challenge with 202 and a captcha with 405, others use 403, 429 or 503.
 */
function judgeFront(criteria: Criteria, status: number, answer: AnswerHeaders, opening: string): Judgement | undefined {
  if ([...answer.keys()].some((name) => name.startsWith('webhook-'))) return undefined;
  const named = frontOf((name) => answer.get(name));
  const means = named?.front.means;
  if (named !== undefined && means !== undefined && (means.statuses?.includes(status) ?? true)) {
    return { ...postponed(means.verdict, answer), evidence: named.evidence };
  }
  // nginx has no header for it, and no status of its own that leaves the server.
  const ofNginx = ['No required SSL certificate was sent', 'The SSL certificate error'];
  const found = status === 400 ? ofNginx.find((text) => opening.includes(text)) : undefined;
  if (found !== undefined) {
    const evidence = `${shownCertificate(criteria)} (400 ${found})`;
    return unreachable('client_certificate_required', evidence);
  }
  const upgrade = answer.get('upgrade')?.join(', ') ?? '';
  const wantsHttp2 = status === 505 || (status === 426 && /(?:^|[\s,])h2c?(?:$|[\s,])/i.test(upgrade));
  return wantsHttp2 ? unreachable('http2_only', String(status)) : undefined;
}

function judgeStatus(status: number, answer: AnswerHeaders): Judgement | undefined {
  if (status === 410) return { kind: 'retired', verdict: 'gone' };
  if (status === 429) return postponed('throttled', answer);
  return status === 503 ? postponed('unavailable', answer) : undefined;
}

function postponed(verdict: Postponed['verdict'], answer: AnswerHeaders): Postponed {
  const retryAfterMs = parseRetryAfter(answer.get('retry-after')?.[0], answer.get('date')?.[0]);
  return { kind: 'postponed', verdict, retryAfterMs };
}

function judgeHeaders(criteria: Criteria, status: number, answer: AnswerHeaders): Judgement {
  const lines = answer.get('webhook-allowed-origin');
  if (lines === undefined) return judgeWithout(status, answer);
  const consent = judgeOrigin(criteria, lines);
  if (typeof consent === 'string') return { kind: 'refused', verdict: consent };
  const permitted = judgeRate(criteria, answer.get('webhook-allowed-rate') ?? []);
  if (typeof permitted === 'string') return { kind: 'refused', verdict: permitted };
  return {
    kind: 'granted',
    verdict: consent.allowedOrigin === '*' ? 'granted_any_origin' : 'granted',
    allowedOrigin: consent.allowedOrigin,
    allowedRate: permitted.allowedRate,
    tolerated: [...consent.tolerated, ...permitted.tolerated, ...judgeAllow(answer.get('allow'))],
  };
}

/** A target that returns any WebHook header knows the handshake, so the header takes precedence over the status. */
function judgeWithout(status: number, answer: AnswerHeaders): Judgement {
  if (answer.has('webhook-request-origin')) return { kind: 'withheld', verdict: 'request_origin_echoed' };
  if (answer.has('webhook-allowed-rate')) return { kind: 'withheld', verdict: 'origin_missing' };
  // A proxy returns this while the application behind it restarts. It is no decision.
  if (status >= 500 && status !== 501) return postponed('server_error', answer);
  return { kind: 'withheld', verdict: whySilent(status, answer) };
}

function whySilent(status: number, answer: AnswerHeaders): WithheldVerdict {
  if (status === 405 || status === 501) return 'unsupported';
  if (status === 401 || status === 403) return 'authentication_required';
  if (status === 404) return 'not_found_at_target';
  if ([...answer.keys()].some((name) => name.startsWith('access-control-'))) return 'cors_answer';
  return status < 300 && answer.has('allow') ? 'allow_only' : 'no_consent_headers';
}

/** Section 4.2.1: our origin or a single asterisk. The whole value must be equal: a prefix or suffix is another name. */
export function judgeOrigin(
  { origin, judgement }: Pick<Criteria, 'origin' | 'judgement'>,
  lines: string[],
): { allowedOrigin: string; tolerated: Mistake[] } | 'origin_mismatch' | 'origin_repeated' {
  const values = lines.flatMap((line) => line.split(',')).map(trimFieldValue);
  const listed = values.length > 1;
  if (listed && judgement === 'strict') return 'origin_repeated';

  const ours = (value: string) => asciiLowerCase(value) === asciiLowerCase(origin);
  const tolerated: Mistake[] = listed ? ['origin_in_list'] : [];
  const exact = values.find((value) => ours(value) || (value === '*' && !listed));
  if (exact !== undefined) return { allowedOrigin: exact, tolerated };

  const dotted = values.find((value) => value.endsWith('.') && ours(value.slice(0, -1)));
  if (dotted !== undefined && judgement === 'lenient') {
    return { allowedOrigin: dotted, tolerated: [...tolerated, 'origin_trailing_dot'] };
  }
  return values.includes('*') ? 'origin_repeated' : 'origin_mismatch';
}

/** Section 4.2.2. The rate that replaces an unusable one is never unlimited. */
function judgeRate(
  { requestedRate, defaultRate, judgement }: Criteria,
  lines: string[],
): { allowedRate: Rate; tolerated: Mistake[] } | 'rate_missing' | 'rate_malformed' | 'rate_repeated' {
  const [line] = lines;
  if (line === undefined && requestedRate === undefined) {
    return { allowedRate: defaultRate, tolerated: ['rate_defaulted'] };
  }
  const given = line === undefined || lines.length > 1 ? undefined : parseRate(line);
  if (line !== undefined && given !== undefined) {
    return { allowedRate: given, tolerated: mistakesOfRate(line, given, requestedRate) };
  }
  const wrong = line === undefined ? 'rate_missing' : isRepeated(lines) ? 'rate_repeated' : 'rate_malformed';
  const fallback = requestedRate ?? defaultRate;
  return judgement === 'strict' || fallback === '*' ? wrong : { allowedRate: fallback, tolerated: [wrong] };
}

/** Warnings about a valid rate: `text` as it was written, `given` as it was parsed. */
export function mistakesOfRate(text: string, given: Rate, requestedRate: number | undefined): Mistake[] {
  const isAbove = requestedRate !== undefined && (given === '*' || given > requestedRate);
  return [
    ...(isAbove ? (['rate_above_requested'] as const) : []),
    ...(isAboveMaxRate(text) ? (['rate_capped'] as const) : []),
  ];
}

function isRepeated(lines: string[]): boolean {
  return lines.length > 1 || lines.some((line) => line.includes(','));
}

/** Section 4.2: Allow SHOULD be there and name POST. Its absence is fine; a value without POST is a warning. */
function judgeAllow(lines: string[] | undefined): Mistake[] {
  const methods = lines?.flatMap((line) => line.split(',')).map(trimFieldValue);
  return methods === undefined || methods.includes('POST') ? [] : ['allow_without_post'];
}

/** String.toLowerCase would convert the Kelvin sign to a k. */
function asciiLowerCase(text: string): string {
  // eslint-disable-next-line no-control-regex -- nearly every text is ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text.toLowerCase() : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Trims SP and HTAB and nothing else (RFC 9110, section 5.5). A regular expression would take quadratic time here. */
function trimFieldValue(text: string): string {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t';
  let [from, to] = [0, text.length];
  while (from < to && isSpace(from)) from += 1;
  while (to > from && isSpace(to - 1)) to -= 1;
  return text.slice(from, to);
}
