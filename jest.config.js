import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * Which files run, and on which database. TEST_SUITE=full runs everything; =rest runs what `npm test` leaves out, except
 * what only =full runs; =citus runs the files for the cluster in TEST_CITUS_URL. TEST_DATABASE=postgres or =embedded
 * leaves out the other database. Files named on the command line always run, even long ones.
 */
const { TEST_SUITE: suite = 'fast', TEST_DATABASE: only } = process.env;
const isNamed = process.argv.slice(2).some((argument) => /^(\.\/)?test\/|\.test\./.test(argument));

/** Long tests, which wait, kill or race. Each area also has quick tests of the same guarantees. */
const long = [
  'console/grants',
  'console/issuer',
  'console/playground',
  'console/audit',
  'console/everywhere',
  'console/blocks',
  'console/origins',
  'console/sign-in',
  'console/subscriptions',
  'console/today',
  'blocks/race',
  'changes/feed-outage',
  'changes/feed-writers',
  'changes/follower',
  'cli/commands',
  'cli/demo',
  'cli/listen',
  'cli/login',
  'cli/try',
  'cli/validate-files',
  'client/held-back',
  'clocks',
  'conformance/senders/assent',
  'deliveries/shared-rate',
  'docs/blocks',
  'docs/mermaid',
  'events/schema',
  'examples/examples',
  'frozen-process',
  'gateways/envoy',
  'gateways/proxies',
  'generators/generators',
  'handshake/kill',
  'handshake/races',
  'http/operations',
  'http/warm-up',
  'matching/explain-match',
  'matching/match',
  'matching/pair-table',
  'notify/kill',
  'outage',
  'packages',
  'pages/browser',
  'process',
  'read-only',
  'receivers/receivers',
  'release',
  'sender/outcomes',
  'sender/permits',
  'sender/replica',
  'stop',
  'storage/folder-lock',
  'storage/full-disk',
  'storage/outage',
  'storage/session',
  'storage/tls',
  'webhook/frameworks',
];

/** Only in `npm run test:full`: the conformance kit against software of others, which takes long to install. */
const onlyInFull = ['conformance/foreign', 'conformance/senders/foreign'];

/**
 * Each file that uses a database runs on Postgres. These run on the embedded database, too: they are about what it does
 * differently, which is one session, recovery, notifications, and its own files.
 */
const onEmbedded = [
  'deliveries/leases',
  'grants/grants',
  'handshake/callback',
  'handshake/forget',
  'handshake/kill',
  'process',
  'restart',
  'statistics/statistics',
  'stop',
  'storage/migrate',
  'storage/stream-rows',
  'storage/tidy',
  'subscriptions/reseal',
  'subscriptions/subscriptions',
];

/** These do so only in `npm run test:full`. They execute SQL that the others don't, and take twice the CPU time there. */
const onEmbeddedInFull = [
  'blocks/blocks',
  'changes/audit-queries',
  'changes/consumer-feed',
  'changes/feed',
  'changes/snapshot',
  'deliveries/outcomes',
  'deliveries/shared-rate',
  'handshake/renewal',
  'handshake/worker',
  'subscriptions/batches',
  'subscriptions/end',
];

/** These run on the embedded database in `npm test`. All others run on Postgres, which needs half the CPU time. */
const embeddedFirst = ['grants/grants', 'restart', 'storage/stream-rows', 'storage/tidy'];

/** Tests in schemas of a Citus cluster: those about Citus, and those of a registry's daily work. */
const onCitus = [
  'blocks/blocks',
  'citus/schemas',
  'deliveries/leases',
  'deliveries/outcomes',
  'grants/grants',
  'handshake/callback',
  'handshake/renewal',
  'origins/origins',
  'statistics/statistics',
  'subscriptions/subscriptions',
];
if (suite === 'citus' && !process.env.TEST_CITUS_URL) {
  console.log('TEST_CITUS_URL names no Citus cluster, so nothing is tested in one.');
  process.exit(0);
}

const root = fileURLToPath(new URL('test/', import.meta.url));
const names = readdirSync(root, { recursive: true })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => path.slice(0, -'.test.ts'.length).replaceAll('\\', '/'));
for (const name of [...long, ...onlyInFull, ...onEmbedded, ...onEmbeddedInFull, ...embeddedFirst, ...onCitus]) {
  if (!existsSync(`${root}${name}.test.ts`)) throw new Error(`jest.config.js: there is no test/${name}.test.ts`);
}

const usesDatabase = (name) =>
  /\/(?:support\/(?:registry|senders|console)|enforced)\.js'/.test(readFileSync(`${root}${name}.test.ts`, 'utf8'));
const databasesOf = (name) => {
  if (suite === 'citus' || name.startsWith('citus/'))
    return suite === 'citus' && onCitus.includes(name) ? ['citus'] : [];
  if (!usesDatabase(name)) return ['none'];
  const isFull = suite === 'full' || isNamed;
  if (!onEmbedded.includes(name) && !(isFull && onEmbeddedInFull.includes(name))) return ['postgres'];
  return embeddedFirst.includes(name) ? ['embedded', 'postgres'] : ['postgres', 'embedded'];
};
const isFast = (name, database) =>
  (isNamed || ![...long, ...onlyInFull].includes(name)) &&
  database === databasesOf(name).find((each) => (only ?? each) === each);
const runs = {
  fast: isFast,
  full: () => true,
  rest: (name, database) => !isFast(name, database) && !onlyInFull.includes(name),
  citus: () => true,
}[suite];

function project(displayName, more = {}) {
  const files = names.filter((name) => databasesOf(name).includes(displayName) && runs(name, displayName));
  if (files.length === 0 || (displayName !== 'none' && (only ?? displayName) !== displayName)) return [];
  return {
    displayName,
    testEnvironment: 'node',
    roots: ['<rootDir>/test'],
    testMatch: files.map((name) => `<rootDir>/test/${name}.test.ts`),
    extensionsToTreatAsEsm: ['.ts'],
    moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
    transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
    setupFiles: ['<rootDir>/test/support/compile-less.mjs'],
    // A test that fails leaves no clock of its own to the next one.
    restoreMocks: true,
    ...more,
  };
}

export default {
  projects: [
    project('none'),
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
  // The modules of a test file are never freed, and each garbage collection scans them again.
  workerIdleMemoryLimit: '700MB',
  // Tests wait some of the time; the long ones, most of it.
  maxWorkers: suite === 'fast' ? availableParallelism() + 2 : availableParallelism() * 3,
};
