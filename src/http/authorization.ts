import type { IncomingMessage } from 'node:http';
import { RegistryError } from '../errors.js';

/** Of these a request has one line: Node keeps the first of two, and a proxy in front may have looked at the other. */
const unambiguous = ['host', 'authorization', 'content-type', 'if-match', 'idempotency-key'];
const lengths = Array.from({ length: 16 }, (_, length) => unambiguous.some((name) => name.length === length));

/**
 * `Authorization`, if the request has one. RegistryError `invalid_request` for two lines of what has one, and for none
 * of Host, which only HTTP/1.0 may leave out (RFC 9112, section 3.2).
 */
export function authorizationOf({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let authorization: string | undefined;
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // By their lengths nearly all others are told apart.
    if (name.length > 15 || !lengths[name.length]) continue;
    const place = unambiguous.indexOf(name.toLowerCase());
    if (place === -1) continue;
    if ((seen & (1 << place)) !== 0) {
      throw new RegistryError('invalid_request', 'A header stands in the request twice.', {
        faults: [{ pointer: `header/${unambiguous[place]}`, rule: 'header_repeated', detail: 'Send it once.' }],
      });
    }
    seen |= 1 << place;
    if (unambiguous[place] === 'authorization') authorization = rawHeaders[at + 1];
  }
  if ((seen & 1) === 0 && httpVersion !== '1.0') {
    throw new RegistryError('invalid_request', 'A request names its host.', {
      faults: [{ pointer: 'header/host', rule: 'required', detail: 'Send this header.' }],
    });
  }
  return authorization;
}
