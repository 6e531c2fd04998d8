import { advise, verdicts } from '../../../consent/verdicts.js';
import { parseRate } from '../../../consent/rate.js';
import { textIn } from '../../../base/texts/text.js';
import type { Finding } from '../case.js';
import {
  consentOf,
  frontIn,
  hasWebhookHeaders,
  judgementOf,
  responseLinesOf,
  whyUndecided,
  type Handshake,
  type Headers,
  type Session,
} from './session.js';
import type { TargetExchange } from './wire.js';

export const nothingAllowed = 'The origin that was asked for gets no consent in the response to OPTIONS. See R01.';

const lostCallback =
  'The request with a callback got no response, and the receiver closes some connections without one.';

/** The response to the allowed origin, if it consents; else why the case cannot be evaluated. */
export async function consenting(session: Session): Promise<TargetExchange | Finding> {
  const exchange = await session.consent();
  const undecided = whyUndecided(exchange);
  if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
  return consentOf(exchange, session.origin) === undefined ? session.notEvaluable(nothingAllowed, exchange) : exchange;
}

/** Why a difference says nothing about a request: the receiver changes its mind on the same one. */
export async function changing(session: Session): Promise<Finding | undefined> {
  const two = await session.twoAnswers();
  return two && session.notEvaluable('The same request gets different responses. See R32.', two.first, two.other);
}

export const isFinding = (value: TargetExchange | Finding): value is Finding => 'outcome' in value;

/** What was seen and what to change, in the words of the registry. */
function explain(exchange: TargetExchange, session: Session): string {
  const { verdict } = judgementOf(exchange, session.origin, session.settings.rate);
  const facts = {
    origin: session.origin,
    allowedOrigin: responseLinesOf(exchange, 'webhook-allowed-origin').join(', '),
    front: frontIn(exchange),
  };
  const advice = advise(verdict, facts, 'en') ?? '';
  return `${textIn(verdicts[verdict].title, 'en')} ${advice}`.trim();
}

