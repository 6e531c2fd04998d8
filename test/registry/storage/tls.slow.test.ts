import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '../../../src/base/errors.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { createAuthority } from '../../support/certificates.js';
import { createFeedReader } from '../../support/feed-reader.js';
import { startPostgres, type Postgres } from '../../support/postgres.mjs';
import { startRegistry } from '../../support/registry.js';
import { createTenant } from '../../support/tenant.js';

/** A Postgres that accepts only TLS, with a certificate for its address. */
let postgres: Postgres;
let folder: string;
const root = () => join(folder, 'root.pem');
const otherRoot = () => join(folder, 'other.pem');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-tls-'));
  const [authority, other] = await Promise.all([createAuthority('Of the database'), createAuthority('Somebody else')]);
  await Promise.all([writeFile(root(), authority.cert), writeFile(otherRoot(), other.cert)]);
  const { cert, key } = await authority.issue(['127.0.0.1']);
  postgres = await startPostgres(['fsync = off', 'full_page_writes = off', 'ssl = on'], {
    'server.crt': cert,
    'server.key': key,
    'pg_hba.conf': 'hostssl all all all trust\n',
  });
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

function urlWith(parameters: Record<string, string>, host = '127.0.0.1'): string {
  const url = Object.assign(new URL(postgres.url), { hostname: host });
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The error message of a service that starts with this address; undefined if it starts. */
async function refusalOf(databaseUrl: string): Promise<string | undefined> {
  try {
    await (await openDatabase({ databaseUrl, dataFolder: '' })).close();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(SetupError);
    return (error as Error).message;
  }
}

test('a registry that verifies the certificate with the right root does everything over TLS', async () => {
  const url = urlWith({ sslmode: 'verify-full', sslrootcert: root() });
  const registry = await startRegistry({ env: { DATABASE_URL: url } });
  const tenant = await createTenant(registry);
  registry.receiver.consent('/events');
  const sink = registry.receiver.sink('/events');
  expect((await tenant.register(sink)).status).toBe('active');
  expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  const snapshot = await (await createFeedReader(registry)).snapshot();
  expect(snapshot.map(({ kind }) => kind)).toContain('subscription');
  const connections = () =>
    registry.sql<{ query: string; ssl: boolean }>(`
      select query, ssl from pg_stat_activity join pg_stat_ssl using (pid) where datname = current_database()`);
  const listens = ({ query }: { query: string }) => /^(listen|select 1$)/.test(query);
  while ((await connections()).filter(listens).length < 2);
  const encrypted = (await connections()).map(({ ssl }) => ssl);
  await registry.stop();
  expect(encrypted).toEqual(encrypted.map(() => true));
});

test('another root, a name that is not in the certificate and no TLS at all are refused, with the reason', async () => {
  const verifyFull = { sslmode: 'verify-full', sslrootcert: root() };
  expect(await refusalOf(urlWith(verifyFull))).toBeUndefined();
  expect(await refusalOf(urlWith({ sslmode: 'no-verify' }))).toBeUndefined();
  for (const parameters of [{ ...verifyFull, sslrootcert: otherRoot() }, { sslmode: 'verify-full' }]) {
    // Node 26 adds what else could be tried.
    expect(await refusalOf(urlWith(parameters))).toMatch(
      /^DATABASE_URL: unable to verify the first certificate($|; if the root CA is installed locally, )/,
    );
  }
  expect(await refusalOf(urlWith(verifyFull, 'localhost'))).toMatch(
    /^DATABASE_URL: Hostname\/IP does not match certificate's altnames: Host: localhost\. /,
  );
  for (const parameters of [{}, { sslmode: 'disable' }] as Array<Record<string, string>>) {
    expect(await refusalOf(urlWith(parameters))).toMatch(
      /^DATABASE_URL: no pg_hba\.conf entry for host "127\.0\.0\.1", .*, no encryption$/,
    );
  }
  expect(await refusalOf(urlWith({ ...verifyFull, sslrootcert: join(folder, 'nothing.pem') }))).toMatch(
    /^DATABASE_URL: ENOENT: .*nothing\.pem'$/,
  );
});

test('a registry with TLS in its URL fails rather than connect without TLS', async () => {
  const plain = await startPostgres();
  const refusal = await refusalOf(`${plain.url}?sslmode=no-verify`);
  await plain.stop();
  expect(refusal).toBe('DATABASE_URL: The server does not support SSL connections');
});
