// A callback URL whose host resolves to this machine, which no setting allows: prints its outcome, and whether a connection came.
import { createServer } from 'node:net';
import { createWebhook } from '@assent/webhook';

let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
server.listen(0, '127.0.0.1', async () => {
  const host = `localhost:${server.address().port}`;
  const webhook = createWebhook({
    origins: () => 'later',
    receive: () => undefined,
    onFault: () => undefined,
    callbacks: {
      hosts: [host],
      onRequest: (request) => request.allow(1),
      onOutcome: (_request, outcome) => {
        console.log(`${outcome}, ${connections} connections`);
        server.close();
      },
    },
  });
  const headers = {
    'WebHook-Request-Origin': 'eventemitter.example.com',
    'WebHook-Request-Callback': `https://${host}/`,
  };
  await webhook.fetch(new Request('http://localhost/', { method: 'OPTIONS', headers }));
});
