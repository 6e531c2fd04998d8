/** The value of each character of the alphabet (RFC 4648, section 4), 64 for all others. */
const values = new Uint8Array(128).fill(64);
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  values[character.charCodeAt(0)] = value;
}

/**
 * How many bytes a Base64 text stands for; undefined when it is none. Strict: the standard alphabet, padded, without
 * line breaks, and with the unused bits zero as encoders must leave them (RFC 4648, sections 3.1, 3.2, 3.5), because
 * texts that decoders read differently do not belong into a registry.
 */
export function base64Bytes(text: string): number | undefined {
  const { length } = text;
  if (length % 4 !== 0) return undefined;
  if (length === 0) return 0;
  const padding = text.charCodeAt(length - 1) !== 0x3d ? 0 : text.charCodeAt(length - 2) !== 0x3d ? 1 : 2;
  const end = length - padding;
  let last = 0;
  for (let at = 0; at < end; at += 1) {
    last = values[text.charCodeAt(at)] ?? 64;
    if (last === 64) return undefined;
  }
  if (padding === 1 && (last & 0b11) !== 0) return undefined;
  if (padding === 2 && (last & 0b1111) !== 0) return undefined;
  return (length / 4) * 3 - padding;
}
