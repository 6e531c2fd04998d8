import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Behaviour } from '../demo/webhook.js';

/**
 * Sends a request on to an application under development, and its response back, both with the headers that they came
 * with. The path of the request is appended to that of the URL. Returns 502 if there is no response,
 * and reports why.
 */
export function forwardTo(target: URL, onFault: (reason: string) => void): Behaviour {
  const send = target.protocol === 'https:' ? requestSecure : requestPlain;
  const base = target.pathname.replace(/\/$/, '');
  return (request, response, body) => {
    const { method, url = '/', rawHeaders } = request;
    const path = base === '' || !/^\/(?:\?|$)/.test(url) ? base + url : base + url.slice(1);
    const outgoing = send(new URL(target.origin), { method, path, headers: rawHeaders });
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) return void response.destroy();
      const reason = `${target.origin} gave no response (${error.code ?? error.message}).`;
      onFault(reason);
      response.writeHead(502, { 'Content-Type': 'text/plain' }).end(`${reason}\n`);
    });
    outgoing.end(body);
  };
}
