import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { freePort } from '../../support/postgres.mjs';
import { startProgram, startRegistryProcess, untilReady, type Program } from '../../support/process.js';
import { until } from '../../support/until.js';
import { copyDatabase, isServer } from '../../support/registry.js';

const nobody = 65_534;
const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));
const cli = join(dist, 'tools/cli/assent.js');
const isRoot = process.getuid?.() === 0;
const canRunAsNobody =
  isRoot && spawnSync(process.execPath, ['--check', join(dist, 'main.js')], { uid: nobody, cwd: '/' }).status === 0;

let folder: string;
let occupied: Server;
let database: Awaited<ReturnType<typeof copyDatabase>>;
let env: Record<string, string>;
const programs: Program[] = [];

/** Also what is the same on both databases. */
const onServer = isServer() ? test : test.skip;
const onEmbedded = isServer() ? test.skip : test;

/** Remembered, so that a failed test leaves nothing running. */
function remembered<T extends Program>(program: T): T {
  programs.push(program);
  return program;
}
const run = (file: string, settings = env, ...args: string[]) =>
  remembered(startProgram(file, { env: settings, args }));
const start = async () => remembered(await startRegistryProcess({ env }));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-process-'));
  database = await copyDatabase(folder);
  env = {
    ASSENT_DATA: folder,
    ASSENT_PORT: '0',
    ASSENT_OPERATIONS_PORT: '0',
    ...(database.url === undefined ? {} : { DATABASE_URL: database.url }),
  };
  occupied = createServer();
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL');
  await Promise.all(programs.splice(0).map(({ ended }) => ended));
});
afterAll(async () => {
  occupied.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

test('it prints where it listens, where its data is and how to get a token, and that token works', async () => {
  const registry = await start();
  expect(registry.stderr).toContain(`Assent listens on ${registry.url}\n`);
  expect(registry.stderr).toContain(
    isServer() ? ` Postgres at ${new URL(env['DATABASE_URL'] ?? '').host}` : ` embedded Postgres in ${folder}`,
  );
  expect(registry.stderr).toContain(` ASSENT_DATA=${folder} npx assent token --scope assent:admin\n`);
  await untilReady(registry.operationsUrl);
  for (const [address] of registry.stderr.matchAll(/http:\S+/g)) expect((await fetch(address)).status).toBe(200);

  const token = run('tools/cli/assent.js', env, 'token', '--scope', 'assent:subscribe', '--tenant', 'gemeente');
  expect(await token.ended).toBe(0);
  const subscriptions = `${registry.url}/v1/subscriptions`;
  const answer = await fetch(subscriptions, { headers: { Authorization: `Bearer ${token.stdout.trim()}` } });
  expect([answer.status, await answer.json()]).toEqual([200, []]);
  expect((await fetch(subscriptions)).status).toBe(401);
});

onServer('every command that it prints works, as it is', async () => {
  const registry = await start();
  // With the address, and without it from the pages, which are made before the port is known.
  const page = await (await fetch(`${registry.url}/console`)).text();
  const printed = [
    / Sign in +(.*)\n/.exec(registry.stderr)?.[1],
    /"developmentCommand":"([^"]*)"/.exec(page)?.[1],
  ] as string[];
  const shell = (...lines: string[]) =>
    spawnSync('bash', ['-c', [`npx() { shift; '${process.execPath}' '${cli}' "$@"; }`, ...lines].join('\n')], {
      env: { PATH: process.env['PATH'], HOME: folder },
      encoding: 'utf8',
    });
  for (const command of printed) {
    const link = shell(command).stdout;
    expect(link).toMatch(new RegExp(`^${registry.url}/console#token=`));
  }
  expect(registry.stderr).toContain(` Next `);
  const unsigned = `export ASSENT_DATA='${folder}'; npx assent origins list`;
  const refused = shell(unsigned);
  const advice = / Run: (.*)\n/.exec(refused.stderr)?.[1] ?? '';
  expect([refused.status, shell(unsigned, advice, 'npx assent origins list').status]).toEqual([1, 0]);
});

test('it ends with code 0 on SIGINT, even if npm sends a second one, and logs only JSON', async () => {
  const registry = await start();
  registry.child.kill('SIGINT');
  registry.child.kill('SIGINT');
  expect(await registry.ended).toBe(0);
  const lines = registry.stdout.trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['stopping', 'stopped']);
});

