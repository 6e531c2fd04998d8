import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { pino } from 'pino';
import { createApp } from '../../../src/registry/http/app.js';
import { loadContract } from '../../../src/base/contract/contract.js';
import { createFastPath } from '../../../src/registry/http/fast-path.js';
import type { Handlers } from '../../../src/registry/http/handler.js';
import { Pipeline } from '../../../src/registry/http/pipeline.js';
import { closeServer, serve, urlOf } from '../../../src/registry/http/server.js';

/** The contract deprecates nothing today, so this one is a copy in which GET /grants is on its way out. */
const text = readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as { paths: Record<string, Record<string, object>> };
Object.assign(document.paths['/grants']?.['get'] ?? {}, {
  'x-hot': true,
  deprecated: true,
  'x-deprecated-since': '2026-11-24',
  'x-sunset': '2027-05-31',
  'x-deprecation-link': 'https://assent.example.com/docs/deprecations#grants',
});
const { operations } = loadContract(JSON.stringify(document));

const announced = {
  deprecation: '@1795478400',
  sunset: 'Mon, 31 May 2027 00:00:00 GMT',
  link: '<https://assent.example.com/docs/deprecations#grants>; rel="deprecation"',
};
const nextPage = '</v1/grants?cursor=a>; rel="next"';
const handlers = Object.assign({} as Handlers, {
  listGrants: ({ query: { limit, origin } }: { query: { limit?: number; origin?: string } }) => {
    if (limit === 70) throw new Error('A fault.');
    if (origin === 'stream.example.com') {
      const stream = async (write: (line: string) => Promise<void>) => write('{}\n');
      return { status: 200, mediaType: 'application/jsonl', headers: { Link: nextPage }, stream };
    }
    return { status: 200, body: [], headers: { Link: nextPage } };
  },
  listOrigins: () => ({ status: 200, body: [] }),
});

describe.each([
  ['the fast path', ['listGrants', 'listOrigins']],
  ['Express', []],
])('on %s', (_, onFastPath) => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const stopping = new AbortController().signal;
    const scopes = new Set(['assent:admin'] as const);
    const pipeline = new Pipeline({
      handlers,
      publicUrl: '',
      site: {},
      maxEventBytes: 1_000,
      authenticate: () => ({ tenant: 't', subscriber: 's', client: 's', scopes, tokenExpiresAt: Infinity }),
      readsOnly: false,
      onWritten: async () => undefined,
      onRequest: () => undefined,
      log: pino({ enabled: false }),
      checkAnswers: false,
      stallMs: 1_000,
      stopping,
    });
    const app = createApp({ operations, pipeline, serveDocuments: () => undefined, stopping });
    const chosen = operations.filter(({ id }) => onFastPath.includes(id));
    server = await serve(createFastPath(pipeline, chosen, app), 0, '127.0.0.1');
    url = urlOf(server, '127.0.0.1');
  });
  afterAll(() => closeServer(server, 0));

  const headersOf = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method });
    await response.text();
    return { status: response.status, ...Object.fromEntries(response.headers) };
  };

  test('a deprecated operation names its dates and an explanation, beside the link to the next page', async () => {
    const link = `${nextPage}, ${announced.link}`;
    expect(await headersOf('/v1/grants')).toMatchObject({ status: 200, ...announced, link });
    expect(await headersOf('/v1/grants', 'HEAD')).toMatchObject({ status: 200, ...announced, link });
    expect(await headersOf('/v1/grants?origin=stream.example.com')).toMatchObject({ status: 200, ...announced, link });
  });

  test('a problem of a deprecated operation names them too', async () => {
    expect(await headersOf('/v1/grants?limit=70')).toMatchObject({ status: 500, ...announced });
  });

  test('no other operation announces anything', async () => {
    for (const name of Object.keys(announced)) expect(await headersOf('/v1/origins')).not.toHaveProperty(name);
  });
});
