import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { createClient } from '../../../src/kits/client/index.js';
import { startGateway, type Gateway } from '../../support/gateway.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
let gateway: Gateway;
let pages = 0;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  gateway = await startGateway(registry.url, ({ headers, url }, answer) => {
    if (headers.accept === 'text/event-stream') {
      // As a proxy that waits for the end of a response.
      answer.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      return true;
    }
    if (url?.startsWith('/v1/changes')) pages += 1;
    return false;
  });
});
afterAll(async () => {
  await gateway?.stop();
  await registry?.stop();
});

test('behind a proxy that holds streams back, the feed is followed by pages', async () => {
  const who = { tenant: 'gemeente', subscriber: 'zaaksysteem', scopes: ['assent:subscribe'], minutes: 60 };
  const client = createClient({ url: gateway.url, token: await createToken(who, registry.env) });
  const { data } = await client.GET('/changes', { params: { query: { limit: 1 } } });
  const stop = new AbortController();
  const kinds: string[] = [];
  const reading = (async () => {
    for await (const { kind } of client.changes({ after: data.cursor, signal: stop.signal })) kinds.push(kind);
  })();
  registry.receiver.consent('/paged');
  await tenant.register(registry.receiver.sink('/paged'));
  await until(() => kinds.includes('grant.live'));
  const before = pages;
  // The next page continues after the last one.
  await until(() => pages > before);
  stop.abort();
  await reading;
  expect(kinds).toEqual(['subscription.created', 'grant.live']);
});
