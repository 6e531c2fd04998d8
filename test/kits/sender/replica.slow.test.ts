import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RegistryError, AssentError, type MatchResult, type Sender } from '../../../src/kits/sender/index.js';
import { openReplicaFile } from '../../../src/kits/sender/replica-file.js';
import type { FeedReader } from '../../support/feed-reader.js';
import { createClock } from '../../support/clock.js';
import { startGateway } from '../../support/gateway.js';
import type { Registry } from '../../support/registry.js';
import type { Relay } from '../../support/relay.js';
import { startSenders, type Senders } from '../../support/senders.js';
import type { Tenant } from '../../support/tenant.js';
import { turnClock } from '../../support/turn-clock.js';

let registry: Registry;
let tenant: Tenant;
let reader: FeedReader;
let senders: Senders;
let relay: Relay;
let folders: string;

beforeAll(async () => {
  senders = await startSenders();
  ({ registry, tenant, reader, relay } = senders);
  folders = await mkdtemp(join(tmpdir(), 'assent-sender-'));
  await tenant.admin.post('/v1/origins').send({ name: 'second.example.com', profile: 'nl-gov' }).expect(201);
});
afterAll(async () => {
  await senders.stop();
  await rm(folders, { recursive: true, force: true });
});

const newFolder = () => mkdtemp(join(folders, 'replica-'));
const fileIn = (folder: string) => join(folder, 'replica.jsonl');
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const types = Array.from({ length: 12 }, (_, n) => `com.example.type${n}`);
const sources = ['urn:example:a', 'urn:example:b'];
const eventOf = (type: string, more: object = {}) => ({
  specversion: '1.0',
  id: '1',
  source: 'urn:example:a',
  type,
  ...more,
});

let paths = 0;
function newSink(): string {
  const path = `/r${(paths += 1)}`;
  registry.receiver.consent(path, { rate: pick(['*', '100', '7']) });
  return registry.receiver.sink(path);
}

const filters = () =>
  pick<object[]>([[], [{ prefix: { subject: 'a' } }], [{ sql: 'count > 5' }], [{ not: { exact: { subject: 'b' } } }]]);

/** One of what people do with the registry all day. */
async function write(mine: Array<{ id: string; sink: string }>): Promise<void> {
  const one = mine.length < 3 ? undefined : pick(mine);
  const turn = one === undefined ? 0 : Math.random();
  if (one === undefined || turn < 0.4) {
    const sink = mine.length > 0 && turn > 0.3 ? pick(mine).sink : newSink();
    const wanted = { types: [pick(types)], filters: filters(), ...(turn > 0.2 ? { source: pick(sources) } : {}) };
    mine.push(await tenant.register(sink, wanted));
  } else if (turn < 0.55) {
    await tenant.replace(one.id, { sink: one.sink, types: [pick(types)], filters: filters() });
  } else if (turn < 0.65) {
    await tenant.replace(one.id, { sink: newSink(), types: [pick(types)] });
  } else if (turn < 0.75) {
    await tenant.subscriber.post(`/v1/subscriptions/${one.id}/suspend`).send({ reason: 'Test.' });
  } else if (turn < 0.83) {
    await tenant.subscriber.post(`/v1/subscriptions/${one.id}/resume`).send({ reason: 'Test.' });
  } else if (turn < 0.92) {
    await tenant.subscriber.delete(`/v1/subscriptions/${one.id}`).expect(200);
    mine.splice(mine.indexOf(one), 1);
  } else {
    await tenant.revoke(one.sink).catch(() => undefined);
  }
}

async function writeMuch(writers = 4, writes = 12): Promise<void> {
  const all = await Promise.all(
    Array.from({ length: writers }, async () => {
      const mine: Array<{ id: string; sink: string }> = [];
      for (let n = 0; n < writes; n += 1) await write(mine);
      return mine;
    }),
  );
  expect(all.flat().length).toBeGreaterThan(writers);
}

interface Line {
  kind: string;
  origin?: string;
  sink?: string;
  subscription?: string;
  block?: string;
  resource?: { name?: string; id: string; origin: string; sink: string };
}

