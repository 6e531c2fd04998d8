import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import type { Scope } from '../../../src/base/contract/principal.js';
import { runCommand, startCommand, type CommandSettings } from '../../support/command.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
let folder: string;
let consumer: NodeJS.ProcessEnv;
let admin: NodeJS.ProcessEnv;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  folder = await mkdtemp(join(tmpdir(), 'assent-resources-'));
  consumer = await envOf('zaaksysteem', 'assent:subscribe');
  admin = await envOf('beheer', 'assent:admin');
});
afterAll(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true });
});

async function envOf(subscriber: string, ...scopes: Scope[]): Promise<NodeJS.ProcessEnv> {
  const token = await createToken({ tenant: 'gemeente', subscriber, scopes, minutes: 60 }, registry.env);
  return { ASSENT_URL: registry.url, ASSENT_TOKEN: token, XDG_CONFIG_HOME: folder };
}

function sink(path: string): string {
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

/** The output of a command that succeeds, as JSON. */
async function json(env: NodeJS.ProcessEnv, args: string[], settings: CommandSettings = {}) {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], { env, ...settings });
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return JSON.parse(stdout);
}

const lines = async (env: NodeJS.ProcessEnv, args: string[]) => {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], { env });
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

test('a consumer registers, reads, changes, suspends, asks again and deletes', async () => {
  const options = ['--sink', sink('/life'), '--type', 'a', '--type', 'b', '--rate', '60', '--wait', '30'];
  const filter = ['--filter', '{"prefix":{"subject":"orders/"}}', '--config', '{"queue":7}'];
  const { id, ...created } = await json(consumer, ['subscriptions', 'create', ...options, ...filter]);
  expect(created).toMatchObject({
    status: 'active',
    types: ['a', 'b'],
    requestedrate: 60,
    filters: [{ prefix: { subject: 'orders/' } }],
    config: { queue: 7 },
  });
  expect(await json(consumer, ['subscriptions', 'get', id])).toEqual({ id, ...created });
  const patch = join(folder, 'patch.json');
  await writeFile(patch, '{"filters":null,"types":["c"]}');
  const changed = await json(consumer, ['subscriptions', 'update', id, patch, '--subject', 'orders/7']);
  expect([changed.types, changed.subject, changed.filters]).toEqual([['c'], 'orders/7', undefined]);
  expect((await json(consumer, ['subscriptions', 'suspend', id, '--reason', 'Move.'])).status).toBe('suspended');
  expect((await json(consumer, ['subscriptions', 'resume', id, '--reason', 'Moved.'])).status).toBe('active');
  expect((await json(consumer, ['subscriptions', 'ask', id])).state).toBe('granted');
  expect(await lines(consumer, ['subscriptions', 'handshakes', id])).toHaveLength(2);
  expect((await json(consumer, ['subscriptions', 'wait', id])).status).toBe('active');

  const old = await runCommand(['subscriptions', 'delete', id, '--if-match', '1'], { env: consumer });
  expect([old.code, old.stdout]).toEqual([1, '']);
  expect(old.stderr).toContain('precondition_failed');
  const gone = await runCommand(['subscriptions', 'delete', id], { env: consumer });
  expect(gone).toEqual({ code: 0, stdout: `Deleted subscription ${id}.\n`, stderr: '' });
});

test('a signing secret is made and printed once, or given in a file, and an overlap ends; no option has it', async () => {
  const create = ['subscriptions', 'create', '--sink', sink('/signed'), '--suspended', '--make-signing-secret'];
  const made = await json(consumer, create);
  expect(made.signingsecret.secret).toMatch(/^whsec_/);
  const shown = await runCommand(['subscriptions', 'get', made.id], { env: consumer });
  expect(shown.stdout).toContain(made.signingsecret.fingerprint);
  expect(shown.stdout).not.toContain('whsec_');

  const file = join(folder, 'signing-secret');
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  await writeFile(file, `${secret}\n`);
  const update = ['subscriptions', 'update', made.id];
  const rotated = await json(consumer, [...update, '--signing-secret-file', file, '--overlap', '60']);
  expect(rotated.signingsecret).toMatchObject({ previous: { fingerprint: made.signingsecret.fingerprint } });
  // It is the same one, so nothing is replaced.
  const same = await json(consumer, [...update, '--signing-secret-file', '-'], { input: secret });
  expect(same.signingsecret).toEqual(rotated.signingsecret);
  const ended = await json(consumer, [...update, '--overlap', '0']);
  expect(ended.signingsecret).not.toHaveProperty('previous');
  const remade = await runCommand([...update, '--make-signing-secret'], { env: consumer });
  expect(remade.stdout).toMatch(/whsec_[\w+/]{43}=/);
});

