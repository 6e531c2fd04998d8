import type { Handle } from './exchange.js';
import { requestOfNode, type NodeRequest } from './node.js';

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(values: Record<string, string>): FastifyReply;
  send(body?: unknown): FastifyReply;
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyInstance {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: unknown, done: (error: Error | null) => void) => void,
  ): unknown;
  all(
    path: string,
    options: { bodyLimit: number },
    handler: (request: { raw: NodeRequest }, reply: FastifyReply) => Promise<unknown>,
  ): unknown;
}

/** A plugin for `app.register(…, { prefix: path })`. Its content type parsers are its own. */
export function fastifyAdapter(handle: Handle) {
  return async (app: FastifyInstance): Promise<void> => {
    // The bytes stay unread until the core wants them.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    app.all('/', { bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
      const { status, headers, body } = await handle(requestOfNode(request.raw));
      return reply
        .code(status)
        .headers(headers)
        .send(body instanceof Uint8Array ? Buffer.from(body) : body);
    });
  };
}
