import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { offeredBy } from '../../support/offer.js';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** On a server, the consumers use two processes. */
let processes: Registry[];
let registry: Registry;
let tenant: Tenant;
let consumers: Client[];

const number = 16;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  processes = [registry];
  if (isServer()) processes.push(await startRegistry({ beside: registry, env: { ASSENT_PORT: '0' } }));
  tenant = await createTenant(registry);
  consumers = await Promise.all(
    Array.from({ length: number }, (_, place) => processes[place % processes.length]!.as('assent:subscribe')),
  );
});
afterAll(async () => {
  for (const each of [...processes].reverse()) await each.stop();
});

const sinkOf = (round: number, place: number, path: string) =>
  registry.receiver.sink(`/${path}-${round}`, `r${round}-${place}.hooks.test`);

test.each([
  ['domain', 'hooks.test'],
  ['origin', 'eventemitter.example.com'],
  ['subscriber', 'zaaksysteem'],
] as const)(
  'nothing gets through a block of the kind %s, however 16 consumers and their callbacks race against it',
  async (kind, value) => {
    const round = { domain: 1, origin: 2, subscriber: 3 }[kind];
    const { receiver } = registry;
    receiver.consent(`/consents-${round}`);
    const calls = new Set<Promise<unknown>>();
    receiver.on(`/calls-${round}`, (request, response) => {
      response.writeHead(200).end();
      for (const url of offeredBy(request)) {
        const call: Promise<unknown> = sleep(Math.random() * 20)
          .then(() => fetch(url, { method: 'POST' }))
          .then((answer) => answer.text())
          .finally(() => calls.delete(call));
        calls.add(call);
      }
    });
    const kept = await Promise.all(
      consumers.slice(0, 10).map((_, place) => tenant.register(sinkOf(round, place, 'consents'))),
    );
    expect(kept.map(({ status }) => status)).toEqual(kept.map(() => 'active'));

    let isOver = false;
    const created: string[] = [];
    const codes = new Map<string, number>();
    const consume = async (client: Client, place: number) => {
      for (let turn = 0; !isOver; turn += 1) {
        const path = place % 2 === 0 ? 'consents' : 'calls';
        const sink = sinkOf(round, 100 + place * 1_000 + turn, path);
        const request = { sink, protocol: 'HTTP', types: ['com.example.race'] };
        const { status, body } = await client.post('/v1/subscriptions').set('Prefer', 'respond-async').send(request);
        codes.set(body.code ?? String(status), (codes.get(body.code ?? String(status)) ?? 0) + 1);
        if (status === 201) created.push(body.id);
        // Those that exist ask again and move.
        const other = created[Math.floor(Math.random() * created.length)] ?? kept[0].id;
        const again = await client.post(`/v1/subscriptions/${other}/handshakes`).set('Prefer', 'respond-async');
        // A busy process may ask to repeat it.
        expect([201, 403, 503]).toContain(again.status);
      }
    };
    const consuming = consumers.map(consume);
    while (created.length < number) await sleep(5);
    const block = (await tenant.admin.post('/v1/blocks').send({ kind, value, reason: 'Incident.' }).expect(201)).body;
    const refusedAlready = codes.get('blocked') ?? 0;
    const registered = created.length;
    while ((codes.get('blocked') ?? 0) < refusedAlready + 2 * number) await sleep(5);
    isOver = true;
    await Promise.all(consuming);
    // Requests that were under way at that moment were answered at most once each.
    expect(created.length - registered).toBeLessThanOrEqual(number);

    await settled(calls);
    const askedBefore = receiver.asked.length;
    for (const each of processes) {
      await each.service.sweep();
      await each.service.follow();
    }
    const grants = (
      await registry.sql<{ sink: string }>(`select sink from "grant" where state = 'live' and sink like '%r${round}-%'`)
    ).map(({ sink }) => sink);
    expect(grants.length).toBeGreaterThanOrEqual(kept.length);
    const questions = grants.slice(0, 100).map((sink) => ({ origin: tenant.origin, sink }));
    for (const each of processes) {
      const sender = await each.as('assent:deliver', { subscriber: 'mailroom' });
      const answers = (await sender.post('/v1/permissions').send(questions).expect(200)).body;
      expect(answers.filter(({ allowed }: { allowed: boolean }) => allowed)).toEqual([]);
      const event = JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:a', type: 'com.example.race' });
      const type = 'application/cloudevents+json';
      const { sinks } = (await sender.post('/v1/match').set('Content-Type', type).send(event).expect(200)).body;
      expect(sinks).toEqual([]);
    }
    const statuses = await registry.sql<{ status: string }>(
      `select distinct d.status from subscription s join subscription_status d on d.id = s.id where s.sink like '%r${round}-%'`,
    );
    expect(statuses).toEqual([{ status: 'blocked' }]);
    // Nothing that is due can be claimed.
    for (const each of processes) await each.service.worker.drain();
    expect(receiver.asked.length).toBe(askedBefore);

    // What had a consent is active again, without another handshake; what was not asked yet is asked now.
    const unasked = kept.slice(1);
    const asksOfKept = () =>
      receiver.asked.filter(({ host }) => unasked.some(({ sink }) => new URL(sink).host === host)).length;
    const before = asksOfKept();
    await tenant.admin.delete(`/v1/blocks/${block.id}`).expect(200);
    for (const each of processes) await each.service.follow();
    for (const { sink } of kept) expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    for (const each of processes) await each.service.worker.drain();
    await settled(calls);
    expect(asksOfKept()).toBe(before);
    for (const id of created) await tenant.admin.delete(`/v1/subscriptions/${id}`).expect(200);
    for (const { id } of kept) await tenant.admin.delete(`/v1/subscriptions/${id}`).expect(200);
  },
);

/** No handshake is in flight, and no callback is on its way. */
async function settled(calls: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (calls.size > 0 || processes.some(({ service }) => service.worker.inFlight() > 0)) await sleep(20);
}
