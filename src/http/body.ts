import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { RegistryError, type Fault } from '../errors.js';
import { limits } from '../limits.js';
import { requestTexts } from '../texts/requests.js';
import type { Operation } from './contract.js';
import { findFaults, isObject, parseJson } from './json.js';

/**
 * Reads the bytes of a body. Throws RegistryError `media_type_unsupported` for an encoded one, and calls `done` with
 * `body_too_large` in place of the bytes if there are more than the limit. A body that breaks off is never done.
 */
export function readBody(request: IncomingMessage, limit: number, done: (body: Buffer | RegistryError) => void): void {
  if (isEncoded(request.rawHeaders)) {
    throw new RegistryError('media_type_unsupported', requestTexts.encoded);
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  const take: TakePart = (part) => {
    if (part === null) {
      if (bytes > limit) done(new RegistryError('body_too_large', requestTexts.bodyTooLarge(limit)));
      else done(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
      return;
    }
    bytes += part.length;
    // Bytes over the limit are read and dropped, so that the caller gets the answer.
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

/** Whether there may be a body that the operation reads. */
export function takesBody({ mediaTypes, isBodyOptional }: Operation, headers: IncomingHttpHeaders): boolean {
  return mediaTypes.length > 0 && (!isBodyOptional || mediaTypes.includes(mediaTypeOf(headers)));
}

function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The fields of a form, checked; of a repeated one the last. RegistryError `invalid_request`. */
function readForm(operation: Operation, bytes: Buffer): unknown {
  const fields = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
  const faults = operation.checkBody(fields);
  if (faults.length > 0) throw brokenBody(faults);
  return fields;
}

/**
 * A JSON body or a form, checked unless the handler checks its parts. Errors: `media_type_unsupported`,
 * `invalid_request`.
 */
export function parseBody(operation: Operation, headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  const mediaType = mediaTypeOf(headers);
  if (!operation.mediaTypes.includes(mediaType)) {
    throw new RegistryError('media_type_unsupported', requestTexts.mediaType(operation.mediaTypes));
  }
  if (mediaType === 'application/x-www-form-urlencoded') return readForm(operation, bytes);
  const json = parseJson(bytes);
  if ('faults' in json) throw brokenBody(json.faults);
  if (operation.isByPart) return json.value;
  const ofText = findFaults(bytes);
  const faults = ofText.length > 0 ? ofText : operation.checkBody(json.value);
  if (faults.length > 0) throw brokenBody(faults);
  return json.value;
}

export function brokenBody(faults: readonly Fault[]): RegistryError {
  return new RegistryError('invalid_request', requestTexts.brokenBody, { faults: faults.slice(0, limits.faults) });
}

/** The JSON merge patch (RFC 7396 section 2) of a value; neither is changed. What is null in the patch goes. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}

/** Is told each part of a body as it comes, and null at the end. */
export type TakePart = (part: Buffer | null) => void;

const ended: TakePart = () => undefined;

/**
 * A request that can be read past its stream: who reads a stream is told of each part, and of the end, in rounds of
 * their own, which takes as long as finding a grant.
 */
export class DirectRequest extends IncomingMessage {
  #take: TakePart | undefined;

  static {
    // Node lets go of a request once this is true. It is an accessor there too, whatever its type says.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: DirectRequest) {
        return this.#take === ended || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }

  /** Returns false if a part has come already: then it has to be read as a stream. */
  readDirectly(take: TakePart): boolean {
    if (this.complete || this.readableLength > 0) return false;
    this.#take = take;
    // Node throws away what nobody reads.
    this.read(0);
    return true;
  }

  /** Node's parser calls this with each part, and with null at the end. */
  override push(part: unknown, encoding?: BufferEncoding): boolean {
    const take = this.#take;
    if (take === undefined) return super.push(part, encoding);
    // A connection may be idle for long after this.
    if (part === null) this.#take = ended;
    take(part as Buffer | null);
    return true;
  }
}
