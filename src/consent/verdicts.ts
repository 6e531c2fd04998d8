import { maxRate } from './rate.js';
import type { Language, Text } from '../base/texts/text.js';
import {
  adviceWithCallback,
  certificateFaultTexts,
  certificateTexts,
  type courses,
  frontTexts,
  hintTexts,
  observedText,
  verdictTexts,
  mistakeTexts,
  withValues,
  type VerdictText,
} from '../base/texts/verdicts.js';
import type { CertificateFault } from '../outbound/certificate-fault.js';
import { judgeOrigin, type readShownCertificate, type Judgement, type Mistake } from './judgement.js';

/** Verdicts of the registry itself on a handshake or a grant; the others are what a response means. */
type RegistryVerdict =
  | 'callback_granted'
  | 'callback_expired'
  | 'refused_by_owner'
  | 'granted_by_policy'
  | 'revoked'
  | 'interrupted'
  | 'held_by_budget'
  | 'secret_unavailable'
  | 'blocked'
  | 'name_not_public';

export type Verdict = Judgement['verdict'] | RegistryVerdict;

/**
 * What an attempt came to, for people who look at many. `no_response`: the webhook decided nothing, so Assent retries.
 * `not_asked`: Assent itself did not send it, or did not wait for the response.
 */
export type HandshakeOutcome = 'granted' | 'refused' | 'no_response' | 'not_asked';

/**
 * Where someone can change something: in the headers of the response to OPTIONS, in the webhook otherwise (its code,
 * its server or its owner's decision), in the network before it (DNS, address, port, TLS), or nowhere there.
 */
export type FixedBy = 'headers' | 'webhook' | 'network' | 'nobody';

/** What happens next. */
export type Course = keyof typeof courses;

const outcomesAndFixers: Readonly<Record<Verdict, readonly [HandshakeOutcome, FixedBy, Course]>> = {
  granted: ['granted', 'nobody', 'renewed'],
  granted_any_origin: ['granted', 'headers', 'renewed'],
  no_consent_headers: ['refused', 'headers', 'asksOnceMore'],
  cors_answer: ['refused', 'headers', 'asksOnceMore'],
  allow_only: ['refused', 'headers', 'asksOnceMore'],
  unsupported: ['refused', 'headers', 'unsupported'],
  authentication_required: ['refused', 'headers', 'asksOnceMore'],
  not_found_at_target: ['refused', 'headers', 'asksOnceMore'],
  server_error: ['no_response', 'webhook', 'retried'],
  request_origin_echoed: ['refused', 'headers', 'waits'],
  origin_missing: ['refused', 'headers', 'waits'],
  redirected: ['refused', 'headers', 'refused'],
  origin_mismatch: ['refused', 'headers', 'refused'],
  origin_repeated: ['refused', 'headers', 'refused'],
  rate_missing: ['refused', 'headers', 'refused'],
  rate_malformed: ['refused', 'headers', 'refused'],
  rate_repeated: ['refused', 'headers', 'refused'],
  gone: ['refused', 'webhook', 'retired'],
  throttled: ['no_response', 'webhook', 'retried'],
  unavailable: ['no_response', 'webhook', 'retried'],
  name_not_found: ['no_response', 'network', 'refused'],
  name_lookup_failed: ['no_response', 'network', 'retried'],
  connection_refused: ['no_response', 'network', 'retried'],
  connection_failed: ['no_response', 'network', 'retried'],
  connection_closed: ['no_response', 'network', 'retried'],
  tls_failed: ['no_response', 'network', 'retried'],
  certificate_invalid: ['no_response', 'network', 'retried'],
  client_certificate_required: ['no_response', 'network', 'retried'],
  http2_only: ['no_response', 'network', 'retried'],
  bot_protection: ['no_response', 'network', 'retried'],
  proxy_unreachable: ['not_asked', 'nobody', 'operator'],
  proxy_authentication: ['not_asked', 'nobody', 'operator'],
  proxy_malformed: ['not_asked', 'nobody', 'operator'],
  proxy_refused: ['not_asked', 'nobody', 'operator'],
  proxy_no_connection: ['no_response', 'network', 'retried'],
  proxy_timeout: ['no_response', 'network', 'retried'],
  deadline_exceeded: ['no_response', 'webhook', 'retried'],
  not_http: ['no_response', 'webhook', 'retried'],
  headers_too_large: ['no_response', 'webhook', 'retried'],
  too_many_informational: ['no_response', 'webhook', 'retried'],
  aborted: ['not_asked', 'nobody', 'atOnce'],
  name_not_public: ['no_response', 'network', 'refused'],
  address_not_allowed: ['not_asked', 'network', 'refused'],
  sink_not_allowed: ['not_asked', 'network', 'refused'],
  callback_granted: ['granted', 'nobody', 'renewed'],
  refused_by_owner: ['refused', 'webhook', 'refused'],
  callback_expired: ['no_response', 'headers', 'refused'],
  granted_by_policy: ['granted', 'headers', 'renewed'],
  revoked: ['refused', 'nobody', 'untilAdmin'],
  interrupted: ['not_asked', 'nobody', 'atOnce'],
  blocked: ['not_asked', 'nobody', 'blocked'],
  held_by_budget: ['not_asked', 'nobody', 'held'],
  secret_unavailable: ['not_asked', 'nobody', 'secret'],
};

