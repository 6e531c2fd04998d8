import { parseRetryAfter } from '../../../consent/backoff.js';
import { parseRate } from '../../../consent/rate.js';
import type { Finding } from '../case.js';
import { consenting, isFinding } from './consent-cases.js';
import {
  consentOf,
  isAccepted,
  responseLinesOf,
  newEvent,
  structured,
  whyUndecided,
  withToken,
  type Session,
} from './session.js';
import type { TargetExchange } from './wire.js';

/** More than this is no test of a rate but of a machine. */
const highestRate = 1_200;
const atOnce = 20;
const enoughRefusals = 5;

const noDelivery = 'The kit posts events only with --deliver.';

/** Why the response to an event tells nothing about the case. */
export function whyUnanswered(exchange: TargetExchange, session: Session): string | undefined {
  const status = exchange.answer?.status;
  if (status === 401 || status === 403) {
    return session.settings.token === undefined
      ? `The receiver returned ${status}. Give it a token with --token.`
      : `The receiver returned ${status} for the token.`;
  }
  return whyUndecided(exchange);
}

export const deliveryCases = {
  async R22(session: Session) {
    if (!session.settings.deliver) return session.notEvaluable(noDelivery);
    const exchange = await session.delivery();
    const unanswered = whyUnanswered(exchange, session);
    if (unanswered !== undefined) return session.notEvaluable(unanswered, exchange);
    const { status, bodyBytes } = exchange.answer!;
    const hasType = responseLinesOf(exchange, 'content-type').length > 0;
    const seen = `The response is ${status} ${bodyBytes > 0 ? 'with' : 'without'} a body`;
    if (status === 202) return session.passed(`${seen}.`, exchange);
    if (bodyBytes > 0 && (status === 200 || status === 201)) {
      return hasType
        ? session.passed(`${seen} and a Content-Type.`, exchange)
        : session.failed(`${seen} and without a Content-Type. Set it.`, exchange);
    }
    if (bodyBytes === 0 && (status === 201 || status === 204)) return session.passed(`${seen}.`, exchange);
    const wanted = 'Return 200 or 201 with a body and its Content-Type, 201 or 204 without a body, or 202.';
    return session.failed(`${seen}. ${wanted}`, exchange);
  },

  async R23(session: Session) {
    if (!session.settings.deliver) return session.notEvaluable(noDelivery);
    const type: ReadonlyArray<readonly [string, string]> = [['Content-Type', 'application/vnd.assent.unknown']];
    const exchange = await session.post(withToken(type, session.settings.token), 'unknown');
    const unanswered = whyUnanswered(exchange, session);
    if (unanswered !== undefined) return session.notEvaluable(unanswered, exchange);
    const { status } = exchange.answer!;
    return status === 415
      ? session.passed('It returned 415.', exchange)
      : session.failed(`It returned ${status} for application/vnd.assent.unknown. Return 415.`, exchange);
  },

  async R24(session: Session) {
    if (!session.settings.burst || !session.settings.deliver) {
      return session.notEvaluable('The kit sends more than the allowed rate only with --burst and --deliver.');
    }
    const allowed = await consenting(session);
    if (isFinding(allowed)) return allowed;
    const rate = parseRate(responseLinesOf(allowed, 'webhook-allowed-rate')[0] ?? '');
    if (rate === undefined) return session.notEvaluable('There is no allowed rate. See R02 and R03.', allowed);
    if (rate === '*' || rate > highestRate) {
      const detail = `The allowed rate is ${rate}. The kit sends at most ${highestRate} and a fifth: try a lower --rate.`;
      return session.notEvaluable(detail, allowed);
    }
    const all = Math.ceil(rate * 1.2) + 1;
    const refused: TargetExchange[] = [];
    for (let sent = 0; sent < all && refused.length < enoughRefusals; sent += atOnce) {
      const batch = await Promise.all(
        Array.from({ length: Math.min(atOnce, all - sent) }, () =>
          session.post(withToken(structured, session.settings.token), JSON.stringify(newEvent()), { again: false }),
        ),
      );
      refused.push(...batch.filter((exchange) => !isAccepted(exchange) && !session.isLost(exchange)));
    }
    const shown = refused.slice(0, 3);
    if (refused.length === 0) {
      return session.notEvaluable(`It took ${all} events at once at an allowed rate of ${rate}: nothing was refused.`);
    }
    const silent = refused.find(({ answer }) => answer === undefined);
    if (silent !== undefined) {
      return session.failed(
        `Above the rate there is no response: ${silent.failure}. Return 429 with Retry-After.`,
        silent,
      );
    }
    const wrong = refused.find((exchange) => exchange.answer?.status !== 429);
    if (wrong !== undefined) {
      return session.failed(`Above the rate it returned ${wrong.answer?.status}. Return 429 with Retry-After.`, wrong);
    }
    const isTimed = (exchange: TargetExchange) =>
      parseRetryAfter(responseLinesOf(exchange, 'retry-after')[0], responseLinesOf(exchange, 'date')[0]) !== undefined;
    const bare = refused.find((exchange) => !isTimed(exchange));
    return bare === undefined
      ? session.passed(`The refusals are 429 with Retry-After.`, ...shown)
      : session.failed('A 429 has no valid Retry-After. Return the seconds to wait.', bare);
  },

  async R25(session: Session): Promise<Finding> {
    const { token, sink, profile } = session.settings;
    if (!session.settings.deliver) return session.notEvaluable(noDelivery);
    if (token === undefined) return session.notEvaluable('Name a token that the receiver accepts with --token.');
    const event = () => JSON.stringify(newEvent());
    const bare = await session.post(structured, event());
    const inHeader = await session.delivery();
    const undecided = whyUndecided(bare) ?? whyUndecided(inHeader);
    if (undecided !== undefined) return session.notEvaluable(undecided, bare, inHeader);
    if (isAccepted(bare)) return session.notEvaluable('It takes events without a token.', bare);
    const [path = ''] = sink.split('#');
    const url = `${path}${path.includes('?') ? '&' : '?'}access_token=${encodeURIComponent(token)}`;
    const inQuery = await session.post(structured, event(), { url });
    const open = whyUndecided(inQuery);
    if (open !== undefined) return session.notEvaluable(open, inQuery);
    if (!isAccepted(inHeader)) {
      const seen = `The token in Authorization gets ${inHeader.answer?.status}`;
      return isAccepted(inQuery)
        ? session.failed(`${seen}, and in the query it is accepted. Accept it in the header.`, inHeader, inQuery)
        : session.notEvaluable(`${seen}, and in the query ${inQuery.answer?.status}: is it valid?`, inHeader, inQuery);
    }
    if (profile === 'nl-gov') {
      return isAccepted(inQuery)
        ? session.failed('It accepts a token in the query, where logs keep it. The profile nl-gov forbids it.', inQuery)
        : session.passed('It accepts the token in the header only.', inHeader, inQuery);
    }
    return isAccepted(inQuery)
      ? session.passed('It accepts the token in both places.', inHeader, inQuery)
      : session.failed(
          `The token in access_token of the query gets ${inQuery.answer?.status}. Accept it there, too.`,
          inQuery,
        );
  },

  async R33(session: Session) {
    const usual = await accepting(session);
    if (isFinding(usual)) return usual;
    const { deniedOrigin: origin } = session;
    const denied = await session.denied();
    const undecided = whyUndecided(denied);
    if (undecided !== undefined) return session.notEvaluable(undecided, denied);
    if (consentOf(denied, origin) !== undefined) {
      return session.notEvaluable('It gives consent to any origin that asks.', denied);
    }
    const headers = withToken(structured, session.settings.token);
    const exchange = await session.post(headers, JSON.stringify(newEvent()), { origin });
    const open = whyUndecided(exchange);
    if (open !== undefined) return session.notEvaluable(open, exchange);
    if (!isAccepted(exchange)) return session.passed(`It returned ${exchange.answer?.status}.`, exchange);
    const detail = `It accepts an event of ${origin}, which has no consent. The name alone proves nothing, but you can refuse it with 403.`;
    return session.failed(detail, exchange);
  },
};

/** The response to an event in the usual form, if it is accepted; else why the case cannot be evaluated. */
export async function accepting(session: Session): Promise<TargetExchange | Finding> {
  if (!session.settings.deliver) return session.notEvaluable(noDelivery);
  const exchange = await session.delivery();
  const unanswered = whyUnanswered(exchange, session);
  if (unanswered !== undefined) return session.notEvaluable(unanswered, exchange);
  return isAccepted(exchange) ? exchange : session.notEvaluable('No event is accepted. See R22.', exchange);
}
