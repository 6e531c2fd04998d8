import { createHash } from 'node:crypto';
import { RegistryError } from '../../base/errors.js';
import { encodeAttribute } from '../../kits/sender/delivery.js';

/** What the requests of a sender become that does not speak CloudEvents: events in binary mode, the body unchanged. */
export interface EventSettings {
  source: string;
  type: string;
  /** In lower case. A header of the sender with an id that is the same in each attempt, and in no other request. */
  idheader?: string | undefined;
}

/** What webhooks that consented to events get; for the header `Accept` of a 415. */
export const eventMediaTypes = ['application/cloudevents+json', 'application/cloudevents-batch+json'];

/**
 * The headers that make an event of a request (HTTP binding, section 3.1), as a function of its body; undefined if it is
 * one, in whatever mode or format. RegistryError `media_type_unsupported` if it is none, and is not to become one.
 */
export function becomesEvent(
  headers: Readonly<Record<string, string>>,
  settings: EventSettings | undefined,
  idOf: (header: string) => string | undefined,
): ((body: Buffer) => Record<string, string>) | undefined {
  let contentType: string | undefined;
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if (lower.startsWith('ce-')) return undefined;
    if (lower === 'content-type') contentType = headers[name];
  }
  if (/^application\/cloudevents/i.test(contentType ?? '')) return undefined;
  if (settings === undefined)
    throw noEvent('The webhook agreed to events. The settings can make one of each request of this caller.');
  if (contentType === undefined) throw noEvent('An event with these data needs their media type.');
  const { source, type, idheader } = settings;
  const id = idheader === undefined ? undefined : idOf(idheader);
  const time = new Date().toISOString();
  return (body) => ({
    'ce-specversion': '1.0',
    // A sender repeats what this process refuses or loses, and webhooks know a repeated event by its id.
    'ce-id': encodeAttribute(id || createHash('sha256').update(body).digest('base64url')),
    'ce-source': encodeAttribute(source),
    'ce-type': encodeAttribute(type),
    'ce-time': time,
  });
}

function noEvent(why: string): RegistryError {
  const detail = `No header begins with "ce-", and the Content-Type is not that of an event. ${why}`;
  return new RegistryError('media_type_unsupported', 'The request has no event.', {
    faults: [{ pointer: 'header/content-type', rule: 'not_an_event', detail }],
  });
}
