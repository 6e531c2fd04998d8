/**
 * Bytes and texts, with what every JavaScript runtime has. Node's own functions are several times faster, so they are
 * used where they exist. They are not imported: edge runtimes have no such modules, and their bundlers refuse the names.
 */
interface NodeBytes {
  Buffer: typeof Buffer;
  isUtf8(bytes: Uint8Array): boolean;
}
interface NodeProcess {
  versions?: { node?: string };
  getBuiltinModule?(name: string): Partial<NodeBytes> | undefined;
}

// The edge runtime of Next has each function of `process`, as one that throws. It has no versions.
const { process: nodeProcess } = globalThis as { process?: NodeProcess };
const { Buffer: NodeBuffer, isUtf8: nodeIsUtf8 }: Partial<NodeBytes> =
  (nodeProcess?.versions?.node === undefined ? undefined : nodeProcess.getBuiltinModule?.('node:buffer')) ?? {};

// A byte order mark is a character like others: the caller knows whether it may stand there.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const asciiDecoder = new TextDecoder('latin1');
const encoder = new TextEncoder();

const bufferOf = (bytes: Uint8Array): Buffer =>
  NodeBuffer!.isBuffer(bytes) ? bytes : NodeBuffer!.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Whether the bytes are valid UTF-8. */
export const isUtf8: (bytes: Uint8Array) => boolean =
  nodeIsUtf8 ??
  ((bytes) => {
    try {
      strictDecoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  });

/** The text of bytes that are UTF-8. */
export const utf8Text: (bytes: Uint8Array, from?: number, to?: number) => string = NodeBuffer
  ? (bytes, from, to) => bufferOf(bytes).toString('utf8', from, to)
  : (bytes, from, to) => decoder.decode(bytes.subarray(from, to));

/** One character for each byte. Those of ASCII are right; which ones stand for the others is left open. */
export const asciiText: (bytes: Uint8Array, from?: number, to?: number) => string = NodeBuffer
  ? (bytes, from, to) => bufferOf(bytes).toString('latin1', from, to)
  : (bytes, from, to) => asciiDecoder.decode(bytes.subarray(from, to));

/** A copy of an ASCII text that does not keep the text in memory that it is a part of. */
export const copyOfAscii: (text: string) => string = NodeBuffer
  ? (text) => NodeBuffer.from(text, 'latin1').toString('latin1')
  : (text) => decoder.decode(encoder.encode(text));

export const utf8Bytes: (text: string) => Uint8Array<ArrayBuffer> = NodeBuffer
  ? (text) => NodeBuffer.from(text)
  : (text) => encoder.encode(text);

/** The bytes of canonical Base64 (RFC 4648, sections 3.1, 3.2 and 3.5); undefined for every other text. */
export const bytesOfBase64: (text: string) => Uint8Array | undefined = NodeBuffer
  ? (text) => {
      const bytes = NodeBuffer.from(text, 'base64');
      return bytes.toString('base64') === text ? bytes : undefined;
    }
  : (text) => {
      try {
        const decoded = atob(text);
        return btoa(decoded) === text ? Uint8Array.from(decoded, (character) => character.charCodeAt(0)) : undefined;
      } catch {
        return undefined;
      }
    };

/** `length` is that of all parts together. */
export function concatenate(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
