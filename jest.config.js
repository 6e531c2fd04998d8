import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * Which files run, and on which database, is told by their names:
 *
 *   x.test.ts            in `npm test`; a file that uses a database runs on Postgres
 *   x.slow.test.ts       waits, kills or races; not in `npm test`. Each area also has quick tests of the same guarantees
 *   x.embedded.test.ts   about what the embedded database does differently: there in `npm test`, on Postgres besides
 *   x.both.test.ts       on Postgres in `npm test`, on the embedded database besides
 *   x.full.test.ts       on Postgres; on the embedded database besides only in test:full, where it takes twice the time
 *   x.heavy.test.ts      installs or builds something large, for minutes; only in test:heavy and test:full
 *   x.citus.test.ts      also in schemas of a Citus cluster
 *   test/interop/        against foreign software
 *
 * TEST_SUITE=rest runs what `npm test` leaves out, except interop/ and the heavy ones; =interop, =heavy and =citus run
 * those; =full runs everything.
 * TEST_DATABASE=postgres or =embedded leaves out the other database. Files named on the command line always run.
 */
const { TEST_SUITE: suite = 'fast', TEST_DATABASE: only } = process.env;
const isNamed = process.argv.slice(2).some((argument) => /^(\.\/)?test\/|\.test\./.test(argument));

if (suite === 'citus' && !process.env.TEST_CITUS_URL) {
  console.log('TEST_CITUS_URL names no Citus cluster, so nothing is tested in one.');
  process.exit(0);
}

const root = fileURLToPath(new URL('test/', import.meta.url));
const names = readdirSync(root, { recursive: true })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => path.slice(0, -'.test.ts'.length).replaceAll('\\', '/'));

const is = (name, suffix) => name.split('/').at(-1).split('.').slice(1).includes(suffix);
const usesDatabase = (name) =>
  /\/(?:support\/(?:registry|senders|console|egress-stand)|enforced|clients)\.js'/.test(
    readFileSync(`${root}${name}.test.ts`, 'utf8'),
  );

/** The databases of a file; `npm test` takes the first that is not left out. */
function databasesOf(name) {
  if (suite === 'citus') return is(name, 'citus') ? ['citus'] : [];
  if (name.startsWith('citus/')) return [];
  if (!usesDatabase(name)) return ['none'];
  const isBoth = is(name, 'both') || (is(name, 'full') && (suite === 'full' || isNamed));
  const databases = is(name, 'embedded') ? ['embedded', 'postgres'] : isBoth ? ['postgres', 'embedded'] : ['postgres'];
  return databases.filter((database) => (only ?? database) === database);
}

function runs(name, database) {
  if (isNamed || suite === 'full' || suite === 'citus') return true;
  if (is(name, 'heavy') || suite === 'heavy') return is(name, 'heavy') && suite === 'heavy';
  if (name.startsWith('interop/') || suite === 'interop') return name.startsWith('interop/') && suite === 'interop';
  const isFast = !is(name, 'slow') && database === databasesOf(name)[0];
  return suite === 'rest' ? !isFast : isFast;
}

function project(displayName, more = {}) {
  const files = names.filter((name) => databasesOf(name).includes(displayName) && runs(name, displayName));
  if (files.length === 0) return [];
  return {
    displayName,
    testEnvironment: '<rootDir>/test/support/plain-environment.cjs',
    runtime: '<rootDir>/test/support/plain-runtime.cjs',
    roots: ['<rootDir>/test'],
    testMatch: files.map((name) => `<rootDir>/test/${name}.test.ts`),
    transform: {},
    // A test that fails leaves no clock of its own to the next one.
    restoreMocks: true,
    ...more,
  };
}

export default {
  projects: [
    project('none', { globals: { testDatabase: 'none' } }),
    project('postgres', {
      globals: { testDatabase: 'postgres' },
      globalSetup: '<rootDir>/test/support/start-postgres.mjs',
      globalTeardown: '<rootDir>/test/support/stop-postgres.mjs',
    }),
    project('citus', { globals: { testDatabase: 'citus' } }),
    project('embedded', {
      globals: { testDatabase: 'embedded' },
      globalSetup: '<rootDir>/test/support/embedded-template.mjs',
    }),
  ].flat(),
  // For tests that hang. No test depends on the speed of the machine.
  testTimeout: 600_000,
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // What test files leave behind in a worker, each garbage collection scans again.
  workerIdleMemoryLimit: '700MB',
  // Tests wait some of the time. More at once overload a small machine, and time-outs of the product fire.
  maxWorkers: availableParallelism() + 2,
};
