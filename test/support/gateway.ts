import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP gateway in front of a server that modifies what it forwards. */
export interface Gateway {
  url: string;
  stop(): Promise<void>;
}

/** `answers` returns whether it has responded itself. Headers that it sets are added to the response. */
export async function startGateway(
  target: string,
  answers: (request: IncomingMessage, answer: ServerResponse) => boolean,
): Promise<Gateway> {
  const server = createServer((request, answer) => {
    if (answers(request, answer)) return;
    const { method = '', url = '', headers } = request;
    const onward = ask(new URL(url, target), { method, headers }, (come) => {
      answer.writeHead(come.statusCode ?? 502, { ...come.headers, ...answer.getHeaders() });
      come.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
