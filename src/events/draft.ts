import { isTimestamp } from '../base/formats/timestamp.js';
import { limits } from '../base/limits.js';
import { isAttributeName, isAttributeText } from './attribute-text.js';
import {
  pointerTo,
  type ClaimCheck,
  type CloudEvent,
  type DataForm,
  type EventParts,
  type Mode,
} from './cloud-event.js';
import { ContextAttributes, core, coreNumber } from './context-attributes.js';
import { isJson, parseMediaType } from '../base/formats/media-type.js';
import { readingRules as rules } from './profiles/reading-rules.js';
import { breachOf, type Rule, type RuleBreach } from './rule.js';
import { isUri, isUriReference } from '../base/formats/uri.js';

/** `parts` is what a profile can still judge; undefined if there is no event. */
export type ReadEvent = { event: CloudEvent } | { faults: RuleBreach[]; parts: EventParts | undefined };

/** An event while it is being read. Names without a value in `attributes` are in `others`, which is created on demand. */
export interface Draft {
  readonly mode: Mode;
  readonly at: string;
  readonly attributes: ContextAttributes;
  readonly faults: RuleBreach[];
  others: Map<string, 'null' | 'faulty'> | undefined;
  declaresJson: boolean;
  dataForm: DataForm;
  dataBytes: number;
  claimCheck: ClaimCheck | undefined;
}

export function startDraft(mode: Mode, at: string): Draft {
  return {
    mode,
    at,
    attributes: new ContextAttributes(),
    faults: [],
    others: undefined,
    declaresJson: false,
    dataForm: 'absent',
    dataBytes: 0,
    claimCheck: undefined,
  };
}

export function note(draft: Draft, rule: Rule, member: string): void {
  if (draft.faults.length < limits.faults) draft.faults.push(breachOf(rule, pointerTo(draft, member)));
}

/** Records the fault of an attribute, and leaves the attribute out. */
export function addFault(draft: Draft, rule: Rule, name: string): void {
  note(draft, rule, name);
  leaveOut(draft, name, 'faulty');
}

function leaveOut(draft: Draft, name: string, reason: 'null' | 'faulty'): void {
  draft.others ??= new Map();
  draft.others.set(name, reason);
}

/** Returns false and records a fault for a repeated name. */
export function isFirst(draft: Draft, name: string, number = coreNumber(name)): boolean {
  const { attributes, others } = draft;
  if (!attributes.has(name, number) && (others === undefined || !others.has(name))) return true;
  note(draft, rules.attributeOnce, name);
  return false;
}

/** JSON null counts as absent (JSON format, section 2.2). */
export function addNull(draft: Draft, name: string): void {
  if (isFirst(draft, name)) leaveOut(draft, name, 'null');
}

/** `isPlain`: the text is known to be printable ASCII. */
export function addText(draft: Draft, name: string, value: string, isPlain: boolean): void {
  const number = coreNumber(name);
  if (!isFirst(draft, name, number)) return;
  const broken =
    (number === 0 ? brokenName(name) : brokenCore(draft, number, value)) ??
    (isPlain || isAttributeText(value) ? undefined : rules.attributeText);
  if (broken) return addFault(draft, broken, name);
  if (number === 0) draft.attributes.setExtension(name, value);
  else draft.attributes.setCore(number, value);
}

function brokenCore(draft: Draft, number: number, value: string): Rule | undefined {
  switch (number) {
    case core.specversion:
      return value === '1.0' ? undefined : value === '' ? rules.notEmpty : rules.specversion;
    case core.source:
      return value === '' ? rules.notEmpty : isUriReference(value) ? undefined : rules.source;
    case core.time:
      return isTimestamp(value) ? undefined : rules.time;
    case core.dataschema:
      return value === '' ? rules.notEmpty : isUri(value) ? undefined : rules.dataschema;
    case core.datacontenttype:
      return setContentType(draft, value) ? undefined : rules.datacontenttype;
    default:
      return value === '' ? rules.notEmpty : undefined;
  }
}

function brokenName(name: string): Rule | undefined {
  if (name === 'data') return rules.attributeReserved;
  return isAttributeName(name) ? undefined : rules.attributeName;
}

function setContentType(draft: Draft, value: string): boolean {
  if (value === 'application/json') {
    draft.declaresJson = true;
    return true;
  }
  const mediaType = parseMediaType(value);
  draft.declaresJson = mediaType !== undefined && isJson(mediaType);
  return mediaType !== undefined;
}

/** A native boolean or number; `isInteger` is derived from the text of the number, if known. */
export function addNative(draft: Draft, name: string, value: number | boolean, isInteger: boolean): void {
  if (!isFirst(draft, name)) return;
  if (coreNumber(name) !== 0) return addFault(draft, rules.attributeType, name);
  const broken = brokenName(name) ?? (typeof value === 'boolean' ? undefined : brokenInteger(value, isInteger));
  if (broken) return addFault(draft, broken, name);
  // Minus zero is the integer zero.
  draft.attributes.setExtension(name, value === 0 ? 0 : value);
}

function brokenInteger(value: number, isInteger: boolean): Rule | undefined {
  return isInteger && value >= -0x8000_0000 && value <= 0x7fff_ffff ? undefined : rules.integer;
}

export function addStructure(draft: Draft, name: string): void {
  if (isFirst(draft, name)) addFault(draft, brokenName(name) ?? rules.attributeValue, name);
}

/** Checks that need all members. `bytes` is the size of the event as received. */
export function finishDraft(draft: Draft, bytes: number): ReadEvent {
  const { attributes, faults, dataForm } = draft;
  const faulty = faults.length === 0 ? undefined : faultyNames(draft);
  const { datacontenttype } = attributes;
  const isDeclared = datacontenttype !== undefined || faulty?.has('datacontenttype') === true;
  const isDataMember = dataForm !== 'absent' && dataForm !== 'base64' && dataForm !== 'body';
  if (isDataMember && datacontenttype !== undefined && !draft.declaresJson) {
    if (dataForm !== 'text' && dataForm !== 'json_text') note(draft, rules.dataString, 'data');
  }
  const id = required(draft, 'id', attributes.id);
  const source = required(draft, 'source', attributes.source);
  const type = required(draft, 'type', attributes.type);
  required(draft, 'specversion', attributes.specversion);
  const event: CloudEvent = {
    id,
    source,
    type,
    mode: draft.mode,
    at: draft.at,
    attributes,
    faulty,
    bytes,
    hasData: dataForm !== 'absent',
    dataBytes: draft.dataBytes,
    dataIsJson: isDeclared ? draft.declaresJson : isDataMember,
    dataForm,
    claimCheck: draft.claimCheck,
    datacontenttype,
  };
  return faults.length === 0 ? { event } : { faults, parts: event };
}

function faultyNames({ others = new Map() }: Draft): ReadonlySet<string> {
  return new Set([...others.keys()].filter((name) => others.get(name) === 'faulty'));
}

function required(draft: Draft, name: string, value: string | undefined): string {
  if (value === undefined && draft.others?.get(name) !== 'faulty') note(draft, rules.required, name);
  return value ?? '';
}
