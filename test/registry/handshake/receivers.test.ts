import { setImmediate as turn } from 'node:timers/promises';
import { WebPubSubEventHandler } from '@azure/web-pubsub-express';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/** The nine known ways in which receivers respond. `receivers/` tests those that can be installed. */
const origin = 'eventemitter.example.com';
const merge = 'application/merge-patch+json';
let registry: Registry;
let subscriber: Client;
let sender: Client;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  const admin = await registry.as('assent:admin');
  subscriber = await registry.as('assent:subscribe');
  sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true, requestedrate: 120 }).expect(201);
  const others = [
    { name: 'lenient.example.com', judgement: 'lenient', requestedrate: 120 },
    { name: `${origin}.attacker.tld`, requestedrate: 120 },
    { name: 'unknown.example.org', requestedrate: 120 },
  ];
  for (const other of others) await admin.post('/v1/origins').send(other).expect(201);
});
afterAll(() => registry.stop());

async function register(path: string, more: object = {}) {
  const sink = registry.receiver.sink(path);
  const { body } = await subscriber
    .post('/v1/subscriptions')
    .send({ sink, protocol: 'HTTP', ...more })
    .expect(201);
  return body;
}

async function read(subscription: { id: string }) {
  return (await subscriber.get(`/v1/subscriptions/${subscription.id}`).expect(200)).body;
}

async function latestHandshake(subscription: { id: string }) {
  return (await subscriber.get(`/v1/subscriptions/${subscription.id}/handshakes`).expect(200)).body[0];
}

async function permission(path: string, name = origin) {
  const query = { origin: name, sink: registry.receiver.sink(path) };
  return (await sender.get('/v1/permissions').query(query).expect(200)).body;
}

/** The callback URL of an OPTIONS request. */
function callbackOf(headers: NodeJS.Dict<string | string[]>): string {
  return String(headers['webhook-request-callback']);
}

describe('1. an Express 5 application without a handler for OPTIONS', () => {
  test('its 200 with Allow is no consent, and the subscriber sees why', async () => {
    const app = express();
    app.post('/express', (_request, response) => void response.status(204).end());
    registry.receiver.on('/express', app);

    const subscription = await register('/express');
    expect(subscription).toMatchObject({ status: 'pending', statusdetails: { code: 'allow_only' } });
    expect(subscription.statusdetails.advice).toContain('Add a handler for OPTIONS');
    expect(await permission('/express')).toMatchObject({ allowed: false, denial: 'no_grant' });
  });
});

describe('2. @azure/web-pubsub-express with two allowed endpoints', () => {
  const endpoints = [`https://${origin}`, 'https://lenient.example.com'];
  /** The package handles only requests with this header; its user must add it in front of the package. */
  const version: RequestHandler = (request, _response, next) => {
    request.headers['ce-awpsversion'] = '1.0';
    next();
  };
  function serve(path: string, allowedEndpoints: string[], ...before: RequestHandler[]) {
    const app = express();
    const handler = new WebPubSubEventHandler('chat', { path, allowedEndpoints });
    registry.receiver.on(path, app.use(...before, handler.getMiddleware() as unknown as RequestHandler));
  }

  test('out of the box it returns 404, which is no consent', async () => {
    const app = express();
    const handler = new WebPubSubEventHandler('chat', { path: '/pubsub-plain', allowedEndpoints: endpoints });
    registry.receiver.on('/pubsub-plain', app.use(handler.getMiddleware() as unknown as RequestHandler));
    expect(await register('/pubsub-plain')).toMatchObject({
      status: 'pending',
      statusdetails: { code: 'not_found_at_target' },
    });
  });

  test('a strict origin refuses the two lines of WebHook-Allowed-Origin', async () => {
    serve('/pubsub-strict', endpoints, version);
    const subscription = await register('/pubsub-strict');
    expect(subscription).toMatchObject({ status: 'refused', statusdetails: { code: 'origin_repeated' } });
    const [attempt] = (await latestHandshake(subscription)).attempts;
    expect(attempt.response).toEqual([
      { name: 'WebHook-Allowed-Origin', value: origin },
      { name: 'WebHook-Allowed-Origin', value: 'lenient.example.com' },
    ]);
  });

  test('a lenient origin accepts them at the requested rate, with a warning for each deviation', async () => {
    serve('/pubsub-lenient', endpoints, version);
    const subscription = await register('/pubsub-lenient', { origin: 'lenient.example.com' });
    expect(subscription).toMatchObject({ status: 'active', statusdetails: { allowedrate: 120 } });
    expect(subscription.statusdetails.tolerated.map(({ code }: { code: string }) => code)).toEqual([
      'origin_in_list',
      'rate_missing',
    ]);
  });

  test('a lenient origin that is not in the list is refused too', async () => {
    serve('/pubsub-other', [`https://${origin}`, 'https://lenient.example.com.attacker.tld'], version);
    expect(await register('/pubsub-other', { origin: 'lenient.example.com' })).toMatchObject({
      status: 'refused',
      statusdetails: { code: 'origin_mismatch' },
    });
  });
});

