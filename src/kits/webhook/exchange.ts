import type { Fault } from '../../base/errors.js';

/** A request in the terms of HTTP alone: what the core knows of a framework. */
export interface WebhookRequest {
  method: string;
  /** At least the path and the query. */
  url: string;
  /** Alternating names and values, like Node's `rawHeaders`. */
  headers: readonly string[];
  /** Reads at most `limit` bytes. Rejects with BodyTakenError if another part of the application has read the body. */
  body(limit: number): Promise<Uint8Array | 'too_large' | 'interrupted'>;
  /** Where a runtime may end after the response. */
  waitUntil?: WaitUntil;
}

/** Keeps the runtime alive until this work is done. */
export type WaitUntil = (work: Promise<unknown>) => void;

/** One POST request, before its body is read. */
export interface DeliveryRequest {
  /** In lower case; empty if the request names no valid one. */
  origin: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
}

export interface ReceivedDelivery extends DeliveryRequest {
  /** With `verify.keys`: the thumbprint of the key that signed it. */
  keyid?: string;
  /** The body exactly as it was received: to check a signature, or to parse it in another way. */
  rawBody: Uint8Array;
}

export interface WebhookResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  /** A CORS preflight: the CORS layer of the application responds if there is one. */
  passOn?: true;
}

export type Handle = (request: WebhookRequest) => Promise<WebhookResponse>;

/** What OPTIONS and 405 say about this resource (RFC 9110, section 10.2.1). */
export const allow = { Allow: 'POST, OPTIONS' };

/** Names in lower case. Repeated ones are joined with a comma (RFC 9110, section 5.2), so no single value hides another. */
export function headersOf(raw: readonly string[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${raw[at + 1]}` : raw[at + 1]!;
  }
  return headers;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  405: 'Method not allowed',
  410: 'Gone',
  413: 'Content too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
};

/** A place, and the rule that it breaks: one of events, or of signatures (`VerifyFault`). */
type Broken = Pick<Fault<string>, 'pointer' | 'detail'> & { rule: string };

/** A refusal as a problem (RFC 9457). `faults` name the places in the message and the rules that they break. */
export function problem(
  status: number,
  detail: string,
  { headers = {}, faults = [] }: { headers?: Record<string, string>; faults?: readonly Broken[] } = {},
): WebhookResponse {
  const shown = faults.map(({ pointer, rule, detail: why }) => ({ pointer, rule, detail: why }));
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/problem+json' },
    body: JSON.stringify({
      type: 'about:blank',
      title: titles[status],
      status,
      detail,
      ...(shown.length > 0 ? { faults: shown } : {}),
    }),
  };
}

/**
 * The answer to an origin with a comma. Lines of one header are joined with it, by `headersOf`, by `Headers` of fetch, or by
 * a proxy. "Not the name" would not lead anyone to the proxy that wrote the second line.
 */
export const originRepeated: WebhookResponse = problem(
  400,
  'WebHook-Request-Origin came more than once, or with a list. Send it once, with one name.',
  { headers: allow },
);

/** The body is gone: another part of the application has read it. */
export class BodyTakenError extends Error {
  override readonly name = 'BodyTakenError';

  constructor() {
    super(
      'The body was read before the webhook got the request. Mount the webhook before every body parser, such as ' +
        'express.json() or koa-bodyparser, or use a parser that leaves the bytes in request.body, such as express.raw().',
    );
  }
}