/** What a file of the kit says of each thing. */
async function statesIn(file: string): Promise<Map<string, unknown>> {
  const states = new Map<string, unknown>();
  for (const text of (await readFile(file, 'utf8')).split('\n').slice(1, -1)) {
    const { kind, resource, origin, sink, subscription, block } = JSON.parse(text) as Line;
    const [what] = kind.split('.');
    if (!['block', 'origin', 'subscription', 'grant'].includes(what ?? '')) continue;
    const of = origin ?? resource?.name ?? resource?.origin;
    const key =
      what === 'grant' ? (sink ?? resource?.sink) : what === 'origin' ? '' : (block ?? subscription ?? resource?.id);
    if (resource === undefined) states.delete(`${what} ${of} ${key}`);
    else states.set(`${what} ${of} ${key}`, resource);
  }
  return states;
}

async function statesOfServer(): Promise<Map<string, unknown>> {
  const lines = (await reader.snapshot()).slice(0, -1);
  return new Map(
    lines.map(({ kind, resource }) => {
      const key = kind === 'grant' ? resource.sink : kind === 'origin' ? '' : resource.id;
      return [`${kind} ${resource.name ?? resource.origin} ${key}`, resource];
    }),
  );
}

const bySink = ({ sinks, ...rest }: MatchResult) => ({
  ...rest,
  sinks: [...sinks].sort((a, b) => (a.sink < b.sink ? -1 : 1)),
});

async function expectSameAnswers(sender: Sender): Promise<void> {
  for (const type of types) {
    const more = {
      subject: pick(['a1', 'b', 'c']),
      source: pick(sources),
      ...(Math.random() < 0.5 ? { count: 7 } : {}),
    };
    const event = eventOf(type, more);
    const asked = tenant.sender.post('/v1/match').set('Content-Type', 'application/cloudevents+json');
    const { body } = await asked.send(JSON.stringify(event)).expect(200);
    expect(bySink(sender.match(event))).toEqual(bySink(body as MatchResult));
  }
  const known = [...(await statesOfServer()).values()].map((state) => (state as { sink?: string }).sink ?? '');
  for (const sink of [...[...new Set(known)].slice(-15), 'https://nobody.example.com/']) {
    if (sink === '') continue;
    expect(sender.permission(tenant.origin, sink)).toEqual(await tenant.permission(sink));
  }
}

test("after many concurrent writes the replica equals the server's snapshot and answers the same", async () => {
  const folder = await newFolder();
  const sender = await senders.start({ folder });
  await writeMuch();
  await senders.untilCurrent(sender);
  await expectSameAnswers(sender);
  await sender.close();
  expect(await statesIn(fileIn(folder))).toEqual(await statesOfServer());
});

describe('the kit judges a message as the server does', () => {
  test('if an event breaks a rule, names an unknown origin, or is not an event', async () => {
    const sender = await senders.start();
    await sender.ready();
    const cases: Array<[object, string | undefined]> = [
      [eventOf('com.example.a', { source: '' }), undefined],
      [eventOf('zaak'), 'second.example.com'],
      [eventOf('com.example.a'), 'nobody.example.com'],
      [{ hello: 'world' }, undefined],
    ];
    for (const [event, origin] of cases) {
      const asked = tenant.sender.post('/v1/match').query(origin === undefined ? {} : { origin });
      const { body } = await asked.set('Content-Type', 'application/cloudevents+json').send(JSON.stringify(event));
      let thrown: unknown;
      try {
        sender.match(event, origin === undefined ? {} : { origin });
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(RegistryError);
      const { code, faults } = thrown as RegistryError;
      expect({ code, faults }).toEqual({ code: body.code, faults: body.faults ?? [] });
    }
  });

  test('in binary mode and in a batch, with the faults at the place of the event', async () => {
    const sender = await senders.startCurrent();
    const headers = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 'urn:example:a', 'ce-type': types[0] ?? '' };
    const binary = tenant.sender.post('/v1/match').set(headers).set('Content-Type', 'text/plain');
    const { body } = await binary.send('hello').expect(200);
    const message = { headers: { ...headers, 'content-type': 'text/plain' }, body: 'hello' };
    expect(bySink(sender.match(message) as MatchResult)).toEqual(bySink(body));
    const batch = [eventOf(types[1] ?? ''), eventOf('', {})];
    const batched = tenant.sender.post('/v1/match').set('Content-Type', 'application/cloudevents-batch+json');
    const answer = await batched.send(JSON.stringify(batch)).expect(200);
    expect(sender.match(batch).events[1]).toEqual(answer.body.events[1]);
    expect(sender.match(batch).events).toHaveLength(2);
  });

  test('if an event has a null attribute named like a member of a request', async () => {
    const sender = await senders.startCurrent();
    const event = eventOf(types[0] ?? '', { headers: null, body: null });
    const asked = tenant.sender.post('/v1/match').set('Content-Type', 'application/cloudevents+json');
    const { body } = await asked.send(JSON.stringify(event)).expect(200);
    expect(bySink(sender.match(event))).toEqual(bySink(body));
  });
});

