import { randomBytes } from 'node:crypto';
import type { Finding } from '../case.js';
import { changing, consenting, isFinding, nothingAllowed } from './consent-cases.js';
import { consentOf, meaningOf, newEvent, structured, whyUndecided, withToken, type Session } from './session.js';
import type { TargetExchange } from './wire.js';

const maxMs = 10_000;

/** Failed, unless the response is missing because the receiver loses connections. */
function unlessLost(session: Session, exchange: TargetExchange, detail: string, ...before: TargetExchange[]): Finding {
  return session.isLost(exchange)
    ? session.notEvaluable(`The receiver closes some connections without a response: ${exchange.failure}.`, exchange)
    : session.failed(detail, ...before, exchange);
}

export const requestCases = {
  async R13(session: Session) {
    const exchange = await session.consent();
    if (exchange.answer === undefined)
      return session.notEvaluable(`The receiver did not respond: ${exchange.failure}.`, exchange);
    const isRedirect = ({ answer }: TargetExchange) =>
      answer !== undefined && answer.status >= 300 && answer.status < 400;
    const advice = 'Senders must not follow redirects: give them the final URL.';
    if (isRedirect(exchange))
      return session.failed(`OPTIONS is redirected with ${exchange.answer.status}. ${advice}`, exchange);
    if (!session.settings.deliver)
      return session.passed('OPTIONS is not redirected. POST was not tried: --deliver does.', exchange);
    const delivery = await session.delivery();
    if (delivery.answer === undefined) {
      return session.notEvaluable(`There is no response to POST: ${delivery.failure}.`, delivery);
    }
    return isRedirect(delivery)
      ? session.failed(`POST is redirected with ${delivery.answer.status}. ${advice}`, delivery)
      : session.passed('Neither is redirected.', exchange, delivery);
  },

  async R14(session: Session) {
    const allowed = await consenting(session);
    if (isFinding(allowed)) return allowed;
    const url = new URL(`/not-a-webhook-${randomBytes(4).toString('hex')}`, session.settings.sink).href;
    const other = await session.handshake({ url });
    const path = new URL(url).pathname;
    if (session.isLost(other)) return session.notEvaluable(`${path} gets no response: ${other.failure}.`, other);
    if (other.answer === undefined || consentOf(other, session.origin) === undefined) {
      return session.passed(`${path} of the same host gives no consent.`, other);
    }
    if (!session.settings.deliver) {
      const detail = `${path} of the same host gives consent, too. With --deliver the kit can see whether it takes events there.`;
      return session.notEvaluable(detail, other);
    }
    const event = JSON.stringify(newEvent());
    const posted = await session.post(withToken(structured, session.settings.token), event, { url });
    const status = posted.answer?.status ?? 0;
    if (status >= 200 && status < 300) {
      return session.passed(
        `${path} of the same host gives consent, and takes events: every path is a webhook.`,
        other,
        posted,
      );
    }
    if (status !== 404 && status !== 405) {
      return session.notEvaluable(
        `${path} gives consent, and POST there gets ${status || 'no response'}.`,
        other,
        posted,
      );
    }
    const detail = `${path} gives consent, but takes no events (${status}). Give consent at the path of the webhook only.`;
    return session.failed(detail, other, posted);
  },

  async R15(session: Session) {
    const allowed = await consenting(session);
    if (isFinding(allowed)) return allowed;
    const variants = {
      'header names in lower case': { named: (name: string) => name.toLowerCase() },
      'header names in upper case': { named: (name: string) => name.toUpperCase() },
      'Transfer-Encoding: chunked': { framing: 'chunked' },
      'Content-Length: 0': { framing: 'length' },
    } as const;
    for (const [name, variant] of Object.entries(variants)) {
      const exchange = await session.handshake(variant);
      const undecided = whyUndecided(exchange);
      if (undecided !== undefined && exchange.answer !== undefined) return session.notEvaluable(undecided, exchange);
      if (meaningOf(exchange, session) !== meaningOf(allowed, session)) {
        const detail = `With ${name} the response differs. HTTP gives it no meaning: ignore it.`;
        return (await changing(session)) ?? unlessLost(session, exchange, detail, allowed);
      }
    }
    return session.passed(`The same response with ${Object.keys(variants).join(', ')}.`, allowed);
  },

  async R16(session: Session) {
    const allowed = await consenting(session);
    if (isFinding(allowed)) return allowed;
    const all = await Promise.all(Array.from({ length: 10 }, () => session.handshake({ again: false })));
    const silent = all.find(({ answer }) => answer === undefined);
    if (silent !== undefined) {
      const detail = `Of ten at once, one got no response: ${silent.failure}.`;
      return (await changing(session)) ?? unlessLost(session, silent, detail);
    }
    const slow = all.find(({ duration }) => duration > maxMs);
    if (slow !== undefined) return session.failed(`Of ten at once, one took ${slow.duration} ms.`, slow);
    const other = all.find((exchange) => meaningOf(exchange, session) !== meaningOf(allowed, session));
    if (other !== undefined) {
      return (await changing(session)) ?? session.failed('Of ten at once, one got another response.', allowed, other);
    }
    return session.passed(`The slowest took ${Math.max(...all.map(({ duration }) => duration))} ms.`, allowed);
  },

  async R32(session: Session) {
    const first = await session.consent();
    const undecided = whyUndecided(first);
    if (undecided !== undefined) return session.notEvaluable(undecided, first);
    const two = await session.twoAnswers();
    if (two !== undefined) {
      const detail =
        'The same request got another status, consent or rate. A sender asks again before the consent ends: decide by the request alone.';
      return session.failed(detail, two.first, two.other);
    }
    return consentOf(first, session.origin) === undefined
      ? session.notEvaluable(nothingAllowed, first)
      : session.passed('It is the same each time.', first);
  },
};