describe('3. the Go SDK, which posts the callback immediately and returns 200 without headers', () => {
  /** As OptionsHandler in abuse_protection.go does, with the comparison by prefix that it had until 2026-07. */
  function serve(path: string, { postFirst, allowed = origin }: { postFirst: boolean; allowed?: string }) {
    const posted: Array<Promise<number>> = [];
    registry.receiver.on(path, async (request, response) => {
      if (!request.headers['webhook-request-origin']?.toString().startsWith(allowed)) {
        response.writeHead(400).end();
        return;
      }
      const headers = { 'WebHook-Allowed-Origin': allowed, 'WebHook-Allowed-Rate': '1000' };
      if (request.headers['webhook-request-callback'] === undefined) {
        response.writeHead(200, headers).end();
        return;
      }
      const post = async () => (await fetch(callbackOf(request.headers), { method: 'POST', headers })).status;
      if (postFirst) posted.push(Promise.resolve(await post()));
      response.writeHead(200).end();
      if (!postFirst) posted.push(turn().then(post));
    });
    return posted;
  }

  test('a grant that arrives before the response to OPTIONS is kept', async () => {
    const posted = serve('/go-before', { postFirst: true });
    const subscription = await register('/go-before');
    expect(subscription).toMatchObject({
      status: 'active',
      statusdetails: { code: 'callback_granted', allowedrate: 1000 },
    });
    expect(await Promise.all(posted)).toEqual([200]);
    expect(await permission('/go-before')).toMatchObject({ allowed: true, allowedrate: 1000, basis: 'callback' });
  });

  test('a grant that arrives after the response to OPTIONS is kept', async () => {
    const posted = serve('/go-after', { postFirst: false });
    const subscription = await register('/go-after');
    expect(await Promise.all(posted)).toEqual([200]);
    expect(await read(subscription)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 1000 } });
  });

  test('an origin that it does not know gets 400, which is no consent', async () => {
    const posted = serve('/go-unknown', { postFirst: true });
    expect(await register('/go-unknown', { origin: 'unknown.example.org' })).toMatchObject({
      status: 'pending',
      statusdetails: { code: 'no_consent_headers' },
    });
    expect(posted).toEqual([]);
    expect(await permission('/go-unknown', 'unknown.example.org')).toMatchObject({ allowed: false });
  });

  test('a look-alike origin that it accepts by prefix is refused here, by callback and by response', async () => {
    const lookAlike = `${origin}.attacker.tld`;
    const posted = serve('/go-prefix', { postFirst: true });
    const byCallback = await register('/go-prefix', { origin: lookAlike });
    expect(await Promise.all(posted)).toEqual([400]);
    expect(byCallback).toMatchObject({ status: 'refused', statusdetails: { code: 'origin_mismatch' } });
    expect(await permission('/go-prefix', lookAlike)).toMatchObject({ allowed: false });

    registry.receiver.consent('/go-prefix-answer', { origin });
    expect(await register('/go-prefix-answer', { origin: lookAlike })).toMatchObject({
      status: 'refused',
      statusdetails: { code: 'origin_mismatch' },
    });
  });
});

