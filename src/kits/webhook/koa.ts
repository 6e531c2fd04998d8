import type { Handle } from './exchange.js';
import { requestOfNode, type NodeRequest } from './node.js';

export interface KoaContext {
  req: NodeRequest;
  originalUrl?: string;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/** For `router.all(path, …)` of @koa/router. */
export function koaAdapter(handle: Handle) {
  return async (context: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const { status, headers, body, passOn } = await handle({
      ...requestOfNode(context.req),
      ...(context.originalUrl !== undefined && { url: context.originalUrl }),
    });
    if (passOn) return void (await next());
    context.body = body instanceof Uint8Array ? Buffer.from(body) : (body ?? null);
    context.status = status;
    context.set(headers);
  };
}
