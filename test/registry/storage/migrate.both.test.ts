import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { readConfig } from '../../../src/registry/app/config.js';
import { createLog } from '../../../src/registry/http/log.js';
import { createService } from '../../../src/registry/app/service.js';
import type { Database } from '../../../src/registry/storage/database.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { migrate } from '../../../src/registry/storage/migrate.js';
import { copyDatabase, isServer } from '../../support/registry.js';

const migrations = new URL('../../../prisma/migrations/', import.meta.url);

let folder: string;
let copy: Awaited<ReturnType<typeof copyDatabase>>;
let database: Database;
const open = () => openDatabase({ databaseUrl: copy.url, dataFolder: folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-migrate-'));
  copy = await copyDatabase(folder);
  database = await open();
});
afterAll(async () => {
  await database.close();
  await copy.drop();
  await rm(folder, { recursive: true });
});

const rowsOf = <T>(text: string) => database.client.$queryRawUnsafe<T[]>(text);

(isServer() ? test : test.skip)(
  'ten processes that start at the same time on an empty database apply each migration once',
  async () => {
    const server = process.env['ASSENT_TEST_SERVER'] ?? '';
    const name = `assent_${randomUUID().replaceAll('-', '')}`;
    const maintenance = new pg.Client({ connectionString: server });
    await maintenance.connect();
    await maintenance.query(`create database ${name}`);
    const databaseUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href;
    const ten = await Promise.all(Array.from({ length: 10 }, () => openDatabase({ databaseUrl, dataFolder: '' })));
    await Promise.all(ten.map((each) => migrate(each)));
    const [{ client }] = ten as [Database];
    const applied = await client.$queryRaw`
    select migration_name as name, count(*)::int as times, min(applied_steps_count) as steps
    from _prisma_migrations where finished_at is not null group by 1 order by 1`;
    await Promise.all(ten.map(({ close }) => close()));
    await maintenance.query(`drop database ${name}`);
    await maintenance.end();
    expect(applied).toEqual((await names()).map((each) => ({ name: each, times: 1, steps: 1 })));
  },
);