interface VerdictRow extends VerdictText {
  outcome: HandshakeOutcome;
  fixedBy: FixedBy;
  course: Course;
}

/** The published table: one row for every verdict, with a stable code and texts for people. */
export const verdicts = Object.fromEntries(
  Object.entries(verdictTexts).map(([verdict, texts]) => {
    const [outcome, fixedBy, course] = outcomesAndFixers[verdict as Verdict];
    return [verdict, { ...texts, outcome, fixedBy, course }];
  }),
) as unknown as Readonly<Record<Verdict, VerdictRow>>;

export const isVerdict = (code: string): code is Verdict => Object.hasOwn(verdicts, code);

/** One sentence for every mistake that is kept with a grant. */
export const mistakes: Readonly<Record<Mistake, Text>> = {
  ...mistakeTexts,
  rate_capped: mistakeTexts.rate_capped(maxRate),
};

/** For people. A newer version may have stored a code that this one does not know. */
export function presentMistakes(codes: readonly string[], language: Language) {
  return codes.map((code) => ({
    code,
    message: (mistakes as Partial<Record<string, Text>>)[code]?.[language] ?? code,
  }));
}

/**
 * What was observed. Leave `status` out for readers who may not see it. Header values are as the target wrote them;
 * several values of one name are separated by commas.
 */
export interface Facts {
  status?: number | undefined;
  allowedOrigin?: string | undefined;
  allowedRate?: string | undefined;
  origin: string;
  /** Per minute. */
  requestedRate?: number | undefined;
  requestedOriginEchoed?: string | undefined;
  callbackOffered?: boolean | undefined;
  /** What became of the client certificate of the origin, for `client_certificate_required`. */
  certificate?: ReturnType<typeof readShownCertificate>;
  /** Only if it is on the host of the sink. Another host is not disclosed. */
  redirectedTo?: string | undefined;
  /** What is wrong with the certificate of the webhook, for `certificate_invalid`. */
  certificateFault?: CertificateFault | undefined;
  /** What the response says it was made with: `Server` and `X-Powered-By`. */
  software?: { server: string | undefined; poweredBy: string | undefined } | undefined;
  /** What is in front of the application, and whether it must have written the response itself. */
  front?: { name: string; isOwn: boolean } | undefined;
  /** It has no header that comes from an application. */
  isBare?: boolean | undefined;
  /** It does not say how to authenticate, as 401 does. */
  isForbidden?: boolean | undefined;
}

/**
 * The verdict as everyone except admins sees it. They must not learn whether a name is absent or resolves to an internal
 * address: that would disclose the DNS of the registry's own network.
 */
export function publicVerdict(verdict: Verdict): Verdict {
  return verdict === 'name_not_found' || verdict === 'address_not_allowed' ? 'name_not_public' : verdict;
}

const hints: Partial<Record<Verdict, Text>> = {
  rate_missing: hintTexts.lenientRate,
  rate_malformed: hintTexts.lenientRate,
  rate_repeated: hintTexts.lenientRate,
};

