import type { Fault } from '../../base/errors.js';
import type { CloudEvent as ReadCloudEvent, Mode } from '../../events/cloud-event.js';
import { bytesOfBase64, utf8Bytes, utf8Text } from '../../base/formats/bytes.js';
import { isJson, parseMediaType } from '../../base/formats/media-type.js';
import { messageFaults, type MessageFault } from '../../events/read-events.js';
import { skipSpace, skipValue, tooDeep } from '../../base/formats/json-text.js';
import { parseData, type LargeIntegers } from './parse-data.js';

/**
 * An event as the application gets it, whatever the content mode: attributes and extensions by name, and the data. JSON
 * data is parsed, text is a string, and everything else is a Uint8Array. `largeIntegers` says what becomes of integers that
 * a number cannot hold.
 */
export interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  subject?: string;
  /** RFC 3339. */
  time?: string;
  datacontenttype?: string;
  dataschema?: string;
  data?: unknown;
  [extension: string]: unknown;
}

type Data = { value: unknown } | { rule: MessageFault } | { faults: Array<Fault<string>> };

/** The events of a message that `readEvents` accepted, or the places where its data is not what its type says. */
export function plainEvents(
  mode: Mode,
  body: Uint8Array,
  events: readonly ReadCloudEvent[],
  large: LargeIntegers,
): { events: CloudEvent[] } | { faults: Array<Fault<string>> } {
  // Without the byte order mark.
  const read = mode === 'binary' ? { value: undefined } : parseData(utf8Text(body).replace(/^\ufeff/, ''), large);
  if ('faults' in read) return read;
  const parsed = read.value as Members | Members[] | undefined;
  const faults: Array<Fault<string>> = [];
  const plain = events.map((event, place) => {
    const { at, attributes, dataForm } = event;
    const members = Array.isArray(parsed) ? parsed[place] : parsed;
    const named = Object.fromEntries(attributes) as unknown as CloudEvent;
    if (dataForm === 'absent') return named;
    const isBytes = dataForm === 'body' || dataForm === 'base64';
    const bytes = members === undefined ? body : (bytesOfBase64(String(members['data_base64'])) ?? new Uint8Array());
    const data = isBytes ? dataOf(bytes, event, large) : { value: members?.['data'] };
    if ('value' in data) return { ...named, data: data.value };
    const pointer = members === undefined ? '' : `${at}/data_base64`;
    if ('rule' in data) faults.push({ pointer, rule: data.rule, detail: messageFaults[data.rule] });
    // A pointer cannot lead into Base64.
    else faults.push(...data.faults.map((fault) => (members === undefined ? fault : { ...fault, pointer })));
    return named;
  });
  return faults.length > 0 ? { faults } : { events: plain };
}

type Members = Record<string, unknown>;

function dataOf(bytes: Uint8Array, { datacontenttype, dataIsJson }: ReadCloudEvent, large: LargeIntegers): Data {
  const mediaType = datacontenttype === undefined ? undefined : parseMediaType(datacontenttype);
  if (!dataIsJson && mediaType?.type !== 'text') return { value: new Uint8Array(bytes) };
  let text: string;
  try {
    text = new TextDecoder(mediaType?.charset ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    // A charset that this runtime does not know, or bytes that it does not have.
    return mediaType !== undefined && isJson(mediaType) ? { rule: 'not_utf8' } : { value: new Uint8Array(bytes) };
  }
  if (!dataIsJson) return { value: text };
  // Code of the application that walks the data may be recursive.
  const json = utf8Bytes(text);
  if (skipValue(json, skipSpace(json, 0)) === tooDeep) return { rule: 'too_deep' };
  try {
    return parseData(text, large);
  } catch {
    return { rule: 'not_json' };
  }
}
