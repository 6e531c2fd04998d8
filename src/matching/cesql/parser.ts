// The text of an expression becomes tokens (`lexer.ts`), the tokens a tree (here, `expression.ts`), and the tree a
// function of an event (`evaluate.ts`). `anchors.ts` derives from the tree what an event must have, for the index.

import { limits } from '../../base/limits.js';
import { cesqlTexts } from '../../base/texts/filters.js';
import type { Text } from '../../base/texts/text.js';
import type { Cesql, CesqlFault } from './expression.js';
import { findFunction, isFunctionName } from './functions.js';
import { CesqlRefusal, readTokens, failAt, type CesqlLimits, type Token } from './lexer.js';

type ParsedCesql = { expression: Cesql } | { fault: CesqlFault };

/**
 * Parses an expression (cesql/spec.md, section 2). Refuses unknown functions and wrong numbers of arguments too,
 * because such a filter could never match. `{ functions: 'any' }` leaves that to evaluation (section 3.5).
 */
export function parseCesql(
  text: string,
  own: Partial<CesqlLimits> = {},
  options: { functions: 'known' | 'any' } = { functions: 'known' },
): ParsedCesql {
  const checked = { ...limits.expression, ...own };
  try {
    const tokens = readTokens(text, checked);
    const reader: TokenReader = { tokens, place: 0, depth: checked.depth, known: options.functions === 'known' };
    const expression = parseExpression(reader, 1, 0);
    const rest = peek(reader);
    if (rest.kind !== 'end') failAt(rest.at, 'operator_expected', cesqlTexts.complete);
    return { expression };
  } catch (error) {
    if (error instanceof CesqlRefusal) return { fault: withHint(text, error.fault) };
    throw error;
  }
}

