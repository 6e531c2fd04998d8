import { createServer } from 'node:http';
import { WebPubSubEventHandler } from '@azure/web-pubsub-express';
import Hapi from '@hapi/hapi';
import { serve } from '@hono/node-server';
import Router from '@koa/router';
import { HTTP } from 'cloudevents';
import cors from 'cors';
import express from 'express';
import express4 from 'express4';
import Fastify from 'fastify';
import { H3, serve as serveH3 } from 'h3';
import { Hono } from 'hono';
import httpProxy from 'http-proxy';
import Koa from 'koa';

/** Frameworks as they come: a route for POST and nothing for OPTIONS. */
const host = '127.0.0.1';
const accept = (_request, response) => void response.status(204).end();

export const plain = {
  'Node.js `http`': (port) => createServer((_request, response) => response.writeHead(204).end()).listen(port, host),
  'Express 5': (port) => express().post('/events', accept).listen(port, host),
  'Express 4': (port) => express4().post('/events', accept).listen(port, host),
  'Express behind `cors()`': (port) => express().use(cors()).post('/events', accept).listen(port, host),
  Fastify: (port) => {
    const app = Fastify();
    app.addContentTypeParser('application/cloudevents+json', { parseAs: 'string' }, app.getDefaultJsonParser());
    app.post('/events', (_request, reply) => reply.code(204).send());
    return app.listen({ port, host });
  },
  Hono: (port) => serve({ fetch: new Hono().post('/events', (c) => c.body(null, 204)).fetch, port, hostname: host }),
  'Koa with `router.allowedMethods()`': (port) => startKoa(port, { allowedMethods: true }),
  'Koa without it': (port) => startKoa(port, { allowedMethods: false }),
  h3: (port) =>
    serveH3(
      new H3().post('/events', () => ''),
      { port, hostname: host, silent: true },
    ).ready(),
  hapi: async (port) => {
    const server = Hapi.server({ port, host });
    const handler = (_request, toolkit) => toolkit.response().code(204);
    server.route({ method: 'POST', path: '/events', options: { payload: { parse: false } }, handler });
    await server.start();
  },
  '`@azure/web-pubsub-express`': (port) => {
    const handler = new WebPubSubEventHandler('chat', {
      path: '/events',
      allowedEndpoints: ['https://eventemitter.example.com'],
    });
    express().use(handler.getMiddleware()).listen(port, host);
  },
  'CloudEvents SDK in Express': (port) =>
    express()
      .post('/events', express.text({ type: '*/*' }), (request, response) => {
        HTTP.toEvent(request);
        response.sendStatus(204);
      })
      .listen(port, host),
  '`http-proxy` in front of Express': (port, started) => startProxy(port, started['Express 5']),
};

function startKoa(port, { allowedMethods }) {
  const router = new Router();
  router.post('/events', (context) => (context.status = 204));
  const app = new Koa().use(router.routes());
  if (allowedMethods) app.use(router.allowedMethods());
  app.listen(port, host);
}

export function startProxy(port, behind) {
  httpProxy.createProxyServer({ target: new URL(behind).origin }).listen(port, host);
}
