import { isFinding } from './consent-cases.js';
import { accepting, whyUnanswered } from './delivery-cases.js';
import { isAccepted, newEvent, withToken, type Session } from './session.js';

const writtenOtherwise = [
  'Application/CloudEvents+JSON; Charset=UTF-8',
  'application/cloudevents+json',
  'application/cloudevents+json;charset="utf-8"',
];

export const eventCases = {
  async R28(session: Session) {
    const usual = await accepting(session);
    if (isFinding(usual)) return usual;
    for (const type of writtenOtherwise) {
      const headers = withToken([['Content-Type', type]], session.settings.token);
      const exchange = await session.post(headers, JSON.stringify(newEvent()));
      const unanswered = whyUnanswered(exchange, session);
      if (unanswered !== undefined) return session.notEvaluable(unanswered, exchange);
      if (!isAccepted(exchange)) {
        const detail = `With Content-Type ${type} it returned ${exchange.answer?.status}. Ignore the case of media types and of parameter names.`;
        return session.failed(detail, usual, exchange);
      }
    }
    return session.passed(`It accepts ${writtenOtherwise.join(', ')}.`, usual);
  },

  async R29(session: Session) {
    const usual = await accepting(session);
    if (isFinding(usual)) return usual;
    const exchange = await session.binaryDelivery();
    const unanswered = whyUnanswered(exchange, session);
    if (unanswered !== undefined) return session.notEvaluable(unanswered, exchange);
    if (isAccepted(exchange)) return session.passed('It accepts an event in binary mode.', exchange);
    const detail = `An event in binary mode got ${exchange.answer?.status}. The sender chooses the mode: accept events with ce- headers, too.`;
    return session.failed(detail, exchange);
  },

  async R30(session: Session) {
    const usual = await accepting(session);
    if (isFinding(usual)) return usual;
    const headers = withToken([['Content-Type', 'application/cloudevents-batch+json']], session.settings.token);
    const exchange = await session.post(headers, JSON.stringify([newEvent(), newEvent()]));
    const unanswered = whyUnanswered(exchange, session);
    if (unanswered !== undefined) return session.notEvaluable(unanswered, exchange);
    if (isAccepted(exchange)) return session.passed('It accepts a batch of two events.', exchange);
    return session.failed(
      `A batch of two events got ${exchange.answer?.status}. A sender may only use batches that were agreed on.`,
      exchange,
    );
  },
};
