import { availableParallelism } from 'node:os';

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  globalSetup: '<rootDir>/test/support/start-database.mjs',
  globalTeardown: '<rootDir>/test/support/stop-database.mjs',
  setupFiles: ['<rootDir>/test/support/compile-less.mjs'],
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  testTimeout: 30_000,
  // What a file has loaded is never freed, and the collector goes through all of it again and again.
  workerIdleMemoryLimit: '250MB',
  // Tests wait for others much of the time.
  maxWorkers: availableParallelism() + 1,
};
