import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import express from 'express';

const { PORT = '9443', TLS_CERT, TLS_KEY } = process.env;

// Who may send, and how many requests per minute.
const rates = new Map([['eventemitter.example.com', '100']]);

/** The allowed origin that the request names, or undefined. Compares the whole name. */
function originOf(request) {
  const origin = request.get('WebHook-Request-Origin')?.toLowerCase();
  return rates.has(origin) ? origin : undefined;
}

const app = express();

// Before cors() and before any authentication: both respond to OPTIONS themselves.
app.options('/events', (request, response) => {
  const origin = originOf(request);
  if (origin) response.set({ 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': rates.get(origin) });
  response.set('Allow', 'POST').sendStatus(204);
  console.log(`${origin ? 'consented' : 'did not consent'} to ${request.get('WebHook-Request-Origin')}`);
});

const json = express.json({ type: ['application/cloudevents+json', 'application/json'], limit: '1mb' });

app.post('/events', json, (request, response) => {
  // A name is not a proof of identity: give Assent a sinkcredential, and check it here, too.
  if (!originOf(request)) return response.status(403).send('This origin has no consent.');
  const isBinary = request.get('ce-id') !== undefined;
  const { id, type, data } = isBinary
    ? { id: request.get('ce-id'), type: request.get('ce-type'), data: request.body }
    : (request.body ?? {});
  if (!id || !type) return response.status(400).send('This is not a CloudEvent.');
  console.log(`received ${type} ${id} ${JSON.stringify(data)}`);
  response.sendStatus(204);
});

// Without a certificate it speaks HTTP, for a proxy in front that ends TLS.
const server = TLS_CERT
  ? createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, app).listen(Number(PORT))
  : app.listen(Number(PORT));
server.once('listening', () =>
  console.log(`${TLS_CERT ? 'https' : 'http'}://localhost:${server.address().port}/events`),
);