onServer('unreadable keys end it with code 1, and the setting is named', async () => {
  const own = join(folder, 'unreadable');
  await mkdir(join(own, 'development-issuer.json'), { recursive: true });
  const program = run('tools/cli/assent.js', { ASSENT_DATA: own }, 'token', '--scope', 'assent:admin');
  expect(await program.ended).toBe(1);
  expect(program.stderr).toMatch(/^ASSENT_DATA: cannot read or create the key file .*EISDIR[^\n]*\n$/);
  // A schema of its own has no secrets that the keys of another folder encrypted.
  const url = new URL(env['DATABASE_URL'] ?? '');
  url.searchParams.set('schema', 'unreadable');
  const service = run('main.js', { ...env, ASSENT_DATA: own, DATABASE_URL: url.href });
  expect(await service.ended).toBe(1);
  expect(service.stderr).toBe(program.stderr);
});

(existsSync('/dev/full') ? onServer : test.skip)(
  'if its log cannot be written, because a disk is full, it continues, and stops on a signal',
  async () => {
    const full = await open('/dev/full', 'w');
    const registry = remembered(await startRegistryProcess({ env, stdout: full.fd }));
    await full.close();
    for (let times = 0; times < 5; times += 1) {
      expect((await fetch(`${registry.url}/v1/subscriptions`)).status).toBe(401);
      await sleep(50);
    }
    registry.child.kill('SIGTERM');
    expect(await registry.ended).toBe(0);
  },
);

onServer.each(['ASSENT_PORT', 'ASSENT_OPERATIONS_PORT'])(
  'a port that is in use (%s) ends it with code 1',
  async (name) => {
    const { port } = occupied.address() as AddressInfo;
    const program = run('main.js', { ...env, [name]: String(port) });
    expect(await program.ended).toBe(1);
    expect(program.stderr).toBe(`${name}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`);
  },
);

onServer('hosts that do not belong to this machine are named, both at once', async () => {
  const program = run('main.js', { ...env, ASSENT_HOST: '203.0.113.1', ASSENT_OPERATIONS_HOST: '203.0.113.2' });
  expect(await program.ended).toBe(1);
  expect(program.stderr).toMatch(
    /^ASSENT_HOST: .* 203\.0\.113\.1[^\n]*\nASSENT_OPERATIONS_HOST: .* 203\.0\.113\.2[^\n]*\n$/,
  );
});

onServer('for a database that is missing or refuses the user, the message names the setting', async () => {
  const url = new URL(env['DATABASE_URL'] ?? '');
  url.pathname = '/nosuch';
  for (const setting of ['DATABASE_URL', 'DATABASE_REPLICA_URL']) {
    const program = run('main.js', { ...env, DATABASE_URL: '', [setting]: url.href });
    expect(await program.ended).toBe(1);
    expect(program.stderr).toBe(`${setting}: database "nosuch" does not exist\n`);
  }
});

onServer('for a read-only database, the message names the setting', async () => {
  const url = new URL(env['DATABASE_URL'] ?? '');
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const program = run('main.js', { ...env, DATABASE_URL: url.href });
  expect(await program.ended).toBe(1);
  expect(program.stderr).toBe('DATABASE_URL: cannot execute UPDATE in a read-only transaction\n');
});

onServer('a user who may only read and write rows is enough for a database that is already migrated', async () => {
  const url = new URL(env['DATABASE_URL'] ?? '');
  const owner = new pg.Client({ connectionString: url.href });
  await owner.connect();
  await owner.query(`
    create role rows_only login;
    revoke create on schema public from public;
    grant select, insert, update, delete on all tables in schema public to rows_only`);
  url.username = 'rows_only';
  const program = run('main.js', { ...env, DATABASE_URL: url.href });
  expect([await program.ended, program.stderr]).toEqual([
    1,
    expect.stringMatching(/^The database user rows_only lacks rights: usage on change_position_seq\. [^\n]*\n$/),
  ]);
  await owner.query('grant usage on all sequences in schema public to rows_only');
  const registry = remembered(await startRegistryProcess({ env: { ...env, DATABASE_URL: url.href } }));
  await untilReady(registry.operationsUrl);
  const token = await createToken({ tenant: 't', subscriber: 's', scopes: ['assent:admin'], minutes: 1 }, env);
  const created = await fetch(`${registry.url}/v1/origins`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: '{"name":"sender.example.com"}',
  });
  expect(created.status).toBe(201);
  registry.child.kill('SIGTERM');
  const code = await registry.ended;
  await owner.query('drop owned by rows_only; drop role rows_only');
  await owner.end();
  expect([code, registry.stdout]).toEqual([0, expect.not.stringContaining('"error"')]);
});

