import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { v7 } from 'uuid';
import { createFeedReader, type FeedReader } from '../../support/feed-reader.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
let reader: FeedReader;
const env = { ASSENT_RETENTION_DAYS: '90', ASSENT_AUDIT_DAYS: '730' };
const dayMs = 86_400_000;
/** An id of that many days ago. */
const idOf = (daysAgo: number) => v7({ msecs: Date.now() - daysAgo * dayMs });

beforeAll(async () => {
  registry = await startRegistry({ env });
  tenant = await createTenant(registry);
  reader = await createFeedReader(registry);
});
afterAll(() => registry.stop());

let paths = 0;
async function register(): Promise<{ id: string; sink: string }> {
  const path = `/f${(paths += 1)}`;
  registry.receiver.consent(path);
  return tenant.register(registry.receiver.sink(path));
}

const remove = (id: string) => tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);

/** A handshake of that many days ago, for a subscription and its pair. */
async function oldHandshake(subscription: string | null, sink: string, daysAgo: number): Promise<string> {
  const id = idOf(daysAgo);
  await registry.sql(
    `insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, trigger, startedby, state, verdict,
       createdat, finishedat)
     values ($1::uuid, 'gemeente', $2, $3, 'localhost', $4::uuid, 1, 'request', 'zaaksysteem', 'refused', 'origin_mismatch',
       now() - make_interval(days => $5::int), now() - make_interval(days => $5::int))`,
    id,
    tenant.origin,
    sink,
    subscription,
    daysAgo,
  );
  return id;
}

/** The tasks that failed since the last call, with the messages of the database. */
function faults(): Array<[string, string]> {
  const lines = registry.logs.splice(0).map((line) => JSON.parse(line));
  return lines.filter(({ msg }) => msg === 'upkeep fault').map(({ task, err }) => [task, err.message]);
}

