import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from 'node:zlib';

/** Sent with every request for a document. Buckets and caches that hold only a compressed copy send it all the same. */
export const withoutCoding = { 'Accept-Encoding': 'identity' };

/** Without its content codings, or why not: as a code (read-document.ts), and in English. */
export type Decoded = { ok: true; body: Buffer } | { ok: false; code: string; detail: string };

type Decoder = (body: InputType, options: ZlibOptions, done: (error: Error | null, plain: Buffer) => void) => void;
const decoders = new Map<string, Decoder>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
]);
const maxCodings = 2;

/**
 * A document as it was before the server compressed it (RFC 9110, section 8.4). Unpacks at most `maxBytes`, however large
 * the document would become. `contentEncoding` is the header.
 */
export async function decode(body: Buffer, contentEncoding: string | undefined, maxBytes: number): Promise<Decoded> {
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity');
  const unknown = codings.find((each) => !decoders.has(each)) ?? codings[maxCodings];
  if (unknown !== undefined) {
    const name = /^[a-z0-9-]{1,20}$/.test(unknown) ? unknown : 'unknown';
    const detail = `The document has a content coding that Assent does not read (Content-Encoding: ${name}).`;
    return { ok: false, code: `content_encoding_${name}`, detail };
  }
  try {
    let plain = body;
    for (const coding of codings.reverse()) plain = await unpack(decoders.get(coding)!, plain, maxBytes);
    return { ok: true, body: plain };
  } catch {
    const detail = `The document cannot be unpacked into ${maxBytes} bytes (Content-Encoding: ${codings.join(', ')}).`;
    return { ok: false, code: 'body_unusable', detail };
  }
}

const unpack = (decoder: Decoder, body: Buffer, maxOutputLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    decoder(body, { maxOutputLength }, (error, plain) => (error === null ? resolve(plain) : reject(error))),
  );
