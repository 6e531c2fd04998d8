import { Buffer } from 'node:buffer';
import { isObject } from '../http/json.js';
import { base64Bytes } from './base64.js';
import { findClaimCheck } from './claim-check.js';
import {
  addNative,
  addNull,
  addStructure,
  addText,
  finish,
  note,
  refuse,
  startDraft,
  type Draft,
  type ReadEvent,
} from './draft.js';
import { isContainer } from './json-text.js';
import { readingRules as rules } from './profiles/reading-rules.js';
import { breachOf } from './rule.js';

/**
 * Reads an event that is part of another document and parsed already (JSON format, sections 2 and 3): `at` is its JSON
 * pointer there. What the parser has lost is lost: `1.0` is the same as `1`, and sizes are those of compact JSON.
 */
export function readEventValue(value: unknown, at: string): ReadEvent {
  if (!isObject(value)) {
    return { faults: [breachOf(rules.eventObject, at)], parts: undefined };
  }
  const draft = startDraft('structured', at);
  for (const [name, member] of Object.entries(value)) {
    if (name === 'data') readData(draft, member);
    else if (name === 'data_base64') readBase64(draft, member);
    else if (member === null) addNull(draft, name);
    else if (typeof member === 'string') addText(draft, name, member, false);
    else if (typeof member === 'number' || typeof member === 'boolean') {
      addNative(draft, name, member, Number.isInteger(member));
    } else addStructure(draft, name);
  }
  return finish(draft, Buffer.byteLength(JSON.stringify(value)));
}

function readData(draft: Draft, data: unknown): void {
  const text = JSON.stringify(data);
  if (draft.dataForm === 'base64') note(draft, rules.dataExclusive, 'data');
  draft.dataBytes = Buffer.byteLength(text);
  if (typeof data === 'string') draft.dataForm = isContainer(data) ? 'json_text' : 'text';
  else if (typeof data !== 'object' || data === null) draft.dataForm = 'scalar';
  else {
    draft.dataForm = Array.isArray(data) ? 'array' : 'object';
    draft.claimCheck = Array.isArray(data) ? undefined : findClaimCheck(data);
  }
}

function readBase64(draft: Draft, value: unknown): void {
  if (value === null) return;
  const bytes = typeof value === 'string' ? base64Bytes(value) : undefined;
  if (draft.dataForm !== 'absent') note(draft, rules.dataExclusive, 'data_base64');
  if (bytes === undefined) refuse(draft, rules.dataBase64, 'data_base64');
  draft.dataForm = 'base64';
  draft.dataBytes = bytes ?? 0;
}
