// An HTTPS webhook on localhost that consents to everybody: what registrations are measured against.
import { createServer } from 'node:https';
import { createAuthority } from '../../dist/tools/conformance/authority.js';

const authority = await createAuthority('Assent bench', 1);
const headers = { Allow: 'POST, OPTIONS', 'WebHook-Allowed-Rate': '100', 'Content-Length': 0 };
const server = createServer(await authority.issue(['localhost']), (request, response) => {
  // A response before the end of a body would cost its sender the connection.
  request.resume().on('end', () => {
    response.writeHead(200, { ...headers, 'WebHook-Allowed-Origin': request.headers['webhook-request-origin'] ?? '' });
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, ca: authority.cert }));
process.on('disconnect', () => process.exit());
