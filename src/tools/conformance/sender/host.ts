import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Certificate } from '../authority.js';
import { linesOfHead, listen, type Listener } from '../listen.js';
import type { Exchange, Reply } from './exchange.js';

export interface HostSettings {
  /** The name in the URLs. For `localhost` it listens on 127.0.0.1, for an address there, else on every interface. */
  host: string;
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
  /** Records the request when its head arrives. `reply` is asked for when the body is here, too. */
  onRequest(exchange: Exchange): { reply(): Promise<Reply> };
}

const longestBody = 65_536;

/**
 * One server for all webhooks. It speaks https, and on the same port http: a delivery without TLS is a finding, too.
 * Throws a UsageError if it cannot listen there.
 */
export async function startHost({ host, port, certificate, onRequest }: HostSettings): Promise<Listener> {
  const listener = (scheme: Exchange['scheme']) => (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '' } = request;
    const exchange: Exchange = { at: performance.now(), scheme, method, target, lines: linesOfHead(request), body: '' };
    const { reply } = onRequest(exchange);
    request.setEncoding('utf8').on('data', (text: string) => {
      exchange.body = (exchange.body + text).slice(0, longestBody);
    });
    request.once('end', () => {
      const answer = async () => {
        const { status, headers } = await reply();
        Object.assign(exchange, { reply: { status, headers } });
        // Before the first byte leaves: what arrives later may already be a reaction.
        exchange.answeredAt = performance.now();
        response.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'Content-Length': '0' }) }).end();
      };
      answer().catch(() => response.destroy());
    });
  };
  const address = host === 'localhost' ? '127.0.0.1' : /^[\d.]+$/.test(host) ? host : undefined;
  return listen({ host, address, port, certificate, onRequest: listener });
}
