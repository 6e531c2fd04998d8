import { createServer } from 'node:http';
import { WebPubSubEventHandler } from '@azure/web-pubsub-express';
import Hapi from '@hapi/hapi';
import Router from '@koa/router';
import { HTTP } from 'cloudevents';
import cors from 'cors';
import express from 'express';
import express4 from 'express4';
import { H3, serve as serveH3 } from 'h3';
import Koa from 'koa';
import { startProxy } from './plain.mjs';

/** The same frameworks after their owners followed the advice. What the documentation shows is started as shown there. */
const host = '127.0.0.1';
const origin = 'eventemitter.example.com';
const isAllowed = (headers) => headers['webhook-request-origin'] === origin;
const consent = { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '120' };

const accept = (_request, response) => void response.status(204).end();
const handshake = (request, response) => void response.writeHead(204, isAllowed(request.headers) ? consent : {}).end();

export const advised = {
  'Node.js `http`': (port) =>
    createServer((request, response) => {
      if (request.method === 'OPTIONS') handshake(request, response);
      else response.writeHead(204).end();
    }).listen(port, host),
  'Express 5': fromDocumentation('express'),
  'Express 4': (port) => express4().options('/events', handshake).post('/events', accept).listen(port, host),
  'Express behind `cors()`': (port) =>
    express().options('/events', handshake).use(cors()).post('/events', accept).listen(port, host),
  Fastify: fromDocumentation('fastify'),
  Hono: fromDocumentation('hono'),
  'Koa with `router.allowedMethods()`': (port) => startKoa(port, { allowedMethods: true }),
  'Koa without it': (port) => startKoa(port, { allowedMethods: false }),
  h3: (port) => {
    const app = new H3();
    app.options('/events', ({ req, res }) => {
      res.status = 204;
      if (req.headers.get('webhook-request-origin') !== origin) return '';
      for (const [name, value] of Object.entries(consent)) res.headers.set(name, value);
      return '';
    });
    return serveH3(
      app.post('/events', () => ''),
      { port, hostname: host, silent: true },
    ).ready();
  },
  hapi: startHapi,
  '`@azure/web-pubsub-express`': (port) => {
    const handler = new WebPubSubEventHandler('chat', { path: '/events', allowedEndpoints: [`https://${origin}`] });
    const app = express().options('/events', handshake);
    app.use(handler.getMiddleware()).listen(port, host);
  },
  'CloudEvents SDK in Express': (port) =>
    express()
      .options('/events', handshake)
      .post('/events', express.text({ type: '*/*' }), (request, response) => {
        HTTP.toEvent(request);
        response.sendStatus(204);
      })
      .listen(port, host),
  '`http-proxy` in front of Express': (port, started) => startProxy(port, started['Express 5']),
};

function fromDocumentation(name) {
  return (port) => {
    process.env.PORT = String(port);
    return import(`./shown/${name}.mjs`);
  };
}

function startKoa(port, { allowedMethods }) {
  const router = new Router();
  router.options('/events', (context) => {
    context.status = 204;
    if (isAllowed(context.headers)) context.set(consent);
  });
  router.post('/events', (context) => (context.status = 204));
  const app = new Koa().use(router.routes());
  if (allowedMethods) app.use(router.allowedMethods());
  app.listen(port, host);
}

async function startHapi(port) {
  const server = Hapi.server({ port, host });
  server.route({
    method: 'OPTIONS',
    path: '/events',
    handler: (request, toolkit) => {
      const response = toolkit.response().code(204);
      if (isAllowed(request.headers)) for (const [name, value] of Object.entries(consent)) response.header(name, value);
      return response;
    },
  });
  const handler = (_request, toolkit) => toolkit.response().code(204);
  server.route({ method: 'POST', path: '/events', options: { payload: { parse: false } }, handler });
  await server.start();
}
