import { setImmediate as pass } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { attributesOf, type ContextAttributes } from '../../../src/events/context-attributes.js';
import { compileFilter } from '../../../src/matching/filters/compile-filter.js';
import { dialects } from '../../../src/matching/filters/dialects.js';
import { MatchIndex } from '../../../src/matching/index/match-index.js';
import { matchEvents, readMessage } from '../../../src/matching/match/match-message.js';
import type { Dialects, MatchableSubscription } from '../../../src/matching/filters/predicate.js';
import { Replica } from '../../../src/matching/replica/replica.js';
import { Turns } from '../../../src/matching/match/turns.js';
import { Work } from '../../../src/matching/match/work.js';
import { comparePairs } from '../../bench/pairs.mjs';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/** Thirty patterns that nearly match everywhere: a match reads all of a subject of many `a`s, for each of them. */
const attack = (number: number) =>
  Array.from({ length: 30 }, (_, i) => `subject LIKE '%a%a%a%b${number}x${i}%'`).join(' OR ');

describe('a match that is interrupted', () => {
  test.each([1, 2, 3])(
    'has the same result as an uninterrupted one, also while subscriptions are added and removed (seed %i)',
    (seed) => {
      const slow: Dialects = {
        sql: (text) => {
          const predicate = dialects['sql']!(text);
          return { anchors: predicate.anchors, steps: 600, test: (event) => predicate.test(event) };
        },
      };
      const sqls = [
        "subject LIKE '%a_b%' OR type LIKE '%c%'",
        "NOT (source LIKE '%x%y%')",
        'count > 3',
        'EXISTS count',
      ];
      const withSql = (subscription: MatchableSubscription): MatchableSubscription => {
        const number = Number(subscription.id.slice(1));
        const own = { sql: sqls[number % 5] ?? `id = 'a' OR subject LIKE '%b%${number % 7}'` };
        return number % 3 === 0 ? subscription : { ...subscription, filters: [...(subscription.filters ?? []), own] };
      };
      let interruptions = 0;
      class Interrupted extends MatchIndex {
        #matches = 0;

        override add(subscription: MatchableSubscription): number {
          return super.add(withSql(subscription));
        }

        override match(event: ContextAttributes): number[] {
          const slice = { left: 400 };
          const work = new Work(Infinity, slice);
          const isQuiet = (this.#matches += 1) % 2 === 0;
          for (;;) {
            const handles = super.match(event, work);
            if (handles !== undefined) return handles;
            interruptions += 1;
            work.resume();
            slice.left = 400;
            if (isQuiet) continue;
            // Something that this event does not match takes the memory of what is removed.
            super.add({
              id: 'other',
              types: [`other${interruptions % 50}`],
              filters: [{ sql: `id = '${interruptions}'` }],
            });
            if (interruptions % 3 === 0) this.remove('other');
          }
        }

        override statistics() {
          this.remove('other');
          return super.statistics();
        }
      }
      const found = comparePairs(
        {
          createMatchIndex: () => new Interrupted(slow),
          compileFilter: (subscription) => compileFilter(withSql(subscription), dialects),
          attributesOf,
        },
        40_000,
        seed,
        400,
      );
      expect({ seed, ...found }).toMatchObject({ seed, differences: [] });
      expect(interruptions).toBeGreaterThan(300);
      expect(found.matched).toBeGreaterThan(1_000);
    },
  );

  test('excludes revoked grants for the following events, and returns their positions', () => {
    const origin = 'a.example.com';
    const replica = new Replica({ dialects, now: () => 0 });
    replica.put({ kind: 'origin', tenant: 't', origin }, { name: origin, isdefault: true, profile: 'cloudevents' });
    const sink = 'https://a.example/';
    const id = '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f';
    const filters = [{ sql: "NOT (subject LIKE '%a%b%')" }];
    replica.put(
      { kind: 'subscription', origin, id },
      { id, origin, sink, filters, hascredential: false, suspended: false },
    );
    const grant = { id, origin, sink, basis: 'response', allowedrate: 1, expiresat: '2100-01-01T00:00:00Z' } as const;
    replica.put({ kind: 'grant', origin, sink }, { ...grant, state: 'live' });
    const event = { specversion: '1.0', id: '1', source: '/', type: 't', subject: 'a'.repeat(1_000) };
    const known = replica.origin('t', origin)!;
    const message = readMessage(known, {
      headers: ['Content-Type', 'application/cloudevents-batch+json'],
      body: Buffer.from(JSON.stringify([event, event, event])),
    });
    const slice = { left: 1 };
    const work = new Work(1_000_000, slice);
    expect(matchEvents(replica, known, message, work, '7')).toBe(false);
    replica.put({ kind: 'grant', origin, sink }, { ...grant, state: 'revoked' });
    slice.left = 1_000_000;
    expect(matchEvents(replica, known, message, work, '8')).toBe(true);
    const told = message.results.map(({ pairs, revision }) => [pairs.length, revision ?? message.revision]);
    expect(told).toEqual([
      [1, '7'],
      [0, '8'],
      [0, '8'],
    ]);
  });

  test('yields to other tenants, and goes to the end of the queue of its own tenant', async () => {
    const turns = new Turns(10);
    const order: string[] = [];
    const enter = (tenant: string, name: string, slices: number) => {
      const work = new Work(Infinity, turns.slice);
      return turns.finish(work, tenant, () => {
        order.push(name);
        work.isStopped = (slices -= 1) > 0;
      });
    };
    turns.slice.left = -1;
    expect(turns.isFree('c')).toBe(false);
    await Promise.all([enter('a', 'a1', 4), enter('a', 'a2', 1), enter('a', 'a3', 1), enter('b', 'b1', 2)]);
    expect(order).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'a1', 'a1', 'a1']);
    await pass();
    expect(turns.isFree('c')).toBe(true);
  });
});

