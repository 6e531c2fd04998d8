import {
  backslash,
  braceEnd,
  brace,
  bracket,
  colon,
  comma,
  decodeString,
  isContainer,
  malformed,
  quote,
  skipPlain,
  skipSpace,
  skipString,
  skipValue,
  type JsonText,
  type OnMember,
} from '../base/formats/json-text.js';
import { bytesOfBase64, copyOfAscii } from '../base/formats/bytes.js';
import type { DataForm, ClaimCheck } from './cloud-event.js';
import { addNative, addNull, addStructure, addText, note, addFault, type Draft } from './draft.js';
import { parseMediaType } from '../base/formats/media-type.js';
import { readingRules as rules } from './profiles/reading-rules.js';
import { isUri } from '../base/formats/uri.js';

/**
 * Above this size, plain strings are copied, so that an attribute does not keep the whole body in memory. Copying costs
 * as much as reading, and a batch of a hundred small events should not pay for it.
 */
const sharedBody = 64 * 1024;
/** Only the integer component, with its minus, is an Integer; `1.0` and `1e3` are not (JSON format, section 2.2). */
const fractionOrExponent = /[.eE]/;

/**
 * Reads the members of the object at `from` into the draft. Returns the position after it, or a negative number.
 */
export function readObject(json: JsonText, from: number, draft: Draft): number {
  const { bytes } = json;
  let at = skipSpace(bytes, from + 1);
  if (bytes[at] === braceEnd) return at + 1;
  for (;;) {
    if (bytes[at] !== quote) return malformed;
    const plainEnd = skipPlain(bytes, at + 1);
    const isPlain = bytes[plainEnd] === quote;
    const nameEnd = isPlain ? plainEnd + 1 : skipString(bytes, at + 1);
    if (nameEnd < 0) return nameEnd;
    const name = isPlain ? plainText(json, at + 1, plainEnd) : decodeString(bytes, at + 1, nameEnd - 1);
    const afterName = skipSpace(bytes, nameEnd);
    if (bytes[afterName] !== colon) return malformed;
    const end = readMember(json, name, skipSpace(bytes, afterName + 1), draft);
    if (end < 0) return end;
    at = skipSpace(bytes, end);
    if (bytes[at] === braceEnd) return at + 1;
    if (bytes[at] !== comma) return malformed;
    at = skipSpace(bytes, at + 1);
  }
}

function readMember(json: JsonText, name: string, value: number, draft: Draft): number {
  const { bytes } = json;
  if (name === 'data') return readData(bytes, value, draft);
  if (name === 'data_base64') return readBase64(bytes, value, draft);
  const first = bytes[value];
  if (first === quote) {
    const plainEnd = skipPlain(bytes, value + 1);
    if (bytes[plainEnd] === quote) {
      addText(draft, name, plainText(json, value + 1, plainEnd), true);
      return plainEnd + 1;
    }
  }
  const end = skipValue(bytes, value);
  if (end < 0) return end;
  if (first === quote) addText(draft, name, decodeString(bytes, value + 1, end - 1), false);
  else if (first === 0x6e) addNull(draft, name);
  else if (first === 0x74 || first === 0x66) addNative(draft, name, first === 0x74, false);
  else if (first === brace || first === bracket) addStructure(draft, name);
  else {
    const number = json.text.slice(value, end);
    addNative(draft, name, Number(number), !fractionOrExponent.test(number));
  }
  return end;
}

/** Null data is data (JSON format, section 3.1.1). */
function readData(bytes: Uint8Array, value: number, draft: Draft): number {
  const end = skipValue(bytes, value, 1, bytes[value] === brace ? watchClaimCheck(draft, bytes) : undefined);
  if (end < 0) return end;
  if (draft.dataForm !== 'absent') {
    note(draft, draft.dataForm === 'base64' ? rules.dataExclusive : rules.attributeOnce, 'data');
  }
  draft.dataForm = formOf(bytes, value, end);
  draft.dataBytes = end - value;
  return end;
}

function formOf(bytes: Uint8Array, from: number, to: number): DataForm {
  switch (bytes[from]) {
    case brace:
      return 'object';
    case bracket:
      return 'array';
    case quote:
      return holdsJson(bytes, from, to) ? 'json_text' : 'text';
    default:
      return 'scalar';
  }
}

/** Whether the string contains the text of a JSON object or array. Only strings that begin like one are parsed. */
function holdsJson(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[skipSpace(bytes, from + 1)];
  if (first !== brace && first !== bracket && first !== backslash) return false;
  return isContainer(decodeString(bytes, from + 1, to - 1));
}

/**
 * Null counts as absent, as in the JSON schema of the specification. Base64 must be canonical (RFC 4648, sections 3.1,
 * 3.2, 3.5): decoders read other texts differently.
 */
function readBase64(bytes: Uint8Array, value: number, draft: Draft): number {
  const end = skipValue(bytes, value);
  if (end < 0) return end;
  const isRepeated = draft.dataForm === 'base64' || draft.others?.has('data_base64');
  if (isRepeated) note(draft, rules.attributeOnce, 'data_base64');
  else if (bytes[value] === 0x6e) addNull(draft, 'data_base64');
  else {
    if (draft.dataForm !== 'absent') note(draft, rules.dataExclusive, 'data_base64');
    const content = bytes[value] === quote ? decodeString(bytes, value + 1, end - 1) : undefined;
    const decoded = content === undefined ? undefined : bytesOfBase64(content);
    if (decoded === undefined) addFault(draft, rules.dataBase64, 'data_base64');
    draft.dataForm = 'base64';
    draft.dataBytes = decoded?.length ?? 0;
  }
  return end;
}

function plainText({ text }: JsonText, from: number, to: number): string {
  const part = text.slice(from, to);
  return text.length <= sharedBody ? part : copyOfAscii(part);
}

const firstOfClaimCheck = 0x63;

/** Records the members of a claim check (INTG-STD-015, R-11) in `holder` while it skips data. Keeps no values. */
export function watchClaimCheck(holder: { claimCheck: ClaimCheck | undefined }, bytes: Uint8Array): OnMember {
  return (from, to, value) => {
    if (bytes[from] !== firstOfClaimCheck && bytes[from] !== backslash) return;
    const name = decodeString(bytes, from, to);
    if (name !== 'claimCheckUri' && name !== 'claimCheckContentType') return;
    const claimCheck = (holder.claimCheck ??= { hasUri: false, hasContentType: false });
    const isText = bytes[value] === quote;
    const content = isText ? decodeString(bytes, value + 1, skipString(bytes, value + 1) - 1) : '';
    if (name === 'claimCheckUri') claimCheck.hasUri = isUri(content);
    else claimCheck.hasContentType = parseMediaType(content) !== undefined;
  };
}
