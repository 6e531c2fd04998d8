import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/**
 * The floors of src/ from top to bottom. A room imports only rooms of lower floors; rooms of one floor don't import each
 * other.
 */
const floors = [
  ['main.ts'],
  ['console', 'tools'],
  ['kits'],
  ['registry'],
  ['matching'],
  ['events'],
  ['consent'],
  ['outbound'],
  ['base'],
];

/** The folders inside a room, in the same way. */
const foldersOf = {
  tools: [['cli'], ['conformance', 'notify']],
  kits: [['sender'], ['webhook', 'client', 'guard']],
  registry: [
    ['app'],
    ['gateways', 'match', 'probes'],
    ['deliveries'],
    ['subscriptions'],
    ['handshake'],
    ['grants'],
    ['changes', 'statistics'],
    ['blocks', 'origins'],
    ['pages'],
    ['http'],
    ['tokens'],
    ['storage'],
    ['context.ts'],
  ],
};

/** What runs in other systems or in a browser takes in nothing more than this. */
const alone = {
  'kits/client': ['base'],
  'kits/sender': ['kits/client', 'matching', 'events', 'consent', 'outbound', 'base'],
  'kits/webhook': ['events', 'consent', 'base'],
  'tools/notify': ['kits', 'matching', 'events', 'consent', 'outbound', 'base'],
  'tools/conformance': ['kits', 'matching', 'events', 'consent', 'outbound', 'base'],
  console: ['kits/client', 'base'],
};

const namesIn = (folder) => readdirSync(new URL(folder, import.meta.url));
const homeless = [
  ...namesIn('src').filter((name) => !floors.flat().includes(name)),
  ...Object.entries(foldersOf).flatMap(([room, floorsOfRoom]) =>
    namesIn(`src/${room}`)
      .filter((name) => !floorsOfRoom.flat().includes(name))
      .map((name) => `${room}/${name}`),
  ),
];
if (homeless.length > 0) throw new Error(`Say in eslint.config.js on which floor src/${homeless[0]} stands.`);

const downwardOnly = (place, itsFloors) =>
  itsFloors.flatMap((floor, at) =>
    floor
      .filter((name) => name !== itsFloors[0][0])
      .map((name) => ({
        target: `./${place}/${name}`,
        from: [...itsFloors.slice(0, at).flat(), ...floor.filter((other) => other !== name)].map(
          (other) => `./${place}/${other}`,
        ),
        message: `${name} imports only from floors below it (CONTRIBUTING.md, "Rooms").`,
      })),
  );
const zones = [
  ...downwardOnly('src', floors),
  ...Object.entries(foldersOf).flatMap(([room, itsFloors]) => downwardOnly(`src/${room}`, itsFloors)),
  ...Object.entries(alone).map(([folder, others]) => ({
    target: `./src/${folder}`,
    from: './src',
    except: [folder, ...others].map((name) => `./${name}`),
    message: `${folder} imports nothing more of the registry (eslint.config.js).`,
  })),
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'node_modules/',
      '.assent/',
      'src/registry/storage/generated/',
      'src/base/contract/contract.gen.ts',
      'test/interop/generators/node/',
      '.config/prisma.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: ['./test/tsconfig.json', './src/console/tsconfig.json'] } },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [createNodeResolver({ extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } })],
      // Without it, the rule against circles sees no file of TypeScript.
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx'] },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      // Objects here consist of closures; none of their functions uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-restricted-paths': [
        'error',
        {
          basePath: import.meta.dirname,
          zones,
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Loops end by their signal.' },
        // Leaks about 3 kB per call in Node 20, as long as the longest of the signals lives.
        { object: 'AbortSignal', property: 'any', message: 'Listen to each of them, and leave.' },
      ],
    },
  },
  {
    // A test checks values from responses and databases itself.
    files: ['test/**/*.ts', 'docs/examples/**/*.ts'],
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
    ignores: ['src/main.ts', 'src/tools/cli/**'],
    rules: { 'no-restricted-globals': ['error', { name: 'process', message: 'Configuration comes from config.ts.' }] },
  },
  {
    // It names the types of all folders of the registry, so that each of them may name the context.
    files: ['src/registry/context.ts'],
    rules: {
      'import-x/no-restricted-paths': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: "ImportDeclaration[importKind!='type']", message: 'The context imports types only.' },
      ],
    },
  },
  {
    files: ['src/registry/pages/assets/*.js'],
    languageOptions: {
      globals: globals.browser,
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: globals.node,
    },
  },
);
