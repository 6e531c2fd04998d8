/** The parts of a media type that decisions need; names in lower case. */
interface MediaType {
  type: string;
  subtype: string;
  charset: string | undefined;
}

/** No control, space or tspecial (RFC 2045, section 5.1). */
const token = /[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+/y;
/** ASCII, like a token (RFC 822, section 3.3); RFC 2231 encodes other characters. */
const quoted = /"(?:[\t !#-[\]-~]|\\[\t -~])*"/y;
const blanks = /[ \t]*/y;

/**
 * Reads a media type with its parameters (RFC 2045, section 5.1; RFC 2046); undefined if malformed. Accepts a trailing
 * semicolon, like HTTP (RFC 9110, section 5.6.6).
 */
export function parseMediaType(text: string): MediaType | undefined {
  const slash = take(token, text, 0);
  if (slash === 0 || text[slash] !== '/') return undefined;
  let at = take(token, text, slash + 1);
  if (at === slash + 1) return undefined;
  const subtype = text.slice(slash + 1, at).toLowerCase();
  let charset: string | undefined;
  for (at = take(blanks, text, at); at < text.length; at = take(blanks, text, at)) {
    if (text[at] !== ';') return undefined;
    const name = take(blanks, text, at + 1);
    const equals = take(token, text, name);
    if (equals === name) {
      at = name;
      continue;
    }
    if (text[equals] !== '=') return undefined;
    at = take(text[equals + 1] === '"' ? quoted : token, text, equals + 1);
    if (at === equals + 1) return undefined;
    if (text.slice(name, equals).toLowerCase() === 'charset') {
      charset ??= text
        .slice(equals + 1, at)
        .replaceAll('"', '')
        .toLowerCase();
    }
  }
  return { type: text.slice(0, slash).toLowerCase(), subtype, charset };
}

/** JSON by its subtype: `json`, or one that ends in `+json` (JSON format, section 3.1.1). */
export function isJson({ subtype }: MediaType): boolean {
  return subtype === 'json' || subtype.endsWith('+json');
}

/** The position after the match of the sticky pattern at `at`, or `at` if there is none. */
function take(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
