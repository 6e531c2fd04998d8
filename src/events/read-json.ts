import { Buffer } from 'node:buffer';
import { base64Bytes } from './base64.js';
import { watchClaimCheck } from './claim-check.js';
import type { DataForm } from './cloud-event.js';
import { addNative, addNull, addStructure, addText, note, refuse, type Draft } from './draft.js';
import { decodeString, malformed, skipNumber, skipPlain, skipSpace, skipString, skipValue } from './json-text.js';
import { readingRules as rules } from './profiles/reading-rules.js';

/** The text of a message; `isAscii` makes places in it the same as bytes. */
export interface JsonBody {
  text: string;
  isAscii: boolean;
}

const quote = 0x22;
/**
 * Above this, strings are copied out of the body, so that an attribute does not hold on to the whole of it. Copying costs
 * as much as reading, and a batch of a hundred small events should not pay for it.
 */
const sharedBody = 64 * 1024;
/** Only the integer component, with its minus, is an Integer; `1.0` and `1e3` are not (JSON format, section 2.2). */
const fractionOrExponent = /[.eE]/;

/** UTF-8 bytes between two places. */
export function bytesBetween({ text, isAscii }: JsonBody, from: number, to: number): number {
  return isAscii ? to - from : Buffer.byteLength(text.slice(from, to));
}

/** Reads the members of the object that begins at `from` into the draft; gives the place after it, or a negative one. */
export function readObject(body: JsonBody, from: number, draft: Draft): number {
  const { text } = body;
  let at = skipSpace(text, from + 1);
  if (text[at] === '}') return at + 1;
  for (;;) {
    if (text.charCodeAt(at) !== quote) return malformed;
    const plainEnd = skipPlain(text, at + 1);
    const isPlain = text.charCodeAt(plainEnd) === quote;
    const nameEnd = isPlain ? plainEnd + 1 : skipString(text, at + 1);
    if (nameEnd < 0) return nameEnd;
    const name = isPlain
      ? owned(text, text.slice(at + 1, plainEnd), 'latin1')
      : owned(text, decodeString(text, at + 1, nameEnd - 1), 'utf16le');
    const colon = skipSpace(text, nameEnd);
    if (text.charCodeAt(colon) !== 0x3a) return malformed;
    const end = readMember(body, name, skipSpace(text, colon + 1), draft);
    if (end < 0) return end;
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === 0x7d) return at + 1;
    if (text.charCodeAt(at) !== 0x2c) return malformed;
    at = skipSpace(text, at + 1);
  }
}

function readMember(body: JsonBody, name: string, value: number, draft: Draft): number {
  const { text } = body;
  if (name === 'data') return readData(body, value, draft);
  if (name === 'data_base64') return readBase64(text, value, draft);
  if (text.charCodeAt(value) === quote) {
    const plainEnd = skipPlain(text, value + 1);
    if (text.charCodeAt(plainEnd) === quote) {
      addText(draft, name, owned(text, text.slice(value + 1, plainEnd), 'latin1'), true);
      return plainEnd + 1;
    }
  }
  const first = text[value];
  const end = skipValue(text, value);
  if (end < 0) return end;
  if (first === '"') addText(draft, name, owned(text, decodeString(text, value + 1, end - 1), 'utf16le'), false);
  else if (first === 'n') addNull(draft, name);
  else if (first === 't' || first === 'f') addNative(draft, name, first === 't', false);
  else if (first === '{' || first === '[') addStructure(draft, name);
  else {
    const number = text.slice(value, skipNumber(text, value));
    addNative(draft, name, Number(number), !fractionOrExponent.test(number));
  }
  return end;
}

/** A null payload is a payload (JSON format, section 3.1.1). */
function readData(body: JsonBody, value: number, draft: Draft): number {
  const { text } = body;
  const end = skipValue(text, value, 1, text[value] === '{' ? watchClaimCheck(draft, text) : undefined);
  if (end < 0) return end;
  if (draft.dataForm !== 'absent') {
    note(draft, draft.dataForm === 'base64' ? rules.dataExclusive : rules.attributeOnce, 'data');
  }
  draft.dataForm = formOf(text, value, end);
  draft.dataBytes = bytesBetween(body, value, end);
  return end;
}

function formOf(text: string, from: number, to: number): DataForm {
  switch (text[from]) {
    case '{':
      return 'object';
    case '[':
      return 'array';
    case '"':
      return holdsJson(text, from, to) ? 'json_text' : 'text';
    default:
      return 'scalar';
  }
}

/** Does the string hold the text of an object or an array? Few strings begin like one, so few are looked into. */
function holdsJson(text: string, from: number, to: number): boolean {
  const start = skipSpace(text, from + 1);
  if (text[start] !== '{' && text[start] !== '[' && text[start] !== '\\') return false;
  const content = decodeString(text, from + 1, to - 1).trim();
  return /^[{[]/.test(content) && skipValue(content, 0) === content.length;
}

/** Null is as if absent, as the JSON schema of the specification has it. */
function readBase64(text: string, value: number, draft: Draft): number {
  const end = skipValue(text, value);
  if (end < 0) return end;
  const isRepeated = draft.dataForm === 'base64' || draft.others?.has('data_base64');
  if (isRepeated) note(draft, rules.attributeOnce, 'data_base64');
  else if (text[value] === 'n') addNull(draft, 'data_base64');
  else {
    if (draft.dataForm !== 'absent') note(draft, rules.dataExclusive, 'data_base64');
    const content = text[value] === '"' ? decodeString(text, value + 1, end - 1) : undefined;
    const bytes = content === undefined ? undefined : base64Bytes(content);
    if (bytes === undefined) refuse(draft, rules.dataBase64, 'data_base64');
    draft.dataForm = 'base64';
    draft.dataBytes = bytes ?? 0;
  }
  return end;
}

/** UTF-16 keeps even half a surrogate pair, whose fault is found later. */
function owned(text: string, part: string, encoding: 'latin1' | 'utf16le'): string {
  return text.length <= sharedBody ? part : Buffer.from(part, encoding).toString(encoding);
}
