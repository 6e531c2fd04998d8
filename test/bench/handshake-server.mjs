// Handshakes alone: node:http that parses a registration, asks its webhook through the client that the registry has,
// judges the answer and says what came of it. No authentication, no rules, no database.
import { createServer } from 'node:http';
import { judge } from '../../dist/consent/judgement.js';
import { createSafeRequest, safeRequestDefaults } from '../../dist/outbound/safe-request.js';

const { origin, port, ca } = JSON.parse(process.argv[2]);
const ask = createSafeRequest({
  ...safeRequestDefaults,
  allowedNetworks: ['127.0.0.0/8'],
  ports: [port],
  ca,
  userAgent: 'Assent-bench',
});
const headers = {
  'WebHook-Request-Origin': origin,
  'WebHook-Request-Callback': `https://assent.test/v1/callbacks/${'x'.repeat(36)}?key=${'x'.repeat(43)}`,
  'WebHook-Request-Rate': '120',
};
const question = { origin, requestedRate: 120, defaultRate: 60, judgement: 'strict' };

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const { sink } = JSON.parse(Buffer.concat(chunks).toString());
    const reply = await ask({ url: sink, method: 'OPTIONS', headers });
    const { kind } = judge(question, reply);
    const answer = JSON.stringify({ sink, status: kind === 'granted' ? 'active' : kind });
    response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
