import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keyOf, offeredBy } from '../../support/offer.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ start: false });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

test.each([
  ['withholds its consent', {}],
  ['consents', { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '120' }],
])('a webhook that echoes the request, and %s, does not disclose the callback key', async (title, headers) => {
  const path = `/reflecting-${title.length}`;
  let callback = '';
  registry.receiver.on(path, (request, response) => {
    const [offered] = offeredBy(request);
    if (offered === undefined) {
      response.writeHead(200).end();
      return;
    }
    callback = offered;
    const written = { 'WebHook-Request-Callback': callback, 'WebHook-Echo': `${'x'.repeat(1_000)}${keyOf(callback)}` };
    const folded = { 'webhook-folded': callback.toLowerCase() };
    response
      .writeHead(200, { ...written, ...folded, Location: `/?next=${encodeURIComponent(callback)}`, ...headers })
      .end();
  });
  const { id } = await tenant.register(registry.receiver.sink(path));
  const key = keyOf(callback);
  expect(key).toHaveLength(43);
  for (const client of [tenant.subscriber, tenant.admin]) {
    const [handshake] = await tenant.handshakes(id, client);
    expect(handshake.attempts[0].answer).toContainEqual({
      name: 'WebHook-Request-Callback',
      value: callback.replace(key, '[secret]'),
    });
    expect(JSON.stringify(handshake).toLowerCase()).not.toContain(key.slice(0, 20).toLowerCase());
  }
  const attempts = await registry.sql('select * from attempt');
  expect(JSON.stringify(attempts)).not.toContain(key.slice(0, 20));
});
