/**
 * The value of an attribute from its header: quoted strings are opened, then one round of percent-decoding (HTTP
 * binding, section 3.1.3.2). Undefined when it holds anything but visible ASCII and inner spaces, an open quote, half
 * an encoded byte, or bytes that are no UTF-8.
 */
export function decodeHeaderValue(value: string): string | undefined {
  let isPlain = true;
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (!(code >= 0x20 && code < 0x7f)) return undefined;
    if (code === 0x22 || code === 0x25) isPlain = false;
  }
  if (isPlain) return value;
  const unquoted = value.includes('"') ? unquote(value) : value;
  if (unquoted === undefined || !unquoted.includes('%')) return unquoted;
  try {
    // ECMAScript refuses the same: half an encoded byte, overlong forms, surrogates and everything past U+10FFFF.
    return decodeURIComponent(unquoted);
  } catch {
    return undefined;
  }
}

/** Older senders quote, in whole or in part; a backslash escapes only inside of quotes (RFC 7230, section 3.2.6). */
function unquote(value: string): string | undefined {
  let result = '';
  let isInside = false;
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at] as string;
    if (character === '"') isInside = !isInside;
    else if (character === '\\' && isInside) {
      at += 1;
      result += value[at] ?? '';
    } else result += character;
  }
  return isInside ? undefined : result;
}
