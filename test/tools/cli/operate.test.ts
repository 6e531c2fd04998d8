import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { runCommand } from '../../support/command.js';
import { copyDatabase } from '../../support/registry.js';

const names = readdirSync(new URL('../../../prisma/migrations/', import.meta.url)).filter((name) => /^\d/.test(name));
const role = `app_${randomUUID().replaceAll('-', '')}`;
const schema = 'assent';

let copy: Awaited<ReturnType<typeof copyDatabase>>;
let server: pg.Client;
/** As the owner, as the user of a process, and as the owner in a schema of its own. */
let owner: string;
let app: string;
let empty: string;

beforeAll(async () => {
  copy = await copyDatabase('');
  owner = copy.url!;
  app = Object.assign(new URL(owner), { username: role }).href;
  empty = `${owner}?schema=${schema}`;
  server = new pg.Client({ connectionString: owner });
  await server.connect();
  await server.query(`create role ${role} login; revoke create on schema public from public`);
});
afterAll(async () => {
  await server.query(`drop owned by ${role}; drop role ${role}`);
  await server.end();
  await copy.drop();
});

const assent = async (url: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(args, { env: { DATABASE_URL: url } });
  return [code, stdout, stderr];
};
const none = 'No migration is pending.\n';

describe('assent migrate', () => {
  test('says what is pending and changes nothing, applies it, and has nothing more to do', async () => {
    await server.query(`create schema ${schema}`);
    const listed = (word: string) => names.map((name) => `${word}: ${name}\n`).join('');
    for (let twice = 0; twice < 2; twice += 1) {
      expect(await assent(empty, 'migrate', '--check')).toEqual([1, listed('pending'), '']);
    }
    expect(await assent(empty, 'migrate')).toEqual([0, listed('applied'), '']);
    expect(await assent(empty, 'migrate')).toEqual([0, none, '']);
    expect(await assent(empty, 'migrate', '--check')).toEqual([0, none, '']);
  });

  /** A change of the database, undone afterwards; the user; and the line. */
  const faults: Array<{
    fault: string;
    change?: string;
    undo?: string;
    url?: () => string;
    code: number;
    line: RegExp;
    isCheckToo: boolean;
  }> = [
    {
      fault: 'an unreleased version made it',
      change: `update _prisma_migrations set migration_name = '20250101000000_draft'`,
      undo: `update _prisma_migrations set migration_name = '${names[0]}'`,
      code: 1,
      line: /^An unreleased version .* lacks \d+_init and has 20250101000000_draft\. Use an empty database/,
      isCheckToo: true,
    },
    {
      fault: 'a migration was changed',
      change: 'update _prisma_migrations set checksum = reverse(checksum)',
      undo: 'update _prisma_migrations set checksum = reverse(checksum)',
      code: 1,
      line: /^The migration \d+_init is not the one that was applied to this database\. Use an empty database/,
      isCheckToo: true,
    },
    {
      fault: 'it has tables of something else',
      change: 'alter table _prisma_migrations rename to others',
      undo: 'drop table _prisma_migrations; alter table others rename to _prisma_migrations',
      code: 1,
      line: /^The migration \d+_init was not applied: .* already exists.*\. Use an empty database/,
      isCheckToo: false,
    },
    {
      fault: 'the user may not',
      url: () => app,
      code: 1,
      line: /permission denied .*\. Run "assent migrate" as the user who owns the tables/,
      isCheckToo: true,
    },
    {
      fault: 'it is not there',
      url: () => Object.assign(new URL(owner), { pathname: '/nosuch' }).href,
      code: 3,
      line: /^DATABASE_URL: database "nosuch" does not exist$/,
      isCheckToo: true,
    },
    {
      fault: 'the server is not there',
      url: () => Object.assign(new URL(owner), { port: '1' }).href,
      code: 3,
      line: /^DATABASE_URL: .*ECONNREFUSED/,
      isCheckToo: true,
    },
    { fault: 'none is named', url: () => '', code: 1, line: /^DATABASE_URL is required\. /, isCheckToo: true },
  ];
  test.each(faults)('if $fault, says so in one line', async ({ change, undo, url, code, line, isCheckToo }) => {
    if (change !== undefined) await server.query(change);
    const answers = [
      await assent(url?.() ?? owner, 'migrate'),
      ...(isCheckToo ? [await assent(url?.() ?? owner, 'migrate', '--check')] : []),
    ];
    if (undo !== undefined) await server.query(undo);
    for (const [exit, stdout, stderr] of answers) {
      expect([exit, stdout]).toEqual([code, '']);
      expect(String(stderr).trimEnd()).toMatch(line);
      expect(String(stderr).trimEnd()).not.toContain('\n');
    }
  });

  test('does nothing to the database of a newer version', async () => {
    await server.query(`insert into _prisma_migrations (id, checksum, finished_at, migration_name)
      values ('newer', '', now(), '20990101000000_newer')`);
    const answer = await assent(owner, 'migrate');
    await server.query(`delete from _prisma_migrations where id = 'newer'`);
    expect(answer).toEqual([
      0,
      `A newer version of Assent migrated this database: it has 20990101000000_newer.\n${none}`,
      '',
    ]);
  });
});

