import type { IncomingMessage } from 'node:http';
import { expect } from '@jest/globals';
import type { Registry } from './registry.js';
import type { Tenant } from './tenant.js';

/** A subscription whose webhook responds 200 without headers, and may call back. */
export interface Offer {
  id: string;
  sink: string;
  handshake: string;
  /** The callback URL of the first request, and those of all requests so far. */
  callback: string;
  callbacks: string[];
}

let count = 0;

/** Registers a webhook on its own path. */
export async function offer({ receiver }: Registry, tenant: Tenant, path?: string): Promise<Offer> {
  const sink = receiver.sink(path ?? `/offer-${(count += 1)}`);
  const callbacks: string[] = [];
  receiver.on(new URL(sink).pathname, (request, response) => {
    callbacks.push(...offeredBy(request));
    response.writeHead(200).end();
  });
  const { id, status, statusdetails } = await tenant.register(sink);
  expect(status).toBe('pending');
  return { id, sink, handshake: statusdetails.handshake, callback: callbacks[0] ?? '', callbacks };
}

/** The callback URL in a request, if there is one. */
export function offeredBy({ headers }: Pick<IncomingMessage, 'headers'>): string[] {
  const callback = headers['webhook-request-callback'];
  return callback === undefined ? [] : [callback].flat();
}

export const keyOf = (callback: string): string => new URL(callback).searchParams.get('key') ?? '';
