import type { EventRequest } from '../events/read-events.js';

/** An HTTP request that carries events in any content mode. */
export interface EventMessage {
  /** As an object, or names and values in turn as Node's `rawHeaders`. */
  headers: readonly string[] | Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string | Uint8Array;
}

const structured = ['content-type', 'application/cloudevents+json; charset=utf-8'];
const batched = ['content-type', 'application/cloudevents-batch+json; charset=utf-8'];

/** What `POST /v1/match` would be sent. No attribute of an event is an object, so one in `headers` tells a request. */
export function messageOf(event: object): EventRequest {
  const { headers, body } = event as Partial<EventMessage>;
  // An attribute that is null is as if absent, whatever it is called.
  if (typeof headers !== 'object' || headers === null) {
    return { headers: Array.isArray(event) ? batched : structured, body: Buffer.from(JSON.stringify(event)) };
  }
  const lines = Array.isArray(headers)
    ? (headers as string[])
    : Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((line) => [name, line]));
  return { headers: lines, body: typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)) };
}