export const consentCases = {
  async R01(session: Session) {
    const exchange = await session.consent();
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    const allowed = consentOf(exchange, session.origin);
    if (session.settings.expect === 'refusal') return refusal(session, exchange);
    if (allowed !== undefined) return session.passed(`It allows ${allowed}.`, exchange);
    if (!session.isOriginNamed) {
      return session.notEvaluable(
        `It does not allow ${session.origin}. Name an origin that it allows with --origin.`,
        exchange,
      );
    }
    const attempt = await session.byCallback();
    if (attempt?.isCalled) {
      const detail = 'It gives no consent in its response, but by the callback. See R17 to R20.';
      return session.notEvaluable(detail, exchange, attempt.exchange);
    }
    if (attempt && session.isLost(attempt.exchange)) return session.notEvaluable(lostCallback, attempt.exchange);
    return (await changing(session)) ?? session.failed(explain(exchange, session), exchange);
  },

  async R02(session: Session) {
    const exchange = await consenting(session);
    if (isFinding(exchange)) return exchange;
    const [rate] = responseLinesOf(exchange, 'webhook-allowed-rate');
    if (rate !== undefined) return session.passed(`The rate is ${rate}.`, exchange);
    const detail = `WebHook-Request-Rate was ${session.settings.rate}, and there is no WebHook-Allowed-Rate. Return one.`;
    return session.failed(detail, exchange);
  },

  async R03(session: Session) {
    const exchange = await consenting(session);
    if (isFinding(exchange)) return exchange;
    const lines = responseLinesOf(exchange, 'webhook-allowed-rate');
    const [rate] = lines;
    if (rate === undefined) return session.notEvaluable('There is no WebHook-Allowed-Rate. See R02.', exchange);
    if (lines.length === 1 && parseRate(rate) !== undefined) return session.passed(`The rate is ${rate}.`, exchange);
    const wanted = 'Return one line with * or a positive integer, without sign, fraction or unit.';
    return session.failed(
      `WebHook-Allowed-Rate is ${lines.map((line) => `"${line}"`).join(' and ')}. ${wanted}`,
      exchange,
    );
  },

  async R04(session: Session) {
    const allowed = await consenting(session);
    if (isFinding(allowed)) return allowed;
    const exchange = await session.handshake({ rate: undefined });
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    if (consentOf(exchange, session.origin) === undefined) {
      const detail = 'Without WebHook-Request-Rate there is no consent. Give consent to such requests, too.';
      return (await changing(session)) ?? session.failed(detail, exchange);
    }
    const [rate] = responseLinesOf(exchange, 'webhook-allowed-rate');
    if (rate !== undefined) return session.passed(`The rate is ${rate}.`, exchange);
    return session.failed('There is no WebHook-Allowed-Rate, so the sender has to guess. Return one.', exchange);
  },

  async R05(session: Session) {
    const exchange = await consenting(session);
    if (isFinding(exchange)) return exchange;
    const lines = responseLinesOf(exchange, 'allow');
    const methods = lines.flatMap((line) => line.split(',')).map((method) => method.trim());
    if (methods.includes('POST')) return session.passed(`Allow is ${lines.join(', ')}.`, exchange);
    const seen = lines.length === 0 ? 'There is no Allow.' : `Allow is ${lines.join(', ')}.`;
    return session.failed(`${seen} Return "Allow: POST, OPTIONS".`, exchange);
  },

  async R06(session: Session) {
    const exchange = await session.consent();
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    const values = responseLinesOf(exchange, 'webhook-allowed-origin').flatMap((line) => line.split(','));
    const isEchoed = responseLinesOf(exchange, 'webhook-request-origin').length > 0;
    if (isEchoed) {
      const detail = 'The response has WebHook-Request-Origin. Only the sender sets it: remove it from the response.';
      return session.failed(detail, exchange);
    }
    if (values.length > 1) {
      const detail = `WebHook-Allowed-Origin has ${values.length} values. Return only the origin that asks, or *.`;
      return session.failed(detail, exchange);
    }
    return values.length === 1
      ? session.passed('It is one line with one value.', exchange)
      : session.notEvaluable(nothingAllowed, exchange);
  },

  R07: (session: Session) => deny(session, []),

  R08: (session: Session) =>
    deny(session, nearMisses(session, [`${session.origin}.attacker.test`, `${session.origin}:8443`])),

  R09: (session: Session) => deny(session, nearMisses(session, [`x${session.origin}`, `a.${session.origin}`])),

  async R26(session: Session) {
    const { origin } = session;
    const dots = [...new Set([origin.indexOf('.'), origin.lastIndexOf('.')])].filter((at) => at >= 0);
    if (dots.length === 0) return session.notEvaluable(`${origin} has no dot.`);
    const names = dots.map((at) => `${origin.slice(0, at)}x${origin.slice(at + 1)}`);
    return deny(
      session,
      nearMisses(session, names, 'A dot stands for itself: escape it in a pattern, or compare the text.'),
    );
  },

  R27(session: Session) {
    const { sink, callbacks } = session.settings;
    const advice = 'Whether an origin is allowed depends on its name alone.';
    const denied = session.deniedOrigin;
    const offered = callbacks && session.offer(callbacks, 'https').url;
    const ways: Array<[string, Handshake]> = [
      ['with another query in the URL', { url: `${sink}${sink.includes('?') ? '&' : '?'}conformance=1` }],
      ['without a rate', { rate: undefined }],
      ['with its header names in lower case', { named: (name) => name.toLowerCase() }],
      ['as a CORS preflight', { more: corsHeaders }],
      [`with ${session.origin} in Origin and Referer`, { more: nameElsewhere(session) }],
      ...(offered === undefined ? [] : [['with a callback', { callback: offered }] as [string, Handshake]]),
    ];
    const asked = ways.map(([way, asks]) => ({
      asks: { ...asks, origin: denied },
      name: `${denied}, ${way},`,
      advice,
    }));
    // Let in during development, by name, and never taken out.
    const local = { name: `${denied}.localhost`, asks: { origin: `${denied}.localhost` }, advice };
    return deny(session, [...asked, local]);
  },

  async R31(session: Session) {
    const exchange = await consenting(session);
    if (isFinding(exchange)) return exchange;
    const rate = parseRate(responseLinesOf(exchange, 'webhook-allowed-rate')[0] ?? '');
    if (rate === undefined) return session.notEvaluable('There is no allowed rate. See R02 and R03.', exchange);
    const asked = session.settings.rate;
    if (rate === '*' || rate <= asked)
      return session.passed(`${asked} a minute were requested, ${rate} are allowed.`, exchange);
    const detail = `${asked} a minute were requested, and ${rate} are allowed. Rates are per minute: is it meant so?`;
    return session.failed(detail, exchange);
  },

  async R10(session: Session) {
    const headers = [...nameElsewhere(session), ...corsHeaders.slice(1)];
    const preflight = await session.send({ method: 'OPTIONS', url: session.settings.sink, headers });
    const undecided = whyUndecided(preflight);
    if (undecided !== undefined) return session.notEvaluable(undecided, preflight);
    const [allowed] = responseLinesOf(preflight, 'webhook-allowed-origin');
    if (allowed === undefined) return session.passed('The response has no WebHook-Allowed-Origin.', preflight);
    const detail = `Nobody asked for consent, and WebHook-Allowed-Origin is ${allowed}. Return it only if WebHook-Request-Origin is there.`;
    return session.failed(detail, preflight);
  },

  async R11(session: Session) {
    const allowed = await consenting(session);
    if (isFinding(allowed)) return allowed;
    const exchange = await session.handshake({ more: corsHeaders });
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    if (consentOf(exchange, session.origin) !== undefined) {
      const hasCors = responseLinesOf(exchange, 'access-control-allow-origin').length > 0;
      return session.passed(`A request with both gets consent${hasCors ? ' and CORS headers' : ''}.`, exchange);
    }
    const detail =
      'A request that is a CORS preflight and a handshake gets no consent: a CORS layer responds first. Let the handshake handle requests with WebHook-Request-Origin.';
    return (await changing(session)) ?? session.failed(detail, exchange);
  },

  async R12(session: Session) {
    const exchange = await session.consent();
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    const attempt = hasWebhookHeaders(exchange) ? undefined : await session.byCallback();
    if (hasWebhookHeaders(exchange) || attempt?.isCalled || (attempt && hasWebhookHeaders(attempt.exchange))) {
      return session.notEvaluable('The receiver does the handshake.', exchange);
    }
    if (attempt && session.isLost(attempt.exchange)) return session.notEvaluable(lostCallback, attempt.exchange);
    const status = exchange.answer?.status;
    if (status === 405) return session.passed('It has no WebHook header, and returns 405.', exchange);
    const detail = `No WebHook header came back, and the status is ${status}. A receiver that does the handshake: name an origin that it allows with --origin. One that does not: return 405.`;
    return session.failed(detail, exchange);
  },
};

