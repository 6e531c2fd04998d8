import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createFeedReader, type FeedReader } from '../../support/feed-reader.js';
import { until } from '../../support/until.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** Two services on one database; the embedded database has only one process. */
const seconds = Number(process.env['ASSENT_TEST_SECONDS'] ?? 4);
let registry: Registry;
let second: Registry;
let tenant: Tenant;
let here: FeedReader;
let there: FeedReader;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_POLL_MS: '1000', ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  second = await startRegistry({ beside: registry });
  await Promise.all([registry.service.follow(), second.service.follow()]);
  tenant = await createTenant(registry);
  here = await createFeedReader(registry);
  there = await createFeedReader(second);
});
afterAll(async () => {
  await second?.stop();
  await registry?.stop();
});

let paths = 0;
async function register(): Promise<string> {
  const path = `/w${(paths += 1)}`;
  registry.receiver.consent(path);
  await tenant.register(registry.receiver.sink(path));
  return registry.receiver.sink(path);
}

async function allows(where: Registry, sink: string): Promise<boolean> {
  const sender = await where.as('assent:deliver', { subscriber: 'mailroom' });
  const { body } = await sender.get('/v1/permissions').query({ origin: tenant.origin, sink }).expect(200);
  return body.allowed as boolean;
}

test('another process sees a revocation, in its look-ups and its streams', async () => {
  const sink = await register();
  const stream = await there.stream();
  await stream.next();
  await until(() => allows(second, sink));
  await tenant.revoke(sink);
  await until(async () => !(await allows(second, sink)));
  while ((await stream.change())?.event !== 'grant.revoked');
  stream.close();
});

test('without notifications, a process sees a revocation by polling', async () => {
  const sink = await register();
  const stream = await there.stream();
  await stream.next();
  await until(() => allows(second, sink));
  // Written without a notification, as if it had been lost.
  await registry.sql(`update "grant" set state = 'revoked', endcode = 'revoked' where sink = $1 returning 1`, sink);
  await registry.sql(
    `insert into change (tenant, origin, kind, sink, resource) select tenant, origin, 'grant.revoked', sink, resource
     from grant_state where sink = $1 returning 1`,
    sink,
  );
  await until(async () => !(await allows(second, sink)));
  while ((await stream.change())?.event !== 'grant.revoked');
  stream.close();
});

test.each([
  ['of another server', `update feed_state set cluster = 'of a backup'`],
  [
    'that was restored in place',
    `create table restored (like feed_state including all); insert into restored select * from feed_state;
     drop table feed_state; alter table restored rename to feed_state`,
  ],
])('a database %s gets another epoch with the next new connection', async (_, restore) => {
  const { cursor: after } = await there.page();
  const [before] = await registry.sql<{ epoch: string; cluster: string }>(
    'select epoch::text, cluster from feed_state',
  );
  expect(before?.cluster).toMatch(/^\d+\/[0-9A-F]{8}\/\d+\/\d+$/);
  await registry.service.database.exclusively(({ execute }) => execute(restore));
  await registry.sql(
    `select pg_terminate_backend(pid)::text from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query ~ '^(listen |select 1$)'`,
  );
  let answer = await there.ask('/v1/changes', { after });
  while (answer.status === 200 || answer.status === 503) answer = await there.ask('/v1/changes', { after });
  expect(answer).toMatchObject({ status: 410, body: { code: 'cursor_of_other_history' } });
  const [now] = await registry.sql<{ epoch: string; cluster: string }>('select epoch::text, cluster from feed_state');
  const server = (cluster = '') => cluster.split('/').slice(0, 3);
  expect(server(now?.cluster)).toEqual(server(before?.cluster));
  expect(now?.epoch).not.toBe(before?.epoch);
  await registry.service.follow();
  await register();
  expect((await here.page({ after: (await here.snapshot()).at(-1).cursor })).changes).toEqual([]);
});

