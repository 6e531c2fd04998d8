import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/** Starts the program of kit.md in the folder that the argument names, on PORT. A route of Next needs a server. */
const { OPTIONS, POST } = await import(`./${process.argv[2]}/server.js`);
if (POST) {
  const app = new Hono();
  app.on('OPTIONS', '/events', (c) => OPTIONS(c.req.raw));
  app.on('POST', '/events', (c) => POST(c.req.raw));
  serve({ fetch: app.fetch, port: process.env.PORT });
}