const corsHeaders: Headers = [
  ['Origin', 'https://browser.example.com'],
  ['Access-Control-Request-Method', 'POST'],
  ['Access-Control-Request-Headers', 'content-type'],
];

/** The allowed origin where it says nothing. */
const nameElsewhere = ({ origin }: Session): Headers => [
  ['Origin', `https://${origin}`],
  ['Referer', `https://${origin}/`],
];

/** With --expect refusal. */
async function refusal(session: Session, exchange: TargetExchange): Promise<Finding> {
  const { origin } = session;
  const attempt = await session.byCallback();
  const isGiven = consentOf(exchange, origin) !== undefined || session.seenConsent() === 'seen';
  if (!isGiven) return session.notEvaluable(`${origin} gets no consent, as expected.`, exchange);
  const by =
    consentOf(exchange, origin) === undefined ? [exchange, ...(attempt ? [attempt.exchange] : [])] : [exchange];
  return session.failed(`${origin} gets consent, and --expect refusal says that it must not.`, ...by);
}

interface Denied {
  asks: Handshake;
  /** What got consent, if it does. */
  name: string;
  advice: string;
}

const nearMisses = ({ origin }: Session, names: readonly string[], advice = 'Compare the whole name.'): Denied[] =>
  names.map((name) => ({ asks: { origin: name }, name: `${name}, which is not ${origin},`, advice }));

/** Whoever asks is not allowed. Without `others`, it is about a name that has nothing in common with the allowed one. */
async function deny(session: Session, others: readonly Denied[]): Promise<Finding> {
  const allowed = await consenting(session);
  if (isFinding(allowed)) return allowed;
  if (consentOf(allowed, session.origin) === '*') {
    return session.notEvaluable('It allows every origin with *, so there is none to deny.', allowed);
  }
  const denied = await session.denied();
  const { deniedOrigin: deniedName } = session;
  const undecided = whyUndecided(denied);
  if (undecided !== undefined) return session.notEvaluable(undecided, denied);
  const isEveryone = consentOf(denied, deniedName) !== undefined;
  if (isEveryone && !session.isOriginNamed) {
    const detail = `It gives consent to any origin that asks, ${deniedName} too. If only some are allowed, name one with --origin.`;
    return session.notEvaluable(detail, allowed, denied);
  }
  if (others.length === 0) {
    return isEveryone
      ? session.failed(`${deniedName} gets consent. Compare the origin with those that you allow.`, denied)
      : session.passed(`${deniedName} gets no consent.`, denied);
  }
  if (isEveryone) return session.notEvaluable('It gives consent to any origin that asks. See R07.', denied);

  const asked: TargetExchange[] = [];
  for (const { asks, name, advice } of others) {
    const exchange = await session.handshake(asks);
    asked.push(exchange);
    const open = whyUndecided(exchange);
    if (open !== undefined) return session.notEvaluable(open, exchange);
    if (consentOf(exchange, asks.origin ?? session.origin) !== undefined) {
      return session.failed(`${name} gets consent. ${advice}`, exchange);
    }
  }
  return session.passed(`${asked.length} requests got no consent.`, ...asked);
}
