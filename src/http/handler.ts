import type { Actor } from '../storage/audit.js';
import type { operations } from './contract.gen.js';
import type { OperationId } from './contract.js';
import type { Principal } from './principal.js';

/**
 * An operation's handler is a function from a request that keeps the contract to an answer that does; Express stays in
 * app.ts. The types of both come from the OpenAPI document.
 */
type Defined<T> = Exclude<T, undefined>;
type ParametersOf<Id extends OperationId, Place extends string> = operations[Id]['parameters'] extends {
  [P in Place]?: infer Value;
}
  ? Defined<Value>
  : never;
type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: { content: infer Content } }
  ? Content[keyof Content]
  : undefined;

export interface Call<Id extends OperationId> {
  path: ParametersOf<Id, 'path'>;
  query: ParametersOf<Id, 'query'>;
  /** By lower-case name. */
  header: Readonly<Record<string, string | undefined>>;
  body: BodyOf<Id>;
  /** The body as it came. */
  bytes: Buffer;
  /** For whom the token speaks; an operation without a token gets one that may do nothing. */
  principal: Principal;
  requestId: string;
  /** The path as it was asked for, for links. */
  address: string;
  /** Names and values in turn, as they came over the wire. */
  rawHeaders: readonly string[];
  /** Fires when the client has gone away. */
  signal: AbortSignal;
  /** Which of these media types the client likes best (RFC 9110 section 12.5.1), the first of those it likes alike. */
  preferred: (...mediaTypes: string[]) => string | false;
}

type Success = 200 | 201 | 304;
type JsonOf<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;

export type Answer<Id extends OperationId> = {
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
    | { json: string }
    | { mediaType: string; stream: Stream }
  );
}[keyof operations[Id]['responses'] & Success];

/**
 * Writes the body piece by piece; ends it by resolving, and breaks it off by rejecting, or answers with the problem if
 * nothing was written yet. `write` resolves when the client has room for more, and rejects when it has gone.
 */
export type Stream = (write: (text: string) => Promise<void>) => Promise<void>;

export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<Answer<Id>>;

/** Handled in lane.ts, in front of Express. */
export type LaneOperation = 'matchEvent' | 'getPermission' | 'getPermissions';
export type AppOperation = Exclude<OperationId, LaneOperation>;

export type Handlers<Id extends OperationId = AppOperation> = { [Each in Id]: Handler<Each> };

/** Whom the audit record names for what this call changes. */
export function actorOf({ principal, requestId }: Pick<Call<OperationId>, 'principal' | 'requestId'>): Actor {
  return { tenant: principal.tenant, name: principal.subscriber, requestId };
}
