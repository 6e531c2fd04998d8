import { Buffer } from 'node:buffer';
import { isTraceparent } from '../../base/formats/trace-context.js';
import type { EventParts } from '../cloud-event.js';
import { canonicalString } from '../context-attributes.js';
import { parseMediaType } from '../../base/formats/media-type.js';
import type { Violation } from '../rule.js';
import { isUriReference } from '../../base/formats/uri.js';

// What INTG-STD-015 looks at, told apart from its rules.

/** The pattern of "Gateway Enforcement" 1. No two of its parts can take the same character, so it never backtracks. */
const envelopeType = /^[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*){3,}$/;

export function isEnvelopeType(type: string): boolean {
  return envelopeType.test(type);
}

/** Bytes of names and values, in the string encoding. */
export function attributeBytes(event: EventParts): number {
  let bytes = 0;
  for (const [name, value] of event.attributes) bytes += name.length + Buffer.byteLength(canonicalString(value));
  return bytes;
}

/** Subtypes of `application` that are no text. */
const binarySubtypes = [
  'octet-stream',
  'pdf',
  'zip',
  'gzip',
  'x-gzip',
  'zstd',
  'cbor',
  'msgpack',
  'protobuf',
  'x-protobuf',
  'wasm',
  'vnd.apache.thrift.binary',
];

/** Media types whose content is no text, as far as the type alone tells. */
export function isBinaryType(datacontenttype: string | undefined): boolean {
  const mediaType = datacontenttype === undefined ? undefined : parseMediaType(datacontenttype);
  if (!mediaType || /\+(?:xml|json)$/.test(mediaType.subtype)) return false;
  if (/\+(?:zip|gzip|zstd|cbor|ber|der)$/.test(mediaType.subtype)) return true;
  if (['image', 'audio', 'video', 'font'].includes(mediaType.type)) return true;
  return mediaType.type === 'application' && binarySubtypes.includes(mediaType.subtype);
}

/** The members of a claim check that are missing or of the wrong kind; undefined when there is none to judge. */
export function brokenClaimCheck({ claimCheck }: EventParts): Violation[] | undefined {
  if (!claimCheck || (claimCheck.hasUri && claimCheck.hasContentType)) return undefined;
  const findings: Violation[] = [];
  if (!claimCheck.hasUri) findings.push({ member: 'data', below: '/claimCheckUri' });
  if (!claimCheck.hasContentType) findings.push({ member: 'data', below: '/claimCheckContentType' });
  return findings;
}

/** What the extensions may be that CloudEvents 1.0.2 documents. A header has an Integer as a string. */
export const documentedExtensions: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['dataref', (value: unknown) => typeof value === 'string' && isUriReference(value)],
  ['partitionkey', (value: unknown) => typeof value === 'string' && value !== ''],
  ['sampledrate', (value: unknown) => /^[1-9][0-9]{0,9}$/.test(String(value)) && Number(value) <= 0x7fff_ffff],
  ['sequence', (value: unknown) => typeof value === 'string' && value !== ''],
  ['sequencetype', (value: unknown) => typeof value === 'string' && value !== ''],
  ['traceparent', (value: unknown) => typeof value === 'string' && isTraceparent(value)],
  ['tracestate', (value: unknown) => typeof value === 'string'],
]);
