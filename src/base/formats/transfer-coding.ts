import { RegistryError } from '../errors.js';
import { requestTexts } from '../texts/requests.js';

/**
 * Throws RegistryError `transfer_coding_unsupported` for a request of which Node undid only the last coding, `chunked`
 * (RFC 9112, section 6.1): its bytes are still encoded, and nobody would know.
 */
export function refuseCodings(rawHeaders: readonly string[]): void {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== 17 || name.toLowerCase() !== 'transfer-encoding') continue;
    if (/^[ \t]*chunked[ \t]*$/i.test(rawHeaders[at + 1] as string)) continue;
    throw new RegistryError('transfer_coding_unsupported', requestTexts.onlyChunked);
  }
}
