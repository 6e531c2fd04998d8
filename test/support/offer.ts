import type { IncomingMessage } from 'node:http';
import { expect } from '@jest/globals';
import type { Registry } from './registry.js';
import type { Tenant } from './tenant.js';

/** A subscription whose webhook answers 200 without headers, and may call back. */
export interface Offer {
  id: string;
  sink: string;
  handshake: string;
  /** The address that the first request offered, and those of all requests so far. */
  callback: string;
  callbacks: string[];
}

let count = 0;

/** Registers a webhook on a path of its own. */
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

/** The callback that a request offers, if it offers one. */
export function offeredBy({ headers }: Pick<IncomingMessage, 'headers'>): string[] {
  const callback = headers['webhook-request-callback'];
  return callback === undefined ? [] : [callback].flat();
}

export const keyOf = (callback: string): string => new URL(callback).searchParams.get('key') ?? '';
