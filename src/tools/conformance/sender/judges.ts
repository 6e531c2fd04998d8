import type { SenderCaseId } from '../cases.js';
import { type Exchange, isAsking, linesOf, maxInAnyMinute, sentAfter } from './exchange.js';
import {
  afterCallback,
  asked,
  callFault,
  count,
  delivered,
  deliveryFault,
  eachRequest,
  events,
  failed,
  getsEvents,
  getsNothing,
  holdOf,
  missing,
  notAsked,
  notOffered,
  notReached,
  originFault,
  passed,
  rateFault,
  redirectOf,
  seconds,
  signed,
  worst,
  type Seen,
  type CaseVerdict,
} from './findings.js';
import type { Played } from './played.js';
import { lowRate, sharedRate } from './webhooks.js';

type Judge = (seen: Seen) => CaseVerdict;

const allOf = (id: SenderCaseId, seen: Seen) => seen.all.filter((webhook) => webhook.case === id);

const bothCalled = ({ calls }: Played): CaseVerdict =>
  calls.length < 2 ? missing('The run ended before the callback was called by GET.') : passed('GET and POST got 2xx.');

/** How each case is judged, from what was seen. */
export const judges: Record<SenderCaseId, Judge> = {
  S01(seen) {
    const webhook = seen.of('S01');
    const { host, pathname, search } = new URL(webhook.url);
    if (asked(webhook).length === 0) {
      const elsewhere = seen.stray.find(isAsking);
      if (elsewhere) return failed(`OPTIONS went to ${elsewhere.target} instead of the exact URI of the webhook.`);
      if (delivered(webhook).length > 0) return failed('Events came without a validation request.');
    }
    return eachRequest(
      'S01',
      seen,
      (request) => {
        if (request.scheme !== 'https') return 'OPTIONS came over http instead of https.';
        if (request.target !== pathname + search) {
          return `OPTIONS asked for ${request.target} instead of ${pathname + search}. Send path and query as they are.`;
        }
        const named = linesOf(request, 'host');
        return named[0]?.toLowerCase() === host ? undefined : `Host was ${named.join()} instead of ${host}.`;
      },
      'OPTIONS asked for the exact URI.',
    );
  },

  S02: (seen) => eachRequest('S02', seen, originFault, 'WebHook-Request-Origin is one DNS name.'),

  S03(seen) {
    const rates = asked(seen.of('S03')).flatMap((request) => linesOf(request, 'webhook-request-rate'));
    const good = rates.length === 0 ? 'No rate was requested.' : `The requested rate is ${rates[0]}.`;
    return eachRequest('S03', seen, rateFault, good);
  },

  S04: (seen) =>
    worst(
      [getsNothing(seen.of('S04'), seen)],
      'Neither a status nor Allow is consent: deliver only if WebHook-Allowed-Origin names the origin, or is *.',
    ),

  S05: (seen) =>
    worst(
      allOf('S05', seen).map((webhook) => getsNothing(webhook, seen)),
      'Compare WebHook-Allowed-Origin as a whole, without prefix, suffix or pattern.',
    ),

  S06: (seen) =>
    worst(
      allOf('S06', seen).map((webhook) => getsEvents(webhook, seen)),
      'The headers are the consent, and the status decides nothing.',
    ),

  S07: (seen) =>
    worst(
      [getsEvents(seen.of('S07'), seen)],
      'A * in WebHook-Allowed-Origin is consent for every origin, and in WebHook-Allowed-Rate no limit.',
    ),

  S08(seen) {
    const webhook = seen.of('S08');
    const got = delivered(webhook);
    const peak = maxInAnyMinute(got, seen.stallMs);
    const watched = `watched for ${seconds(seen.watchedMs)}`;
    if (peak > sharedRate) {
      return failed(
        `${peak} requests arrived in one minute (${watched}), and ${sharedRate} are allowed. ` +
          'The rate is for all instances of the sender together.',
      );
    }
    return notReached(webhook, seen) ?? passed(`At most ${count(peak, 'request')} in one minute, ${watched}.`);
  },

  S09(seen) {
    const webhook = seen.of('S09');
    const absent = notOffered(webhook, seen);
    if (absent) return absent;
    const calledAt = webhook.calls[0]?.at ?? 0;
    const early = delivered(webhook).filter(({ at }) => at < calledAt);
    if (early.length > 0) {
      return failed(
        `${events(early)} arrived before the callback was called. Without headers there is no consent yet.`,
      );
    }
    const requested = linesOf(asked(webhook)[0] as Exchange, 'webhook-request-rate')[0] ?? '';
    return afterCallback(webhook, seen, /^[1-9]\d*$/.test(requested) ? Number(requested) : undefined);
  },

  S10(seen) {
    const [post, both] = [seen.of('S10-post'), seen.of('S10-both')];
    const fault = callFault(both);
    return worst([
      notOffered(post, seen) ?? afterCallback(post, seen, lowRate),
      notOffered(both, seen) ?? (fault === undefined ? bothCalled(both) : failed(fault)),
    ]);
  },

  S11(seen) {
    const webhook = seen.of('S11');
    return notOffered(webhook, seen) ?? afterCallback(webhook, seen, undefined);
  },

  S12: (seen) =>
    worst([redirectOf('S12-options', seen), redirectOf('S12-post', seen)], 'Switch redirects off in the HTTP client.'),

  S13(seen) {
    const webhook = seen.of('S13');
    const got = delivered(webhook);
    const late = sentAfter(410, got, webhook.wasWaiting);
    if (late.length > 0) return failed(`${events(late)} arrived after a 410. The webhook is retired: stop delivering.`);
    if (got.length >= webhook.events) {
      return missing(`All ${events(got)} arrived before the response. The sender must send one after the other.`);
    }
    return notReached(webhook, seen) ?? passed(`Nothing arrived after the 410 within ${seconds(seen.watchedMs)}.`);
  },

  S14: (seen) =>
    worst([holdOf('S14-seconds', seen), holdOf('S14-date', seen)], 'Retry-After is a number of seconds or a date.'),

  S15(seen) {
    const webhook = seen.of('S15');
    const got = delivered(webhook);
    const origin = linesOf(asked(webhook)[0] ?? got[0] ?? noExchange, 'webhook-request-origin')[0] ?? '';
    const fault = got.map((each) => deliveryFault(each, origin, seen.profile)).find((each) => each !== undefined);
    if (fault !== undefined) return failed(fault);
    return notReached(webhook, seen) ?? passed(`${events(got)} arrived, as the text says.`);
  },

  S16(seen) {
    const webhook = seen.of('S16');
    return notAsked(webhook, seen) ?? signed(asked(webhook), seen, 'OPTIONS is signed.');
  },

  S17(seen) {
    const webhook = seen.of('S17');
    const got = delivered(webhook);
    return (
      notReached(webhook, seen) ?? signed(got, seen, `${events(got)} arrived, signed with the digest of the body.`)
    );
  },
};

const noExchange: Exchange = { at: 0, scheme: 'https', method: '', target: '', lines: [], body: Buffer.alloc(0) };