/** Does the work while the database refuses what the trigger is for. */
async function refusing(event: string, work: () => Promise<void>): Promise<void> {
  const table = event.replace(/.* on /, '');
  await registry.sql(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`);
  await registry.sql(`create trigger refuse before ${event} for each statement execute function refuse()`);
  faults();
  await work().finally(async () => {
    await registry.sql(`drop trigger refuse on ${table}`);
    await registry.sql('drop function refuse()');
  });
}

test('old handshakes are deleted, except the latest of a subscription and the one that a grant is based on', async () => {
  const [one, other, removed] = [await register(), await register(), await register()];
  const gone = [await oldHandshake(one.id, one.sink, 100), await oldHandshake(null, one.sink, 91)];
  const kept = [await oldHandshake(one.id, one.sink, 80)];
  // No later handshake for this one.
  await registry.sql('delete from handshake where subscription = $1::uuid', other.id);
  kept.push(await oldHandshake(other.id, other.sink, 200));
  gone.push(await oldHandshake(other.id, other.sink, 201), await oldHandshake(removed.id, removed.sink, 120));
  await remove(removed.id);
  await registry.sql('delete from handshake where subscription = $1::uuid and id <> $2::uuid', removed.id, gone.at(-1));
  const held = await oldHandshake(null, other.sink, 300);
  await registry.sql('update "grant" set handshake = $1::uuid where sink = $2', held, other.sink);
  await registry.service.forget();
  const rows = await registry.sql<{ id: string }>('select id::text as id from handshake');
  const ids = rows.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([...kept, held]));
  for (const id of gone) expect(ids).not.toContain(id);
});

test('a grant that ended long ago is deleted without a subscription, with a change; a revoked one stays', async () => {
  const [old, young, revoked, subscribed] = [await register(), await register(), await register(), await register()];
  await tenant.revoke(revoked.sink);
  for (const { id } of [old, young, revoked]) await remove(id);
  const past = `now() - interval '91 days'`;
  await registry.sql(`update "grant" set endedat = ${past} where sink in ($1, $2)`, old.sink, revoked.sink);
  await registry.sql(
    `update "grant" set state = 'ended', endcode = 'no_subscription', endedat = ${past} where sink = $1`,
    subscribed.sink,
  );
  const agreed = registry.receiver.sink('/agreed');
  await tenant.admin
    .post('/v1/grants')
    .send({
      origin: tenant.origin,
      sink: agreed,
      allowedrate: 5,
      agreement: 'Agreement',
      expiresat: new Date(Date.now() + dayMs).toISOString(),
    })
    .expect(201);
  await registry.sql(`update "grant" set expiresat = ${past} where sink = $1`, agreed);
  const { cursor } = (await reader.snapshot()).at(-1);
  await registry.service.forget();
  await registry.service.follow();
  const { changes } = await reader.page({ after: cursor });
  expect(changes.map(({ kind, sink, resource }: Record<string, unknown>) => [kind, sink, resource]).sort()).toEqual(
    [old.sink, agreed].map((sink) => ['grant.ended', sink, undefined]).sort(),
  );
  expect(await tenant.permission(old.sink)).toMatchObject({ allowed: false, denial: 'no_grant' });
  expect(await tenant.permission(young.sink)).toMatchObject({ allowed: false, denial: 'ended' });
  expect(await tenant.permission(revoked.sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  const sinks = (await registry.sql<{ sink: string }>('select sink from "grant"')).map(({ sink }) => sink);
  expect(sinks).toContain(subscribed.sink);
});

test('old audit records, keys and cool-downs of every tenant are deleted', async () => {
  const insert = (name: string, daysAgo: number) =>
    registry.sql(
      `insert into audit (id, at, tenant, actor, action, target)
       values ($1::uuid, now() - make_interval(days => $2::int), $3, 'a', 'b', $2::text)`,
      idOf(daysAgo),
      daysAgo,
      name,
    );
  for (const name of ['aa', 'zz']) for (const daysAgo of [731, 729, 800]) await insert(name, daysAgo);
  await registry.sql(
    `insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource, createdat)
     values ('aa', 'a', 'old', 'x', '', '', now() - interval '25 hours'), ('aa', 'a', 'new', 'x', '', '', now() - interval '23 hours')`,
  );
  await registry.sql(
    `insert into cooldown values ('aa', 'a', 'past', now() - interval '1 second'), ('aa', 'a', 'present', now() + interval '1 hour')`,
  );
  await registry.service.forget();
  expect(await registry.sql(`select sink from cooldown where tenant = 'aa'`)).toEqual([{ sink: 'present' }]);
  expect(await registry.sql(`select tenant, target from audit where tenant in ('aa', 'zz') order by 1`)).toEqual([
    { tenant: 'aa', target: '729' },
    { tenant: 'zz', target: '729' },
  ]);
  expect(await registry.sql(`select key from idempotency where tenant = 'aa'`)).toEqual([{ key: 'new' }]);
});

test('a deletion that the database refuses is logged by name, and stops no other one', async () => {
  await refusing('delete on change', async () => {
    await registry.sql(
      `insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource, createdat)
       values ('cc', 'a', 'old', 'x', '', '', now() - interval '25 hours')`,
    );
    await registry.sql(
      `insert into statistic (tenant, origin, step, startsat, kind, code, count)
       values ('cc', 'o', 'hour', now() - interval '400 days', 'lease', 'leased', 1)`,
    );
    await registry.service.forget();
  });
  expect(faults()).toEqual([['delete changes', expect.stringContaining('refused')]]);
  expect(await registry.sql(`select 1 from idempotency where tenant = 'cc'`)).toEqual([]);
  expect(await registry.sql(`select 1 from statistic where tenant = 'cc'`)).toEqual([]);
});

test('a transition that the database refuses is logged by name, and stops no other one', async () => {
  const [ended, expired] = [await register(), await register()];
  await refusing('update of endedat on subscription', async () => {
    await registry.sql(`update subscription set endsat = now() where id = $1::uuid`, ended.id);
    await registry.sql(`update "grant" set expiresat = now(), noteat = now() where sink = $1`, expired.sink);
    await registry.service.sweep();
  });
  expect(faults()).toContainEqual(['end subscriptions', expect.stringContaining('refused')]);
  expect(await registry.sql(`select noteat from "grant" where sink = $1`, expired.sink)).toEqual([{ noteat: null }]);
  expect(await registry.sql(`select endedat from subscription where id = $1::uuid`, ended.id)).toEqual([
    { endedat: null },
  ]);
});

test('audit records of a process with a wrong clock have the age that the database gives them', async () => {
  await registry.sql(
    `insert into audit (id, tenant, actor, action, target) values ($1::uuid, 'bb', 'a', 'b', 'c')`,
    v7({ msecs: 0 }),
  );
  await registry.service.forget();
  expect(await registry.sql(`select target from audit where tenant = 'bb'`)).toEqual([{ target: 'c' }]);
});

test('audit records are kept if their retention is longer than the time since 1970', async () => {
  const other = await startRegistry({ env: { ASSENT_AUDIT_DAYS: '36500' }, start: false });
  await other.sql(
    `insert into audit (id, tenant, actor, action, target) values ($1::uuid, 'aa', 'a', 'b', 'c')`,
    idOf(1),
  );
  await other.service.forget();
  const kept = await other.sql(`select target from audit where tenant = 'aa'`);
  await other.stop();
  expect(kept).toEqual([{ target: 'c' }]);
});