onServer('for a database in another encoding, the message names the setting and what to do', async () => {
  const url = new URL(env['DATABASE_URL'] ?? '');
  const maintenance = new pg.Client({ connectionString: url.href });
  await maintenance.connect();
  await maintenance.query(`create database narrow template template0 encoding 'LATIN1' locale 'C'`);
  url.pathname = '/narrow';
  const program = run('main.js', { ...env, DATABASE_URL: url.href });
  const code = await program.ended;
  await maintenance.query('drop database narrow with (force)');
  await maintenance.end();
  expect(program.stderr).toBe(
    'DATABASE_URL: the encoding of the database is LATIN1, but must be UTF8. Create another one: createdb --template=template0 --encoding=UTF8 NAME\n',
  );
  expect(code).toBe(1);
});

onServer(
  'before it has started it is live and not ready, and a signal ends it, even as the first process of a container',
  async () => {
    const url = new URL(env['DATABASE_URL'] ?? '');
    const maintenance = new pg.Client({ connectionString: url.href });
    await maintenance.connect();
    await maintenance.query('create database unmigrated');
    url.pathname = '/unmigrated';
    const { DATABASE_URL: _, ...others } = env;
    const port = await freePort();
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      const own = { ASSENT_OPERATIONS_PORT: String(port), DATABASE_REPLICA_URL: url.href };
      const program = run('main.js', { ...others, ...own });
      while (!program.stdout.includes('waiting for migrations')) await once(program.child.stdout!, 'data');
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
      for (const path of ['/readyz', '/readyz/reads']) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          { status: 'not ready', checks: { process: 'starting' } },
        ]);
      }
      program.child.kill(signal);
      // The default action of the system would report the signal instead.
      expect(await program.ended).toBe(code);
    }
    await maintenance.query('drop database unmigrated with (force)');
    await maintenance.end();
  },
);

onServer('an unknown notification of another client does not end it', async () => {
  const registry = await start();
  await untilReady(registry.operationsUrl);
  const other = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await other.connect();
  const listeners = `select 1 from pg_stat_activity where datname = current_database() and query like 'listen %'`;
  while ((await other.query(listeners)).rowCount === 0);
  await other.query(`notify assent_change, 'hello'; notify assent_change, '-1'`);
  await other.end();
  await sleep(200);
  registry.child.kill('SIGTERM');
  expect(await registry.ended).toBe(0);
  expect(registry.stderr).not.toContain('SyntaxError');
});

onEmbedded('a second process on the same data folder refuses to start and names the owner', async () => {
  const first = await start();
  const second = run('main.js');
  expect(await second.ended).toBe(1);
  expect(second.stderr).toContain(`is in use by process ${first.pid}. Stop that first, or set ASSENT_DATA.`);
  await untilReady(first.operationsUrl);
});

onEmbedded(
  'a signal ends it immediately while the embedded database is being created, and the next start creates it',
  async () => {
    const own = { ...env, ASSENT_DATA: join(folder, 'made') };
    const first = run('main.js', own);
    await until(() => existsSync(join(folder, 'made/database.new/base')));
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(143);
    expect(existsSync(join(folder, 'made/database/PG_VERSION'))).toBe(false);
    const second = remembered(await startRegistryProcess({ env: own }));
    await untilReady(second.operationsUrl);
    expect(await readdir(join(folder, 'made'))).not.toContain('database.new');
  },
);

onEmbedded('the lock of a killed process is taken over, and a process that stops leaves none', async () => {
  const first = await start();
  first.child.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const [owner] = (await readFile(join(folder, 'database.lock'), 'utf8')).split(' ');
  expect(owner).toBe(String(first.pid));
  const second = await start();
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
  expect((await readdir(folder)).filter((name) => name.includes('.lock'))).toEqual([]);
});

(canRunAsNobody ? test : test.skip)(
  'it runs as an ordinary user in its own data folder, and only that user can read its keys (the test needs root)',
  async () => {
    const own = join(folder, 'nobody');
    await mkdir(own);
    await chown(own, nobody, nobody);
    await chown(folder, nobody, nobody);
    const registry = remembered(await startRegistryProcess({ env: { ...env, ASSENT_DATA: own }, uid: nobody }));
    await untilReady(registry.operationsUrl);
    registry.child.kill('SIGTERM');
    expect(await registry.ended).toBe(0);
    for (const name of ['development-issuer.json', 'credential-keys.json']) {
      const { mode, uid } = await stat(join(own, name));
      expect([name, mode & 0o777, uid]).toEqual([name, 0o600, nobody]);
    }
  },
);
