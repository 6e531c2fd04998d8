import { parseMediaType } from '../../../base/formats/media-type.js';
import { parseOriginName } from '../../../consent/origin.js';
import { textIn } from '../../../base/texts/text.js';
import type { ConformanceProfile, Finding } from '../case.js';
import {
  type Exchange,
  isAsking,
  isDelivery,
  linesOf,
  longestBody,
  maxInAnyMinute,
  sentAfter,
  transitMs,
} from './exchange.js';
import type { Played } from './played.js';

/** Everything that a run has seen. */
export interface Seen {
  profile: ConformanceProfile;
  all: readonly Played[];
  of(name: string): Played;
  /** Requests to no webhook. */
  stray: readonly Exchange[];
  watchedMs: number;
  /** The longest time for which the kit stood still. */
  stallMs: number;
  timeoutMs: number;
  /** By the monotonic clock. */
  endedAt: number;
  /** How the sender ended its work for this webhook; undefined if it has not. */
  endOf(webhook: Played): string | undefined;
  /** The requests of S16 and S17 that are not signed as they should be, and why. Undefined without the keys of the sender. */
  signatureFaults: ReadonlyMap<Exchange, string> | undefined;
  /** The sender delivers at all: events arrived at the webhook that every run has. */
  hasDelivered: boolean;
}

export type CaseVerdict = Pick<Finding, 'outcome' | 'detail'>;

export const passed = (detail: string): CaseVerdict => ({ outcome: 'passed', detail });
export const failed = (detail: string): CaseVerdict => ({ outcome: 'failed', detail });
export const missing = (detail: string): CaseVerdict => ({ outcome: 'not_evaluable', detail });

export const asked = ({ exchanges }: Played) => exchanges.filter(isAsking);
export const delivered = ({ exchanges }: Played) => exchanges.filter(isDelivery);
export const count = (number: number, one: string) => `${number} ${one}${number === 1 ? '' : 's'}`;
export const events = (list: readonly unknown[]) => count(list.length, 'event');
export const seconds = (ms: number) => `${Math.floor(ms / 1_000)} s`;

/** A failure counts more than what is missing, and that more than what passed. `advice` follows failures. */
export function worst(verdicts: readonly CaseVerdict[], advice = ''): CaseVerdict {
  const worstOutcome = outcomes.find((outcome) => verdicts.some((each) => each.outcome === outcome)) ?? 'passed';
  const details = verdicts.filter(({ outcome }) => outcome === worstOutcome).map(({ detail }) => detail);
  if (worstOutcome === 'failed' && advice !== '') details.push(advice);
  return { outcome: worstOutcome, detail: [...new Set(details)].join(' ') };
}

const outcomes = ['failed', 'not_evaluable'] as const;

/** Nothing can be said about a webhook that was not asked. */
export function notAsked(webhook: Played, seen: Seen): CaseVerdict | undefined {
  if (asked(webhook).length > 0) return undefined;
  return missing(`No OPTIONS arrived at ${webhook.name}. ${seen.endOf(webhook) ?? 'The sender was still at work.'}`);
}

const nothingAnywhere = missing(
  'Nothing was delivered to the webhook that consents (S15), so that nothing came here says nothing. ' +
    'The sender must try to deliver to every webhook.',
);

/** For webhooks that give no consent. */
export function getsNothing(webhook: Played, seen: Seen): CaseVerdict {
  const got = delivered(webhook);
  if (got.length > 0) return failed(`${events(got)} arrived at a webhook that ${webhook.does}.`);
  if (!seen.hasDelivered) return nothingAnywhere;
  return notAsked(webhook, seen) ?? passed(`Nothing arrived within ${seconds(seen.watchedMs)}.`);
}

/** For webhooks that give consent. */
export function getsEvents(webhook: Played, seen: Seen): CaseVerdict {
  const got = delivered(webhook);
  if (got.length > 0) return passed(`${events(got)} arrived.`);
  const unasked = notAsked(webhook, seen);
  if (unasked) return unasked;
  if (!seen.hasDelivered) return nothingAnywhere;
  const consentAt = (webhook.calls[0] ?? asked(webhook)[0])?.at ?? 0;
  if (seen.endOf(webhook) === undefined && seen.endedAt - consentAt < seen.timeoutMs / 2) {
    return missing(`The run ended soon after the consent of ${webhook.name}. Give it a longer --timeout.`);
  }
  return failed(`Nothing arrived at a webhook that ${webhook.does}.`);
}

/** The parts of the validation request, of every webhook of the case. */
export function eachRequest(
  name: string,
  seen: Seen,
  check: (request: Exchange) => string | undefined,
  good: string,
): CaseVerdict {
  const webhook = seen.of(name);
  const fault = asked(webhook)
    .map(check)
    .find((each) => each !== undefined);
  return notAsked(webhook, seen) ?? (fault === undefined ? passed(good) : failed(fault));
}

export function originFault(request: Exchange): string | undefined {
  const values = linesOf(request, 'webhook-request-origin');
  if (values.length !== 1) return `OPTIONS had ${count(values.length, 'line')} of WebHook-Request-Origin: send one.`;
  const parsed = parseOriginName(values[0] ?? '');
  // A name inside a network is a DNS name, too.
  if (parsed.ok || parsed.rule === 'origin_single_label') return undefined;
  return `WebHook-Request-Origin was "${values[0]}". ${textIn(parsed.detail, 'en')}`;
}

export function rateFault(request: Exchange): string | undefined {
  const values = linesOf(request, 'webhook-request-rate');
  if (values.length === 0) return undefined;
  if (values.length === 1 && /^[1-9]\d*$/.test(values[0] ?? '')) return undefined;
  return `WebHook-Request-Rate was "${values.join('" and "')}": send one positive integer, the requests per minute.`;
}