test('an announced move of the database keeps cursors valid', async () => {
  const { cursor: after } = await there.page();
  const tell = () =>
    registry.sql(
      `select pg_terminate_backend(pid)::text from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and query ~ '^(listen |select 1$)'`,
    );
  await registry.sql(`update feed_state set cluster = '' returning 1`);
  await tell();
  await until(async () => (await registry.sql(`select 1 from feed_state where cluster <> ''`)).length > 0);
  await register();
  // Its connection for notifications was just closed.
  await second.service.follow();
  const { changes } = await there.page({ after });
  expect(changes.length).toBeGreaterThan(0);
});

test(
  'fifty writers, two processes, and four readers that reconnect at random: each reader gets every change once, in order',
  async () => {
    const { cursor } = await here.page();
    const [start] = await registry.sql<{ position: bigint }>(
      'select coalesce(max(position), 0) as position from change',
    );
    const pool = new pg.Pool({ connectionString: registry.env['DATABASE_URL'], max: 50 });
    pool.on('error', () => undefined);
    const endsAt = performance.now() + seconds * 1_000;
    let isOver = false;
    const writers = Array.from({ length: 50 }, async (_, writer) => {
      const connection = await pool.connect();
      for (let turn = 0; performance.now() < endsAt; turn += 1) {
        const count = 1 + ((writer + turn) % 5);
        const sinks = Array.from({ length: count }, (_, place) => `https://w${writer}.example/${turn}/${place}`);
        const column = (value: string) => sinks.map(() => value);
        await connection.query('begin');
        await connection.query('select append_changes($1, $2, $3, $4, $5)', [
          column('gemeente'),
          column(writer % 2 ? tenant.origin : 'other.example.com'),
          column('grant.ended'),
          sinks,
          sinks.map(() => null),
        ]);
        if (turn % 7 === 0) await connection.query('select pg_sleep(random() / 100)');
        await connection.query(turn % 11 === 0 ? 'rollback' : 'commit');
      }
      connection.release();
    });

    // Each continues from its cursor: with pages, long polls or streams, at either process.
    const readers = Array.from({ length: 4 }, async () => {
      const seen: string[] = [];
      let [after, reconnects] = [cursor as string, 0];
      for (let isAtEnd = false; !(isOver && isAtEnd); reconnects += 1) {
        const reader = Math.random() < 0.5 ? here : there;
        if (Math.random() < 0.5) {
          const page = await reader.page({ after, wait: 1, limit: 1 + Math.floor(Math.random() * 1_000) });
          seen.push(...page.changes.map(({ revision }: { revision: string }) => revision));
          after = page.cursor;
          isAtEnd = page.changes.length === 0 && !page.more;
        } else {
          isAtEnd = false;
          const stream = await reader.stream({}, after);
          for (let left = 1 + Math.floor(Math.random() * 3_000); left > 0; left -= 1) {
            const event = await stream.next();
            if (event === undefined) break;
            after = event.id;
            if (event.event !== 'heartbeat') seen.push(event.data.revision);
            else if (isOver) break;
          }
          stream.close();
        }
      }
      return { seen, reconnects };
    });
    await Promise.all(writers);
    await pool.end();
    isOver = true;

    const results = await Promise.all(readers);
    const rows = await registry.sql<{ position: string }>(
      'select position::text from change where position > $1::bigint order by change.position',
      start?.position,
    );
    const written = rows.map(({ position }) => position);
    expect(written.length).toBeGreaterThan(100);
    for (const { seen } of results) {
      expect(seen.length).toBe(written.length);
      // One comparison: a diff of all changes would be unreadable.
      expect(seen.join() === written.join()).toBe(true);
    }
    if (process.env['ASSENT_TEST_SECONDS']) {
      process.stdout.write(
        `${written.length} changes; ${results.map(({ reconnects }) => reconnects).join()} connections\n`,
      );
    }
  },
  (seconds + 60) * 1_000,
);