test('a file or standard input can be the body, and options replace its members', async () => {
  const body = JSON.stringify({ sink: sink('/file'), protocol: 'HTTP', types: ['a'], subject: 'x' });
  const args = ['subscriptions', 'create', '-', '--subject', 'y', '--suspended'];
  const { subject, status } = await json(consumer, args, { input: body });
  expect([subject, status]).toEqual(['y', 'suspended']);
});

test('an admin manages origins, agreements, grants and blocks', async () => {
  const args = ['origins', 'create', '--name', 'other.example.com', '--default-rate', '*', '--profile', 'nl-gov'];
  expect(await json(admin, args)).toMatchObject({ defaultrate: '*', profile: 'nl-gov', isdefault: false });
  const update = ['origins', 'update', 'other.example.com', '--judgement', 'lenient', '--ticket', 'INC-1'];
  expect((await json(admin, update)).judgement).toBe('lenient');

  const other = 'other.example.com';
  const [first] = await lines(admin, ['keys', 'list', other]);
  const made = await json(admin, ['keys', 'make', other, '--overlap', '600']);
  expect([first.state, made.kind, made.state]).toEqual(['signing', 'made', 'waiting']);
  const publicKey = '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}';
  const { keyid } = await json(admin, ['keys', 'bring', other, '--public-key', publicKey]);
  expect((await json(admin, ['keys', 'revoke', other, first.id])).nothingsigns).toBe(true);
  const directory = await json(admin, ['keys', 'directory', other]);
  expect(directory.keys.map(({ kid }: { kid: string }) => kid).sort()).toEqual([keyid, made.keyid].sort());

  const agreed = ['--origin', 'other.example.com', '--sink', sink('/agreed'), '--rate', '5'];
  const expires = new Date(Date.now() + 86_400_000).toISOString();
  const grant = await json(admin, ['grants', 'agree', ...agreed, '--expires', expires, '--agreement', 'Z-1']);
  expect(grant).toMatchObject({ basis: 'agreement', allowedrate: 5, agreement: 'Z-1' });
  const token = (await runCommand(['grants', 'get', grant.id, '--jwt'], { env: admin })).stdout;
  expect(decodeJwt(token.trim())).toMatchObject({ jti: grant.id, sub: 'other.example.com', basis: 'agreement' });
  const [listed] = await lines(admin, ['grants', 'list', '--origin', 'other.example.com', '--renews', 'false']);
  expect(listed.id).toBe(grant.id);
  expect((await json(admin, ['grants', 'revoke', grant.id, '--reason', 'Over.'])).state).toBe('revoked');

  const block = ['blocks', 'create', 'host', 'evil.example', '--reason', 'Abuse.'];
  expect((await json(admin, [...block, '--dry-run'])).effect.subscriptioncount).toBe(0);
  expect(await lines(admin, ['blocks', 'list'])).toEqual([]);
  const { id } = await json(admin, block);
  const lifted = await runCommand(['blocks', 'lift', id], { env: admin });
  expect([lifted.code, lifted.stdout]).toEqual([0, `Lifted block ${id} (host evil.example).\n`]);
  const deleted = await runCommand(['origins', 'delete', 'other.example.com'], { env: admin });
  expect([deleted.code, deleted.stdout]).toEqual([0, 'Deleted origin other.example.com.\n']);

  const entries = await lines(admin, ['audit', 'list', '--action', 'origin.', '--target', 'origin:other.example.com']);
  expect(entries.map(({ action, reference }) => [action, reference])).toEqual([
    ['origin.removed', undefined],
    ['origin.key_revoked', undefined],
    ['origin.key_brought', undefined],
    ['origin.key_made', undefined],
    ['origin.replaced', 'INC-1'],
    ['origin.created', undefined],
  ]);
});

test('the audit record is exported whole, as JSON lines or CSV', async () => {
  // What earlier blocks did is in the record afterwards.
  await registry.service.sweep();
  const everything = await lines(admin, ['audit', 'list', '--all']);
  const { stdout, code } = await runCommand(['audit', 'export'], { env: admin });
  expect([code, stdout.split('\n').length - 1]).toEqual([0, everything.length]);
  const csv = await runCommand(['audit', 'export', '--format', 'csv'], { env: admin });
  expect(csv.stdout).toMatch(/^at,tenant,actor,person,personname,issuer,action,/);
});

