import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { RegistryError, type Fault } from '../../base/errors.js';
import { limits } from '../../base/limits.js';
import { refuseCodings } from '../../base/formats/transfer-coding.js';
import { requestTexts } from '../../base/texts/requests.js';
import type { Operation } from '../../base/contract/contract.js';
import { findFaults, isObject, parseJson } from '../../base/formats/json.js';

/**
 * Reads the bytes of a body. Throws RegistryError `media_type_unsupported` for an encoded one, and
 * `transfer_coding_unsupported` for one that Node decoded only in part. Calls `done` with `body_too_large` instead of the bytes if there are more than the limit; never calls it for an incomplete body.
 */
export function readBody(request: IncomingMessage, limit: number, done: (body: Buffer | RegistryError) => void): void {
  refuseCodings(request.rawHeaders);
  if (isEncoded(request.rawHeaders)) {
    const faults = [
      { pointer: 'header/content-encoding', rule: 'encoding_not_supported' as const, detail: requestTexts.encoded },
    ];
    throw new RegistryError('media_type_unsupported', requestTexts.encoded, { faults });
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
    // Bytes over the limit are read and dropped, so that the caller receives the response.
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

/** Whether the request may have a body that the operation reads. */
export function takesBody({ mediaTypes, isBodyOptional }: Operation, headers: IncomingHttpHeaders): boolean {
  return mediaTypes.length > 0 && (!isBodyOptional || mediaTypes.includes(mediaTypeOf(headers)));
}

function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Whether the media type is written as programs do. Cheaper than `mediaTypeOf`, which parses all headers. */
export function isPlainJson(rawHeaders: readonly string[]): boolean {
  let isJson = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 12 && name.toLowerCase() === 'content-type') isJson = rawHeaders[at + 1] === 'application/json';
  }
  return isJson;
}

/** The fields of a form, checked; a repeated field has its last value. RegistryError `invalid_request`. */
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
    const detail = requestTexts.mediaType(operation.mediaTypes);
    const faults = [{ pointer: 'header/content-type', rule: 'media_type_not_supported' as const, detail }];
    throw new RegistryError(operation.isAuthzen ? 'invalid_request' : 'media_type_unsupported', detail, { faults });
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

/** A value with a JSON merge patch (RFC 7396 section 2) applied; neither is modified. Null in the patch removes. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}

/** Receives each part of a body, and null at the end. */
type TakePart = (part: Buffer | null) => void;

const ended: TakePart = () => undefined;

/**
 * A request that can be read without its stream. A stream delivers each part and the end in separate ticks, which
 * takes as long as finding a grant.
 */
export class DirectRequest extends IncomingMessage {
  #take: TakePart | undefined;

  static {
    // Node releases a request when this is true. Despite its type, it is an accessor in Node too.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: DirectRequest) {
        return this.#take === ended || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }

  /** Returns false if a part has already arrived: then the request must be read as a stream. */
  readDirectly(take: TakePart): boolean {
    if (this.complete || this.readableLength > 0) return false;
    this.#take = take;
    // Without this, Node discards the body.
    this.read(0);
    return true;
  }

  /** Node's parser calls this with each part, and with null at the end. */
  override push(part: unknown, encoding?: BufferEncoding): boolean {
    const take = this.#take;
    if (take === undefined) return super.push(part, encoding);
    // Releases the body: the connection may stay idle for a long time.
    if (part === null) this.#take = ended;
    take(part as Buffer | null);
    return true;
  }
}