test("4. Brigade's gateway, which later sends GET and POST in parallel: both get 2xx, and there is one grant", async () => {
  let callback = '';
  registry.receiver.on('/brigade', (request, response) => {
    // It supports only the callback, and fails without one.
    if (request.headers['webhook-request-callback'] === undefined) {
      response.destroy();
      return;
    }
    callback = callbackOf(request.headers);
    response.writeHead(200).end();
  });
  const subscription = await register('/brigade');
  expect(subscription).toMatchObject({ status: 'pending', statusdetails: { code: 'no_consent_headers' } });
  const { state, attempts } = await latestHandshake(subscription);
  expect([state, attempts.map(({ verdict }: { verdict: string }) => verdict)]).toEqual([
    'waiting',
    ['no_consent_headers', 'connection_closed'],
  ]);

  const answers = await Promise.all(['GET', 'POST'].map((method) => fetch(callback, { method })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await read(subscription)).toMatchObject({
    status: 'active',
    statusdetails: { code: 'callback_granted', allowedrate: 120 },
  });
  const [{ grants }] = (await registry.sql<{ grants: number }>(
    `select count(*)::int as grants from change where kind = 'grant.live' and sink = $1`,
    subscription.sink,
  )) as [{ grants: number }];
  expect(grants).toBe(1);
});

describe('the Go SDK with a handler that does not call back, which withholds its headers if a callback is offered', () => {
  function serve(path: string) {
    const asked: boolean[] = [];
    registry.receiver.on(path, ({ headers }, response) => {
      const isOffered = headers['webhook-request-callback'] !== undefined;
      asked.push(isOffered);
      const consent = { Allow: 'POST', 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '1000' };
      response.writeHead(200, isOffered ? {} : consent).end();
    });
    return asked;
  }

  test('consents to the retry without it, and both attempts are recorded', async () => {
    const asked = serve('/go-handler');
    const subscription = await register('/go-handler');
    expect(subscription).toMatchObject({ status: 'active', statusdetails: { code: 'granted', allowedrate: 1000 } });
    expect(asked).toEqual([true, false]);
    const { attempts } = await latestHandshake(subscription);
    const names = ({ request }: { request: Array<{ name: string }> }) => request.map(({ name }) => name);
    expect(attempts.map(names).map((each: string[]) => each.includes('WebHook-Request-Callback'))).toEqual(asked);
    expect(attempts).toMatchObject([{ verdict: 'no_consent_headers' }, { verdict: 'granted' }]);
  });

  test('is asked without it immediately if the subscription or the origin says "never"', async () => {
    const bySubscription = serve('/go-subscription');
    const subscription = await register('/go-subscription', { callback: 'never' });
    expect(subscription).toMatchObject({ status: 'active', callback: 'never' });
    const admin = await registry.as('assent:admin');
    await admin.patch(`/v1/origins/${origin}`).set('Content-Type', merge).send({ callback: 'never' }).expect(200);
    const byOrigin = serve('/go-origin');
    expect(await register('/go-origin')).toMatchObject({ status: 'active' });
    await admin.patch(`/v1/origins/${origin}`).set('Content-Type', merge).send({ callback: null }).expect(200);
    expect([bySubscription, byOrigin]).toEqual([[false], [false]]);
  });
});

describe('receivers that call GET during the OPTIONS request and mirror the response', () => {
  test.each([
    ['5. the .NET SDK 1.x, without headers', '/dotnet', {}, 120],
    ['6. a Spin application, with the allow headers on the request', '/spin', { origin: '*', rate: '42' }, 42],
  ])('%s: granted immediately', async (_title, path, allow: { origin?: string; rate?: string }, allowedrate) => {
    const mirrored: number[] = [];
    registry.receiver.on(path, async (request, response) => {
      const { status } = await fetch(callbackOf(request.headers), {
        headers: {
          ...(allow.origin === undefined ? {} : { 'WebHook-Allowed-Origin': allow.origin }),
          ...(allow.rate === undefined ? {} : { 'WebHook-Allowed-Rate': allow.rate }),
        },
      });
      mirrored.push(status);
      response.writeHead(status).end();
    });
    const subscription = await register(path);
    expect(mirrored).toEqual([200]);
    expect(subscription).toMatchObject({
      status: 'active',
      statusdetails: { code: 'callback_granted', allowedrate },
    });
  });
});

test('7. a target that hard-codes eventgrid.azure.net is a mismatch, and the subscriber sees that name', async () => {
  registry.receiver.consent('/functions', { origin: 'eventgrid.azure.net' });
  const subscription = await register('/functions');
  expect(subscription).toMatchObject({ status: 'refused', statusdetails: { code: 'origin_mismatch' } });
  expect(subscription.statusdetails.message).toContain('"eventgrid.azure.net"');
  expect(subscription.statusdetails.message).toContain(`"${origin}"`);
  expect(await permission('/functions')).toMatchObject({ allowed: false, denial: 'no_grant' });
});

test('8. a target that echoes WebHook-Request-Origin can use the callback, and its owner sees what it returned', async () => {
  let callback = '';
  registry.receiver.on('/echo', (request, response) => {
    callback = callbackOf(request.headers);
    response.writeHead(200, { 'WebHook-Request-Origin': request.headers['webhook-request-origin'] }).end();
  });
  const subscription = await register('/echo');
  expect(subscription).toMatchObject({ status: 'pending', statusdetails: { code: 'request_origin_echoed' } });
  expect(subscription.statusdetails.message).toContain(`WebHook-Request-Origin "${origin}"`);
  expect((await latestHandshake(subscription)).attempts[0].response).toEqual([
    { name: 'WebHook-Request-Origin', value: origin },
  ]);
  expect(await permission('/echo')).toMatchObject({ allowed: false });

  expect((await fetch(callback)).status).toBe(200);
  expect(await read(subscription)).toMatchObject({ status: 'active', statusdetails: { code: 'callback_granted' } });
});

test("9. Knative's ingress, which returns * and * to every origin, gives consent without a limit", async () => {
  registry.receiver.consent('/knative', { origin: '*', rate: '*' });
  const subscription = await register('/knative');
  expect(subscription).toMatchObject({ status: 'active', statusdetails: { code: 'granted', allowedrate: '*' } });
  expect(await permission('/knative')).toMatchObject({ allowed: true, allowedrate: '*', basis: 'response' });
  expect(await latestHandshake(subscription)).toMatchObject({ verdict: 'granted_any_origin' });
});
