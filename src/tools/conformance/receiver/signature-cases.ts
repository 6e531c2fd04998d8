import { utf8Bytes } from '../../../base/formats/bytes.js';
import type { Finding } from '../case.js';
import { makeSigningKey, signatureOf, type SigningKey } from '../signing-key.js';
import { isAccepted, newEvent, structured, whyUndecided, withToken, type Session } from './session.js';
import type { TargetExchange, TargetRequest } from './wire.js';

/** Ten minutes. */
const longAgoSeconds = 600;

/** An event with a signature of its own. */
async function signedEvent(session: Session, key: SigningKey, now?: number): Promise<TargetRequest & { body: string }> {
  const { sink: url, token } = session.settings;
  const headers = [['WebHook-Request-Origin', session.origin] as const, ...withToken(structured, token)];
  const body = JSON.stringify(newEvent());
  const request = { method: 'POST', url, headers: Object.fromEntries(headers), body: utf8Bytes(body) } as const;
  const fields = await signatureOf(key, request, session.origin, now);
  return { method: 'POST', url, body, headers: [...headers, ...Object.entries(fields)] };
}

/** The key that the receiver knows, once it has accepted an event that the key signed. */
async function trusted(session: Session): Promise<{ key: SigningKey; exchange: TargetExchange } | Finding> {
  const { deliver, keys } = session.settings;
  const [key] = keys;
  if (key === undefined)
    return session.notEvaluable('The kit signs only with a private key of the origin: --key FILE.');
  if (!deliver) return session.notEvaluable('The kit posts events only with --deliver.');
  const exchange = await session.signedDelivery(async () => session.send(await signedEvent(session, key)));
  const undecided = whyUndecided(exchange);
  if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
  return { key, exchange };
}

/** That this request is refused, while one with a right signature is accepted. */
async function refuses(
  session: Session,
  what: string,
  advice: string,
  make: (key: SigningKey) => Promise<TargetRequest | Finding>,
): Promise<Finding> {
  const known = await trusted(session);
  if ('outcome' in known) return known;
  if (!isAccepted(known.exchange)) return session.notEvaluable('No signed event is accepted. See R34.', known.exchange);
  const request = await make(known.key);
  if ('outcome' in request) return request;
  const exchange = await session.send(request);
  const undecided = whyUndecided(exchange);
  if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
  return isAccepted(exchange)
    ? session.failed(`It accepts ${what}. ${advice}`, known.exchange, exchange)
    : session.passed(`It returned ${exchange.answer?.status}.`, exchange);
}

export const signatureCases = {
  async R34(session: Session): Promise<Finding> {
    const known = await trusted(session);
    if ('outcome' in known) return known;
    const { exchange, key } = known;
    if (isAccepted(exchange)) return session.passed('It accepts a signed event.', exchange);
    if (exchange.answer?.status === 403) {
      return session.notEvaluable('The receiver returned 403. Name an origin that it allows with --origin.', exchange);
    }
    const detail = `A signed event got ${exchange.answer?.status}. Does it know the key ${key.public.kid}, and its own URL? Does it need a --token?`;
    return session.failed(detail, exchange);
  },

  R35: (session: Session) =>
    refuses(
      session,
      'an event with another body than was signed',
      'Compare Content-Digest with the body.',
      async (key) => {
        const signed = await signedEvent(session, key);
        return { ...signed, body: JSON.stringify(newEvent()) };
      },
    ),

  R36: (session: Session) =>
    refuses(
      session,
      'a signature of ten minutes ago',
      'Refuse those older than five minutes, and after `expires`.',
      (key) => signedEvent(session, key, Math.floor(Date.now() / 1_000) - longAgoSeconds),
    ),

  R37: (session: Session) =>
    refuses(
      session,
      'a copy of an event that it has accepted',
      'Remember signatures for as long as they are valid.',
      async (key) => {
        const signed = await signedEvent(session, key);
        const first = await session.send(signed);
        // What did not arrive has no copy.
        return isAccepted(first) ? signed : session.notEvaluable('The first of the two was not accepted.', first);
      },
    ),

  R38: (session: Session) =>
    refuses(
      session,
      'an event that a key of another one signed',
      'Look the key up among those of the origin.',
      async () => signedEvent(session, await makeSigningKey()),
    ),

  async R39(session: Session): Promise<Finding> {
    const known = await trusted(session);
    if ('outcome' in known) return known;
    const [, ...others] = session.settings.keys;
    if (others.length === 0) return session.notEvaluable('Name a second key that is published, too: --key FILE.');
    if (!isAccepted(known.exchange))
      return session.notEvaluable('No signed event is accepted. See R34.', known.exchange);
    for (const key of others) {
      const exchange = await session.send(await signedEvent(session, key));
      const undecided = whyUndecided(exchange);
      if (undecided !== undefined) return session.notEvaluable(undecided, exchange);
      if (isAccepted(exchange)) continue;
      const detail = `The key ${key.public.kid} got ${exchange.answer?.status}, and another one is accepted. Accept all keys that the origin publishes.`;
      return session.failed(detail, known.exchange, exchange);
    }
    return session.passed('It accepts each of the keys.', known.exchange);
  },

  async R40(session: Session): Promise<Finding> {
    const { revokedKey } = session.settings;
    if (session.settings.keys.length > 0 && revokedKey === undefined) {
      return session.notEvaluable('Name a key that was revoked: --revoked-key FILE.');
    }
    return refuses(session, 'an event that a revoked key signed', 'Read the keys of the origin again.', () =>
      signedEvent(session, revokedKey!),
    );
  },
};