test('a table is as wide as the terminal, and whole with --wide or without a terminal', async () => {
  const { id } = await tenant.register(sink(`/${'long'.repeat(40)}`), { types: ['wide'] });
  const args = ['subscriptions', 'list', '--type', 'wide'];
  const env = consumer;
  const narrow = (await runCommand(args, { env, columns: 80 })).stdout.split('\n');
  expect(narrow[0]).toMatch(/^ID +STATUS +LABEL +ORIGIN +SINK +SUBSCRIBER$/);
  for (const line of narrow) expect(line.length).toBeLessThanOrEqual(80);
  for (const settings of [{ env }, { env, columns: 80 }]) {
    const more = 'columns' in settings ? ['--wide'] : [];
    const whole = (await runCommand([...args, ...more], settings)).stdout;
    expect([whole.includes(id), whole.includes('long'.repeat(40)), whole.includes('…')]).toEqual([true, true, false]);
  }
});

test('a list says that it is cut, and what others wrote cannot steer the terminal', async () => {
  for (const note of ['one', 'two', '\u001b[2Jthree\u202e']) {
    await tenant.register(sink('/cut'), { types: ['cut'], config: { note }, suspended: true });
  }
  const cut = await runCommand(['subscriptions', 'list', '--type', 'cut', '--limit', '2'], { env: consumer });
  expect([cut.code, cut.stdout.trim().split('\n').length]).toEqual([0, 3]);
  expect(cut.stderr).toBe('There are more than 2. Use --limit N or --all.\n');
  const exact = await runCommand(['subscriptions', 'list', '--type', 'cut', '--limit', '3'], { env: consumer });
  expect(exact.stderr).toBe('');
  const ids = await lines(consumer, ['subscriptions', 'list', '--type', 'cut']);
  const { stdout } = await runCommand(['subscriptions', 'get', ids[2].id], { env: consumer });
  expect(stdout).toContain(String.raw`\u{1b}[2Jthree\u{202e}`);
});

test('--watch prints what changes, until it is interrupted', async () => {
  const { id } = await tenant.register(sink('/watch'), { types: ['watched'] });
  const args = ['subscriptions', 'list', '--watch', '--json', '--type', 'watched'];
  const watching = startCommand(args, { env: consumer });
  const seen = () =>
    watching.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  await until(() => seen().length === 1);
  await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Move.' }).expect(200);
  await until(() => seen().length === 2);
  await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
  await until(() => seen().length === 3);
  watching.interrupt();
  expect([await watching.ended, watching.stderr]).toEqual([0, '']);
  expect(seen().map(({ status, gone }) => status ?? gone)).toEqual(['active', 'suspended', true]);
});

