import { expect, test } from '@jest/globals';
import { setImmediate as pass } from 'node:timers/promises';
import { attributesOf } from '../../../src/events/context-attributes.js';
import { createExplain, type ExplainedRow } from '../../../src/registry/match/explain.js';
import { Turns } from '../../../src/matching/match/turns.js';
import type { Database } from '../../../src/registry/storage/database.js';

test('a long explanation lets others in between', async () => {
  const sql = Array.from({ length: 50 }, (_, i) => `(a = 'x${i}' AND b = 'y${i}')`).join(' OR ');
  const row = {
    subscriber: 's',
    sink: 'https://a.example/',
    source: null,
    types: null,
    subject: null,
    filters: [{ sql }],
  };
  const rows = Array.from({ length: 1_000 }, (_, id): ExplainedRow => ({ ...row, id: String(id), denial: 'no_grant' }));
  const pages = rows.map((_, i) => rows.slice(i * 100, i * 100 + 100));
  const client = { $queryRaw: () => Promise.resolve(pages.shift()) } as unknown as Database['client'];
  const principal = {
    tenant: 't',
    subscriber: 's',
    client: 's',
    scopes: new Set(['assent:subscribe'] as const),
    tokenExpiresAt: 0,
  };
  let isDone = false;
  const explained = createExplain({ database: { client }, turns: new Turns(), budget: Infinity })(principal, 'o', [
    attributesOf({ type: 't' }),
  ]).finally(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns += 1) await pass();
  expect(turns).toBeGreaterThan(2);
  const [explanations = []] = await explained;
  expect(explanations.map(({ subscription }) => subscription)).toEqual(rows.map(({ id }) => id));
});

test('so does that of a batch, within a subscription', async () => {
  const filters = Array.from({ length: 20 }, (_, i) => ({ sql: `NOT (a LIKE '%${'x'.repeat(4)}${i}%')` }));
  const row = {
    id: '0',
    subscriber: 's',
    sink: 'https://a.example/',
    source: null,
    types: null,
    subject: null,
    filters,
  };
  const pages: ExplainedRow[][] = [[{ ...row, denial: null }]];
  const client = { $queryRaw: () => Promise.resolve(pages.shift() ?? []) } as unknown as Database['client'];
  const principal = {
    tenant: 't',
    subscriber: 's',
    client: 's',
    scopes: new Set(['assent:subscribe'] as const),
    tokenExpiresAt: 0,
  };
  const events = Array.from({ length: 100 }, () => attributesOf({ a: 'x'.repeat(40_000) }));
  let isDone = false;
  const explained = createExplain({ database: { client }, turns: new Turns(), budget: Infinity })(
    principal,
    'o',
    events,
  ).finally(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns += 1) await pass();
  expect(turns).toBeGreaterThan(5);
  expect((await explained).map(([each]) => each?.matched)).toEqual(events.map(() => true));
});
