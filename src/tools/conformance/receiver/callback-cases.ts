import { setImmediate as nextTurn } from 'node:timers/promises';
import { sleep } from '../../../base/until.js';
import { parseRate } from '../../../consent/rate.js';
import type { Finding } from '../case.js';
import type { ReceivedCallback, CallbackHost } from './callback-host.js';
import { changing } from './consent-cases.js';
import { consentOf, whyUndecided, type CallbackAttempt, type Session } from './session.js';
import { requestTargetOf, type TargetExchange } from './wire.js';

const noHost =
  'The receiver cannot reach a callback on this machine. Say with --callback-host where it can reach the kit.';

const seconds = (ms: number) => `${ms / 1_000} s`;

/** The calls, with the response to OPTIONS; or why there are none. */
async function called(session: Session): Promise<CallbackAttempt | Finding> {
  const attempt = await session.byCallback();
  if (attempt === undefined) return session.notEvaluable(noHost);
  const undecided = whyUndecided(attempt.exchange);
  if (undecided !== undefined) return session.notEvaluable(undecided, attempt.exchange);
  if (attempt.isCalled) return attempt;
  const isDecided = consentOf(attempt.exchange, session.origin) !== undefined;
  const why = isDecided ? 'It returned the headers, and called nothing.' : 'No callback was called. See R17.';
  return session.notEvaluable(why, attempt.exchange);
}

const isFinding = (value: CallbackAttempt | Finding): value is Finding => 'outcome' in value;

export const callbackCases = {
  async R17(session: Session) {
    const attempt = await session.byCallback();
    if (attempt === undefined) return session.notEvaluable(noHost);
    const { exchange, offer, isCalled } = attempt;
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    if (consentOf(exchange, session.origin) !== undefined) {
      return session.passed('The response has the headers, although a callback was offered.', exchange);
    }
    const methods = offer.calls.map(({ method }) => method);
    if (isCalled) {
      return methods.some((method) => method === 'GET' || method === 'POST')
        ? session.passed(`The callback was called by ${methods.join(', ')}.`, exchange, ...evidenceOf(offer.calls))
        : session.failed(`The callback was called by ${methods.join(', ')}. Use GET or POST.`, exchange);
    }
    const tlsFailure = session.settings.callbacks?.tlsFailure();
    if (tlsFailure !== undefined) {
      const detail = `The receiver does not trust the certificate of the callback (${tlsFailure}). Let it trust the authority of the kit: docs/conformance.md says how.`;
      return session.notEvaluable(detail, exchange);
    }
    const direct = await session.consent();
    if (consentOf(direct, session.origin) === undefined) {
      return session.notEvaluable('It gives no consent without a callback, either. See R01.', exchange, direct);
    }
    const detail = `With a callback there is no consent: no headers, and no call of it within ${seconds(session.settings.callMs)}. Return the headers, or call the URL. If the receiver refuses this URL, the kit needs another --callback-host.`;
    return (await changing(session)) ?? session.failed(detail, exchange);
  },

  async R18(session: Session) {
    const attempt = await called(session);
    if (isFinding(attempt)) return attempt;
    const evidence = [attempt.exchange, ...evidenceOf(attempt.offer.calls)];
    const rates = attempt.offer.calls.flatMap(({ headers }) =>
      headers.filter(([name]) => name.toLowerCase() === 'webhook-allowed-rate').map(([, value]) => value),
    );
    const wrong = rates.find((rate) => parseRate(rate) === undefined);
    if (wrong !== undefined) return session.failed(`WebHook-Allowed-Rate of the call is "${wrong}".`, ...evidence);
    return rates.length > 0
      ? session.passed(`The rate is ${rates[0]}.`, ...evidence)
      : session.failed(
          'The call has no WebHook-Allowed-Rate. Send one by POST, else the requested rate holds.',
          ...evidence,
        );
  },

  async R19(session: Session) {
    const attempt = await called(session);
    if (isFinding(attempt)) return attempt;
    const { exchange, offer } = attempt;
    const wrong = offer.calls.filter(({ target }) => target !== requestTargetOf(offer.url));
    return wrong.length === 0
      ? session.passed('Path and query are as they were offered.', exchange, ...evidenceOf(offer.calls))
      : session.failed(
          'Path or query differ from the offered URL. Call it as it is: decode, sort and drop nothing.',
          exchange,
          ...evidenceOf(wrong),
        );
  },

  async R20(session: Session) {
    const { callbacks } = session.settings;
    if (callbacks === undefined) return session.notEvaluable(noHost);
    const denied = await session.denied();
    const { deniedOrigin: name } = session;
    if (consentOf(denied, name) !== undefined) {
      return session.notEvaluable('It gives consent to any origin that asks, so there is none to deny.', denied);
    }
    const first = await session.byCallback();
    if (!session.isOriginNamed && first?.isCalled) {
      return session.notEvaluable('Say with --origin which origin it allows.', first.exchange);
    }
    const offer = session.offer(callbacks, schemeOf(first, callbacks));
    const exchange = await session.handshake({ origin: name, callback: offer.url });
    const undecided = whyUndecided(exchange);
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    return (await offer.called(session.settings.quietMs, session.settings.signal))
      ? session.failed(
          `The callback was called for ${name}, which is not allowed.`,
          exchange,
          ...evidenceOf(offer.calls),
        )
      : session.passed(`The callback was not called within ${seconds(session.settings.quietMs)}.`, exchange);
  },

  async R21(session: Session) {
    const attempt = await called(session);
    if (isFinding(attempt)) return attempt;
    const { callbacks, quietMs } = session.settings;
    if (callbacks === undefined) return session.notEvaluable(noHost);
    let isAnswered = false;
    let isLate = false;
    let release = () => {};
    const untilAnswered = new Promise<void>((resolve) => (release = resolve));
    const answered = new AbortController();
    const offer = session.offer(callbacks, schemeOf(attempt, callbacks), untilAnswered);
    const asking = session.handshake({ callback: offer.url }).finally(() => {
      isAnswered = true;
      answered.abort();
    });
    if (await offer.called(session.settings.timeoutMs, answered.signal)) {
      await sleep(quietMs, answered.signal);
      // After a pause of this machine, the response may have arrived and not be read.
      for (let turn = 0; turn < 20 && !isAnswered; turn += 1) await nextTurn();
      isLate = !isAnswered;
    }
    release();
    const exchange = await asking;
    const undecided = whyUndecided(exchange);
    if (isLate) {
      const detail = `OPTIONS had no response for ${seconds(quietMs)}, until the callback host responded. Respond first, then call.`;
      return session.failed(detail, exchange);
    }
    if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
    return session.passed(`The response to OPTIONS took ${exchange.duration} ms.`, exchange);
  },
};

/** As the target called before. */
function schemeOf(attempt: CallbackAttempt | undefined, callbacks: CallbackHost): 'https' | 'http' {
  if (attempt?.isCalled) return attempt.offer.url.startsWith('https:') ? 'https' : 'http';
  return callbacks.tlsFailure() === undefined ? 'https' : 'http';
}

/** A call is evidence, too: asked by the target, and answered by the kit. */
function evidenceOf(calls: readonly ReceivedCallback[]): TargetExchange[] {
  return calls.map(({ method, target, headers }) => ({
    asked: [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n'),
    answered: 'HTTP/1.1 200 OK\nContent-Length: 0',
    answer: undefined,
    failure: '',
    isDropped: false,
    duration: 0,
  }));
}
