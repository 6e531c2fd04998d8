import { createHash } from 'node:crypto';
import { isJson, parseMediaType } from '../../base/formats/media-type.js';
import type { EventRequest } from '../../events/read-events.js';
import type { MatchResult } from '../../matching/match/match-message.js';

export interface DeliveryMessage {
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

export type MatchedSink = MatchResult['sinks'][number];

/**
 * One delivery (webhook specification, section 2.1) of an event in the JSON format, in the content mode of the match
 * (HTTP binding, section 3), with the subscription's headers and credential: Basic (RFC 7617) for `PLAIN`, Bearer (RFC
 * 6750) for a bearer token; not signed. Throws an Error if the credential is missing from the match or cannot be applied. To
 * authenticate in another way, leave `hascredential` and `sinkcredential` out of `to`.
 */
export function deliveryOf(event: object, origin: string, to: MatchedSink): DeliveryMessage {
  const binary = to.contentmode === 'binary' && !holdsEvent(event) && isWritable(event) ? inBinary(event) : undefined;
  return addressed(binary ?? inStructured(event), origin, to);
}

/** Content with the headers of its sink. A subscription's headers are none of the content (`checkProtocolSettings`). */
export function addressed({ headers, body }: DeliveryMessage, origin: string, to: MatchedSink): DeliveryMessage {
  const { authorization, fault } = credentialHeaderOf(to);
  if (fault !== undefined) throw new Error(fault);
  const own = {
    ...(to.protocolsettings?.['headers'] as Record<string, string> | undefined),
    'WebHook-Request-Origin': origin,
    ...(authorization !== undefined && { Authorization: authorization }),
  };
  return { headers: withHeaders(headers, own), body };
}

/** Those of `more` replace headers of the same name, in any letter case. */
export function withHeaders(
  headers: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(more).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...more };
}

/**
 * `webhook-id` (Standard Webhooks): the same for each request that brings this event to this sink, even from another
 * process, and of no other.
 */
export function messageIdOf(source: unknown, id: unknown, sink: string): string {
  return createHash('sha256')
    .update(JSON.stringify([source, id, sink]))
    .digest('base64url');
}

export function idOfEvent({ source, id }: { source?: unknown; id?: unknown }, sink: string): string {
  return messageIdOf(source, id, sink);
}

const cure = 'use matchWithCredentials, and a token with the scope assent:credentials';

/** Why nothing may be sent. */
export const withholdingOf = (to: MatchedSink): string | undefined =>
  credentialHeaderOf(to).fault ?? signingFaultOf(to);

/** The `Authorization` header if the webhook has a credential, or why nothing may be sent. */
function credentialHeaderOf(to: MatchedSink): { authorization?: string; fault?: string } {
  const { sink, hascredential, sinkcredential } = to;
  if (sinkcredential === undefined) {
    if (hascredential !== true) return {};
    return { fault: `The credential of ${sink} is not in the match (${cure}).` };
  }
  if (sinkcredential.credentialtype === 'PLAIN') {
    const { identifier = '', secret = '' } = sinkcredential;
    // RFC 7617, section 2: a user-id contains no colon.
    if (identifier.includes(':'))
      return { fault: `Basic authentication does not allow a colon in the user name (${sink}).` };
    return { authorization: `Basic ${Buffer.from(`${identifier}:${secret}`).toString('base64')}` };
  }
  // A token of an unknown type must not be used; types are case-insensitive (RFC 6749, sections 7.1 and 5.1).
  const { accesstoken, accesstokentype = 'bearer' } = sinkcredential;
  if (typeof accesstoken === 'string' && accesstokentype.toLowerCase() === 'bearer') {
    return { authorization: `Bearer ${accesstoken}` };
  }
  return { fault: `The credential of ${sink} is neither PLAIN nor a bearer token.` };
}

/** Why nothing may be sent to a webhook that wants signatures with its secret. */
export function signingFaultOf({ sink, hassigningsecret, signingsecrets }: MatchedSink): string | undefined {
  if (signingsecrets !== undefined || hassigningsecret !== true) return undefined;
  return `The signing secret of ${sink} is not in the match (${cure}).`;
}

function inStructured(event: object): DeliveryMessage {
  return { headers: { 'Content-Type': 'application/cloudevents+json; charset=utf-8' }, body: JSON.stringify(event) };
}

/** In binary mode, receivers would read the data as the event (HTTP binding, section 3). */
function holdsEvent(event: { datacontenttype?: unknown }): boolean {
  return /^application\/cloudevents/i.test(String(event.datacontenttype));
}

/** Text is always encoded as UTF-8; binary mode would need the charset that the media type declares. */
function isWritable({ data, datacontenttype }: { data?: unknown; datacontenttype?: unknown }): boolean {
  if (data === undefined || typeof datacontenttype !== 'string') return true;
  return ['utf-8', 'utf8', 'us-ascii', undefined].includes(parseMediaType(datacontenttype)?.charset);
}

/**
 * Data without a media type is JSON; bytes without one are opaque (JSON format, sections 3.1.1 and 3.1.2). Undefined if
 * there is no body or no media type: a delivery needs both (webhook specification, section 2.1).
 */
function inBinary(event: object): DeliveryMessage | undefined {
  const { data, data_base64: base64, datacontenttype, ...attributes } = event as Record<string, unknown>;
  const implied = data === undefined ? undefined : 'application/json';
  const contentType = typeof datacontenttype === 'string' ? datacontenttype : implied;
  const body = typeof base64 === 'string' ? Buffer.from(base64, 'base64') : bodyOf(data, contentType);
  if (contentType === undefined || !body?.length) return undefined;
  // Through JSON, like the matched event: a time may still be a Date.
  const headers = Object.entries(JSON.parse(JSON.stringify(attributes)) as Record<string, unknown>)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [`ce-${name}`, encodeAttribute(String(value))]);
  return {
    headers: { ...(Object.fromEntries(headers) as Record<string, string>), 'Content-Type': contentType },
    body,
  };
}

function bodyOf(data: unknown, contentType = ''): string | undefined {
  if (data === undefined) return undefined;
  const mediaType = parseMediaType(contentType);
  const isText = typeof data === 'string' && (mediaType === undefined || !isJson(mediaType));
  return isText ? data : JSON.stringify(data);
}

/**
 * Percent-encodes everything but visible ASCII, and the characters that are special in a header value (HTTP binding,
 * section 3.1.3.2).
 */
export function encodeAttribute(value: string): string {
  return value.replace(/[^!-~]|["%]/gu, encodeURIComponent);
}

/** An HTTP request that carries events in any content mode. */
export interface EventMessage {
  /** An object, or alternating names and values like Node's `rawHeaders`. */
  headers: readonly string[] | Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string | Uint8Array;
}

const structured = ['content-type', 'application/cloudevents+json; charset=utf-8'];
const batched = ['content-type', 'application/cloudevents-batch+json; charset=utf-8'];

/** The equivalent `POST /v1/match` request. No event attribute is an object, so an object in `headers` means a request. */
export function messageOf(event: object): EventRequest {
  const { headers, body } = event as Partial<EventMessage>;
  // A null attribute counts as absent, whatever its name.
  if (typeof headers !== 'object' || headers === null) {
    return { headers: Array.isArray(event) ? batched : structured, body: Buffer.from(JSON.stringify(event)) };
  }
  const lines = Array.isArray(headers)
    ? (headers as string[])
    : Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((line) => [name, line]));
  return { headers: lines, body: typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)) };
}
