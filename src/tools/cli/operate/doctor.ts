import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, type Config } from '../../../registry/app/config.js';
import { compareMigrations, readMigrations } from '../../../registry/storage/migrate.js';
import { openDatabase } from '../../../registry/storage/open-database.js';
import type { Database } from '../../../registry/storage/database.js';
import { requireRights } from '../../../registry/storage/rights.js';
import { acceptedAlgorithms } from '../../../registry/tokens/authenticate.js';
import { fetchJson } from '../../../registry/tokens/fetch-json.js';
import { readKeys } from '../../../registry/tokens/keys.js';
import { knockAtProxy } from '../../../outbound/egress-proxy.js';
import { createTrustedRoute, type TrustedRoute } from '../../../outbound/trusted-route.js';
import type { Io } from '../command.js';
import { hasTokenSettings, readTokenSettings } from '../sender-settings.js';
import { SenderToken } from '../sender-token.js';

const fetchMs = 3_000;

/**
 * Checks everything that a process needs before it serves, and changes nothing. Prints a line for each check. Resolves to
 * the exit code of `assent doctor`: 1 if a process would not start, or could not do its work.
 */
export async function runDoctor({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Promise<number> {
  let isWell = true;
  /** A check returns what it found, as a sentence, and throws an Error for people. */
  async function check<T>(name: string, look: () => T | Promise<T>, say: (found: T) => string): Promise<T | undefined> {
    const line = (mark: string, text: string) =>
      void stdout.write(`${mark.padEnd(5)} ${name.padEnd(13)} ${text.replaceAll('\n', '\n' + ' '.repeat(20))}\n`);
    try {
      const found = await look();
      line('ok', say(found));
      return found;
    } catch (error) {
      isWell = false;
      line('FAIL', (error as Error).message);
      return undefined;
    }
  }
  const config = await check(
    'configuration',
    () => readConfig(env),
    ({ production }) => (production ? 'For production.' : 'For development.'),
  );
  await checkTokens(env, check);
  if (config === undefined) return 1;
  await checkDatabase(config, check);
  const { proxy, allowedNetworks, dnsServers } = config.outbound;
  if (proxy !== undefined) {
    await check(
      'egress proxy',
      () => knockAtProxy(proxy, allowedNetworks, dnsServers, fetchMs),
      () => `${new URL(proxy.url).origin} accepts connections.`,
    );
  }
  const route = createTrustedRoute(config.outbound);
  for (const issuer of config.tokens.issuers) {
    await check(
      'issuer',
      () => countKeys(issuer, route),
      (count) => `${issuer.issuer} has ${count} key${count === 1 ? '' : 's'}.`,
    );
  }
  return isWell ? 0 : 1;
}

type TokenIssuer = Config['tokens']['issuers'][number];
type Check = <T>(name: string, look: () => T | Promise<T>, say: (found: T) => string) => Promise<T | undefined>;

async function checkDatabase({ database: { url, replicaUrl }, dataFolder }: Config, check: Check): Promise<void> {
  if (url === undefined && replicaUrl === undefined) {
    const folder = join(dataFolder, 'database');
    await check(
      'database',
      () => existsSync(folder),
      (exists) => `Embedded, in ${folder}${exists ? '' : ', which the first start creates'}.`,
    );
    return;
  }
  const open = () => openDatabase({ databaseUrl: url, replicaUrl, dataFolder, readsOnly: true });
  const database = await check('database', open, ({ place }) => `${place}.`);
  if (database === undefined) return;
  try {
    const names = await check('migrations', () => findPending(database), sayMigrations);
    // A database without its tables has no rights to check.
    if (names?.pending.length === 0) {
      await check(
        'rights',
        () => requireRights(database, replicaUrl !== undefined),
        () => 'The database user has all that it needs.',
      );
    }
  } finally {
    await database.close();
  }
}

type Names = Awaited<ReturnType<typeof compareMigrations>>;

/** Throws an Error if this user cannot apply what is pending. */
async function findPending(database: Database): Promise<Names> {
  const names = await compareMigrations(database, await readMigrations());
  const [may] = await database.query<{ create: boolean }>(
    `select has_schema_privilege(current_schema(), 'CREATE') as create`,
  );
  if (names.pending.length > 0 && may?.create !== true) {
    throw new Error(`Pending: ${names.pending.join(', ')}. Run "assent migrate" as the user who owns the tables.`);
  }
  return names;
}

function sayMigrations({ pending, unknown }: Names): string {
  if (pending.length > 0) return `Pending: ${pending.join(', ')}. The next start applies them.`;
  return unknown.length > 0 ? `A newer version has applied ${unknown.join(', ')}.` : 'All are applied.';
}

/** Throws an Error if no key verifies what the settings of the issuer accept. */
async function countKeys({ issuer, jwks, algorithms }: TokenIssuer, route: TrustedRoute): Promise<number> {
  const accept = 'application/jwk-set+json, application/json';
  const document = await fetchJson(jwks, { timeoutMs: fetchMs, accept, route }).catch((error: Error) => {
    throw new Error(`${issuer}: the keys at ${jwks} cannot be fetched: ${error.message}`);
  });
  const found = await readKeys(document, acceptedAlgorithms).catch((error: Error) => {
    throw new Error(`${issuer}: ${jwks}: ${error.message}`);
  });
  if (algorithms.some((algorithm) => found.algorithms.includes(algorithm))) return found.count;
  const advice =
    found.algorithms.length === 0
      ? 'They are for no algorithm that Assent accepts.'
      : `They are for ${found.algorithms.join(', ')}: change "algorithms" in ASSENT_ISSUERS.`;
  throw new Error(`${issuer}: no key at ${jwks} is for ${algorithms.join(' or ')}. ${advice}`);
}

/** Where `assent egress` and `assent notify` get their tokens, if this environment has their settings. */
async function checkTokens(env: NodeJS.ProcessEnv, check: Check): Promise<void> {
  for (const [prefix, command] of [
    ['EGRESS', 'egress'],
    ['NOTIFY', 'notify'],
  ] as const) {
    if (!hasTokenSettings(prefix, env)) continue;
    await check(
      `${command} token`,
      async () => {
        const { config, token, given } = readTokenSettings(prefix, env);
        const route = createTrustedRoute(config.outbound);
        await new SenderToken({ prefix, token, route, tenant: '', subscriber: '', given }).get();
        return token.endpoint?.url ?? token.file;
      },
      (place) => `${place} gave one.`,
    );
  }
}