describe('while the registry is unreachable', () => {
  test('the replica answers and reports its age, and continues when the registry is back', async () => {
    const sender = await senders.start({ registry: relay.url });
    const sink = newSink();
    await tenant.register(sink, { types: ['com.example.away'] });
    await senders.untilCurrent(sender);
    relay.cut();
    const before = sender.age();
    await tenant.revoke(sink);
    expect(sender.permission(tenant.origin, sink).allowed).toBe(true);
    expect(sender.age()).toBeGreaterThan(before);
    relay.mend();
    await senders.untilCurrent(sender);
    expect(sender.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
    await sender.close();
  });

  test('a sender starts from its folder, knows how old it is, and continues from its cursor', async () => {
    const folder = await newFolder();
    const sink = newSink();
    await tenant.register(sink, { types: ['com.example.disk'] });
    const first = await senders.startCurrent({ registry: relay.url, folder });
    const answer = first.match(eventOf('com.example.disk'));
    expect(answer.sinks).toHaveLength(1);
    await first.close();
    expect((await stat(fileIn(folder))).mode & 0o777).toBe(0o600);

    relay.cut();
    const second = await senders.start({ registry: relay.url, folder });
    await second.ready();
    expect(second.match(eventOf('com.example.disk'))).toEqual(answer);
    expect(second.permission(tenant.origin, sink).allowed).toBe(true);
    expect(second.age()).toBeLessThan(60);
    await tenant.revoke(sink);
    const size = (await stat(fileIn(folder))).size;
    relay.mend();
    await senders.untilCurrent(second);
    await second.close();
    // Something was appended, and no snapshot was written.
    expect((await stat(fileIn(folder))).size).toBeGreaterThan(size);
    expect(await statesIn(fileIn(folder))).toEqual(await statesOfServer());
  });

  test('a refused token is fetched again', async () => {
    const good = reader.headers['Authorization']?.slice('Bearer '.length) ?? '';
    let asked = 0;
    const sender = await senders.start({ token: () => ((asked += 1) === 1 ? 'an-old-one' : good) });
    await sender.ready(0);
    expect(asked).toBeGreaterThan(1);
    await sender.close();
  });

  test('a token function that never settles does not block closing', async () => {
    const token = jest.fn(() => new Promise<string>(() => undefined));
    const sender = await senders.start({ token });
    while (token.mock.calls.length === 0) await sleep(5);
    const waiting = sender.ready();
    await Promise.all([expect(waiting).rejects.toThrow('closed'), sender.close()]);
  });

  test('a token that is refused twice is reported to waiting callers', async () => {
    const sender = await senders.start({ token: () => 'no-token' });
    await expect(sender.ready()).rejects.toThrow(AssentError);
    expect(() => sender.permission(tenant.origin, 'https://a.example.com/')).toThrow('being loaded');
    await sender.close();
  });
});

test('a caller waiting for a current replica learns that the token is refused, and the old replica keeps answering', async () => {
  const sink = newSink();
  await tenant.register(sink);
  let token = reader.headers['Authorization']?.slice('Bearer '.length) ?? '';
  const onFault = jest.fn();
  const sender = await senders.startCurrent({ registry: relay.url, token: () => token, onFault });
  while (relay.openStreams() === 0) await sleep(5);
  token = 'no-token';
  const faults = onFault.mock.calls.length;
  relay.cut();
  // What came before the cut has been taken in by then.
  while (onFault.mock.calls.length === faults) await sleep(5);
  const waiting = sender.ready(0);
  relay.mend();
  await expect(waiting).rejects.toThrow(AssentError);
  expect(sender.permission(tenant.origin, sink).allowed).toBe(true);
  await sender.close();
});

describe('a file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await newFolder();
    const sender = await senders.start({ folder });
    await sender.ready();
    await tenant.register(newSink(), { types: ['com.example.torn'] });
    await senders.untilCurrent(sender);
    await sender.close();
  });

  async function reopened(): Promise<void> {
    const sender = await senders.startCurrent({ folder });
    await expectSameAnswers(sender);
    await sender.close();
    expect(await statesIn(fileIn(folder))).toEqual(await statesOfServer());
  }

  test('whose last line is torn is good up to there', async () => {
    const { size } = await stat(fileIn(folder));
    await truncate(fileIn(folder), size - 7);
    await reopened();
    await appendFile(fileIn(folder), '{"kind":"grant.live","cur');
    await reopened();
  });

  test('that is torn in the middle is continued from there; torn within its snapshot, it is replaced', async () => {
    const whole = await readFile(fileIn(folder), 'utf8');
    const lines = whole.split('\n');
    await writeFile(fileIn(folder), [...lines.slice(0, -4), '{"kind":"sub', ...lines.slice(-4)].join('\n'));
    await reopened();
    await writeFile(fileIn(folder), lines.slice(0, 3).join('\n'));
    await reopened();
    await writeFile(fileIn(folder), 'what is this?\n');
    await reopened();
  });

  test.each(['"yesterday"', 'null', '{}', '1e999'])(
    'that says it was current at %s is as old as can be',
    async (at) => {
      const [registryUrl, standing] = ['https://registry.test/', { cursor: 'c', revision: '1' }];
      const other = await newFolder();
      const head = { kind: 'assent-replica', version: 2, registry: registryUrl };
      const lines = [head, { kind: 'end', ...standing }, { kind: 'current', ...standing, at: 0 }];
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      await writeFile(fileIn(other), text.replace('"at":0', `"at":${at}`));
      const sender = await senders.start({ folder: other, registry: registryUrl });
      await sender.ready();
      expect(sender.age()).toBeGreaterThan(365 * 86_400);
      const current = sender.ready(1_000).catch(() => 'closed');
      expect(await Promise.race([current, sleep(100, 'old')])).toBe('old');
      await sender.close();
    },
  );

  test('is kept again by the next snapshot after the disk could not keep up', async () => {
    const other = await newFolder();
    const faults: unknown[] = [];
    const onFault = (error: unknown) => void faults.push(error);
    const journal = await openReplicaFile({ folder: other, registry: 'a', origin: undefined, onFault });
    const snapshot = async () => {
      const file = journal.begin();
      await file.write([]);
      await file.complete({ cursor: 'c', revision: '1' });
    };
    await snapshot();
    journal.append(Array.from({ length: 70 }, () => 'x'.repeat(1_048_576)));
    expect(faults).toHaveLength(1);
    await snapshot();
    journal.append(['{"kind":"kept"}']);
    await journal.close();
    expect(faults).toHaveLength(1);
    expect(await readFile(fileIn(other), 'utf8')).toContain('"kept"');
  });

  test('keeps nothing of a snapshot that could not be written', async () => {
    const other = await newFolder();
    const faults: unknown[] = [];
    const onFault = (error: unknown) => void faults.push(error);
    const journal = await openReplicaFile({ folder: other, registry: 'a', origin: undefined, onFault });
    // No line can be made of it.
    await journal.begin().write([Symbol() as unknown as string]);
    expect(faults).toHaveLength(1);
    expect(await readdir(other)).not.toContain('replica.jsonl.new');
    await journal.close();
  });

  test('keeps nothing of a compaction that could not be written', async () => {
    const other = await newFolder();
    const faults: unknown[] = [];
    const onFault = (error: unknown) => void faults.push(error);
    const journal = await openReplicaFile({
      folder: other,
      registry: 'a',
      origin: undefined,
      onFault,
      compactAbove: 100,
    });
    await journal.begin().complete({ cursor: 'c', revision: '1' });
    journal.append(['This is no line of a replica. '.repeat(10)]);
    while (faults.length === 0) await sleep(5);
    expect(await readdir(other)).not.toContain('replica.jsonl.compact');
    await journal.close();
  });

  test('that cannot be closed because its disk fails is reported to the host and does not block closing', async () => {
    const other = await newFolder();
    const faults: unknown[] = [];
    const sender = await senders.start({ folder: other, onFault: (fault) => void faults.push(fault) });
    await sender.ready();
    const lock = `${fileIn(other)}.lock`;
    await rm(lock);
    await mkdir(lock);
    await sender.close();
    expect(faults).toHaveLength(1);
  });

  test('of another registry, or of one origin of it, is not used', async () => {
    const [head = '', ...rest] = (await readFile(fileIn(folder), 'utf8')).split('\n');
    await writeFile(
      fileIn(folder),
      [head.replace(/"registry":"[^"]+"/, '"registry":"https://b/"'), ...rest].join('\n'),
    );
    await reopened();
    const sender = await senders.start({ folder, origin: 'second.example.com', registry: registry.url });
    await sender.ready();
    expect([...(await statesIn(fileIn(folder))).keys()]).toEqual(['origin second.example.com ']);
    await sender.close();
  });

  test('does not grow beyond twice its content', async () => {
    const sender = await senders.start({ folder, compactAbove: 10_000 });
    const { id, sink } = await tenant.register(newSink(), { types: ['com.example.busy'] });
    const blocks = ['kept.example.com', 'lifted.example.com'].map((value) => ({ kind: 'host', value, reason: 'r' }));
    const [kept, lifted] = await Promise.all(
      blocks.map(async (block) => (await tenant.admin.post('/v1/blocks').send(block).expect(201)).body),
    );
    await tenant.admin.delete(`/v1/blocks/${lifted.id}`).expect(200);
    for (let turn = 0; turn < 60; turn += 1) {
      await tenant.replace(id, { sink, types: ['com.example.busy', `${'x'.repeat(300)}${turn}`] });
    }
    await senders.untilCurrent(sender);
    await sender.close();
    const held = [...(await statesOfServer()).values()].reduce(
      (sum: number, one) => sum + JSON.stringify(one).length,
      0,
    );
    expect((await stat(fileIn(folder))).size).toBeLessThan(Math.max(10_000, 3 * held));
    expect((await statesIn(fileIn(folder))).get(`block undefined ${kept.id}`)).toMatchObject({
      value: 'kept.example.com',
    });
    await reopened();
    await tenant.admin.delete(`/v1/blocks/${kept.id}`).expect(200);
  });

  test('continues from its latest change after a compaction, not from when it was current', async () => {
    const other = await newFolder();
    const onFault = (error: unknown) => expect(error).toBeUndefined();
    const settings = { folder: other, registry: 'a', origin: undefined, onFault, compactAbove: 1_000 };
    const journal = await openReplicaFile(settings);
    const first = { cursor: 'c0', revision: '0' };
    await journal.begin().complete(first);
    journal.noteCurrent(first, 1_000);
    const changes = Array.from({ length: 50 }, (_, n) => ({
      cursor: `c${n + 1}`,
      revision: String(n + 1),
      kind: 'grant.live',
      origin: 'a',
      sink: 'https://b/',
      resource: { origin: 'a', sink: 'https://b/' },
    }));
    journal.append(changes.map((change) => JSON.stringify(change)));
    await journal.close();
    expect((await stat(fileIn(other))).size).toBeLessThan(1_000);
    const again = await openReplicaFile(settings);
    expect(await again.replay(() => undefined)).toEqual({ cursor: 'c50', revision: '50', currentAt: 1_000 });
    await again.close();
  });

  test('belongs to one process', async () => {
    await writeFile(`${fileIn(folder)}.lock`, '1');
    await expect(senders.start({ folder })).rejects.toThrow('Process 1 keeps its replica');
    await rm(`${fileIn(folder)}.lock`);
  });
});

