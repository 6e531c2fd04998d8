/**
 * Whether a String has only characters that the type system allows (CloudEvents, Type System): no control characters,
 * unpaired surrogates or noncharacters.
 */
export function isAttributeText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code < 0x7f) continue;
    if (code < 0xa0) return false;
    if (code < 0xd800) continue;
    if (code <= 0xdfff) {
      const whole = text.codePointAt(at) as number;
      // An unpaired surrogate is returned unchanged; the last two code points of every plane are noncharacters.
      if (whole <= 0xdfff || (whole & 0xfffe) === 0xfffe) return false;
      at += 1;
    } else if ((code >= 0xfdd0 && code <= 0xfdef) || code >= 0xfffe) return false;
  }
  return true;
}

/** Lower-case letters and digits, at least one (CloudEvents, Naming Conventions). */
export function isAttributeName(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (!((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39))) return false;
  }
  return name.length > 0;
}

/** A signed 32-bit integer in the string encoding of the type system (CloudEvents, Type System, Integer). */
export function isIntegerText(text: string): boolean {
  return /^-?(?:0|[1-9][0-9]{0,9})$/.test(text) && Number(text) >= -0x8000_0000 && Number(text) <= 0x7fff_ffff;
}
