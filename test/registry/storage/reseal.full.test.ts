import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { resealSecrets } from '../../../src/registry/storage/reseal.js';
import { createVault } from '../../../src/registry/storage/vault.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
const key = (id: string) => ({ id, key: randomBytes(32) });
const [first, second, third, lost] = [key('2026-1'), key('2026-11'), key('2026-"'), key('lost')];
const contextOf = (id: string) => ({ tenant: 'gemeente', owner: `subscription:${id}` });
const textOf = ({ id, key }: typeof first) => `${id}:${key.toString('base64url')}`;

beforeAll(async () => {
  registry = await startRegistry({ start: false, env: { ASSENT_CREDENTIAL_KEYS: textOf(first) } });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

async function register(secret: string): Promise<string> {
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret };
  return (await tenant.register(registry.receiver.sink('/s'), { sinkcredential }, 'respond-async')).id;
}

async function sealed(): Promise<Map<string, string>> {
  const rows = await registry.sql<{ id: string; text: string }>(
    'select id::text as id, sinkcredential as text from subscription where sinkcredential is not null',
  );
  return new Map(rows.map(({ id, text }) => [id, text]));
}
const keysIn = (texts: Map<string, string>) => [...texts.values()].map((text) => decodeProtectedHeader(text).kid);

test('secrets under an older key are resealed once with the current key, and open unchanged', async () => {
  // Of the origin, its key.

  const ids = [await register('one'), await register('two')];
  await tenant.register(registry.receiver.sink('/s'), {}, 'respond-async');
  for (const [present, ...older] of [
    [second, first],
    [third, second],
    [first, third],
  ] as const) {
    const vault = createVault([present, ...older]);
    const { database } = registry.service;
    expect(await resealSecrets(database, vault)).toBe(3);
    const texts = await sealed();
    expect(keysIn(texts)).toEqual([present.id, present.id]);
    const alone = createVault([present]);
    const opened = ids.map((id) => alone.open(texts.get(id) ?? '', contextOf(id)));
    expect(await Promise.all(opened)).toMatchObject([{ secret: 'one' }, { secret: 'two' }]);
    expect(await resealSecrets(database, vault)).toBe(0);
    expect(await sealed()).toEqual(texts);
  }
});

test('a credential that no key opens stays, and the others are resealed', async () => {
  const [id = ''] = (await sealed()).keys();
  const credential = { credentialtype: 'PLAIN' };
  const text = await createVault([lost]).seal(credential, contextOf(id));
  await registry.sql('update subscription set sinkcredential = $1 where id = $2::uuid', text, id);
  const vault = createVault([second, first]);
  const told = await resealSecrets(registry.service.database, vault);
  expect(told).toBe(2);
  const after = await sealed();
  expect(after.get(id)).toBe(text);
  expect(keysIn(after).sort()).toEqual([second.id, lost.id]);
});

test('a credential under another key of the same id stays, too', async () => {
  const [id = ''] = (await sealed()).keys();
  const impostor = createVault([{ ...second, key: randomBytes(32) }]);
  const text = await impostor.seal({}, contextOf(id));
  await registry.sql('update subscription set sinkcredential = $1 where id = $2::uuid', text, id);
  expect(await resealSecrets(registry.service.database, createVault([first, second]))).toBe(2);
  expect((await sealed()).get(id)).toBe(text);
});

test('a previous credential that overlaps is resealed with the current key, too', async () => {
  const id = await register('earlier');
  const path = `/v1/subscriptions/${id}`;
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'later', overlapseconds: 60 };
  const merge = JSON.stringify({ sinkcredential });
  await tenant.subscriber.patch(path).type('application/merge-patch+json').send(merge).expect(200);
  const vault = createVault([second, first]);
  await resealSecrets(registry.service.database, vault);
  const [row] = await registry.sql<{ text: string }>(
    'select previouscredential as text from subscription where id::text = $1',
    id,
  );
  const context = contextOf(id);
  expect(await createVault([second]).open(row?.text ?? '', context)).toMatchObject({ secret: 'earlier' });
  await tenant.subscriber.delete(path).expect(200);
});