test('--watch of the other lists: an origin, a grant, a block and the audit record', async () => {
  const { id } = await tenant.register(sink('/others'), { types: ['others'] });
  const watching = ['origins', 'grants', 'blocks', 'audit'].map((name) =>
    startCommand([name, 'list', '--watch', '--json'], { env: admin }),
  );
  const [origins, grants, blocks, audit] = watching as [(typeof watching)[0], ...typeof watching];
  await until(() => [origins, grants, audit].every((each) => each?.stdout !== ''));
  // It prints nothing at first, and follows from before that.
  const { body: block } = await tenant.admin
    .post('/v1/blocks')
    .send({ kind: 'sink', value: registry.receiver.sink('/others'), reason: 'Abuse.' })
    .expect(201);
  await until(() => grants?.stdout.includes('"state":"blocked"') ?? false);
  await until(() => audit?.stdout.includes(`block:${block.id}`) ?? false);
  await until(() => blocks?.stdout.includes(block.id) ?? false);
  await tenant.admin.delete(`/v1/blocks/${block.id}`).expect(200);
  await until(() => blocks?.stdout.includes(JSON.stringify({ id: block.id, gone: true })) ?? false);
  await tenant.admin
    .patch(`/v1/origins/${tenant.origin}`)
    .set('Content-Type', 'application/merge-patch+json')
    .send('{"goneafter":7}')
    .expect(200);
  await until(() => origins.stdout.includes('"goneafter":7'));
  watching.forEach((each) => each.interrupt());
  expect(await Promise.all(watching.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  expect(audit?.stdout).toContain(`subscription:${id}`);
});

test('match says who gets an event, and why the others do not', async () => {
  await tenant.register(sink('/match'), { types: ['matched'] });
  const event = (type: string) => ({ specversion: '1.0', id: '1', source: '/a', type });
  const found = await json(admin, ['match', '-'], { input: JSON.stringify(event('matched')) });
  expect(found.sinks.map((each: { sink: string }) => each.sink)).toEqual([registry.receiver.sink('/match')]);
  const input = JSON.stringify([event('matched'), { ...event('unknown'), id: '' }]);
  const batch = await runCommand(['match', '-'], { env: admin, input });
  expect(batch.code).toBe(1);
  expect(batch.stdout).toContain('Event 2\nPOINTER');
  const explained = await runCommand(['match', '-', '--explain'], { env: admin, input: JSON.stringify(event('none')) });
  expect(explained.stdout).toMatch(/^No webhook gets it\.\nSUBSCRIPTION +MATCHED +CODE[^]*\/types/);
});

test.each([
  ['subscriptions list --types a', 'Unknown option: --types. Did you mean --type?\n'],
  ['subscriptions list --sources=a', 'Unknown option: --sources. Did you mean --source?\n'],
  ['origins create --defaultrate 5', 'Unknown option: --defaultrate. Did you mean --default-rate?\n'],
  ['subscriptions create --colour red', 'Unknown option: --colour.\n'],
  ['subscriptions create --credential a', 'Unknown option: --credential. Secrets are no options: '],
  ['subscriptions lst', 'Unknown subcommand: lst. Did you mean list?\n'],
  ['orgins list', 'Unknown command: orgins. Did you mean origins?\n'],
])('%s is wrong usage, and what was meant is named', async (line, message) => {
  const { code, stdout, stderr } = await runCommand(line.split(' '), { env: consumer });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.startsWith(message)).toBe(true);
});

test('exit codes: 1 refused, with the place of each fault; 2 wrong usage; 3 unreachable; 4 not found', async () => {
  const refused = await runCommand(['subscriptions', 'create', '--sink', 'http://a'], { env: consumer });
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^The subscription is invalid\.\n.*\n {2}\/sink {2}not_https: .*\nCode invalid_sub/);
  const asJson = await runCommand(['origins', 'get', 'a.example', '--json'], { env: consumer });
  expect([asJson.code, JSON.parse(asJson.stderr).code]).toEqual([4, 'origin_not_found']);
  const unsigned = await runCommand(['origins', 'list'], {
    env: { ASSENT_URL: registry.url, XDG_CONFIG_HOME: folder },
  });
  expect([unsigned.code, unsigned.stderr.includes('assent login')]).toEqual([1, true]);

  const away = { ...consumer, ASSENT_URL: `http://127.0.0.1:${await freePort()}` };
  const lost = await runCommand(['subscriptions', 'suspend', 'a', '--reason', 'b'], { env: away });
  expect([lost.code, lost.stderr]).toEqual([3, expect.stringContaining('ECONNREFUSED')]);
  for (const args of [
    ['subscriptions'],
    ['subscriptions', 'lst'],
    ['subscriptions', 'get'],
    ['subscriptions', 'get', 'a', 'b'],
    ['subscriptions', 'create'],
    ['subscriptions', 'create', join(folder, 'absent.json')],
    ['subscriptions', 'list', '--colour', 'red'],
    ['subscriptions', 'list', '--status', 'great'],
    ['subscriptions', 'list', '--limit', '0'],
    ['subscriptions', 'update', 'a', '--rate', 'fast'],
    ['subscriptions', 'create', '--sink', 'https://a', '--config', '{'],
    ['subscriptions', 'create', '--subject', 'without a sink'],
    ['subscriptions', 'suspend', 'a'],
    ['blocks', 'create', 'planet', 'earth', '--reason', 'None of the kinds.'],
    ['audit', 'export', '--format', 'xml'],
    ['origins', 'list', '--url', 'ftp://a'],
    ['origins', 'list', '--token-file', join(folder, 'absent')],
    ['match', '-'],
  ]) {
    const wrong = await runCommand(args, { env: { XDG_CONFIG_HOME: folder }, input: '{' });
    expect([args, wrong.code, wrong.stdout]).toEqual([args, 2, '']);
    expect(wrong.stderr).not.toBe('');
  }
});
