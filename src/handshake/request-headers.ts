import { createCallbackKey } from './callback-key.js';
import type { BegunAttempt, Question } from './handshake.js';

/**
 * What an attempt sends, and what is recorded of it: everything but the callback's key, of which only a hash is kept.
 */
export interface PreparedAttempt {
  headers: BegunAttempt['headers'];
  recorded: Array<[name: string, value: string]>;
  callbackKeyHash: Uint8Array | undefined;
}

/** Webhook specification, sections 4.1.2 to 4.1.4. No callback is offered where the registry has no public URL. */
export function prepareAttempt(
  handshake: string,
  question: Pick<Question, 'origin' | 'requestedRate'>,
  publicUrl: string | undefined,
): PreparedAttempt {
  const lines = (callback: string | undefined) => ({
    'WebHook-Request-Origin': question.origin,
    ...(callback === undefined ? {} : { 'WebHook-Request-Callback': callback }),
    ...(question.requestedRate === undefined ? {} : { 'WebHook-Request-Rate': String(question.requestedRate) }),
  });
  if (publicUrl === undefined) {
    const headers = lines(undefined);
    return { headers, recorded: Object.entries(headers), callbackKeyHash: undefined };
  }
  const address = `${publicUrl}/v1/callbacks/${handshake}?key=`;
  const { key, hash } = createCallbackKey();
  return {
    headers: lines(address + key),
    recorded: Object.entries(lines(`${address}[secret]`)),
    callbackKeyHash: hash,
  };
}
