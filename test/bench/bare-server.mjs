// What the API is measured against: node:http that reads the body, parses it and answers a constant of a given size.
import { createServer } from 'node:http';

const answer = JSON.stringify({ constant: 'x'.repeat(Math.max(0, Number(process.argv[2]) - 15)) });
const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
