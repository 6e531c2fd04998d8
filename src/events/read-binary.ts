import { asciiText, isUtf8 } from '../base/formats/bytes.js';
import { skipSpace, skipValue } from '../base/formats/json-text.js';
import { limits } from '../base/limits.js';
import { addText, finishDraft, isFirst, addFault, startDraft, type Draft, type ReadEvent } from './draft.js';
import { readingRules as rules } from './profiles/reading-rules.js';
import { watchClaimCheck } from './read-json.js';
import { breachOf, type Rule } from './rule.js';

/**
 * Reads an event in binary mode (HTTP binding, section 3.1); undefined if no header belongs to an event.
 * `headers` are alternating names and values, like Node's `rawHeaders`.
 */
export function readBinaryEvent(headers: readonly string[], body: Uint8Array): ReadEvent | undefined {
  const draft = startDraft('binary', '');
  let bytes = body.length;
  let count = 0;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    const isAttribute = hasAttributePrefix(name);
    if (isAttribute) addHeader(draft, name.slice(3).toLowerCase(), value);
    else if (name.length === 12 && name.toLowerCase() === 'content-type') addContentType(draft, value);
    else continue;
    count += isAttribute ? 1 : 0;
    // The colon, the space and the end of the line.
    bytes += name.length + value.length + 4;
  }
  if (count === 0) return undefined;
  draft.dataBytes = body.length;
  if (body.length > 0) {
    draft.dataForm = 'body';
    if (draft.declaresJson) findClaimCheck(draft, body);
  }
  return finishDraft(draft, bytes);
}

function hasAttributePrefix(name: string): boolean {
  return name[2] === '-' && (name.charCodeAt(0) | 32) === 0x63 && (name.charCodeAt(1) | 32) === 0x65;
}

function addHeader(draft: Draft, name: string, value: string): void {
  // Content-Type and the body define these two; headers for them are ignored.
  if (name === 'datacontenttype') return misplaced(draft, rules.headerDatacontenttype, name);
  if (name === 'data') return misplaced(draft, rules.attributeReserved, name);
  const decoded = decodeHeaderValue(value);
  if (decoded !== undefined) addText(draft, name, decoded, decoded === value);
  else if (isFirst(draft, name)) addFault(draft, rules.headerEncoding, name);
}

function misplaced(draft: Draft, rule: Rule, name: string): void {
  if (draft.faults.length < limits.faults) draft.faults.push(breachOf(rule, `header/ce-${name}`));
}

/** Content-Type is not percent-encoded; it has its own grammar. */
function addContentType(draft: Draft, value: string): void {
  addText(draft, 'datacontenttype', value, false);
}

/** Parses the body only if it contains the words of a claim check, or escapes that may hide them. */
function findClaimCheck(draft: Draft, body: Uint8Array): void {
  const text = asciiText(body);
  if (!(text.includes('"claimCheck') || text.includes('\\u')) || !isUtf8(body)) return;
  const end = skipValue(body, skipSpace(body, 0), 0, watchClaimCheck(draft, body));
  if (end < 0) draft.claimCheck = undefined;
}

/**
 * The value of an attribute from its header: unquotes strings, then percent-decodes once (HTTP binding, section 3.1.3.2).
 * Undefined if it has anything but visible ASCII and inner spaces, an open quote, incomplete percent-encoding, or invalid
 * UTF-8.
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
    // ECMAScript refuses the same: incomplete bytes, overlong forms, surrogates and code points above U+10FFFF.
    return decodeURIComponent(unquoted);
  } catch {
    return undefined;
  }
}

/** Older senders quote all or part of a value; a backslash escapes only inside quotes (RFC 7230, section 3.2.6). */
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
