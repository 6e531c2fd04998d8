import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/** Folders of src in the order that data passes them. Each may import what stands after it, and nothing before it. */
const stages = [
  'deliveries',
  'subscriptions',
  'handshake',
  'grants',
  'changes',
  'matching',
  'events',
  'origins',
  'http',
  'storage',
];

const downwardOnly = stages.map((stage, place) => ({
  target: `./src/${stage}`,
  from: [
    ...stages.slice(0, place).map((earlier) => `./src/${earlier}`),
    './src/cli',
    './src/sender',
    './src/service',
    './src/service.ts',
    './src/config.ts',
    './src/main.ts',
  ],
  message: `${stage}/ imports only from the stages after it (README, "Where things are").`,
}));

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      '.assent/',
      'src/storage/generated/',
      'src/http/contract.gen.ts',
      '.config/prisma.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './test/tsconfig.json' } },
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensionAlias: { '.js': ['.ts', '.js'] } })] },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      // Objects here are made of closures; none of their functions looks at `this`.
      '@typescript-eslint/unbound-method': 'off',
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-restricted-paths': ['error', { basePath: import.meta.dirname, zones: downwardOnly }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Loops end by their signal.' },
        // About 3 kB each time in Node 20, for as long as the longest of the signals lives.
        { object: 'AbortSignal', property: 'any', message: 'Listen to each of them, and leave.' },
      ],
    },
  },
  {
    // What comes out of an answer or a database in a test is checked by the test itself.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', 'src/cli/**'],
    rules: { 'no-restricted-globals': ['error', { name: 'process', message: 'Configuration comes from config.ts.' }] },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'structuredClone',
          'performance',
          'Buffer',
          'fetch',
          'setTimeout',
          'AbortController',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