export function deliveryFault(delivery: Exchange, origin: string, profile: ConformanceProfile): string | undefined {
  if (delivery.method !== 'POST') return `An event came by ${delivery.method}: deliver by POST.`;
  if (delivery.scheme !== 'https') return 'An event came over http: deliver over https.';
  const type = linesOf(delivery, 'content-type');
  if (type.length !== 1 || parseMediaType(type[0] ?? '') === undefined) {
    return type.length === 0
      ? 'An event came without Content-Type.'
      : `The Content-Type of an event was "${type.join('" and "')}": send one media type.`;
  }
  if (delivery.body.length === 0)
    return 'An event came without a body: deliveries without a payload are not permitted.';
  const origins = linesOf(delivery, 'webhook-request-origin');
  if (origins.length !== 1 || origins[0]?.toLowerCase() !== origin.toLowerCase()) {
    const was = origins.length === 0 ? 'missing' : `"${origins.join('" and "')}"`;
    return `WebHook-Request-Origin of an event was ${was}: send the value of the validation request, "${origin}".`;
  }
  if (new URLSearchParams(delivery.target.split('?')[1]).has('access_token')) {
    const rule =
      profile === 'nl-gov'
        ? 'The profile nl-gov does not allow that.'
        : 'Section 3.2 allows that only if the header cannot carry it.';
    return `An event came with access_token in the query. ${rule} Send the token in Authorization.`;
  }
  return undefined;
}

/** What all cases with a callback need. */
export function notOffered(webhook: Played, seen: Seen): CaseVerdict | undefined {
  if (webhook.calls.length > 0) return undefined;
  const offered = asked(webhook).flatMap((request) => linesOf(request, 'webhook-request-callback'));
  return (
    notAsked(webhook, seen) ??
    missing(
      offered.length === 0
        ? 'The sender offered no WebHook-Request-Callback, which is optional (section 4.1.3).'
        : 'The run ended before the callback was called. Give it a longer --timeout.',
    )
  );
}

/** Calls that the sender did not accept. */
export function callFault({ calls }: Played): string | undefined {
  const bad = calls.find(({ status }) => status === undefined || status < 200 || status > 299);
  return bad && `${bad.method} of the callback URL returned ${bad.status ?? `nothing (${bad.failure})`}: return 2xx.`;
}

export function afterCallback(webhook: Played, seen: Seen, rate: number | undefined): CaseVerdict {
  const calledAt = webhook.calls[0]?.at ?? 0;
  const after = delivered(webhook).filter(({ at }) => at >= calledAt);
  const fault = callFault(webhook);
  if (fault !== undefined) return failed(fault);
  if (after.length < delivered(webhook).length) {
    return missing('Events arrived before the callback was called, so that those after it say nothing: see S09.');
  }
  if (after.length === 0) return worst([getsEvents(webhook, seen)], 'A call of the callback URL is consent.');
  const peak = maxInAnyMinute(after, seen.stallMs);
  if (rate !== undefined && peak > rate) {
    return failed(`${events(after)} arrived after the callback, ${peak} in one minute: at most ${rate} are allowed.`);
  }
  return passed(`${events(after)} arrived after the callback.`);
}

/** Nothing can be said about the response to an event if none came. */
export function notReached(webhook: Played, seen: Seen): CaseVerdict | undefined {
  if (delivered(webhook).length > 0) return undefined;
  return notAsked(webhook, seen) ?? missing(`No event arrived at ${webhook.name}, which consents.`);
}

export function redirectOf(name: string, seen: Seen): CaseVerdict {
  const webhook = seen.of(name);
  const followed = seen.of(`${name}-target`).exchanges;
  if (followed.length > 0) {
    return failed(`${followed[0]?.method} was sent to the Location of a 307.`);
  }
  if (name === 'S12-options') return notAsked(webhook, seen) ?? passed('The target of the redirect was never asked.');
  return notReached(webhook, seen) ?? passed('The target of the redirect was never asked.');
}

export function holdOf(name: string, seen: Seen): CaseVerdict {
  const webhook = seen.of(name);
  const { holdUntil } = webhook;
  const missed = notReached(webhook, seen);
  if (missed) return missed;
  if (holdUntil === undefined) return missing(`The run ended before ${name} returned 429.`);
  const early = sentAfter(429, delivered(webhook), webhook.wasWaiting).filter(({ at }) => at < holdUntil - transitMs);
  if (early.length > 0) {
    const first = Math.min(...early.map(({ at }) => at));
    return failed(
      `${count(early.length, 'request')} came before the end of Retry-After at ${name}, the first ` +
        `${((holdUntil - first) / 1_000).toFixed(1)} s too early.`,
    );
  }
  if (seen.endedAt < holdUntil && seen.endOf(webhook) === undefined) {
    return missing(`The run ended before Retry-After of ${name}. Give it a longer --timeout.`);
  }
  return passed('Nothing came before the end of Retry-After.');
}

/** Whether each of these requests has a signature by one of the keys of the sender. */
export function signed(requests: readonly Exchange[], { signatureFaults }: Seen, good: string): CaseVerdict {
  if (signatureFaults === undefined) return missing('Give the public keys of the sender with --jwks.');
  const faulty = requests.find((each) => signatureFaults.has(each));
  if (faulty === undefined) return passed(good);
  if (faulty.body.length === longestBody) return missing('The body is too long to be checked: send shorter events.');
  return failed(`${faulty.method}: ${signatureFaults.get(faulty)}`);
}
