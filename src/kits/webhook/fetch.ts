import { concatenate } from '../../base/formats/bytes.js';
import { BodyTakenError, type Handle, type WaitUntil, type WebhookRequest, type WebhookResponse } from './exchange.js';

/** What edge runtimes pass beside the request, at different places. */
interface Lifetime {
  waitUntil?: WaitUntil;
}

function requestOfFetch(request: Request, lifetime: Lifetime | undefined): WebhookRequest {
  return {
    method: request.method,
    url: request.url,
    headers: [...request.headers].flat(),
    body: (limit) => readBody(request, limit),
    ...(lifetime && { waitUntil: (work) => lifetime.waitUntil?.(work) }),
  };
}

async function readBody(request: Request, limit: number): Promise<Uint8Array | 'too_large' | 'interrupted'> {
  if (request.bodyUsed) throw new BodyTakenError();
  return readAll(request.body, limit).catch(() => 'interrupted' as const);
}

/** Rejects if the stream fails. */
export async function readAll(body: Request['body'], limit: number): Promise<Uint8Array | 'too_large'> {
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value: Uint8Array };
    if (done) return concatenate(chunks, bytes);
    bytes += value.length;
    chunks.push(value);
    if (bytes <= limit) continue;
    await reader.cancel();
    return 'too_large';
  }
}

function responseOf({ status, headers, body }: WebhookResponse): Response {
  return new Response(body ?? null, { status, headers });
}

/** For servers and routes that turn a Request into a Response. */
export function fetchAdapter(handle: Handle) {
  return async (request: Request, ...context: unknown[]): Promise<Response> => {
    // Workers pass (request, env, context), Vercel (request, context).
    const lifetime = context.find((each) => typeof (each as Lifetime | undefined)?.waitUntil === 'function');
    return responseOf(await handle(requestOfFetch(request, lifetime as Lifetime | undefined)));
  };
}

interface HonoContext {
  req: { raw: Request };
  executionCtx?: unknown;
}

/** Hono throws where the runtime has none. */
function lifetimeOf(context: HonoContext): Lifetime | undefined {
  try {
    return context.executionCtx as Lifetime | undefined;
  } catch {
    return undefined;
  }
}

/** For `app.all(path, …)` of Hono. */
export function honoAdapter(handle: Handle) {
  return async (context: HonoContext, next: () => Promise<void>): Promise<Response | void> => {
    const response = await handle(requestOfFetch(context.req.raw, lifetimeOf(context)));
    return response.passOn ? next() : responseOf(response);
  };
}
