import type { IncomingMessage } from 'node:http';
import { RegistryError } from '../errors.js';
import { DirectRequest, type TakePart } from './direct-request.js';

/**
 * Reads the body of a request. RegistryError `media_type_unsupported` at once for one that is encoded, and in place of
 * the body `body_too_large` for one of more bytes than the limit.
 */
export function readBody(request: IncomingMessage, limit: number, done: (body: Buffer | RegistryError) => void): void {
  if (isEncoded(request.rawHeaders)) {
    throw new RegistryError('media_type_unsupported', 'Send the body without a content encoding.');
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  const take: TakePart = (part) => {
    if (part === null) {
      if (bytes > limit) done(new RegistryError('body_too_large', `The body has more than ${limit} bytes.`));
      else done(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
      return;
    }
    bytes += part.length;
    // What is over the limit is read and forgotten, so that the caller gets the answer.
    if (bytes <= limit) parts.push(part);
    else parts.length = 0;
  };
  if (request instanceof DirectRequest && request.readDirectly(take)) return;
  request.on('data', take);
  request.on('end', () => take(null));
}

function isEncoded(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== 16 || name.toLowerCase() !== 'content-encoding') continue;
    const encoding = rawHeaders[at + 1] as string;
    if (encoding !== '' && encoding.toLowerCase() !== 'identity') return true;
  }
  return false;
}
