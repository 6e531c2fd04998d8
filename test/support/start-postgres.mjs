// Prepares a migrated database once, which every test file then copies, on a separate Postgres or on the one in
// TEST_DATABASE_URL.
import pg from 'pg';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { migrate } from '../../dist/registry/storage/migrate.js';
import { startPostgres } from './postgres.mjs';

const template = 'assent_template';

export default async function start() {
  const given = process.env.TEST_DATABASE_URL;
  const postgres = given ? undefined : await startPostgres();
  const url = new URL(given ?? postgres.url);
  await execute(url, `drop database if exists ${template}`);
  await execute(url, `create database ${template}`);
  await prepare(Object.assign(new URL(url), { pathname: `/${template}` }).href);
  Object.assign(process.env, { ASSENT_TEST_SERVER: url.href, ASSENT_TEST_TEMPLATE: template });
  globalThis.assentTestPostgres = postgres;
}

async function prepare(databaseUrl) {
  const database = await openDatabase({ databaseUrl, dataFolder: '' });
  await migrate(database);
  await database.close();
}

async function execute(url, statement) {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(statement);
  await client.end();
}
