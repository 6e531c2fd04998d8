// Prepares a migrated database once, which every test file then copies: a folder of the embedded Postgres, or a
// template on a real one. TEST_DATABASE=postgres chooses the real one, TEST_DATABASE_URL one that runs already.
import pg from 'pg';
import { openDatabase } from '../../dist/storage/database.js';
import { migrate } from '../../dist/storage/migrate.js';
import { startPostgres } from './postgres.mjs';
import { embeddedTemplate } from './template.mjs';

const template = 'assent_template';

export default async function startDatabase() {
  const given = process.env.TEST_DATABASE_URL;
  if (given || process.env.TEST_DATABASE === 'postgres') {
    const postgres = given ? undefined : await startPostgres();
    const url = new URL(given ?? postgres.url);
    await execute(url, `drop database if exists ${template}`);
    await execute(url, `create database ${template}`);
    await prepare(Object.assign(new URL(url), { pathname: `/${template}` }).href);
    Object.assign(process.env, { ASSENT_TEST_SERVER: url.href, ASSENT_TEST_TEMPLATE: template });
    globalThis.assentTestPostgres = postgres;
  } else {
    process.env.ASSENT_TEST_TEMPLATE = await embeddedTemplate();
  }
}

async function prepare(databaseUrl) {
  const database = await openDatabase({ databaseUrl, dataFolder: '' });
  await migrate(database);
  const [{ version }] = await database.client.$queryRaw`select version()`;
  process.stdout.write(`\nThe tests run on a real Postgres: ${version}\n`);
  await database.close();
}

async function execute(url, statement) {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(statement);
  await client.end();
}
