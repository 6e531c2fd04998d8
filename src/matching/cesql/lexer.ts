import type { FaultRule } from '../../base/errors.js';
import { cesqlTexts } from '../../base/texts/filters.js';
import type { Text } from '../../base/texts/text.js';
import type { CesqlFault } from './expression.js';

/**
 * How large an expression may be. `depth` counts parentheses, unary operators, arguments and sets inside each other.
 */
export interface CesqlLimits {
  characters: number;
  tokens: number;
  depth: number;
}

/** `text` is the value of a string, the upper-case form of a keyword, otherwise the source text. */
export interface Token {
  kind: 'word' | 'keyword' | 'string' | 'symbol' | 'end';
  text: string;
  at: number;
}

/** Ends the parsing of an expression; parseCesql turns it into a value. */
export class CesqlRefusal extends Error {
  constructor(readonly fault: CesqlFault) {
    super(fault.detail.en);
  }
}

export function failAt(at: number, rule: FaultRule, detail: Text): never {
  throw new CesqlRefusal({ at, rule, detail });
}

const keywords: ReadonlySet<string> = new Set('AND OR XOR NOT LIKE EXISTS IN TRUE FALSE'.split(' '));
const space = /[ \t\r\n]*/y;
const wordOrSymbol = /([A-Za-z0-9_]+)|<=|>=|<>|!=|[=<>+\-*/%(),]/y;

/** Splits the text into tokens; the last one is always `end`. Linear, and it stops at the limit (section 2). */
export function readTokens(text: string, limits: CesqlLimits): Token[] {
  if (text.length > limits.characters) {
    failAt(limits.characters, 'too_long', cesqlTexts.tooLong(limits.characters));
  }
  const half = text.search(/\p{Surrogate}/u);
  if (half !== -1) failAt(half, 'text_malformed', cesqlTexts.loneSurrogate);
  const tokens: Token[] = [];
  for (let at = skipBlanks(text, 0); at < text.length;) {
    if (tokens.length === limits.tokens) {
      failAt(at, 'too_many_tokens', cesqlTexts.tooManyTokens(limits.tokens));
    }
    const { token, end } = readToken(text, at);
    tokens.push(token);
    at = skipBlanks(text, end);
  }
  tokens.push({ kind: 'end', text: '', at: text.length });
  return tokens;
}

function skipBlanks(text: string, from: number): number {
  space.lastIndex = from;
  space.test(text);
  return space.lastIndex;
}

function readToken(text: string, at: number): { token: Token; end: number } {
  const first = text.charAt(at);
  if (first === "'" || first === '"') return readString(text, at, first);
  wordOrSymbol.lastIndex = at;
  const found = wordOrSymbol.exec(text);
  if (!found) return failAt(at, 'character_unexpected', cesqlTexts.characterUnexpected);
  const end = at + found[0].length;
  if (found[1] === undefined) return { token: { kind: 'symbol', text: found[0], at }, end };
  const upper = found[1].toUpperCase();
  if (keywords.has(upper)) return { token: { kind: 'keyword', text: upper, at }, end };
  return { token: { kind: 'word', text: found[1], at }, end };
}

/**
 * A backslash escapes the quote that delimits the string (section 2.2). Before any other character it is an ordinary
 * character, but the two are read as a pair, as in the grammar of the specification. Otherwise no string could end in a
 * backslash.
 */
function readString(text: string, at: number, quote: string): { token: Token; end: number } {
  let value = '';
  let from = at + 1;
  for (let end = from; end < text.length; end += 1) {
    const character = text.charAt(end);
    if (character === quote)
      return { token: { kind: 'string', text: value + text.slice(from, end), at }, end: end + 1 };
    if (character !== '\\') continue;
    if (text.charAt(end + 1) === quote) {
      value += text.slice(from, end);
      from = end + 1;
    }
    end += 1;
  }
  return failAt(at, 'string_unterminated', cesqlTexts.stringUnterminated(quote));
}
