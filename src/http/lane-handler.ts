import type { Operation } from './contract.js';
import type { AppOperation, Call, Handler } from './handler.js';
import { readJsonBody } from './json-body.js';
import type { LaneHandler } from './lane.js';

interface JsonAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  isFollowed?: boolean;
  body: unknown;
}

/**
 * A handler that Express calls too, for the lane: an operation that writes, and takes and gives JSON. `onWritten` is
 * called before the answer is sent.
 */
export function createLaneHandler<Id extends AppOperation>(
  operation: Operation,
  handler: Handler<Id>,
  onWritten: () => Promise<void>,
): LaneHandler {
  return async ({ principal, query, header, signal, request, body, requestId }) => {
    const { rawHeaders, headers } = request;
    // The contract has checked what the types of a handler's call and answer say.
    const call = {
      path: {},
      query,
      header,
      body: readJsonBody(operation, headers, body),
      bytes: body,
      principal,
      requestId,
      address: operation.path,
      rawHeaders,
      signal,
    } as unknown as Call<Id>;
    const answer = (await handler(call)) as unknown as JsonAnswer;
    if (!answer.isFollowed) await onWritten();
    const { status, headers: lines = {} } = answer;
    return { status, headers: Object.entries(lines).flat(), body: JSON.stringify(answer.body) };
  };
}
