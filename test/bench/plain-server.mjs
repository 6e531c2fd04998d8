// The plain way to register: Express, one interactive transaction of Prisma for the three rows, and `fetch` for the
// handshake. No authentication, no rules, no audit record, no change log, and nothing is written of what the webhook
// said.
import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import express from 'express';
import { Agent, fetch } from 'undici';
import { PrismaClient } from '../../dist/registry/storage/generated/client.js';

const { origin, url } = JSON.parse(process.argv[2]);
const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 20 }) });
// As the registry does: a connection for each handshake.
const dispatcher = new Agent({ pipelining: 0 });
const app = express();
app.use(express.json());
app.post('/v1/subscriptions', async (request, response) => {
  const { sink, source, types } = request.body;
  const [id, handshake] = [randomUUID(), randomUUID()];
  const pair = { tenant: 'plain', origin, sink };
  await client.$transaction(
    async (sql) => {
      await sql.subscription.create({ data: { id, ...pair, subscriber: 'plain', protocol: 'HTTP', source, types } });
      await sql.handshake.create({
        data: {
          id: handshake,
          ...pair,
          sinkhost: 'localhost',
          subscription: id,
          generation: 1,
          state: 'due',
          // Not while the registry of the same database could take it for one of its own.
          dueat: new Date(Date.now() + 86_400_000),
          trigger: 'registration',
          startedby: 'plain',
        },
      });
      await sql.change.create({ data: { ...pair, kind: 'subscription.created', subscription: id } });
    },
    { maxWait: 30_000, timeout: 30_000 },
  );
  const answer = await fetch(sink, {
    method: 'OPTIONS',
    dispatcher,
    headers: { 'WebHook-Request-Origin': origin, 'WebHook-Request-Rate': '120' },
  });
  await answer.text();
  const isActive = answer.headers.get('webhook-allowed-origin') === origin;
  response.status(201).json({ id, sink, status: isActive ? 'active' : 'refused' });
});
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
