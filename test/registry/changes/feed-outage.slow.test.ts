import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startPostgres, type Postgres } from '../../support/postgres.mjs';
import { untilReady } from '../../support/process.js';
import { createFeedReader, type FeedReader } from '../../support/feed-reader.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

const onServer = isServer() ? test : test.skip;
let postgres: Postgres;
let registry: Registry;
let tenant: Tenant;
let sender: FeedReader;

beforeAll(async () => {
  if (!isServer()) return;
  postgres = await startPostgres(['fsync = off', 'full_page_writes = off']);
  registry = await startRegistry({
    env: { DATABASE_URL: postgres.url, ASSENT_STOP_SECONDS: '3', ASSENT_FEED_HEARTBEAT_SECONDS: '1' },
  });
  tenant = await createTenant(registry);
  sender = await createFeedReader(registry);
});
afterAll(async () => {
  if (!isServer()) return;
  await postgres.stop();
  await registry.stop();
});

onServer(
  'without Postgres streams stay open, report their age and recover on their own; requests that need Postgres get 503',
  async () => {
    registry.receiver.consent('/one');
    const { cursor: start } = await sender.page();
    await tenant.register(registry.receiver.sink('/one'));
    const stream = await sender.stream();
    const first = await stream.next();
    const { cursor: recent } = await sender.page();

    await postgres.crash();
    let beat = await stream.next();
    while (beat?.data.age === undefined) beat = await stream.next();
    expect(beat).toMatchObject({ event: 'heartbeat', id: first?.id, data: { age: expect.any(Number) } });
    // Requests that memory can answer still work, with correct answers.
    expect((await sender.page({ after: start })).changes.length).toBeGreaterThan(0);
    expect(await sender.page({ after: recent, wait: 1 })).toMatchObject({ changes: [], more: false });
    const snapshot = await sender.ask('/v1/snapshot');
    expect(snapshot).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(Number(snapshot.headers.get('Retry-After'))).toBeGreaterThan(0);

    await postgres.restart();
    await untilReady(registry.operationsUrl);
    await tenant.register(registry.receiver.sink('/one'), { types: ['com.example.after'] });
    expect(await stream.change()).toMatchObject({ event: 'subscription.created' });
    stream.close();
  },
);