test('lines of a newer registry version are reported, and the feed continues after them', async () => {
  const [strange, sink] = [newSink(), newSink()];
  const { id } = await tenant.register(strange, { types: ['com.example.strange'] });
  await tenant.register(sink, { types: ['com.example.known'] });
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => void faults.push(fault);
  const folder = await newFolder();
  const sender = await senders.startCurrent({ onFault, folder });
  await registry.sql(`update subscription set filters = '[{"later":{"type":"a"}}]' where id = $1::uuid`, id);
  for (const step of ['suspend', 'resume']) {
    await tenant.subscriber.post(`/v1/subscriptions/${id}/${step}`).send({ reason: 'Test.' }).expect(200);
  }
  await tenant.revoke(sink);
  await senders.untilCurrent(sender);
  expect(faults.map(String)).toContain(
    `Error: A state could not be taken in: ${JSON.stringify({ kind: 'subscription', origin: tenant.origin, id })}`,
  );
  expect(sender.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  expect(sender.match(eventOf('com.example.strange')).sinks.map((one) => one.sink)).not.toContain(strange);
  await sender.close();
  // So it is with a snapshot, and with a file.
  for (const settings of [{}, { folder }]) {
    const other = await senders.startCurrent(settings);
    expect(other.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
    await other.close();
  }
  await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
});

test('if a proxy buffers streams, pages are polled, and streams are tried again after an outage', async () => {
  const folder = await newFolder();
  const faults: unknown[] = [];
  relay.holdStreams();
  const sender = await senders.start({ registry: relay.url, folder, onFault: (fault) => void faults.push(fault) });
  await sender.ready(0);
  const sink = newSink();
  await tenant.register(sink, { types: ['com.example.page'] });
  await senders.untilCurrent(sender);
  expect(faults).toMatchObject([{ name: 'HeldBack' }]);
  await tenant.revoke(sink);
  await senders.untilCurrent(sender);
  expect(sender.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  expect(sender.age()).toBeLessThan(20);
  relay.cut();
  await sleep(300);
  const before = sender.age();
  await sleep(300);
  expect(sender.age()).toBeGreaterThan(before);
  relay.mend();
  await sender.ready(0);
  await expectSameAnswers(sender);
  expect(relay.openStreams()).toBe(1);
  await sender.close();
  expect(await statesIn(fileIn(folder))).toEqual(await statesOfServer());
});

test('if the registry refuses a cursor, the sender loads a new snapshot and keeps answering', async () => {
  const folder = await newFolder();
  const sender = await senders.start({ registry: relay.url, folder });
  const sink = newSink();
  await tenant.register(sink, { types: ['com.example.gone'] });
  await senders.untilCurrent(sender);
  relay.cut();
  // What the sender has not seen is forgotten.
  await tenant.revoke(sink);
  await registry.sql('update feed_state set horizon = (select max(position) from change)');
  await registry.sql('delete from change');
  await registry.service.follow();
  expect(sender.permission(tenant.origin, sink).allowed).toBe(true);
  relay.mend();
  await senders.untilCurrent(sender);
  expect(sender.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  await expectSameAnswers(sender);
  await sender.close();
  expect(await statesIn(fileIn(folder))).toEqual(await statesOfServer());
});

test('the sender waits for a snapshot that takes longer than other responses', async () => {
  const faults: unknown[] = [];
  const gateway = await startGateway(registry.url, ({ url = '', headers: { authorization = '' } }, answer) => {
    const isSnapshot = url.startsWith('/v1/snapshot');
    const read = async () => (await fetch(new URL(url, registry.url), { headers: { authorization } })).text();
    if (isSnapshot) void Promise.all([read(), sleep(13_000)]).then(([text]) => answer.end(text));
    return isSnapshot;
  });
  const sender = await senders.start({ registry: gateway.url, onFault: (fault) => void faults.push(fault) });
  await sender.ready();
  await expectSameAnswers(sender);
  expect(faults).toEqual([]);
  await sender.close();
  await gateway.stop();
});

test.each([400, 410])(
  'a feed that responds %i to the cursor of a new snapshot is reported, and snapshots are not loaded in a loop',
  async (status) => {
    let [snapshots, isRefusing] = [0, true];
    const gateway = await startGateway(registry.url, ({ url = '' }, answer) => {
      if (url.startsWith('/v1/snapshot')) snapshots += 1;
      const refuses = isRefusing && url.startsWith('/v1/changes');
      if (refuses) answer.writeHead(status).end();
      return refuses;
    });
    // Pauses are next to none.
    const chance = jest.spyOn(Math, 'random').mockReturnValue(-0.4999);
    const clock = createClock();
    const faults: unknown[] = [];
    const sender = await senders.start({ registry: gateway.url, onFault: (fault) => void faults.push(fault) });
    await sender.ready();
    while (faults.length < 30) await sleep(5);
    expect(faults).toEqual(faults.map(() => expect.objectContaining({ name: 'AssentError', status })));
    expect(snapshots).toBe(2);
    clock.pass(6);
    while (snapshots === 2) await sleep(5);
    isRefusing = false;
    await senders.untilCurrent(sender);
    expect(snapshots).toBe(3);
    await sender.close();
    clock.restore();
    chance.mockRestore();
    await gateway.stop();
  },
);

test('an undefined setting counts as absent, also in the types', async () => {
  const none: string | undefined = process.env['ASSENT_NO_SUCH_SETTING'];
  const settings = { origin: none, instance: none, folder: none, ca: none, compactAbove: undefined, signal: undefined };
  const sender = await senders.startCurrent(settings);
  expect(sender.match(eventOf('com.example.none'), { origin: none }).origin).toBe(tenant.origin);
  await sender.close();
});

test('a response that is not an event stream is reported to the host', async () => {
  const gateway = await startGateway(registry.url, ({ headers }, answer) => {
    if (headers.accept !== 'text/event-stream') return false;
    answer.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Sign in first.</p>\n');
    return true;
  });
  const told = new Promise((onFault) => void senders.start({ registry: gateway.url, onFault }));
  expect(String(await told)).toContain('without an event');
  await gateway.stop();
});

test('a stream that keeps ending immediately is opened with backoff', async () => {
  const askedAt: number[] = [];
  const gateway = await startGateway(registry.url, ({ headers }, answer) => {
    if (headers.accept !== 'text/event-stream') return false;
    askedAt.push(performance.now());
    answer.end('id: some\nevent: heartbeat\ndata: {"revision":"1","more":true}\n\n');
    return true;
  });
  const sender = await senders.start({ registry: gateway.url });
  while (askedAt.length < 7) await sleep(5);
  expect((askedAt[6] ?? 0) - (askedAt[5] ?? 0)).toBeGreaterThan(1_000);
  await sender.close();
  await gateway.stop();
});

test("a malformed Age header leaves the replica's age a number", async () => {
  const gateway = await startGateway(registry.url, ({ headers }, answer) => {
    answer.setHeader('Age', 'soon');
    // Nothing ever comes of a stream.
    return headers.accept === 'text/event-stream';
  });
  const sender = await senders.start({ registry: gateway.url });
  await sender.ready(0);
  expect(sender.age()).toBeLessThan(20);
  await sender.close();
  await gateway.stop();
});

test('while pages are polled a stream is tried every ten minutes, and used when it works', async () => {
  const clock = createClock();
  const faults: unknown[] = [];
  relay.holdStreams();
  const sender = await senders.start({ registry: relay.url, onFault: (fault) => void faults.push(fault) });
  const untilStreams = async (count: number) => {
    while (relay.openStreams() !== count) await sleep(5);
  };
  await sender.ready(0);
  await untilStreams(0);
  const sink = newSink();
  await tenant.register(sink, { types: ['com.example.page'] });
  clock.pass(11);
  await untilStreams(1);
  // Meanwhile pages tell what is new.
  await tenant.revoke(sink);
  await senders.untilCurrent(sender);
  expect(sender.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  await untilStreams(0);
  relay.mend();
  clock.pass(11);
  await untilStreams(1);
  await tenant.register(newSink(), { types: ['com.example.stream'] });
  await senders.untilCurrent(sender);
  await expectSameAnswers(sender);
  // A page that has nothing to tell takes eight seconds.
  await sender.ready(0);
  const askedAt = Date.now();
  await sender.ready(0);
  expect(Date.now() - askedAt).toBeLessThan(8_000);
  expect(relay.openStreams()).toBe(1);
  expect(faults).toMatchObject([{ name: 'HeldBack' }]);
  await sender.close();
  clock.restore();
});

test('adjusting the clock during a stream expires no grant', async () => {
  const sink = newSink();
  await tenant.register(sink);
  const program = `
    let aheadMs = 0;
    ${turnClock('aheadMs')}
    const { KIT, REGISTRY, TOKEN, ORIGIN, SINK } = process.env;
    const { createSender } = await import(KIT);
    const sender = await createSender({ registry: REGISTRY, token: () => TOKEN });
    await sender.ready();
    const isAllowed = () => sender.permission(ORIGIN, SINK).allowed;
    // Only a stream tells that the replica is current now.
    do await sender.ready(0); while (!isAllowed());
    aheadMs = 30 * 86_400_000;
    while (!isAllowed()) await sender.ready(0);
    await sender.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: {
      KIT: new URL('../../../dist/kits/sender/index.js', import.meta.url).href,
      REGISTRY: registry.url,
      TOKEN: reader.headers['Authorization']?.slice('Bearer '.length),
      ORIGIN: tenant.origin,
      SINK: sink,
    },
    stdio: 'inherit',
    timeout: 110_000,
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});
