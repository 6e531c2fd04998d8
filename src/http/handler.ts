import type { Actor } from '../storage/transaction.js';
import type { operations } from './contract.gen.js';
import type { OperationId } from './contract.js';
import type { Language } from '../texts/text.js';
import type { Preferred } from './exchange.js';
import type { Principal } from './principal.js';
import type { StreamedBody } from './write-answer.js';

/**
 * An operation's handler is a function from a request that keeps the contract to an answer that does, whatever
 * transport brought the request. The types of both come from the OpenAPI document.
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

export interface Call<Id extends OperationId> {
  path: ParametersOf<Id, 'path'>;
  query: ParametersOf<Id, 'query'>;
  /** The query as it was sent, without the question mark. */
  queryText: string;
  /** By lower-case name. */
  header: Readonly<Record<string, string | undefined>>;
  body: BodyOf<Id>;
  /** The body as it came. */
  bytes: Buffer;
  /** For whom the token speaks; an operation without a token gets one that may do nothing. */
  principal: Principal;
  requestId: string;
  /** The caller's, in version 00 (W3C Trace Context); undefined if it sent none that is valid. */
  traceparent: string | undefined;
  /** The path as it was asked for, for links. */
  address: string;
  /** Names and values in turn, as they came over the wire. */
  rawHeaders: readonly string[];
  /** Fires when the client has gone away. */
  signal: AbortSignal;
  /** Which of these media types the client likes best (RFC 9110 section 12.5.1), the first of those it likes alike. */
  preferred: Preferred;
  /** From `Accept-Language` (RFC 9110 section 12.5.4); English if the client prefers none of ours. */
  language: Language;
}

type Success = 200 | 201 | 304;
type JsonOf<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;

export type Answer<Id extends OperationId> =
  /** A page for browsers alone. */
  { status: 200 | 400; headers?: Readonly<Record<string, string>>; html: string; isFollowed?: boolean } | AnswerOf<Id>;

type AnswerOf<Id extends OperationId> = {
  [Status in keyof operations[Id]['responses'] & Success]: {
    status: Status;
    headers?: Readonly<Record<string, string>>;
    /** What it has written is in this process's own index already. */
    isFollowed?: boolean;
  } & (
    | {
        body: JsonOf<operations[Id]['responses'][Status]>;
        /** A page in place of the JSON body, for browsers. */
        html?: string;
      }
    /** The body as JSON text, where its parts are there as text already. */
    | { json: string | Buffer }
    | { mediaType: string; stream: StreamedBody }
  );
}[keyof operations[Id]['responses'] & Success];

/** Gives no promise if it waits for nothing. */
export type Handler<Id extends OperationId> = (call: Call<Id>) => Answer<Id> | Promise<Answer<Id>>;

export type Handlers<Id extends OperationId = OperationId> = { [Each in Id]: Handler<Each> };

/** `Age` (RFC 9111 section 5.1) of an answer from memory, in seconds; without it the memory is current. */
export function ageHeader(age: number | undefined): Readonly<Record<string, string>> {
  return age === undefined ? noHeaders : { Age: String(age) };
}

const noHeaders = {};

/** Who calls, and which request it is. */
export type Identity = Pick<Call<OperationId>, 'principal' | 'requestId' | 'traceparent'>;

/** Whom the audit record names for what this call changes. */
export function actorOf({ principal, requestId, traceparent }: Identity): Actor {
  const actor = { tenant: principal.tenant, name: principal.subscriber, requestId };
  return traceparent === undefined ? actor : { ...actor, traceparent };
}

const defaultWaitMs = 5_000;
const longestWaitMs = 30_000;

/**
 * How many milliseconds a client prefers to wait for the handshake (RFC 7240 sections 4.1 and 4.3): `wait=N` in
 * seconds, capped at 30; `respond-async` alone is 0; nothing, or nothing that can be read, is 5 seconds.
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