test('assent doctor names each fault of settings, database and issuers, and each right that its user lacks', async () => {
  const jwkOf = (alg: string) => {
    const { publicKey } =
      alg === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return { ...publicKey.export({ format: 'jwk' }), alg, use: 'sig' };
  };
  const sets: Record<string, object[]> = {
    '/jwks': [jwkOf('ES256')],
    '/others': [jwkOf('RS256')],
    '/encryption': [{ ...jwkOf('RS256'), alg: 'RSA-OAEP', use: 'enc' }],
    '/unusable': [{}],
  };
  const keys = createServer((request, response) => {
    const set = sets[request.url ?? ''];
    if (set === undefined) response.writeHead(404).end();
    else response.end(JSON.stringify({ keys: set }));
  });
  await once(keys.listen(0, '127.0.0.1'), 'listening');
  const issuers = (path: string) =>
    JSON.stringify([
      {
        issuer: 'https://issuer.example',
        audience: 'a',
        jwks: `http://127.0.0.1:${(keys.address() as AddressInfo).port}${path}`,
      },
    ]);
  const doctor = async (DATABASE_URL: string, env: NodeJS.ProcessEnv = {}) => {
    const { code, stdout } = await runCommand(['doctor'], { env: { DATABASE_URL, ...env } });
    return [code, ...stdout.trimEnd().split('\n')];
  };
  const settings = expect.stringMatching(/^ok {4}configuration /);
  const database = expect.stringMatching(/^ok {4}database {6}Postgres at /);
  const migrations = expect.stringMatching(/^ok {4}migrations {4}All are applied\.$/);
  const rights = expect.stringMatching(/^ok {4}rights /);

  expect(await doctor(owner, { ASSENT_ISSUERS: issuers('/jwks') })).toEqual([
    0,
    settings,
    database,
    migrations,
    rights,
    'ok    issuer        https://issuer.example has 1 key.',
  ]);
  expect(await doctor(owner, { ASSENT_PORTS: '1', ASSENT_ISSUERS: '{' })).toEqual([
    1,
    'FAIL  configuration The configuration has 2 fault(s):',
    expect.stringContaining('ASSENT_PORTS is not a setting'),
    expect.stringContaining('ASSENT_ISSUERS must be JSON'),
  ]);
  expect((await doctor(owner, { ASSENT_ISSUERS: issuers('/gone') })).at(-1)).toMatch(
    /^FAIL {2}issuer .* returned 404\.$/,
  );
  for (const [path, advice] of [
    ['/others', 'is for PS256 or ES256. They are for RS256: change "algorithms" in ASSENT_ISSUERS.'],
    ['/encryption', 'is for PS256 or ES256. They are for no algorithm that Assent accepts.'],
    ['/unusable', 'The JWK Set contains no usable public key.'],
  ] as const) {
    const [code, ...lines] = await doctor(owner, { ASSENT_ISSUERS: issuers(path) });
    expect([code, lines.at(-1)]).toEqual([1, expect.stringMatching(/^FAIL {2}issuer /)]);
    expect(lines.at(-1)).toContain(advice);
  }
  keys.close();
  const unreachable = Object.assign(new URL(owner), { port: '1' }).href;
  expect(await doctor(unreachable)).toEqual([1, settings, expect.stringMatching(/^FAIL {2}database .*ECONNREFUSED/)]);
  expect(await doctor(app)).toEqual([
    1,
    settings,
    database,
    expect.stringMatching(/^FAIL {2}migrations .*permission denied/),
  ]);

  await server.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
  expect(await doctor(app)).toEqual([
    1,
    settings,
    database,
    migrations,
    expect.stringMatching(/^FAIL {2}rights .* lacks rights: usage on change_position_seq\. /),
  ]);
  await server.query(`grant usage on all sequences in schema public to ${role}`);
  // A schema may have things of others, which are none of ours.
  await server.query('create table public.of_others (); alter table public.of_others owner to pg_monitor');
  expect(await doctor(app)).toEqual([0, settings, database, migrations, rights]);
  await server.query('drop table public.of_others');
});

test('with the grants of the guide, the tables that the owner makes later are usable by the user of a process', async () => {
  const guide = readFileSync(new URL('../../../docs/operate/install.md', import.meta.url), 'utf8');
  const [, grants = ''] = /^```sql grants\n([^]*?)^```$/m.exec(guide) ?? [];
  const two = `two_${role}`;
  await server.query(`create schema ${two}`);
  await server.query(grants.replaceAll('schema public', `schema ${two}`).replaceAll('to assent;', `to ${role};`));
  expect((await assent(`${owner}?schema=${two}`, 'migrate'))[0]).toBe(0);
  const { code, stdout } = await runCommand(['doctor'], { env: { DATABASE_URL: `${app}?schema=${two}` } });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {4}rights /m)]);
});
