import type { Finding } from '../case.js';
import { isFinding } from './consent-cases.js';
import { accepting, whyUnanswered } from './delivery-cases.js';
import {
  binary,
  isAccepted,
  newEvent,
  structured,
  whyUndecided,
  withToken,
  type Headers,
  type Session,
} from './session.js';
import type { TargetExchange } from './wire.js';

/** Of the wire, in bytes; `headBytes` of them are left to the head. */
const promisedBytes = 65_536;
const headBytes = 2_048;

const writtenOtherwise = [
  'Application/CloudEvents+JSON; Charset=UTF-8',
  'application/cloudevents+json',
  'application/cloudevents+json;charset="utf-8"',
];

interface Post {
  headers: Headers;
  body: string;
}

interface Expectation {
  /** What is sent, as it reads after "It accepts" and "got". */
  what: string;
  advice: string;
}

/** That each of these is accepted, after an event in the usual form was. */
async function accepts(session: Session, { what, advice }: Expectation, ...posts: Post[]): Promise<Finding> {
  const usual = await accepting(session);
  if (isFinding(usual)) return usual;
  const seen: TargetExchange[] = [];
  for (const { headers, body } of posts) {
    const exchange = await session.post(withToken(headers, session.settings.token), body);
    seen.push(exchange);
    const { answer, failure } = exchange;
    if (exchange.isDropped && !session.isLost(exchange)) {
      return session.failed(`${what} got no response: ${failure}. ${advice}`, usual, ...seen);
    }
    // A 401 or 403 is a refusal here: the usual event was let in.
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    if (!isAccepted(exchange)) return session.failed(`${what} got ${answer?.status}. ${advice}`, usual, ...seen);
  }
  return session.passed(`It accepts ${what.replace(/^An?/, (article) => article.toLowerCase())}.`, ...seen);
}

const structuredEvent = (more: Record<string, unknown>): Post => ({
  headers: structured,
  body: JSON.stringify({ ...newEvent(), ...more }),
});

/** Whether events in binary mode are accepted as they usually are. */
async function takesBinary(session: Session): Promise<boolean> {
  return !isFinding(await accepting(session)) && isAccepted(await session.binaryDelivery());
}

const unicode = 'Zoë paid 5 € in 東京 😀';

function largestEvent(): Post {
  const { body } = structuredEvent({ data: { message: '' } });
  return structuredEvent({ data: { message: 'a'.repeat(promisedBytes - headBytes - body.length) } });
}

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

  R41: (session: Session) =>
    accepts(
      session,
      { what: 'An event with an unknown attribute', advice: 'Ignore extension attributes that you do not know.' },
      structuredEvent({ conformancetest: 'unknown' }),
    ),

  R42: (session: Session) =>
    accepts(
      session,
      {
        what: 'An event without a time',
        advice: 'The attribute is optional: require only id, source, specversion, type.',
      },
      structuredEvent({ time: undefined }),
    ),

  R43: (session: Session) =>
    accepts(
      session,
      {
        what: 'An event with text beyond ASCII',
        advice: 'Read the body as UTF-8, and take every character of Unicode.',
      },
      structuredEvent({ subject: unicode, data: { message: unicode } }),
    ),

  async R44(session: Session) {
    const usual = await accepting(session);
    if (isFinding(usual)) return usual;
    if (!(await takesBinary(session))) {
      return session.notEvaluable('No event in binary mode is accepted. See R29.', await session.binaryDelivery());
    }
    const advice = 'Percent-decode the values of ce- headers, once, as UTF-8.';
    const what = 'An event with percent-encoding in ce-subject';
    return accepts(session, { what, advice }, binary({ ...newEvent(), subject: unicode }));
  },

  R45: (session: Session) =>
    accepts(
      session,
      { what: 'An event with data_base64', advice: 'Decode it: it stands in the place of data.' },
      structuredEvent({
        data: undefined,
        data_base64: Buffer.from(JSON.stringify(newEvent().data)).toString('base64'),
      }),
    ),

  async R46(session: Session) {
    const empty = { datacontenttype: undefined, data: undefined };
    return accepts(
      session,
      { what: 'An event without data', advice: 'Data is optional: the attributes can say it all.' },
      structuredEvent(empty),
      ...((await takesBinary(session)) ? [binary({ ...newEvent(), ...empty })] : []),
    );
  },

  R47: (session: Session) =>
    accepts(
      session,
      {
        what: 'An event of 64 KiB',
        advice: 'Raise the limit of the body, in the application and in what is in front of it.',
      },
      largestEvent(),
    ),

  R48(session: Session) {
    const event = structuredEvent({});
    const advice = 'A sender that missed your response sends the event again: return 2xx for what you already have.';
    return accepts(session, { what: 'An event that is delivered twice', advice }, event, event);
  },
};
