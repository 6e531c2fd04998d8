import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createWebhook } from '@assent/webhook';
import express from 'express';

const { PORT = '9443', TLS_CERT, TLS_KEY } = process.env;

const webhook = createWebhook({
  // Who may send, and how many requests per minute. A name is not a proof of identity: give Assent a sinkcredential,
  // and set `authenticate` to its token.
  origins: { 'eventemitter.example.com': 100 },
  // JSON.stringify refuses a BigInt.
  largeIntegers: 'string',
  receive(events) {
    for (const { type, id, data } of events) console.log(`received ${type} ${id} ${JSON.stringify(data)}`);
  },
});

const app = express();
// Before cors(), body parsers and any authentication.
app.all('/events', webhook.node);

// Without a certificate it speaks HTTP, for a proxy in front that ends TLS.
const server = TLS_CERT
  ? createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, app).listen(Number(PORT))
  : app.listen(Number(PORT));
server.once('listening', () =>
  console.log(`${TLS_CERT ? 'https' : 'http'}://localhost:${server.address().port}/events`),
);