/** Express names itself unless it is told not to, and neither it nor Node sends `Server`. */
function canBeExpress(software: Facts['software']): boolean {
  if (software === undefined) return false;
  const { server, poweredBy } = software;
  return poweredBy === undefined ? server === undefined : /\bexpress\b/i.test(poweredBy);
}

const withCallback: Partial<Record<Verdict, Text>> = adviceWithCallback;

/** Verdicts on a response that something in front of the application may have written. */
const maybeOfFront: ReadonlySet<Verdict> = new Set<Verdict>([
  ...['no_consent_headers', 'authentication_required', 'not_found_at_target', 'unsupported'],
  ...['bot_protection', 'unavailable', 'server_error'],
] as Verdict[]);

/** What else would help. */
function hintsFor(verdict: Verdict, { origin, allowedOrigin, software, front, isBare, isForbidden }: Facts): Text[] {
  const isOrigin = verdict === 'origin_repeated' || verdict === 'origin_mismatch';
  const wouldPass =
    isOrigin && typeof judgeOrigin({ origin, judgement: 'lenient' }, [allowedOrigin ?? '']) === 'object';
  const isWebPubSub = verdict === 'not_found_at_target' && canBeExpress(software);
  const hint = wouldPass ? hintTexts.lenient : isWebPubSub ? hintTexts.webPubSub : hints[verdict];
  return [
    ...(hint === undefined ? [] : [hint]),
    ...(front !== undefined && maybeOfFront.has(verdict)
      ? [frontTexts[front.isOwn ? 'wrote' : 'passed'](front.name)]
      : []),
    ...(verdict === 'no_consent_headers' && isBare && front === undefined ? [hintTexts.platform] : []),
    ...(verdict === 'authentication_required' && isForbidden ? [hintTexts.userAgent] : []),
  ];
}

/** What the webhook owner can change, and what else would help; undefined if there is nothing. */
export function advise(verdict: Verdict, facts: Facts, language: Language): string | undefined {
  const { origin, requestedRate, callbackOffered, certificateFault } = facts;
  const ofCertificate = verdict === 'certificate_invalid' && certificateFault;
  const advice =
    (ofCertificate ? certificateFaultTexts[ofCertificate].advice : undefined) ??
    (callbackOffered ? withCallback[verdict] : undefined) ??
    verdicts[verdict].advice;
  if (advice === undefined) return undefined;
  const filled = withValues(advice, { origin, requestedRate });
  return [filled, ...hintsFor(verdict, facts)].map((text) => text[language]).join(' ');
}

/** The title of a verdict with the observed values behind it, safe to show and to log. */
export function describe(verdict: Verdict, facts: Facts, language: Language): string {
  const { status, allowedOrigin, allowedRate, origin, requestedOriginEchoed, redirectedTo } = facts;
  const isAboutRate = verdict.startsWith('rate_') || verdict === 'origin_missing';
  const seen = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(allowedOrigin === undefined ? [] : [`WebHook-Allowed-Origin ${quoted(allowedOrigin)}`]),
    ...(isAboutRate && allowedRate !== undefined ? [`WebHook-Allowed-Rate ${quoted(allowedRate)}`] : []),
    ...(requestedOriginEchoed === undefined ? [] : [`WebHook-Request-Origin ${quoted(requestedOriginEchoed)}`]),
    ...(verdict === 'redirected' && redirectedTo !== undefined ? [`Location ${quoted(redirectedTo)}`] : []),
  ];
  const certificate = verdict === 'client_certificate_required' ? facts.certificate : undefined;
  const fault = verdict === 'certificate_invalid' ? facts.certificateFault : undefined;
  const ofCertificate = certificate
    ? certificateTexts[certificate.state](certificate.fingerprint ?? '')
    : fault && certificateFaultTexts[fault].title;
  const title = (ofCertificate ?? verdicts[verdict].title)[language];
  return seen.length === 0 ? title : `${title} ${observedText(quoted(origin), seen.join(', '))[language]}`;
}

const maxLength = 200;

/** Control, format (bidirectional) and unpaired characters are written as escapes, so that they cannot forge a line. */
export function quoted(value: string): string {
  const escaped = value
    .slice(0, maxLength)
    .replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  const shown = [...escaped].slice(0, maxLength).join('');
  return `"${shown.length < escaped.length || value.length > maxLength ? `${shown}…` : shown}"`;
}
