import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLog } from '../../../src/registry/http/log.js';
import { Signers, type Signer } from '../../../src/registry/origins/keys.js';
import { createVault, openDevelopmentKeys } from '../../../src/registry/storage/vault.js';
import { thumbprintOf } from '../../../src/signatures/keys.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
let admin: Client;
let signer: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  signer = await registry.as('assent:sign', { subscriber: 'mailroom' });
});
afterAll(() => registry.stop());

let count = 0;
/** The name of a new origin. */
async function newOrigin(policy: object = {}): Promise<string> {
  const name = `keys-${(count += 1)}.example.com`;
  await admin
    .post('/v1/origins')
    .send({ name, isdefault: false, ...policy })
    .expect(201);
  return name;
}
/** As a process finds it that begins an attempt. */
async function signerOf(name: string): Promise<Signer | undefined> {
  const vault = createVault(await openDevelopmentKeys(registry.env.ASSENT_DATA!));
  const signers = new Signers({ vault, publicUrl: 'https://assent.test', log: createLog('silent') });
  return (await signers.of(registry.service.database.sql, [name])).get(name);
}
const privateKeys = async (name: string) => (await signer.get(`/v1/origins/${name}/private-keys`).expect(200)).body;

test('a new origin has a key that signs, which leaves only to tokens that may sign, and in the audit record', async () => {
  const name = await newOrigin();
  const answer = await signer.get(`/v1/origins/${name.toUpperCase()}/private-keys`).expect(200);
  expect(answer.get('Cache-Control')).toBe('no-store');
  const { directory } = (await admin.get(`/v1/origins/${name}`).expect(200)).body;
  expect(answer.body).toMatchObject({
    origin: name,
    signatures: 'dictionary',
    agent: { url: `https://assent.test/v1/directories/${directory}`, type: 'jwks_uri' },
    keys: [{ keyid: await thumbprintOf(answer.body.keys[0].privatekey), startsat: expect.any(String) }],
  });
  // What the registry signs with is this key.
  const { sign, keyid } = (await signerOf(name))!;
  const { privatekey, keyid: named } = answer.body.keys[0];
  const base = Buffer.from('what is signed');
  const publicKey = createPublicKey(createPrivateKey({ key: privatekey, format: 'jwk' }));
  expect([keyid, verify(null, base, publicKey, sign(base))]).toEqual([named, true]);
  const [entry] = (await admin.get('/v1/audit').query({ action: 'origin.keys_read' }).expect(200)).body;
  expect(entry).toMatchObject({ actor: 'mailroom', target: `origin:${name}`, details: { keyids: [named] } });
  const stranger = await registry.as('assent:sign', { tenant: 'other' });
  await stranger.get(`/v1/origins/${name}/private-keys`).expect(404);
});

test('private keys are sealed at rest, and in no log', async () => {
  const name = await newOrigin();
  const { d } = (await privateKeys(name)).keys[0].privatekey;
  const rows = await registry.sql('select row_to_json(k)::text as text from origin_key k where origin = $1', name);
  expect(JSON.stringify([rows, registry.logs])).not.toContain(d);
  expect(rows).toHaveLength(1);
});

test('Signature-Agent is the origin itself for the form string, and for a name that was proved by its directory', async () => {
  const name = await newOrigin({ signatures: 'string' });
  const own = { url: `https://${name}`, type: 'directory' };
  expect((await privateKeys(name)).agent).toEqual(own);
  expect(await signerOf(name)).toMatchObject({ form: 'string', agent: own });
  await patch(name, { signatures: null });
  expect((await signerOf(name))?.agent.type).toBe('jwks_uri');
  await registry.sql(`update origin set verifiedby = 'directory' where name = $1`, name);
  expect((await signerOf(name))?.agent).toEqual(own);
  await patch(name, { signatures: 'off' });
  expect(await signerOf(name)).toBeUndefined();
});

const patch = (name: string, policy: object) =>
  admin.patch(`/v1/origins/${name}`).type('application/merge-patch+json').send(JSON.stringify(policy)).expect(200);
