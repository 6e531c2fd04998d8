// Turns the headers and bytes of an HTTP message into events or faults: first the content mode, then each attribute
// (`draft.ts`), with every MUST of CloudEvents. `check-event.ts` then checks an event against a profile.

import type { Fault } from '../base/errors.js';
import type { ErrorCode } from '../base/problems.js';
import { limits } from '../base/limits.js';
import type { Mode } from './cloud-event.js';
import { finishDraft, startDraft, type ReadEvent } from './draft.js';
import {
  brace,
  bracket,
  bracketEnd,
  comma,
  findMember,
  jsonText,
  malformed,
  skipDeep,
  skipSpace,
  skipValue,
  startOf,
  tooDeep,
  type JsonText,
} from '../base/formats/json-text.js';
import { isUtf8 } from '../base/formats/bytes.js';
import { parseMediaType } from '../base/formats/media-type.js';
import { readingRules as rules } from './profiles/reading-rules.js';
import { readBinaryEvent } from './read-binary.js';
import { readObject } from './read-json.js';
import { breachOf, type RuleBreach } from './rule.js';

export interface EventRequest {
  /** Alternating names and values, like Node's `rawHeaders`: only these show repeated lines. */
  headers: readonly string[];
  body: Uint8Array;
}

export interface MessageLimits {
  bytes: number;
  events: number;
}

/** Faults of a whole message: rule and sentence. */
export const messageFaults = {
  body_too_large: 'The body is too large.',
  too_many_events: 'The batch has too many events.',
  content_type_repeated: 'There is more than one Content-Type.',
  format_not_supported: 'The event formats are application/cloudevents+json and application/cloudevents-batch+json.',
  charset_not_supported: 'JSON is UTF-8 (RFC 8259, section 8.1).',
  not_an_event:
    'The Content-Type is neither application/cloudevents+json nor application/cloudevents-batch+json, and no header begins with "ce-", as in binary mode.',
  not_utf8: 'The body is not UTF-8.',
  not_json: 'The body is not JSON (RFC 8259).',
  too_deep: `It is nested more than ${limits.eventDepth} deep.`,
  batch_not_array: 'A batch is a JSON array of events.',
} as const;
export type MessageFault = keyof typeof messageFaults;

type ReadResult =
  | { mode: Mode; bytes: number; events: ReadEvent[] }
  | {
      code: Extract<ErrorCode, 'body_too_large' | 'media_type_unsupported' | 'invalid_request'>;
      faults: Array<Fault<string>>;
    };

/**
 * Reads the events of an HTTP message in any content mode (HTTP binding, section 3; JSON format, sections 3 and 4). An
 * invalid event of a batch does not affect the others; a body that is not JSON is refused as a whole. Never throws.
 */
export function readEvents({ headers, body }: EventRequest, max: MessageLimits = limits.message): ReadResult {
  if (body.length > max.bytes) return refused('body_too_large', `The limit is ${max.bytes} bytes.`);
  const mode = modeOf(headers);
  if (typeof mode !== 'string') return mode;
  if (mode === 'binary') {
    const event = readBinaryEvent(headers, body);
    return event ? { mode, bytes: body.length, events: [event] } : refused('not_an_event');
  }
  if (!isUtf8(body)) return refused('not_utf8');
  const json = jsonText(body);
  const events: ReadEvent[] = [];
  const start = startOf(body);
  const end = mode === 'batched' ? readBatch(json, start, events, max.events) : readOne(json, start, mode, '', events);
  if (typeof end !== 'number') return refused(end, end === 'too_many_events' ? `The limit is ${max.events}.` : '');
  if (end === tooDeep) return refused('too_deep');
  if (end < 0 || skipSpace(body, end) !== body.length) return refused('not_json');
  if (mode === 'batched') compareVersions(events);
  return { mode, bytes: body.length, events };
}

function refused(rule: MessageFault, more = ''): Extract<ReadResult, { faults: unknown }> {
  const detail = more === '' ? messageFaults[rule] : `${messageFaults[rule]} ${more}`;
  const isHeader = rule === 'content_type_repeated' || codes[rule] === 'media_type_unsupported';
  return {
    code: codes[rule] ?? 'invalid_request',
    faults: [{ pointer: isHeader ? 'header/content-type' : '', rule, detail }],
  };
}

const codes: Partial<Record<MessageFault, 'body_too_large' | 'media_type_unsupported'>> = {
  body_too_large: 'body_too_large',
  too_many_events: 'body_too_large',
  format_not_supported: 'media_type_unsupported',
  charset_not_supported: 'media_type_unsupported',
  not_an_event: 'media_type_unsupported',
};

