import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { readConfig } from '../../../src/registry/app/config.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { startPostgres } from '../../support/postgres.mjs';

let folder: string;
let server: Awaited<ReturnType<typeof startPostgres>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-socket-'));
  // Postgres may run as another user.
  await chmod(folder, 0o777);
  server = await startPostgres(['fsync = off', `unix_socket_directories = '${folder}'`]);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const open = (databaseUrl: string) => openDatabase({ databaseUrl, dataFolder: folder });
/** What the settings say of a URL; undefined if they take it. */
function faultOf(DATABASE_URL: string): string | undefined {
  try {
    readConfig({ DATABASE_URL });
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n')[1]?.trim();
  }
}

test('a database behind a Unix socket opens with the URL that the message of another one names', async () => {
  const { port } = new URL(server.url);
  const wrong = `postgres://postgres:secret@:${port}/postgres?host=${folder}`;
  for (const url of [wrong, `postgres://postgres:secret@/postgres?host=${folder}`]) {
    const fault = faultOf(url);
    expect(fault).toMatch(/^DATABASE_URL .*postgres:\/\/USER:PASSWORD@localhost\/DATABASE\?host=\/FOLDER/);
    expect(fault).not.toContain('secret');
  }
  const right = wrong.replace('@:', '@localhost:');
  expect(faultOf(right)).toBeUndefined();
  const database = await open(right);
  const [row] = await database.query<{ address: string | null }>('select inet_client_addr()::text as address');
  await database.close();
  expect(row).toEqual({ address: null });
});

test.each(['pa#ss', 'pa/ss', 'pa?ss', '12#3', '12/3', '12?3', '100%', '#', '/x@y'])(
  'the message for the password %s says to encode it, and the encoded one is accepted',
  (password) => {
    const fault = faultOf(`postgres://assent:${password}@db.example.com/assent`);
    expect(fault).toMatch(/^DATABASE_URL cannot be read: .*percent-encoded/);
    expect(fault).not.toContain('db.example.com');
    expect(faultOf(`postgres://assent:${encodeURIComponent(password)}@db.example.com/assent`)).toBeUndefined();
  },
);

test.each([
  'postgres://assent@db.example.com/assent?sslmode=verify-full',
  'postgresql://assent:a@b@[::1]:5433/assent?schema=one',
  'postgres:///assent?host=/run/postgresql',
  'postgres://%2Frun%2Fpostgresql/assent?user=assent@tenant&password=x',
])('%s is a URL as Postgres has them', (url) => {
  expect(faultOf(url)).toBeUndefined();
});

test('a database in SQL_ASCII is refused, with the command that creates one in UTF8', async () => {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database bytes template template0 encoding 'SQL_ASCII' locale 'C'`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = '/bytes';
  await expect(open(url.href)).rejects.toThrow(
    'DATABASE_URL: the encoding of the database is SQL_ASCII, but must be UTF8. Create another one: createdb --template=template0 --encoding=UTF8 NAME',
  );
});

test('a folder with files, but without the database that they belong to, is told apart from an empty one', async () => {
  const database = join(folder, 'database');
  await mkdir(join(database, 'base'), { recursive: true });
  await writeFile(join(database, 'base', '1'), '');
  await expect(openDatabase({ databaseUrl: undefined, dataFolder: folder })).rejects.toThrow(
    `ASSENT_DATA: ${database} has files, but no database: PG_VERSION is missing. Restore the whole folder from a backup`,
  );
});
