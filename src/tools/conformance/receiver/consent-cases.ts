import { advise, verdicts } from '../../../consent/verdicts.js';
import { parseRate } from '../../../consent/rate.js';
import { textIn } from '../../../base/texts/text.js';
import type { Finding } from '../case.js';
import {
  consentOf,
  hasWebhookHeaders,
  judgementOf,
  responseLinesOf,
  whyUndecided,
  type Headers,
  type Session,
} from './session.js';
import type { TargetExchange } from './wire.js';

const nothingAllowed = 'The origin that was asked for gets no consent in the response to OPTIONS. See R01.';

/** The response to the allowed origin, if it consents; else why the case cannot be evaluated. */
export async function consenting(session: Session): Promise<TargetExchange | Finding> {
  const exchange = await session.consent();
  const undecided = whyUndecided(exchange);
  if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
  return consentOf(exchange, session.origin) === undefined ? session.notEvaluable(nothingAllowed, exchange) : exchange;
}

export const isFinding = (value: TargetExchange | Finding): value is Finding => 'outcome' in value;

/** What was seen and what to change, in the words of the registry. */
function explain(exchange: TargetExchange, session: Session): string {
  const { verdict } = judgementOf(exchange, session.origin, session.settings.rate);
  const facts = {
    origin: session.origin,
    allowedOrigin: responseLinesOf(exchange, 'webhook-allowed-origin').join(', '),
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
    return session.failed(explain(exchange, session), exchange);
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
      return session.failed('Without WebHook-Request-Rate there is no consent. Answer such requests, too.', exchange);
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

  R08: (session: Session) => deny(session, [`${session.origin}.attacker.test`]),

  R09: (session: Session) => deny(session, [`x${session.origin}`, `a.${session.origin}`]),

  async R10(session: Session) {
    const preflight = await session.send({ method: 'OPTIONS', url: session.settings.sink, headers: corsHeaders });
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
      'A request that is a CORS preflight and a handshake gets no consent: a CORS layer answers first. Let the handshake answer requests with WebHook-Request-Origin.';
    return session.failed(detail, exchange);
  },

  async R12(session: Session) {
    const exchange = await session.consent();
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    const attempt = hasWebhookHeaders(exchange) ? undefined : await session.byCallback();
    if (hasWebhookHeaders(exchange) || attempt?.isCalled || (attempt && hasWebhookHeaders(attempt.exchange))) {
      return session.notEvaluable('The receiver does the handshake.', exchange);
    }
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

/** `others` are near misses; without them, it is about a name that has nothing in common with the allowed one. */
async function deny(session: Session, others: readonly string[]): Promise<Finding> {
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
  for (const origin of others) {
    const exchange = await session.handshake({ origin });
    asked.push(exchange);
    const open = whyUndecided(exchange);
    if (open !== undefined) return session.notEvaluable(open, exchange);
    if (consentOf(exchange, origin) !== undefined) {
      const detail = `${origin} gets consent, because it contains ${session.origin}. Compare the whole name.`;
      return session.failed(detail, exchange);
    }
  }
  return session.passed(`${others.join(' and ')}: no consent.`, ...asked);
}