/** Common values, which need no parsing. */
const usualTypes: ReadonlyMap<string, Mode> = new Map([
  ['application/cloudevents+json', 'structured'],
  ['application/cloudevents+json; charset=utf-8', 'structured'],
  ['application/cloudevents+json; charset=UTF-8', 'structured'],
  ['application/cloudevents-batch+json', 'batched'],
  ['application/cloudevents-batch+json; charset=utf-8', 'batched'],
  ['application/json', 'binary'],
]);

/**
 * Content-Type defines the mode (HTTP binding, section 3); any other type is the type of the data.
 */
function modeOf(headers: readonly string[]): Mode | Extract<ReadResult, { faults: unknown }> {
  let contentType: string | undefined;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    if (name.length !== 12 || name.toLowerCase() !== 'content-type') continue;
    if (contentType !== undefined) return refused('content_type_repeated');
    contentType = headers[at + 1];
  }
  if (contentType === undefined) return 'binary';
  const usual = usualTypes.get(contentType);
  if (usual !== undefined) return usual;
  // Lines that a proxy, or fetch, has joined.
  if (/^[^"]*,/.test(contentType)) return refused('content_type_repeated');
  if (!/^application\/cloudevents/i.test(contentType)) return 'binary';
  const mediaType = parseMediaType(contentType);
  if (mediaType?.subtype !== 'cloudevents+json' && mediaType?.subtype !== 'cloudevents-batch+json') {
    return refused('format_not_supported');
  }
  // ASCII is a subset of UTF-8, and some senders write utf8.
  if (!['utf-8', 'utf8', 'us-ascii', undefined].includes(mediaType.charset)) return refused('charset_not_supported');
  return mediaType.subtype === 'cloudevents+json' ? 'structured' : 'batched';
}

/**
 * Reads an event inside another document by the same rules. Pointers of faults refer to that document.
 * `body` is known to be a JSON object that has the member.
 */
export function readEventOf(body: Uint8Array, member: string): ReadEvent {
  const json = jsonText(body);
  const at = `/${member}`;
  const events: ReadEvent[] = [];
  readOne(json, findMember(body, startOf(body), member), 'structured', at, events);
  return events[0] ?? { faults: [tooDeepAt(at)], parts: undefined };
}

/** Reads the value at `from` as an event and appends it. Returns the position after it, or a negative number. */
function readOne(json: JsonText, from: number, mode: Mode, at: string, events: ReadEvent[]): number {
  if (json.bytes[from] !== brace) {
    const end = skipValue(json.bytes, from);
    if (end >= 0) events.push({ faults: [breachOf(rules.eventObject, at)], parts: undefined });
    return end;
  }
  const draft = startDraft(mode, at);
  const end = readObject(json, from, draft);
  if (end >= 0) events.push(finishDraft(draft, end - from));
  return end;
}

function readBatch(json: JsonText, from: number, events: ReadEvent[], limit: number): number | MessageFault {
  const { bytes } = json;
  if (bytes[from] !== bracket) {
    const end = skipValue(bytes, from);
    return end < 0 ? end : 'batch_not_array';
  }
  let at = skipSpace(bytes, from + 1);
  if (bytes[at] === bracketEnd) return at + 1;
  for (;;) {
    if (events.length === limit) return 'too_many_events';
    const place = `/${events.length}`;
    let end = readOne(json, at, 'batched', place, events);
    if (end === tooDeep) {
      end = skipDeep(bytes, at);
      events.push({ faults: [tooDeepAt(place)], parts: undefined });
    }
    if (end < 0) return end;
    at = skipSpace(bytes, end);
    if (bytes[at] === bracketEnd) return at + 1;
    if (bytes[at] !== comma) return malformed;
    at = skipSpace(bytes, at + 1);
  }
}

function tooDeepAt(pointer: string): RuleBreach {
  const sentence = messageFaults.too_deep;
  return { pointer, rule: 'too_deep' satisfies MessageFault, level: 'MUST', sentence, detail: sentence };
}

/** If some events of a batch have version 1.0, each event of another version breaks this rule too. */
function compareVersions(events: readonly ReadEvent[]): void {
  if (!events.some((read) => 'event' in read || read.parts?.attributes.has('specversion'))) return;
  for (const read of events) {
    if ('event' in read || read.faults.length >= limits.faults) continue;
    const version = read.faults.find(({ rule }) => rule === rules.specversion.id);
    if (version) read.faults.push(breachOf(rules.batchSpecversion, version.pointer));
  }
}
