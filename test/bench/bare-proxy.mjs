// What `assent egress` is measured against: node:http that posts each request on with undici, over kept connections, and
// returns the response. It knows no caller, no consent and no rate, and signs nothing.
import { createServer } from 'node:http';
import { Agent } from 'undici';

const { ca } = JSON.parse(process.argv[2]);
const agent = new Agent({ connect: { ca } });
const dropped = new Set(['host', 'connection', 'content-length', 'authorization']);
const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const [, host, path] = /^\/https\/([^/]+)(\/.*)$/.exec(request.url);
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !dropped.has(name)));
    const answer = await agent.request({
      origin: `https://${host}`,
      path,
      method: 'POST',
      headers,
      body: Buffer.concat(chunks),
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    delete answer.headers.connection;
    response.writeHead(answer.statusCode, { ...answer.headers, 'Content-Length': body.length }).end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