describe('expensive filters of one tenant', () => {
  const origin = 'eventemitter.example.com';
  let registry: Registry;
  let subscriber: Client;
  let sender: Client;
  const ids: string[] = [];
  const events = (count: number) =>
    JSON.stringify(
      Array.from({ length: count }, (_, i) => ({
        specversion: '1.0',
        id: String(i),
        source: 'urn:example:a',
        type: 'com.example.a',
        subject: 'a'.repeat(8_000),
      })),
    );
  const match = (count: number) =>
    sender.post('/v1/match').set('Content-Type', 'application/cloudevents-batch+json').send(events(count));

  beforeAll(async () => {
    // More than the price limits would allow.
    const env = {
      ASSENT_MATCH_STEPS: '60000000',
      ASSENT_PRICE_PER_TENANT: '600000',
      ASSENT_PRICE_PER_SUBSCRIBER: '600000',
    };
    registry = await startRegistry({ env });
    const admin = await registry.as('assent:admin');
    await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
    subscriber = await registry.as('assent:subscribe');
    sender = await registry.as('assent:deliver');
    for (const filters of [[{ sql: attack(0) }], [{ sql: `${attack(1)} OR ${attack(2)}` }], [{ sql: attack(3) }]]) {
      const request = { sink: registry.receiver.sink(`/${ids.length}`), protocol: 'HTTP', filters };
      ids.push((await subscriber.post('/v1/subscriptions').send(request).expect(201)).body.id);
    }
  });
  afterAll(() => registry.stop());

  test('leave the process to others while a batch is matched', async () => {
    const stranger = await registry.as(['assent:deliver', 'assent:admin'], { tenant: 'provincie' });
    const theirs = { name: 'other.example.nl', isdefault: true };
    await stranger.post('/v1/origins').send(theirs).expect(201);
    let isDone = false;
    const matched = match(20)
      .expect(200)
      .then(({ body }) => {
        isDone = true;
        return body;
      });
    let answered = 0;
    for (; !isDone; answered += 1) {
      const sink = `https://example.com/${answered}`;
      await stranger.get('/v1/permissions').query({ origin: theirs.name, sink }).expect(200);
      const event = { specversion: '1.0', id: '1', source: '/', type: 'a', subject: 'b' };
      await stranger.post('/v1/match').type('application/cloudevents+json').send(JSON.stringify(event)).expect(200);
    }
    // In one turn of the event loop there would be at most one of each.
    expect(answered).toBeGreaterThan(3);
    expect((await matched).events).toEqual(Array.from({ length: 20 }, () => ({ sinks: [] })));
  });

  test('are refused for a message that would take too many steps, and the most expensive subscription is named', async () => {
    const { body } = await match(100).expect(403);
    expect(body).toMatchObject({
      code: 'match_too_expensive',
      detail: expect.stringContaining(ids[1]!),
      faults: [{ pointer: `subscription/${ids[1]}`, rule: 'too_expensive' }],
    });
    const lines = registry.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'match_too_expensive');
    expect(JSON.stringify(lines)).toContain(ids[1]);
    // Fewer events fit.
    await match(2).expect(200);
  });

  test('share the turns in the test of a filter, too', async () => {
    const filters = Array.from({ length: 40 }, (_, i) => ({ not: { sql: attack(i) } }));
    const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'a', subject: 'a'.repeat(60_000) };
    let isDone = false;
    const tried = subscriber
      .post('/v1/filters/check')
      .send({ event, filters })
      .expect(200)
      .then(({ body }) => {
        isDone = true;
        return body;
      });
    let answered = 0;
    for (; !isDone; answered += 1) {
      await sender.get('/v1/permissions').query({ origin, sink: 'https://example.com/' }).expect(200);
    }
    expect(answered).toBeGreaterThan(3);
    expect(await tried).toMatchObject({ matched: true });
  });
});
