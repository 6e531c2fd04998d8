import { readEvents, type EventRequest } from '../../src/events/read-events.js';
import type { ReadEvent } from '../../src/events/draft.js';
import type { CloudEvent } from '../../src/events/cloud-event.js';

export const minimal = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.thing.created' };

const bytesOf = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

/** `body` is JSON text, or a value to make it of. */
export function structured(body: unknown, contentType = 'application/cloudevents+json'): EventRequest {
  return { headers: ['Content-Type', contentType], body: bytesOf(body) };
}

export function batched(body: unknown): EventRequest {
  return { headers: ['Content-Type', 'application/cloudevents-batch+json; charset=utf-8'], body: bytesOf(body) };
}

export function binary(headers: Record<string, string>, body = ''): EventRequest {
  return { headers: Object.entries(headers).flat(), body: Buffer.from(body) };
}

export function readOne(request: EventRequest): ReadEvent {
  const result = readEvents(request);
  if ('code' in result) throw new Error(JSON.stringify(result));
  return result.events[0] as ReadEvent;
}

/** Pointers and rules of what is wrong, without the name of the profile: `/id required`. */
export function faultsOf(request: EventRequest): string[] {
  const result = readEvents(request);
  const faults =
    'code' in result ? result.faults : result.events.flatMap((read) => ('faults' in read ? read.faults : []));
  return faults.map(({ pointer, rule }) => `${pointer} ${rule.replace('cloudevents.', '')}`);
}

export function eventOf(request: EventRequest): CloudEvent {
  const read = readOne(request);
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  return read.event;
}