/** Operators of other languages, as they stand where an expression is refused, and what CESQL writes instead. */
const foreign: ReadonlyArray<readonly [found: RegExp, hint: Text]> = [
  [/!=\|=/y, cesqlTexts.writeInstead('!=')],
  [/=\|=/y, cesqlTexts.writeInstead('=')],
  [/\|&/y, cesqlTexts.writeInstead('AND')],
  [/\|\|/y, cesqlTexts.writeInstead('OR')],
  [/\|!/y, cesqlTexts.writeInstead('NOT')],
  [/\|~|\|(?:matches|regexp?|rlike|ilike|glob)\b/iy, cesqlTexts.writeInstead("LIKE 'com.example.%'")],
  [/\|contains\b/iy, cesqlTexts.writeInstead("LIKE '%text%'")],
  [/\|(?:starts_?with|begins_?with)\b/iy, cesqlTexts.writeInstead("LIKE 'text%'")],
  [/\|ends_?with\b/iy, cesqlTexts.writeInstead("LIKE '%text'")],
  [/\|is\b/iy, cesqlTexts.writeInstead('EXISTS subject')],
  [/\|between\b/iy, cesqlTexts.writeInstead('>=, AND, <=')],
  [/\|[.[]/y, cesqlTexts.attributesOnly],
];

/** Says what to write for an operator of another language, if one stands at the place of the fault. */
function withHint(text: string, fault: CesqlFault): CesqlFault {
  if (!/^(?:oper(?:and|ator)_expected|character_unexpected)$/.test(fault.rule)) return fault;
  // The place is marked, because an operator may have begun before it.
  const marked = `${text.slice(Math.max(0, fault.at - 2), fault.at)}|${text.slice(fault.at, fault.at + 20)}`;
  for (const [found, hint] of foreign) {
    for (const from of [0, 1, 2]) {
      found.lastIndex = from;
      if (!found.test(marked)) continue;
      const { detail } = fault;
      return { ...fault, detail: { en: `${detail.en} ${hint.en}`, nl: `${detail.nl} ${hint.nl}` } };
    }
  }
  return fault;
}

interface TokenReader {
  readonly tokens: readonly Token[];
  place: number;
  readonly depth: number;
  readonly known: boolean;
}

/**
 * How tightly operators bind (section 3.6). Equal ones group from the left, and AND, OR and XOR are equal. LIKE and IN
 * have one power, because their right side accepts no operator. A unary operator applies to the next operand only.
 */
const powers: ReadonlyMap<string, number> = new Map([
  ...['AND', 'OR', 'XOR'].map((operator) => [operator, 1] as const),
  ...['=', '!=', '<>', '<', '<=', '>', '>='].map((operator) => [operator, 2] as const),
  ...['+', '-'].map((operator) => [operator, 3] as const),
  ...['*', '/', '%'].map((operator) => [operator, 4] as const),
  ...['LIKE', 'IN', 'NOT'].map((operator) => [operator, 5] as const),
]);

function parseExpression(reader: TokenReader, depth: number, above: number): Cesql {
  let left = parseOperand(reader, depth);
  for (;;) {
    const { kind, text } = peek(reader);
    const power = (kind === 'keyword' || kind === 'symbol' ? powers.get(text) : undefined) ?? 0;
    if (power <= above) return left;
    if (power === 5) left = parseLikeOrIn(reader, left, depth);
    else {
      reader.place += 1;
      left = binary(text, left, parseExpression(reader, depth, power));
    }
  }
}

function binary(text: string, left: Cesql, right: Cesql): Cesql {
  switch (text) {
    case 'AND':
    case 'OR':
    case 'XOR':
      return { kind: 'logic', operator: text, left, right };
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return { kind: 'arithmetic', operator: text, left, right };
    default: {
      const operator = (text === '<>' ? '!=' : text) as (Cesql & { kind: 'comparison' })['operator'];
      return { kind: 'comparison', operator, left, right };
    }
  }
}

function parseLikeOrIn(reader: TokenReader, operand: Cesql, depth: number): Cesql {
  const not = take(reader, 'keyword', 'NOT');
  const found = readLikeOrIn(reader, operand, depth);
  return not ? { kind: 'not', operand: found } : found;
}

function readLikeOrIn(reader: TokenReader, operand: Cesql, depth: number): Cesql {
  if (take(reader, 'keyword', 'LIKE')) {
    const { kind, text, at } = peek(reader);
    if (kind !== 'string') failAt(at, 'pattern_expected', cesqlTexts.pattern);
    reader.place += 1;
    return { kind: 'like', operand, pattern: text };
  }
  if (!take(reader, 'keyword', 'IN')) {
    failAt(peek(reader).at, 'operator_expected', cesqlTexts.likeOrIn);
  }
  const open = peek(reader);
  if (!take(reader, 'symbol', '(')) failAt(open.at, 'set_expected', cesqlTexts.set);
  return { kind: 'in', operand, set: parseList(reader, open, depth) };
}

function parseOperand(reader: TokenReader, depth: number): Cesql {
  const token = next(reader);
  const { kind, text, at } = token;
  if (depth > reader.depth) failAt(at, 'too_deep', cesqlTexts.tooDeep(reader.depth));
  if (kind === 'string') return { kind: 'literal', value: text };
  if (kind === 'word') return parseWord(reader, token, depth);
  switch (text) {
    case 'TRUE':
    case 'FALSE':
      return { kind: 'literal', value: text === 'TRUE' };
    case 'NOT':
      return { kind: 'not', operand: parseOperand(reader, depth + 1) };
    case 'EXISTS':
      return { kind: 'exists', name: attributeName(next(reader)) };
    case '(': {
      const expression = parseExpression(reader, depth + 1, 0);
      close(reader, token);
      return expression;
    }
    case '+':
    case '-':
      return parseSign(reader, token, depth);
    default:
      return failAt(at, 'operand_expected', cesqlTexts.operand);
  }
}

/**
 * At the start of an operand, a sign right before digits is part of the number, which allows -2147483648 (section 2.2).
 */
function parseSign(reader: TokenReader, sign: Token, depth: number): Cesql {
  const digits = peek(reader);
  if (isInteger(digits) && digits.at === sign.at + 1) {
    reader.place += 1;
    return integer(sign.text, digits);
  }
  if (sign.text === '+') failAt(sign.at, 'operand_expected', cesqlTexts.plus);
  return { kind: 'minus', operand: parseOperand(reader, depth + 1) };
}

function parseWord(reader: TokenReader, word: Token, depth: number): Cesql {
  if (isInteger(word)) return integer('', word);
  const open = peek(reader);
  if (!take(reader, 'symbol', '(')) return { kind: 'attribute', name: attributeName(word) };
  const name = word.text.toUpperCase();
  if (reader.known && !isFunctionName(name)) failAt(word.at, 'function_unknown', cesqlTexts.functionUnknown);
  const list = take(reader, 'symbol', ')') ? [] : parseList(reader, open, depth);
  if (reader.known && !findFunction(name, list.length)) {
    failAt(word.at, 'arity_wrong', cesqlTexts.arity(name, list.length));
  }
  return { kind: 'call', name, arguments: list };
}

/** One or more expressions and the closing parenthesis. */
function parseList(reader: TokenReader, open: Token, depth: number): Cesql[] {
  const list: Cesql[] = [];
  do list.push(parseExpression(reader, depth + 1, 0));
  while (take(reader, 'symbol', ','));
  close(reader, open);
  return list;
}

/**
 * Names are compared in lower case: the conformance cases write `EXISTS SOURCE`, and attribute names are lower case.
 */
function attributeName({ kind, text, at }: Token): string {
  if (kind !== 'word') failAt(at, 'attribute_expected', cesqlTexts.attribute);
  if (text.includes('_')) failAt(at, 'name_malformed', cesqlTexts.nameMalformed);
  return text.toLowerCase();
}

function isInteger({ kind, text }: Token): boolean {
  return kind === 'word' && /^[0-9]+$/.test(text);
}

function integer(sign: string, { text, at }: Token): Cesql {
  const value = sign === '-' ? 0 - Number(text) : Number(text);
  if (value !== (value | 0)) {
    failAt(at, 'integer_out_of_range', cesqlTexts.integer);
  }
  return { kind: 'literal', value };
}

function close(reader: TokenReader, open: Token): void {
  if (take(reader, 'symbol', ')')) return;
  const { kind, at } = peek(reader);
  if (kind === 'end') failAt(open.at, 'parenthesis_unclosed', cesqlTexts.parenthesisUnclosed);
  failAt(at, 'operator_expected', cesqlTexts.closing);
}

/** Past the last token this returns `end` again and again. */
function peek(reader: TokenReader): Token {
  return reader.tokens[Math.min(reader.place, reader.tokens.length - 1)] as Token;
}

function next(reader: TokenReader): Token {
  const token = peek(reader);
  reader.place += 1;
  return token;
}

function take(reader: TokenReader, kind: Token['kind'], text: string): boolean {
  const token = peek(reader);
  if (token.kind !== kind || token.text !== text) return false;
  reader.place += 1;
  return true;
}
