import { BodyTakenError, type Handle, type WebhookRequest, type WebhookResponse } from './exchange.js';

export function requestOfFetch(request: Request): WebhookRequest {
  return {
    method: request.method,
    url: request.url,
    headers: [...request.headers].flat(),
    body: (limit) => readBody(request, limit),
  };
}

async function readBody(request: Request, limit: number): Promise<Uint8Array | 'too_large' | 'interrupted'> {
  if (request.bodyUsed) throw new BodyTakenError();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    // Leaving the loop cancels the rest.
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > limit) return 'too_large';
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return 'interrupted';
  }
}

function responseOf({ status, headers, body }: WebhookResponse): Response {
  return new Response(body ?? null, { status, headers });
}

/** For servers and routes that turn a Request into a Response. */
export function fetchAdapter(handle: Handle) {
  return async (request: Request): Promise<Response> => responseOf(await handle(requestOfFetch(request)));
}

/** For `app.all(path, …)` of Hono. */
export function honoAdapter(handle: Handle) {
  return async (context: { req: { raw: Request } }, next: () => Promise<void>): Promise<Response | void> => {
    const response = await handle(requestOfFetch(context.req.raw));
    return response.passOn ? next() : responseOf(response);
  };
}
