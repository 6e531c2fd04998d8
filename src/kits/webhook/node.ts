import { concatenate } from '../../base/formats/bytes.js';
import { BodyTakenError, type Handle, type WebhookRequest } from './exchange.js';

// The parts of Node's classes that the adapters use: the types of the package need none of Node's.

/** A request of Node, and what body parsers leave in it. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  /** Where a framework takes a prefix from `url`. */
  originalUrl?: unknown;
  rawHeaders: string[];
  headers: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  body?: unknown;
  rawBody?: unknown;
  readableDidRead: boolean;
  readableEnded: boolean;
  destroyed: boolean;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  off(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  once(event: 'error' | 'close' | 'end', listener: () => void): unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string | Uint8Array): unknown;
}

type Next = (error?: unknown) => unknown;

export function requestOfNode(request: NodeRequest): WebhookRequest {
  return {
    method: request.method ?? '',
    url: typeof request.originalUrl === 'string' ? request.originalUrl : (request.url ?? ''),
    headers: request.rawHeaders.length > 0 ? request.rawHeaders : linesOf(request.headers),
    body: (limit) => readBody(request, limit),
  };
}

/** Of a request that no server of Node made: what runs an application in Lambda sets `headers` alone. */
function linesOf(headers: NodeRequest['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => (each === undefined ? [] : [name, `${each}`])),
  );
}

async function readBody(request: NodeRequest, limit: number): Promise<Uint8Array | 'too_large' | 'interrupted'> {
  const parsed = [request.rawBody, request.body].find((body) => body instanceof Uint8Array);
  if (parsed !== undefined) {
    return parsed.length > limit ? 'too_large' : new Uint8Array(parsed.buffer, parsed.byteOffset, parsed.byteLength);
  }
  if (request.readableDidRead) throw new BodyTakenError();
  if (request.readableEnded) return new Uint8Array();
  // The sender left while the application decided whether it may send.
  if (request.destroyed) return 'interrupted';
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const settle = (result: Uint8Array | 'too_large' | 'interrupted') => {
      request.off('data', add);
      resolve(result);
    };
    const add = (chunk: Uint8Array) => {
      bytes += chunk.length;
      // The rest is dropped, not kept.
      if (bytes > limit) settle('too_large');
      else chunks.push(chunk);
    };
    const interrupt = () => settle('interrupted');
    request.on('data', add);
    request.once('error', interrupt);
    request.once('close', interrupt);
    request.once('end', () => settle(concatenate(chunks, bytes)));
  });
}

/** For `node:http`, `node:https` and `node:http2`, and as middleware of Express and others with `next`. */
export function nodeAdapter(handle: Handle) {
  return async (request: NodeRequest, response: NodeResponse, next?: Next): Promise<void> => {
    const { status, headers, body, passOn } = await handle(requestOfNode(request));
    if (passOn && next) return void next();
    // Without writeHead, Node adds the length of the body: some senders do not read chunks.
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(body);
  };
}