async function names(): Promise<string[]> {
  const entries = await readdir(migrations, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

test('migrations are recorded in the table of Prisma, so that `prisma migrate deploy` agrees', async () => {
  expect(
    await rowsOf(`select column_name as name, data_type as type, is_nullable as nullable,
      character_maximum_length as length, column_default as "default"
      from information_schema.columns where table_name = '_prisma_migrations' order by ordinal_position`),
  ).toEqual([
    { name: 'id', type: 'character varying', nullable: 'NO', length: 36, default: null },
    { name: 'checksum', type: 'character varying', nullable: 'NO', length: 64, default: null },
    { name: 'finished_at', type: 'timestamp with time zone', nullable: 'YES', length: null, default: null },
    { name: 'migration_name', type: 'character varying', nullable: 'NO', length: 255, default: null },
    { name: 'logs', type: 'text', nullable: 'YES', length: null, default: null },
    { name: 'rolled_back_at', type: 'timestamp with time zone', nullable: 'YES', length: null, default: null },
    { name: 'started_at', type: 'timestamp with time zone', nullable: 'NO', length: null, default: 'now()' },
    { name: 'applied_steps_count', type: 'integer', nullable: 'NO', length: null, default: '0' },
  ]);
  const kept = await rowsOf(`select migration_name as name, checksum from _prisma_migrations order by 1`);
  const expected = (await names()).map(async (name) => ({
    name,
    checksum: createHash('sha256')
      .update(await readFile(new URL(`${name}/migration.sql`, migrations)))
      .digest('hex'),
  }));
  expect(kept).toEqual(await Promise.all(expected));
});

test('the next start leaves a migrated database unchanged', async () => {
  const before = await rowsOf(`select * from _prisma_migrations order by id`);
  expect(await migrate(database)).toEqual([]);
  expect(await rowsOf(`select * from _prisma_migrations order by id`)).toEqual(before);
});

(isServer() ? test : test.skip)(
  "a migration that waits for somebody's transaction says so, and is done when that is over",
  async () => {
    await database.exclusively(({ execute }) => execute('drop schema public cascade; create schema public'));
    const other = new pg.Client({ connectionString: copy.url });
    await other.connect();
    await other.query('begin; create table origin ()');
    const waiting: string[] = [];
    const [name] = (await readdir(migrations)).filter((each) => /^\d/.test(each));
    let tell = () => {};
    const told = new Promise<void>((resolve) => (tell = resolve));
    const migrating = migrate(database, (migration) => {
      waiting.push(migration);
      tell();
    });
    await told;
    await other.query('rollback');
    await other.end();
    expect(await migrating).toEqual([name]);
    expect(waiting).toEqual([name]);
  },
);

test('no function that forbids kinds of plans recompiles its statements at each call, as it would up to Postgres 17', async () => {
  const functions = await rowsOf<{ name: string; settings: string[] }>(
    `select proname as name, proconfig as settings from pg_proc where 'enable_seqscan=off' = any (proconfig) order by 1`,
  );
  expect(functions.map(({ name }) => name)).toEqual(['append_changes', 'read_leases', 'read_subscriptions']);
  for (const { settings } of functions) expect(settings).toContain('jit=off');
});

test('queries of a running process still work when a newer migration changes the result type of a function', async () => {
  const give = (type: string) =>
    database.exclusively(({ execute }) =>
      execute(`
      drop function if exists given;
      create function given() returns ${type} language sql as 'select 7::${type}';`),
    );
  const ask = () => Promise.all(Array.from({ length: 40 }, () => database.query('select given() as seven')));
  await give('integer');
  await ask();
  await give('text');
  expect(await ask()).toEqual(Array.from({ length: 40 }, () => [{ seven: '7' }]));
  await database.exclusively(({ execute }) => execute('drop function given'));
});

test('a service does not start if one of its migrations differs from the applied one', async () => {
  await rowsOf(`update _prisma_migrations set checksum = repeat('0', 64)`);
  await database.close();
  const env = { ASSENT_DATA: folder, ...(copy.url === undefined ? {} : { DATABASE_URL: copy.url }) };
  const started = createService({ config: readConfig(env), log: createLog('silent') });
  await expect(started).rejects.toThrow(/^The migration \d+_\w+ is not the one that was applied to this database\. /);
  database = await open();
});

interface Column {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
  default: string;
}
interface Key {
  table: string;
  kind: string;
  columns: string;
}

const types: Record<string, string> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  Float: 'double precision',
  '@db.Uuid': 'uuid',
  '@db.Timestamptz(3)': 'timestamp(3) with time zone',
  '@db.Timestamptz(6)': 'timestamp(6) with time zone',
  '@db.VarChar(255)': 'character varying(255)',
};

/** The models of prisma/schema.prisma as they should be in the database. */
async function declared(): Promise<{ columns: Column[]; keys: Key[] }> {
  const schema = await readFile(new URL('../../../prisma/schema.prisma', import.meta.url), 'utf8');
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)].map(([, name = '', body = '']) => ({
    name,
    body,
  }));
  const columns: Column[] = [];
  const keys: Key[] = [];
  for (const { name: table, body } of models) {
    for (const line of body.split('\n').map((text) => text.trim())) {
      const [, kind, listed = ''] = /^@@(id|index|unique)\(\[([^\]]+)\]/.exec(line) ?? [];
      if (kind !== undefined) keys.push({ table, kind, columns: listed.replaceAll(' ', '') });
      const [, column, type = '', mark = '', rest = ''] = /^(\w+)\s+(\w+)(\?|\[\])?(.*)$/.exec(line) ?? [];
      const relation = /@relation\(fields: \[(\w+)\], references: \[(\w+)\], onDelete: (\w+), onUpdate: (\w+)\)/.exec(
        rest,
      );
      if (relation)
        keys.push({ table, kind: `${type}(${relation[2]}) ${relation[3]} ${relation[4]}`, columns: relation[1] ?? '' });
      if (column === undefined || models.some(({ name }) => name === type)) continue;
      const own = types[/@db\.\w+(\(\d+\))?/.exec(rest)?.[0] ?? type] ?? `unknown ${type}`;
      const [, value = ''] = /@default\((.*?\)?)\)( |$)/.exec(rest) ?? [];
      // Prisma leaves its lists nullable, and reads null as an empty list.
      columns.push({ table, column, type: mark === '[]' ? `${own}[]` : own, nullable: mark !== '', default: value });
      for (const mark of ['id', 'unique'])
        if (rest.includes(`@${mark}`)) keys.push({ table, kind: mark, columns: column });
    }
  }
  return { columns, keys };
}

const inOrder = <T>(rows: T[]) => rows.map((row) => JSON.stringify(row)).sort();

test('prisma/schema.prisma has the columns, types, nullability and defaults of the migrated database', async () => {
  const found = await rowsOf<Column>(`
    select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
      not a.attnotnull as nullable, coalesce(pg_get_expr(d.adbin, d.adrelid), '') as default
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> '_prisma_migrations'`);
  const inPrismasWords = (text: string) =>
    text
      .replace(/^nextval\(.*/, 'autoincrement()')
      .replace('CURRENT_TIMESTAMP', 'now()')
      .replace('gen_random_uuid()', 'dbgenerated("gen_random_uuid()")')
      .replace(/^'(\w+)'::text$/, '"$1"');
  const { columns } = await declared();
  expect(columns.length).toBeGreaterThan(80);
  expect(inOrder(found.map((row) => ({ ...row, default: inPrismasWords(row.default) })))).toEqual(inOrder(columns));
});

test('prisma/schema.prisma has the primary keys, indexes and foreign keys of the migrated database', async () => {
  // A Prisma schema cannot express partial indexes, nor indexes of expressions.
  const found = await rowsOf<Key>(`
    select c.relname as table, case when i.indisprimary then 'id' when i.indisunique then 'unique' else 'index' end as kind,
      (select string_agg(a.attname, ',' order by k.place) from unnest(i.indkey) with ordinality k (number, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number) as columns
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and c.relname <> '_prisma_migrations' and i.indpred is null
      and i.indexprs is null
    union all
    select c.relname, f.relname || '(' || b.attname || ') ' || case k.confdeltype when 'r' then 'Restrict' when 'c' then 'Cascade' end
      || ' ' || case k.confupdtype when 'r' then 'Restrict' end, a.attname
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
      join pg_attribute b on b.attrelid = f.oid and b.attnum = k.confkey[1]
    where k.contype = 'f'`);
  const { keys } = await declared();
  expect(keys.length).toBeGreaterThan(15);
  expect(inOrder(found)).toEqual(inOrder(keys));
});
