import type { Actor } from '../storage/database.js';
import type { IdempotentRequest } from '../storage/idempotency.js';
import type { operations } from '../../base/contract/contract.gen.js';
import type { OperationId } from '../../base/contract/document.js';
import type { Language } from '../../base/texts/text.js';
import type { Preferred } from './exchange.js';
import type { Principal } from '../../base/contract/principal.js';
import type { StreamedBody } from './write-answer.js';

/**
 * An operation's handler is a function from a request to a response, both valid by the contract, whatever the
 * transport. The types of both come from the OpenAPI document.
 */
type Defined<T> = Exclude<T, undefined>;
type ParametersOf<Id extends OperationId, Place extends string> = operations[Id]['parameters'] extends {
  [P in Place]?: infer Value;
}
  ? Defined<Value>
  : never;
type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: { content: infer Content } }
  ? Content[keyof Content]
  : operations[Id] extends { requestBody?: { content: infer Content } }
    ? Content[keyof Content] | undefined
    : undefined;

export interface OperationRequest<Id extends OperationId> {
  path: ParametersOf<Id, 'path'>;
  query: ParametersOf<Id, 'query'>;
  /** The query as sent, without the question mark. */
  queryText: string;
  /** By lower-case name. */
  header: Readonly<Record<string, string | undefined>>;
  body: BodyOf<Id>;
  /** The body as received. */
  bytes: Buffer;
  /** The client that the token identifies; an operation without a token gets one without permissions. */
  principal: Principal;
  requestId: string;
  /** Of the span of this request; without one the caller's, in version 00 (W3C Trace Context), if it sent a valid one. */
  traceparent: string | undefined;
  /** The requested path, for links: with the path of the public URL, whatever a proxy removed. */
  address: string;
  /** Names and values in turn, as received. */
  rawHeaders: readonly string[];
  /** Fires when the client has disconnected. */
  signal: AbortSignal;
  /** The one of these media types that the client prefers (RFC 9110 section 12.5.1); of equals, the first. */
  preferred: Preferred;
  /** From `Accept-Language` (RFC 9110 section 12.5.4); English if the client prefers none of ours. */
  language: Language;
}

type Success = 200 | 201 | 204 | 304;
type JsonOf<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;

export type OperationResponse<Id extends OperationId> =
  /** A page, for browsers only. */
  { status: 200 | 400; headers?: Readonly<Record<string, string>>; html: string; isFollowed?: boolean } | AnswerOf<Id>;

type AnswerOf<Id extends OperationId> = {
  [Status in keyof operations[Id]['responses'] & Success]: {
    status: Status;
    headers?: Readonly<Record<string, string>>;
    /** The index of this process already contains what the handler wrote. */
    isFollowed?: boolean;
  } & (
    | {
        body: JsonOf<operations[Id]['responses'][Status]>;
        /** A page instead of the JSON body, for browsers. */
        html?: string;
      }
    /** The body as JSON text, if its parts already are text. */
    | { json: string | Buffer }
    | { mediaType: string; stream: StreamedBody }
    /** The body in another media type than JSON. */
    | { mediaType: string; text: string }
  );
}[keyof operations[Id]['responses'] & Success];

/** Returns no promise if it waits for nothing. */
export type Handler<Id extends OperationId> = (
  call: OperationRequest<Id>,
) => OperationResponse<Id> | Promise<OperationResponse<Id>>;

export type Handlers<Id extends OperationId = OperationId> = { [Each in Id]: Handler<Each> };

/** `Age` (RFC 9111 section 5.1) of a response from memory, in seconds; undefined if the memory is current. */
export function ageHeader(age: number | undefined): Readonly<Record<string, string>> {
  return age === undefined ? noHeaders : { Age: String(age) };
}

const noHeaders = {};

/** The caller and its request. */
export type Identity = Pick<OperationRequest<OperationId>, 'principal' | 'requestId' | 'traceparent' | 'header'>;

/** The actor that the audit record names for the changes of this call. */
export function actorOf({ principal, requestId, traceparent, header }: Identity): Actor {
  const reference = header['audit-reference'];
  return {
    tenant: principal.tenant,
    name: principal.client,
    person: principal.person,
    issuer: principal.issuer,
    requestId,
    ...(reference === undefined ? {} : { reference }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The request as its `Idempotency-Key` names it. `content` is everything that makes it this request. */
export function idempotent(
  { principal: { tenant, subscriber }, header }: Pick<Identity, 'principal' | 'header'>,
  operation: OperationId,
  content: unknown,
): IdempotentRequest {
  return { tenant, subscriber, key: header['idempotency-key'], operation, content };
}

/** Of a response to a repeated request. */
export function replayHeader(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : noHeaders;
}

const defaultWaitMs = 5_000;
const longestWaitMs = 30_000;

/**
 * How many milliseconds a client prefers to wait for the handshake (RFC 7240 sections 4.1 and 4.3): `wait=N` in
 * seconds, at most 30; 0 for `respond-async` alone; 5 seconds if the header is missing or unreadable.
 */
export function parsePrefer(header: string | undefined): number {
  const preferences = (header ?? '')
    .split(',')
    .map((preference) => preference.split(';')[0]?.trim().toLowerCase() ?? '');
  const wait = preferences
    .map((preference) => /^wait="?(\d{1,9})"?$/.exec(preference)?.[1])
    .find((n) => n !== undefined);
  if (wait !== undefined) return Math.min(Number(wait) * 1_000, longestWaitMs);
  return preferences.includes('respond-async') ? 0 : defaultWaitMs;
}
